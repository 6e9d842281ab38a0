#include "sessions/models/fetch_records.h"

#include <fmt/chrono.h>
#include <fmt/format.h>

#include <chrono>
#include <nlohmann/json.hpp>

#include "sessions/models/files.h"

namespace firsttoken::sessions {

using engine::Error;
using engine::ErrorCode;
using engine::Result;
using engine::Status;
using Json = nlohmann::ordered_json;

namespace {

constexpr std::uint64_t sizeLimit = 1ULL << 20;

std::string recordsPath(const std::string& folder) { return folder + "/licences.json"; }

std::string field(const Json& value, const char* key) {
    const auto found = value.find(key);
    return found != value.end() && found->is_string() ? found->get<std::string>() : std::string();
}

FetchRecord fromJson(const Json& value) {
    FetchRecord record;
    record.licence = {field(value, "licence"), field(value, "address")};
    record.acceptedAt = field(value, "accepted_at");
    record.file = field(value, "file");
    if (const auto found = value.find("bytes"); found != value.end() && found->is_number_unsigned()) {
        record.bytes = found->get<std::uint64_t>();
    }
    if (auto hash = field(value, "sha256"); !hash.empty()) record.sha256 = std::move(hash);
    if (const auto found = value.find("verified"); found != value.end()) record.verified = *found == true;
    return record;
}

Json toJson(const FetchRecord& record) {
    Json value = {{"licence", record.licence.name},
                  {"address", record.licence.address},
                  {"accepted_at", record.acceptedAt},
                  {"file", record.file}};
    value["bytes"] = record.bytes ? Json(*record.bytes) : Json();
    value["sha256"] = record.sha256 ? Json(*record.sha256) : Json();
    value["verified"] = record.verified;
    return value;
}

Status writeRecords(const std::string& folder, const std::map<std::string, FetchRecord>& records) {
    Json models = Json::object();
    for (const auto& [name, record] : records) models[name] = toJson(record);
    const Json document = {{"version", 1}, {"models", models}};
    return writeWholeFile(recordsPath(folder), document.dump(2, ' ', false, Json::error_handler_t::replace) + "\n");
}

std::string nowUtc() {
    const auto now = std::chrono::system_clock::to_time_t(std::chrono::system_clock::now());
    return fmt::format("{:%Y-%m-%dT%H:%M:%SZ}", fmt::gmtime(now));
}

}  // namespace

Result<std::map<std::string, FetchRecord>> readFetchRecords(const std::string& folder) {
    std::map<std::string, FetchRecord> records;
    const auto path = recordsPath(folder);
    const auto text = readWholeFile(path, sizeLimit);
    if (!text) {
        if (text.error().code == ErrorCode::NotFound) return records;
        return text.error();
    }
    const auto document = Json::parse(*text, nullptr, false);
    const auto models = document.is_object() ? document.find("models") : document.end();
    if (!document.is_object() || models == document.end() || !models->is_object()) {
        return Error{ErrorCode::BadInput, path + " is damaged: it is no record of accepted licences"};
    }
    for (const auto& [name, value] : models->items()) {
        if (value.is_object()) records.emplace(name, fromJson(value));
    }
    return records;
}

Status recordConsent(const std::string& folder, const CatalogueEntry& entry) {
    if (auto made = makeFolder(folder); !made) return made;
    auto records = readFetchRecords(folder);
    if (!records) return records.error();
    auto& record = (*records)[entry.name];
    if (!(record.licence == entry.licence) || record.acceptedAt.empty()) record.acceptedAt = nowUtc();
    record.licence = entry.licence;
    record.file = entry.file;
    return writeRecords(folder, *records);
}

Status recordFetched(const std::string& folder, const CatalogueEntry& entry, std::uint64_t bytes,
                     const std::string& sha256) {
    auto records = readFetchRecords(folder);
    if (!records) return records.error();
    auto& record = (*records)[entry.name];
    record.licence = entry.licence;
    record.file = entry.file;
    record.bytes = bytes;
    record.sha256 = sha256;
    record.verified = entry.sha256.has_value();
    return writeRecords(folder, *records);
}

}  // namespace firsttoken::sessions
