#include "engine/text/chat_template.h"

#include <array>
#include <charconv>
#include <ctime>

#include "engine/text/jinja/json.h"
#include "engine/text/jinja/template_error.h"
#include "engine/text/utf8.h"

namespace firsttoken::engine {

using jinja::Date;
using jinja::Dict;
using jinja::MarkedString;
using jinja::Value;

namespace {

constexpr std::string_view plainTranscript =
    R"({% for message in messages %}
{% if message.role == 'system' %}
{{ message.content }}

{% elif message.role == 'user' %}
User: {{ message.content }}
{% elif message.role == 'assistant' %}
Assistant: {{ message.content }}
{% else %}
{{ message.role | capitalize }}: {{ message.content }}
{% endif %}
{% endfor %}
{% if add_generation_prompt %}
Assistant:
{%- endif %})";

bool isLeapYear(int year) { return (year % 4 == 0 && year % 100 != 0) || year % 400 == 0; }

int daysOf(int year, int month) {
    constexpr std::array<int, 12> days = {31, 28, 31, 30, 31, 30, 31, 31, 30, 31, 30, 31};
    return month == 2 && isLeapYear(year) ? 29 : days[static_cast<std::size_t>(month - 1)];
}

Date today() {
    const std::time_t now = std::time(nullptr);
    std::tm local{};
    localtime_r(&now, &local);
    return {local.tm_year + 1900, local.tm_mon + 1, local.tm_mday};
}

/// A run of digits that fills `text`.
bool readNumber(std::string_view text, int& value) {
    const auto read = std::from_chars(text.data(), text.data() + text.size(), value);
    return read.ec == std::errc() && read.ptr == text.data() + text.size() && value >= 0;
}

}  // namespace

std::string_view plainTranscriptTemplate() { return plainTranscript; }
std::vector<std::string> plainTranscriptStops() { return {"\nUser:"}; }

Result<Dict> variablesFromJson(std::string_view json) {
    try {
        const Value value = jinja::readJson(json);
        if (value.dict() == nullptr) return Error{ErrorCode::BadInput, "the given values must be a JSON object"};
        return *value.dict();
    } catch (const jinja::TemplateError& error) {
        return Error{ErrorCode::BadInput, error.message()};
    } catch (const std::exception& error) {
        return Error{ErrorCode::BadInput, std::string("the given values cannot be read: ") + error.what()};
    }
}

Dict variablesFromMessages(std::span<const ChatMessage> messages) {
    std::vector<Value> list;
    for (const ChatMessage& message : messages) {
        Dict entry;
        const std::string role = sanitizeUtf8(message.role);
        const bool trustedRole = jinja::isPlainRole(role);
        entry.set(Value::text("role"), Value(MarkedString(role, trustedRole)));
        entry.set(Value::text("content"), Value(MarkedString(sanitizeUtf8(message.content), false)));
        list.emplace_back(std::move(entry));
    }
    Dict variables;
    variables.set(Value::text("messages"), Value::list(std::move(list)));
    variables.set(Value::text("add_generation_prompt"), Value(true));
    return variables;
}

Result<Date> parseDate(std::string_view text) {
    if (text.empty()) return today();
    Date date;
    const bool shaped = text.size() == 10 && text[4] == '-' && text[7] == '-' &&
                        readNumber(text.substr(0, 4), date.year) && readNumber(text.substr(5, 2), date.month) &&
                        readNumber(text.substr(8, 2), date.day);
    const bool exists = shaped && date.year >= 1 && date.month >= 1 && date.month <= 12 && date.day >= 1 &&
                        date.day <= daysOf(date.year, date.month);
    if (!exists) return Error{ErrorCode::BadInput, "\"" + sanitizeUtf8(text) + "\" is no date of the form YYYY-MM-DD"};
    return date;
}

Result<std::vector<RenderedPiece>> renderPieces(const jinja::Template& chatTemplate, const Dict& variables, Date now) {
    const auto text = chatTemplate.render(variables, now);
    if (!text.ok()) return text.error();
    std::vector<RenderedPiece> pieces;
    std::size_t begin = 0;
    for (const MarkedString::Run& run : text->runs()) {
        pieces.push_back({text->bytes().substr(begin, run.end - begin), run.trusted});
        begin = run.end;
    }
    return pieces;
}

Result<std::vector<RenderedPiece>> renderTemplate(std::string_view templateText, std::string_view givenJson,
                                                  std::string_view now) {
    const auto parsed = jinja::Template::parse(templateText);
    if (!parsed.ok()) return parsed.error();
    const auto variables = variablesFromJson(givenJson);
    if (!variables.ok()) return variables.error();
    const auto date = parseDate(now);
    if (!date.ok()) return date.error();
    return renderPieces(*parsed, *variables, *date);
}

}  // namespace firsttoken::engine
