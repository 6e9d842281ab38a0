#include "sessions/export/session_csv.h"

#include <fmt/format.h>

#include <cmath>

#include "sessions/export/record_fields.h"

namespace firsttoken::sessions {

namespace {

constexpr std::string_view kLineEnd = "\r\n";

bool startsFormula(std::string_view text) {
    return !text.empty() && std::string_view("=+-@\t\r\n").find(text.front()) != std::string_view::npos;
}

/// A text cell. A spreadsheet also runs formulas that stand in quotes.
std::string textCell(std::string_view text) {
    std::string cell = startsFormula(text) ? "'" : "";
    cell += text;
    const bool padded = !cell.empty() && (cell.front() == ' ' || cell.back() == ' ');
    if (!padded && cell.find_first_of(",\"\r\n") == std::string::npos) return cell;
    std::string quoted = "\"";
    for (const char c : cell) {
        if (c == '"') quoted += '"';
        quoted += c;
    }
    return quoted + "\"";
}

/// Names of the fields, in the order of the cells.
class HeaderRow {
public:
    template <class... Rest>
    void integer(const char* name, const Rest&...) {
        add(name);
    }
    template <class T>
    void real(const char* name, const T&) {
        add(name);
    }
    template <class T>
    void text(const char* name, const T&) {
        add(name);
    }
    template <class T>
    void flag(const char* name, const T&) {
        add(name);
    }
    template <class T>
    void name(const char* name, const T&) {
        add(name);
    }
    template <class T>
    void times(const char* name, const T&) {
        add(name);
    }
    std::string line() const { return m_line + std::string(kLineEnd); }

private:
    void add(const char* name) {
        m_line += ',';
        m_line += name;
    }
    std::string m_line = "session";
};

class Row {
public:
    explicit Row(SessionId session) : m_line(std::to_string(session)) {}

    void integer(const char*, std::int64_t value, std::int64_t, std::int64_t) { add(std::to_string(value)); }
    void integer(const char*, const std::optional<std::int64_t>& value, std::int64_t, std::int64_t) {
        add(value ? std::to_string(*value) : std::string());
    }
    void real(const char*, const std::optional<double>& value) {
        add(value && std::isfinite(*value) ? fmt::format("{}", *value) : std::string());
    }
    void text(const char*, const std::string& value) { add(textCell(value)); }
    void flag(const char*, bool value) { add(value ? "true" : "false"); }
    template <class E>
    void name(const char*, E value) {
        add(textCell(toString(value)));
    }
    void times(const char*, const std::vector<std::int64_t>& values) {
        add(textCell(fmt::format("{}", fmt::join(values, " "))));
    }
    std::string line() const { return m_line + std::string(kLineEnd); }

private:
    void add(std::string_view cell) {
        m_line += ',';
        m_line += cell;
    }
    std::string m_line;
};

template <class Record, class Visit>
std::string table(SessionId session, const std::vector<Record>& records, const Visit& visit) {
    HeaderRow header;
    const Record example{};
    visit(header, example);
    auto out = header.line();
    for (const auto& record : records) {
        Row row(session);
        visit(row, record);
        out += row.line();
    }
    return out;
}

}  // namespace

std::string requestsToCsv(const SessionData& session) {
    return table(session.header.id, session.requests, [](auto& row, auto& record) { visitRequest(row, record); });
}

std::string samplesToCsv(const SessionData& session) {
    return table(session.header.id, session.samples, [](auto& row, auto& record) { visitSample(row, record); });
}

}  // namespace firsttoken::sessions
