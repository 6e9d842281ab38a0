#include "engine/text/jinja/filter_keys.h"

#include <algorithm>

#include "engine/text/jinja/string_operations.h"
#include "engine/text/jinja/template_error.h"

namespace firsttoken::engine::jinja {

namespace {

bool isNumber(const std::string& text) {
    return !text.empty() && text.size() < 10 &&
           std::all_of(text.begin(), text.end(), [](char c) { return c >= '0' && c <= '9'; });
}

}  // namespace

ItemKey::ItemKey(Interpreter& interpreter, const Value& attribute, bool ignoreCase, std::optional<Value> fallback)
    : m_interpreter(interpreter), m_ignoreCase(ignoreCase), m_fallback(std::move(fallback)) {
    if (attribute.isNone() || attribute.isUndefined()) return;
    if (const MarkedString* name = attribute.string()) {
        for (MarkedString& part : split(*name, ".", -1, false)) {
            if (isNumber(part.bytes())) {
                m_path.emplace_back(std::int64_t{std::stoi(part.bytes())});
            } else {
                m_path.emplace_back(std::move(part));
            }
        }
    } else if (attribute.asInteger()) {
        m_path.push_back(attribute);
    } else {
        throw TemplateError("an attribute must be a name or a number, not " + std::string(typeName(attribute)));
    }
}

Value ItemKey::of(const Value& item) const {
    m_interpreter.tick();
    Value value = item;
    for (const Value& part : m_path) {
        value = m_interpreter.item(value, part);
        if (m_fallback && value.isUndefined()) value = *m_fallback;
    }
    if (m_ignoreCase && value.string() != nullptr) return Value(toCase(*value.string(), LetterCase::Lower));
    return value;
}

}  // namespace firsttoken::engine::jinja
