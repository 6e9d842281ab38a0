#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>

#include "engine/result.h"
#include "sessions/model_catalogue.h"

/// licences.json beside the models: what was accepted and when, and the hash of what came.
namespace firsttoken::sessions {

struct FetchRecord {
    Licence licence;
    std::string acceptedAt;  ///< UTC, ISO 8601
    std::string file;
    std::optional<std::uint64_t> bytes;  ///< none until the file was there
    std::optional<std::string> sha256;
    bool verified = false;  ///< the hash equals one that the catalogue knew beforehand
    bool operator==(const FetchRecord&) const = default;
};

/// By catalogue name; empty where there is no such file yet. Errors: BadInput for a damaged one, Io.
engine::Result<std::map<std::string, FetchRecord>> readFetchRecords(const std::string& folder);

/// Notes that the entry's licence was accepted now; keeps a date at which the same licence was accepted before.
/// Errors: as readFetchRecords.
engine::Status recordConsent(const std::string& folder, const CatalogueEntry& entry);
/// Notes what came. Errors: as readFetchRecords.
engine::Status recordFetched(const std::string& folder, const CatalogueEntry& entry, std::uint64_t bytes,
                             const std::string& sha256);

}  // namespace firsttoken::sessions
