#pragma once

#include <exception>
#include <string>
#include <utility>

namespace firsttoken::engine::jinja {

/// How the interpreter gives up; caught at the door (template.h), never thrown out of the room. `line` 0: the door
/// fills in the line that was being evaluated.
class TemplateError : public std::exception {
public:
    explicit TemplateError(std::string message, int line = 0) : m_message(std::move(message)), m_line(line) {}
    const char* what() const noexcept override { return m_message.c_str(); }
    const std::string& message() const { return m_message; }
    int line() const { return m_line; }

private:
    std::string m_message;
    int m_line = 0;
};

}  // namespace firsttoken::engine::jinja
