#pragma once

#include <initializer_list>
#include <string>
#include <string_view>
#include <vector>

#include "engine/text/jinja/value.h"

namespace firsttoken::engine::jinja {

/// The arguments of a built-in by the names of its parameters. Throws TemplateError for too many, unknown, doubled
/// and missing ones.
class ArgumentList {
public:
    /// The first `required` parameters must be there.
    ArgumentList(std::string_view function, Arguments given, std::initializer_list<std::string_view> parameters,
                 std::size_t required = 0);

    bool has(std::size_t index) const { return m_values[index].has_value(); }
    const Value& operator[](std::size_t index) const { return *m_values[index]; }
    Value orElse(std::size_t index, Value fallback) const {
        return has(index) ? *m_values[index] : std::move(fallback);
    }

    /// A string; throws for another type.
    const MarkedString& string(std::size_t index) const;
    std::string stringOr(std::size_t index, std::string_view fallback) const;
    std::int64_t integerOr(std::size_t index, std::int64_t fallback) const;
    bool trueOr(std::size_t index, bool fallback) const;

private:
    [[noreturn]] void fail(const std::string& problem) const;

    std::string m_function;
    std::vector<std::string_view> m_parameters;
    std::vector<std::optional<Value>> m_values;
};

}  // namespace firsttoken::engine::jinja
