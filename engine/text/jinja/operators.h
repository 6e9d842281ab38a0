#pragma once

#include <cstdint>

#include "engine/text/jinja/value.h"

/// Python's operators on values. They throw TemplateError where Python raises TypeError and the like.
namespace firsttoken::engine::jinja {

enum class Compare : std::uint8_t { Equal, Unequal, Less, LessEqual, Greater, GreaterEqual, In, NotIn };
enum class Arithmetic : std::uint8_t { Add, Subtract, Multiply, Divide, FloorDivide, Modulo, Power };

bool isTrue(const Value& value);
bool isHashable(const Value& value);
bool areEqual(const Value& a, const Value& b);
/// < 0, 0, > 0. Throws for types without an order; `symbol` is named in the message.
int order(const Value& a, const Value& b, const char* symbol = "<");
bool contains(const Value& container, const Value& item);
bool compare(Compare how, const Value& a, const Value& b);

Value arithmetic(Arithmetic how, const Value& a, const Value& b);
Value negate(const Value& value);
Value positive(const Value& value);

/// Throws what Python says when an undefined value is used.
void requireDefined(const Value& value);

}  // namespace firsttoken::engine::jinja
