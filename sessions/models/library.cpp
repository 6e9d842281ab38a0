#include "sessions/model_library.h"

#include <fmt/format.h>

#include <algorithm>
#include <filesystem>
#include <set>
#include <tuple>

#include "engine/device.h"
#include "sessions/models/fetch_records.h"

namespace firsttoken::sessions {

using engine::Error;
using engine::ErrorCode;
using engine::Result;

namespace {

namespace fs = std::filesystem;

constexpr int deepest = 4;                 ///< folders below the given one
constexpr std::size_t mostFiles = 10'000;  ///< in all folders together

std::string lower(std::string text) {
    std::transform(text.begin(), text.end(), text.begin(),
                   [](unsigned char c) { return static_cast<char>(std::tolower(c)); });
    return text;
}

/// Adds the models below `folder`. Unreadable folders are passed over: a listing never fails for one of them.
void collect(const std::string& folder, std::set<std::string>& paths) {
    std::error_code fault;
    fs::recursive_directory_iterator at(folder, fs::directory_options::skip_permission_denied, fault);
    const fs::recursive_directory_iterator end;
    while (!fault && at != end && paths.size() < mostFiles) {
        const auto& path = at->path();
        std::error_code unknown;
        const bool hidden = path.filename().string().starts_with('.');
        const bool isFolder = at->is_directory(unknown);
        if (isFolder && (hidden || at.depth() >= deepest)) at.disable_recursion_pending();
        if (!isFolder && !hidden && lower(path.extension().string()) == ".gguf") paths.insert(path.string());
        at.increment(fault);
    }
}

LibraryModel readModel(const std::string& path, std::optional<std::uint64_t> availableBytes) {
    LibraryModel model;
    model.path = path;
    model.name = fs::path(path).stem().string();
    std::error_code unknown;
    const auto bytes = fs::file_size(path, unknown);
    model.bytes = unknown ? 0 : bytes;
    auto info = engine::readModelInfo(path);
    if (info) {
        model.info = *std::move(info);
        model.fit = memoryFit(*model.info, availableBytes);
    } else {
        model.fault = info.error().message;
    }
    return model;
}

bool canChat(const LibraryModel& model) {
    if (model.kind) return *model.kind == ModelKind::Chat;
    return model.info && model.info->hasChatTemplate;
}

}  // namespace

ModelLibrary::ModelLibrary(std::vector<std::string> folders, std::vector<CatalogueEntry> catalogue)
    : m_folders(std::move(folders)), m_catalogue(std::move(catalogue)) {}

const CatalogueEntry* ModelLibrary::entry(const std::string& name) const {
    const auto found = std::find_if(m_catalogue.begin(), m_catalogue.end(),
                                    [&](const CatalogueEntry& candidate) { return candidate.name == lower(name); });
    return found == m_catalogue.end() ? nullptr : &*found;
}

std::vector<LibraryModel> ModelLibrary::list() const {
    std::set<std::string> paths;
    for (const auto& folder : m_folders) collect(folder, paths);
    const auto available = engine::availableMemoryBytes();
    const auto records = readFetchRecords(ownFolder());

    std::vector<LibraryModel> models;
    for (const auto& path : paths) {
        auto model = readModel(path, available);
        const auto file = fs::path(path).filename().string();
        for (const auto& known : m_catalogue) {
            if (known.file != file) continue;
            model.name = known.name;
            model.kind = known.kind;
            model.licence = known.licence;
            const bool ours = fs::path(path).parent_path() == fs::path(ownFolder()).lexically_normal() ||
                              path == ownFolder() + "/" + file;
            if (ours && records) {
                const auto record = records->find(known.name);
                if (record != records->end() && record->second.sha256) model.verified = record->second.verified;
            }
        }
        models.push_back(std::move(model));
    }
    std::sort(models.begin(), models.end(), [](const LibraryModel& a, const LibraryModel& b) {
        return std::tie(a.name, a.path) < std::tie(b.name, b.path);
    });
    return models;
}

Result<std::string> ModelLibrary::resolve(const std::string& nameOrPath) const {
    std::error_code unknown;
    const auto facts = fs::status(nameOrPath, unknown);
    if (fs::exists(facts) && !fs::is_directory(facts)) return nameOrPath;
    if (nameOrPath.empty()) return Error{ErrorCode::NotFound, "the model's name is empty"};
    const bool isFolder = fs::is_directory(facts);
    const bool isPath = nameOrPath.find('/') != std::string::npos || lower(nameOrPath).ends_with(".gguf");
    if (isPath && isFolder)
        return Error{ErrorCode::BadInput, fmt::format("{} is a directory, not a model", nameOrPath)};
    if (isPath) return Error{ErrorCode::NotFound, fmt::format("there is no file {}", nameOrPath)};

    std::set<std::string> paths;
    for (const auto& folder : m_folders) collect(folder, paths);
    if (const auto* known = entry(nameOrPath)) {
        for (const auto& path : paths) {
            if (fs::path(path).filename() == known->file) return path;
        }
    }
    for (const auto& path : paths) {
        if (lower(fs::path(path).stem().string()) == lower(nameOrPath)) return path;
    }
    return Error{ErrorCode::NotFound,
                 fmt::format("there is no model {}: it is neither a file nor a model in {}", nameOrPath, ownFolder())};
}

Result<std::string> ModelLibrary::defaultModel() const {
    const auto models = list();
    const auto rank = [&](const LibraryModel& model) {
        const auto known = std::find_if(m_catalogue.begin(), m_catalogue.end(),
                                        [&](const CatalogueEntry& candidate) { return candidate.name == model.name; });
        return std::tuple(!canChat(model), known - m_catalogue.begin());
    };
    const LibraryModel* best = nullptr;
    for (const auto& model : models) {
        if (model.usable() && (best == nullptr || rank(model) < rank(*best))) best = &model;
    }
    if (best == nullptr) return Error{ErrorCode::NotFound, fmt::format("there is no model in {}", ownFolder())};
    return best->path;
}

}  // namespace firsttoken::sessions
