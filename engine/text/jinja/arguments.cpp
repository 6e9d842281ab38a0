#include "engine/text/jinja/arguments.h"

#include <algorithm>

#include "engine/text/jinja/operators.h"
#include "engine/text/jinja/template_error.h"

namespace firsttoken::engine::jinja {

ArgumentList::ArgumentList(std::string_view function, Arguments given,
                           std::initializer_list<std::string_view> parameters, std::size_t required)
    : m_function(function), m_parameters(parameters), m_values(parameters.size()) {
    if (given.positional.size() > m_parameters.size()) {
        fail("takes at most " + std::to_string(m_parameters.size()) + " arguments (" +
             std::to_string(given.positional.size()) + " given)");
    }
    for (std::size_t i = 0; i < given.positional.size(); ++i) m_values[i] = std::move(given.positional[i]);
    for (auto& [name, value] : given.named) {
        const auto found = std::find(m_parameters.begin(), m_parameters.end(), name);
        if (found == m_parameters.end()) fail("got an unexpected keyword argument '" + name + "'");
        auto& slot = m_values[static_cast<std::size_t>(found - m_parameters.begin())];
        if (slot) fail("got multiple values for argument '" + name + "'");
        slot = std::move(value);
    }
    for (std::size_t i = 0; i < required; ++i) {
        if (!m_values[i]) fail("missing the argument '" + std::string(m_parameters[i]) + "'");
    }
}

void ArgumentList::fail(const std::string& problem) const { throw TemplateError(m_function + "() " + problem); }

const MarkedString& ArgumentList::string(std::size_t index) const {
    requireDefined(*m_values[index]);
    const MarkedString* text = m_values[index]->string();
    if (text == nullptr) {
        fail("needs a string for '" + std::string(m_parameters[index]) + "', not " +
             std::string(typeName(*m_values[index])));
    }
    return *text;
}

std::string ArgumentList::stringOr(std::size_t index, std::string_view fallback) const {
    return has(index) ? string(index).bytes() : std::string(fallback);
}

std::int64_t ArgumentList::integerOr(std::size_t index, std::int64_t fallback) const {
    if (!has(index)) return fallback;
    requireDefined(*m_values[index]);
    const auto value = m_values[index]->asInteger();
    if (!value) {
        fail("needs an integer for '" + std::string(m_parameters[index]) + "', not " +
             std::string(typeName(*m_values[index])));
    }
    return *value;
}

bool ArgumentList::trueOr(std::size_t index, bool fallback) const {
    return has(index) ? isTrue(*m_values[index]) : fallback;
}

}  // namespace firsttoken::engine::jinja
