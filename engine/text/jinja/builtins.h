#pragma once

#include <span>
#include <string_view>

#include "engine/text/jinja/interpreter.h"

/// The tables of built-ins; each lives in a file of its own.
namespace firsttoken::engine::jinja {

using FilterBody = Value (*)(Interpreter& interpreter, const Value& input, Arguments arguments);
using TestBody = bool (*)(Interpreter& interpreter, const Value& input, Arguments arguments);
using MethodBody = Value (*)(Interpreter& interpreter, const Value& self, Arguments arguments);

struct NamedFilter {
    std::string_view name;
    FilterBody body;
};
struct NamedTest {
    std::string_view name;
    TestBody body;
};
struct NamedMethod {
    std::string_view name;
    MethodBody body;
};

std::span<const NamedFilter> textFilters();      // filters_text.cpp
std::span<const NamedFilter> sequenceFilters();  // filters_sequence.cpp
std::span<const NamedFilter> selectFilters();    // filters_select.cpp
std::span<const NamedFilter> valueFilters();     // filters_value.cpp
std::span<const NamedTest> tests();              // tests.cpp

/// A method of a str, a dict, a list or tuple; none for a name that it has not. Throws for those that would change it.
MethodBody findStringMethod(std::string_view name);                        // string_methods.cpp
MethodBody findContainerMethod(const Value& self, std::string_view name);  // container_methods.cpp

/// The body by name in a table; null if it is not there.
template <class Table>
auto findNamed(const Table& table, std::string_view name) -> decltype(table.begin()->body) {
    for (const auto& entry : table) {
        if (entry.name == name) return entry.body;
    }
    return nullptr;
}

}  // namespace firsttoken::engine::jinja
