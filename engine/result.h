#pragma once

#include <cassert>
#include <string>
#include <utility>
#include <variant>

namespace firsttoken::engine {

/// What kind of thing went wrong. The programs' exit codes and the window's wording follow from it.
enum class ErrorCode {
    BadInput,     ///< a file, profile, template or request is wrong in itself
    Unsupported,  ///< well formed, but not something this build can do
    NotFound,
    DoesNotFit,   ///< memory, context or KV pool: the message holds the numbers
    Rejected,     ///< refused for the state things are in (queue full, engine stopping)
    Cancelled,
    Io,
    Internal,
};

/// A typed cause with one sentence that names the thing. `line` and `column` count from 1; 0 means unknown.
struct Error {
    ErrorCode code = ErrorCode::Internal;
    std::string message;
    int line = 0;
    int column = 0;

    bool operator==(const Error&) const = default;
};

/// A value or an Error. Test it before use: value() and error() assert on the wrong state.
template <class T>
class [[nodiscard]] Result {
public:
    Result(T value) : m_state(std::in_place_index<0>, std::move(value)) {}
    Result(Error error) : m_state(std::in_place_index<1>, std::move(error)) {}

    [[nodiscard]] bool ok() const { return m_state.index() == 0; }
    explicit operator bool() const { return ok(); }

    T& value() & { assert(ok()); return *std::get_if<0>(&m_state); }
    const T& value() const& { assert(ok()); return *std::get_if<0>(&m_state); }
    T&& value() && { assert(ok()); return std::move(*std::get_if<0>(&m_state)); }
    T& operator*() & { return value(); }
    const T& operator*() const& { return value(); }
    T&& operator*() && { return std::move(*this).value(); }
    T* operator->() { return &value(); }
    const T* operator->() const { return &value(); }

    Error& error() { assert(!ok()); return *std::get_if<1>(&m_state); }
    const Error& error() const { assert(!ok()); return *std::get_if<1>(&m_state); }

private:
    std::variant<T, Error> m_state;
};

struct Done {
    bool operator==(const Done&) const = default;
};
/// Result of an operation that has no value.
using Status = Result<Done>;

}  // namespace firsttoken::engine
