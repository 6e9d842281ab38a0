#include "sessions/export/session_json.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <nlohmann/json.hpp>

#include "sessions/export/json_limits.h"
#include "sessions/export/record_fields.h"
#include "sessions/store/record_names.h"

namespace firsttoken::sessions {

using engine::Error;
using engine::ErrorCode;
using engine::Result;
using Json = nlohmann::ordered_json;

namespace {

constexpr std::string_view kFormat = "firsttoken-session";
constexpr std::int64_t kVersion = 1;
/// Of the whole document. Embedded texts stay clear of it, so that what is exported can be imported.
constexpr JsonLimits kDocumentLimits{32, 1024};
constexpr JsonLimits kEmbeddedLimits{24, 1024};

std::string dumped(const Json& value) { return value.dump(-1, ' ', false, Json::error_handler_t::replace); }

/// The value of a compact JSON text, so that dumped() gives the same text back; else the text itself.
Json embedded(const std::string& text) {
    const bool maybe = !text.empty() && (text.front() == '{' || text.front() == '[');
    if (maybe && checkJson(text, kEmbeddedLimits).verdict == JsonVerdict::Fine) {
        auto value = Json::parse(text, nullptr, false);
        if (!value.is_discarded() && dumped(value) == text) return value;
    }
    return text;
}

class Writer {
public:
    template <class T>
    void integer(const char* name, const T& value, std::int64_t, std::int64_t) {
        put(name, value);
    }
    template <class T>
    void unsignedInteger(const char* name, const T& value) {
        put(name, value);
    }
    void real(const char* name, double value) { m_object[name] = std::isfinite(value) ? value : 0.0; }
    void real(const char* name, const std::optional<double>& value) {
        m_object[name] = value && std::isfinite(*value) ? Json(*value) : Json();
    }
    void text(const char* name, const std::string& value) { m_object[name] = value; }
    void flag(const char* name, bool value) { m_object[name] = value; }
    template <class E>
    void name(const char* name, E value) {
        m_object[name] = toString(value);
    }
    void times(const char* name, const std::vector<std::int64_t>& values) { m_object[name] = values; }
    void json(const char* name, const std::string& text) { m_object[name] = embedded(text); }

    std::string line() const { return dumped(m_object); }

private:
    template <class T>
    void put(const char* name, const T& value) {
        m_object[name] = value;
    }
    template <class T>
    void put(const char* name, const std::optional<T>& value) {
        m_object[name] = value ? Json(*value) : Json();
    }

    Json m_object = Json::object();
};

template <class Record, class Visit>
void appendList(std::string& out, std::string_view name, const std::vector<Record>& records, const Visit& visit) {
    out += fmt::format(",\n\"{}\": [", name);
    bool first = true;
    for (const auto& record : records) {
        Writer writer;
        visit(writer, record);
        out += first ? "\n" : ",\n";
        out += writer.line();
        first = false;
    }
    out += "]";
}

std::optional<SessionKind> named(std::string_view name, SessionKind) { return sessionKindOf(name); }
std::optional<SessionState> named(std::string_view name, SessionState) { return sessionStateOf(name); }
std::optional<MarkKind> named(std::string_view name, MarkKind) { return markKindOf(name); }
std::optional<engine::FinishReason> named(std::string_view name, engine::FinishReason) { return finishReasonOf(name); }
std::optional<engine::Stage> named(std::string_view name, engine::Stage) { return stageOf(name); }

/// Fills a record from an object; keeps the first fault, with its place.
class Reader {
public:
    Reader(const Json& object, std::string place) : m_object(object), m_place(std::move(place)) {
        if (!object.is_object()) m_fault = Error{ErrorCode::BadInput, m_place + " must be an object"};
    }

    const std::optional<Error>& fault() const { return m_fault; }

    void integer(const char* name, std::int64_t& value, std::int64_t least, std::int64_t most) {
        const auto* found = find(name);
        if (found == nullptr) {
            // What has no default must be given.
            if (!m_fault && (value < least || value > most)) {
                m_fault = Error{ErrorCode::BadInput, fmt::format("{}.{} is missing", m_place, name)};
            }
            return;
        }
        const bool whole =
            found->is_number_integer() &&
            !(found->is_number_unsigned() && found->get<std::uint64_t>() > static_cast<std::uint64_t>(most));
        if (!whole || found->get<std::int64_t>() < least || found->get<std::int64_t>() > most) {
            return refuse(name, fmt::format("a whole number from {} to {}", least, most));
        }
        value = found->get<std::int64_t>();
    }
    void integer(const char* name, std::optional<std::int64_t>& value, std::int64_t least, std::int64_t most) {
        if (isUnknown(name)) return;
        integer(name, value.emplace(), least, most);
    }
    void unsignedInteger(const char* name, std::uint64_t& value) {
        const auto* found = find(name);
        if (found == nullptr) return;
        if (!found->is_number_unsigned()) return refuse(name, "a whole number from 0");
        value = found->get<std::uint64_t>();
    }
    void unsignedInteger(const char* name, std::optional<std::uint64_t>& value) {
        if (isUnknown(name)) return;
        unsignedInteger(name, value.emplace());
    }
    void real(const char* name, double& value) {
        const auto* found = find(name);
        if (found == nullptr) return;
        if (!found->is_number()) return refuse(name, "a number");
        value = found->get<double>();
    }
    void real(const char* name, std::optional<double>& value) {
        if (isUnknown(name)) return;
        real(name, value.emplace());
    }
    void text(const char* name, std::string& value) {
        const auto* found = find(name);
        if (found == nullptr) return;
        if (!found->is_string()) return refuse(name, "a text");
        value = found->get_ref<const std::string&>();
    }
    void flag(const char* name, bool& value) {
        const auto* found = find(name);
        if (found == nullptr) return;
        if (!found->is_boolean()) return refuse(name, "true or false");
        value = found->get<bool>();
    }
    template <class E>
    void name(const char* name, E& value) {
        const auto* found = find(name);
        if (found == nullptr) return;
        const auto known = found->is_string() ? named(found->get_ref<const std::string&>(), value) : std::nullopt;
        if (!known) return refuse(name, "one of the names that this program knows");
        value = *known;
    }
    void times(const char* name, std::vector<std::int64_t>& values) {
        const auto* found = find(name);
        if (found == nullptr) return;
        constexpr const char* what = "a list of whole numbers that ascend";
        if (!found->is_array()) return refuse(name, what);
        values.reserve(found->size());
        std::int64_t before = -kMostNs;
        for (const auto& item : *found) {
            const bool small = item.is_number_integer() &&
                               (!item.is_number_unsigned() || item.get<std::uint64_t>() <= std::uint64_t{kMostNs});
            if (!small || item.get<std::int64_t>() < before) return refuse(name, what);
            values.push_back(before = item.get<std::int64_t>());
        }
    }
    void json(const char* name, std::string& text) {
        const auto* found = find(name);
        if (found == nullptr) return;
        text = found->is_string() ? found->get<std::string>() : dumped(*found);
    }

private:
    /// Null without the name, and after a fault.
    const Json* find(const char* name) const {
        if (m_fault) return nullptr;
        const auto found = m_object.find(name);
        return found == m_object.end() ? nullptr : &*found;
    }
    bool isUnknown(const char* name) const {
        const auto* found = find(name);
        return found == nullptr || found->is_null();
    }
    void refuse(const char* name, std::string_view what) {
        m_fault = Error{ErrorCode::BadInput, fmt::format("{}.{} must be {}", m_place, name, what)};
    }

    const Json& m_object;
    const std::string m_place;
    std::optional<Error> m_fault;
};

/// A missing list is an empty one.
template <class Record, class Visit>
std::optional<Error> readList(const Json& document, const char* name, std::vector<Record>& records,
                              const Visit& visit) {
    const auto found = document.find(name);
    if (found == document.end()) return std::nullopt;
    if (!found->is_array()) return Error{ErrorCode::BadInput, fmt::format("{} must be a list", name)};
    records.reserve(found->size());
    for (const auto& item : *found) {
        Reader reader(item, fmt::format("{}[{}]", name, records.size()));
        visit(reader, records.emplace_back());
        if (reader.fault()) return reader.fault();
    }
    return std::nullopt;
}

std::optional<Error> checkFrame(const Json& document) {
    const auto format = document.is_object() ? document.find("format") : document.end();
    if (!document.is_object() || format == document.end() || *format != kFormat) {
        return Error{ErrorCode::BadInput,
                     fmt::format("this is no exported session: \"format\" is not \"{}\"", kFormat)};
    }
    const auto version = document.find("version");
    if (version == document.end() || !version->is_number_unsigned() || *version == 0) {
        return Error{ErrorCode::BadInput, "version must be a whole number from 1"};
    }
    if (*version > kVersion) {
        return Error{ErrorCode::Unsupported,
                     fmt::format("the session was exported by a newer version of this program (its format is {}, this "
                                 "program knows up to {})",
                                 dumped(*version), kVersion)};
    }
    const auto session = document.find("session");
    if (session == document.end()) return Error{ErrorCode::BadInput, "session is missing"};
    for (const char* name : {"kind", "state", "started_at"}) {
        if (session->is_object() && !session->contains(name)) {
            return Error{ErrorCode::BadInput, fmt::format("session.{} is missing", name)};
        }
    }
    return std::nullopt;
}

/// Puts the lists in order. Errors: two requests with one number.
std::optional<Error> arrange(SessionData& data) {
    const auto byTime = [](const auto& a, const auto& b) { return a.atNs < b.atNs; };
    const auto byNumber = [](const auto& a, const auto& b) { return a.number < b.number; };
    std::stable_sort(data.requests.begin(), data.requests.end(), byNumber);
    std::stable_sort(data.samples.begin(), data.samples.end(), byTime);
    std::stable_sort(data.marks.begin(), data.marks.end(), byTime);
    const auto twice = std::adjacent_find(data.requests.begin(), data.requests.end(),
                                          [](const auto& a, const auto& b) { return a.number == b.number; });
    if (twice == data.requests.end()) return std::nullopt;
    return Error{ErrorCode::BadInput, fmt::format("two requests have the number {}", twice->number)};
}

Result<SessionData> readDocument(const Json& document) {
    if (auto fault = checkFrame(document)) return *fault;
    SessionData data;
    Reader header(*document.find("session"), "session");
    visitHeader(header, data.header);
    if (header.fault()) return *header.fault();
    const auto request = [](auto& reader, auto& record) { visitRequest(reader, record); };
    const auto span = [](auto& reader, auto& record) { visitSpan(reader, record); };
    const auto sample = [](auto& reader, auto& record) { visitSample(reader, record); };
    const auto mark = [](auto& reader, auto& record) { visitMark(reader, record); };
    if (auto fault = readList(document, "requests", data.requests, request)) return *fault;
    if (auto fault = readList(document, "spans", data.spans, span)) return *fault;
    if (auto fault = readList(document, "samples", data.samples, sample)) return *fault;
    if (auto fault = readList(document, "marks", data.marks, mark)) return *fault;
    if (auto fault = arrange(data)) return *fault;
    return data;
}

/// `byte` counts from 1.
Error syntaxError(std::string_view text, std::size_t byte) {
    const auto before = text.substr(0, std::min(byte == 0 ? 0 : byte - 1, text.size()));
    const auto lineEnd = before.rfind('\n');
    const auto lineStart = lineEnd == std::string_view::npos ? 0 : lineEnd + 1;
    const auto line = static_cast<int>(std::count(before.begin(), before.end(), '\n')) + 1;
    const auto column = static_cast<int>(before.size() - lineStart) + 1;
    return {ErrorCode::BadInput, fmt::format("line {}, column {}: this is not JSON", line, column), line, column};
}

}  // namespace

std::string toJson(const SessionData& session) {
    std::string out = fmt::format("{{\"format\": \"{}\", \"version\": {},\n\"session\": ", kFormat, kVersion);
    Writer header;
    visitHeader(header, session.header);
    out += header.line();
    appendList(out, "requests", session.requests, [](auto& writer, auto& record) { visitRequest(writer, record); });
    appendList(out, "spans", session.spans, [](auto& writer, auto& record) { visitSpan(writer, record); });
    appendList(out, "samples", session.samples, [](auto& writer, auto& record) { visitSample(writer, record); });
    appendList(out, "marks", session.marks, [](auto& writer, auto& record) { visitMark(writer, record); });
    return out + "}\n";
}

Result<SessionData> fromJson(std::string_view json) {
    try {
        const auto check = checkJson(json, kDocumentLimits);
        if (check.verdict == JsonVerdict::Malformed) return syntaxError(json, check.byte);
        if (check.verdict == JsonVerdict::OverLimit) {
            return Error{ErrorCode::BadInput,
                         "this is no exported session: it is nested too deeply, or an object in it "
                         "has too many names"};
        }
        return readDocument(Json::parse(json));
    } catch (const std::exception& fault) {
        return Error{ErrorCode::BadInput, fmt::format("the session cannot be read: {}", fault.what())};
    }
}

}  // namespace firsttoken::sessions
