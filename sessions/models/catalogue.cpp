#include "sessions/model_catalogue.h"

#include <fmt/format.h>

#include <algorithm>
#include <nlohmann/json.hpp>
#include <set>

#include "sessions/models/catalogue_data.h"

namespace firsttoken::sessions {

using engine::Error;
using engine::ErrorCode;
using engine::Result;
using nlohmann::json;

namespace {

constexpr int supportedVersion = 1;

bool onlyOf(std::string_view text, std::string_view allowed) {
    return !text.empty() && text.find_first_not_of(allowed) == std::string_view::npos;
}
bool isName(std::string_view text) {
    return onlyOf(text, "abcdefghijklmnopqrstuvwxyz0123456789-._") && text.front() != '.' && text.front() != '-';
}
bool isModelFile(std::string_view text) { return isName(text) && text.ends_with(".gguf"); }
bool isVersion(std::string_view text) { return onlyOf(text, "0123456789."); }
bool isSha256(std::string_view text) { return text.size() == 64 && onlyOf(text, "0123456789abcdef"); }
bool isHttps(std::string_view text) {
    return text.starts_with("https://") && text.size() > 8 && text.find_first_of(" \t\r\n\"\\") == text.npos;
}
bool isMember(std::string_view text) {
    return !text.empty() && text.front() != '/' && text.find("..") == text.npos && text.find('\\') == text.npos;
}
bool isText(std::string_view text) { return !text.empty(); }

/// Reads the keys of one JSON object; remembers the first fault, so that callers test once at the end.
class Fields {
public:
    Fields(const json& object, std::string where) : m_object(object), m_where(std::move(where)) {
        if (!object.is_object()) fail("is not an object");
    }

    std::string text(const char* key, bool (*valid)(std::string_view) = isText) {
        const auto found = find(key);
        if (found == nullptr || !found->is_string()) return fail(fmt::format("lacks the text \"{}\"", key)), "";
        auto value = found->get<std::string>();
        if (!valid(value)) fail(fmt::format("has an impossible \"{}\"", key));
        return value;
    }
    std::optional<std::string> optionalText(const char* key, bool (*valid)(std::string_view)) {
        const auto found = find(key);
        if (found == nullptr || found->is_null()) return std::nullopt;
        return text(key, valid);
    }
    std::optional<std::uint64_t> optionalBytes(const char* key) {
        const auto found = find(key);
        if (found == nullptr || found->is_null()) return std::nullopt;
        if (!found->is_number_unsigned() || found->get<std::uint64_t>() == 0) {
            fail(fmt::format("has an impossible \"{}\"", key));
            return std::nullopt;
        }
        return found->get<std::uint64_t>();
    }
    const json& child(const char* key) {
        static const json none;
        const auto found = find(key);
        if (found == nullptr) fail(fmt::format("lacks \"{}\"", key));
        return found == nullptr ? none : *found;
    }
    void fail(const std::string& what) {
        if (m_fault.empty()) m_fault = m_where + " " + what;
    }
    /// Takes over the fault of an object inside this one.
    void absorb(const Fields& inner) {
        if (m_fault.empty()) m_fault = inner.m_fault;
    }
    const std::string& where() const { return m_where; }
    const std::string& fault() const { return m_fault; }

private:
    const json* find(const char* key) const {
        if (!m_object.is_object()) return nullptr;
        const auto found = m_object.find(key);
        return found == m_object.end() ? nullptr : &*found;
    }

    const json& m_object;
    std::string m_where;
    std::string m_fault;
};

PipSource readPip(Fields& source) {
    PipSource pip;
    const auto& parts = source.child("parts");
    if (!parts.is_array() || parts.empty()) {
        source.fail("has no \"parts\"");
        return pip;
    }
    for (const auto& value : parts) {
        Fields fields(value, fmt::format("{}, part {},", source.where(), pip.parts.size() + 1));
        PipPart part;
        part.package = fields.text("package", isName);
        part.version = fields.text("version", isVersion);
        part.member = fields.text("member", isMember);
        part.bytes = fields.optionalBytes("bytes").value_or(0);
        if (part.bytes == 0) fields.fail("lacks its \"bytes\"");
        source.absorb(fields);
        pip.parts.push_back(std::move(part));
    }
    return pip;
}

Result<CatalogueEntry> readEntry(const json& value, std::size_t number) {
    Fields fields(value, fmt::format("the catalogue's entry {}", number));
    CatalogueEntry entry;
    entry.name = fields.text("name", isName);
    entry.title = fields.text("title");
    entry.file = fields.text("file", isModelFile);
    entry.architecture = fields.text("architecture");
    entry.format = fields.text("format");
    entry.bytes = fields.optionalBytes("bytes");
    entry.sha256 = fields.optionalText("sha256", isSha256);
    const auto kind = fields.text("kind");
    if (kind != "chat" && kind != "base") fields.fail("is neither \"chat\" nor \"base\"");
    entry.kind = kind == "chat" ? ModelKind::Chat : ModelKind::Base;

    Fields licence(fields.child("licence"), fields.where() + ", licence,");
    entry.licence = {licence.text("name"), licence.text("address", isHttps)};
    fields.absorb(licence);

    Fields source(fields.child("source"), fields.where() + ", source,");
    const auto sourceKind = source.text("kind");
    if (sourceKind == "pip") {
        entry.source = readPip(source);
    } else if (sourceKind == "https") {
        entry.source = HttpsSource{source.text("address", isHttps)};
    } else {
        source.fail("is neither \"pip\" nor \"https\"");
    }
    fields.absorb(source);

    if (!fields.fault().empty()) return Error{ErrorCode::BadInput, fields.fault()};
    return entry;
}

}  // namespace

std::string_view toString(ModelKind kind) { return kind == ModelKind::Chat ? "chat" : "base"; }

Result<std::vector<CatalogueEntry>> parseCatalogue(std::string_view text) {
    const auto document = json::parse(text, nullptr, false);
    if (document.is_discarded() || !document.is_object()) {
        return Error{ErrorCode::BadInput, "the model catalogue is not a JSON object"};
    }
    const auto version = document.find("version");
    if (version == document.end() || *version != supportedVersion) {
        return Error{ErrorCode::BadInput, fmt::format("the model catalogue is not of version {}", supportedVersion)};
    }
    const auto models = document.find("models");
    if (models == document.end() || !models->is_array()) {
        return Error{ErrorCode::BadInput, "the model catalogue lacks the list \"models\""};
    }
    std::vector<CatalogueEntry> entries;
    std::set<std::string> taken;
    for (const auto& value : *models) {
        auto entry = readEntry(value, entries.size() + 1);
        if (!entry) return entry.error();
        if (!taken.insert(entry->name).second || !taken.insert(entry->file).second) {
            return Error{ErrorCode::BadInput, fmt::format("the model catalogue has \"{}\" twice", entry->name)};
        }
        entries.push_back(*std::move(entry));
    }
    return entries;
}

Result<std::vector<CatalogueEntry>> builtInCatalogue() { return parseCatalogue(catalogueData()); }

}  // namespace firsttoken::sessions
