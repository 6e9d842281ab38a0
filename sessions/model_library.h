#pragma once

#include <optional>
#include <string>
#include <vector>

#include "engine/model_info.h"
#include "engine/result.h"
#include "sessions/model_catalogue.h"
#include "sessions/model_fit.h"

/// The models on this machine: GGUF files in folders, named by the catalogue where it knows them.
namespace firsttoken::sessions {

struct LibraryModel {
    std::string name;  ///< the catalogue's, else the file's stem
    std::string path;
    std::uint64_t bytes = 0;
    std::optional<engine::ModelInfo> info;  ///< none: `fault` says why
    std::string fault;
    std::optional<ModelKind> kind;  ///< none: the catalogue does not know the file
    std::optional<Licence> licence;
    std::optional<bool> verified;  ///< its hash was compared when it was fetched; none: not fetched by us
    std::optional<MemoryFit> fit;

    bool usable() const { return info && info->unsupported.empty(); }
};

/// Reads the disk anew at each call; immutable: any thread.
class ModelLibrary {
public:
    /// `folders`: the first is ours, where `models fetch` writes. They need not exist.
    ModelLibrary(std::vector<std::string> folders, std::vector<CatalogueEntry> catalogue);

    /// Every *.gguf in the folders and below (four levels, no hidden ones), sorted by name. A file that cannot be
    /// read is listed with its fault.
    std::vector<LibraryModel> list() const;

    /// A path, or the name of a listed model. Errors: NotFound, naming what was looked for and where.
    engine::Result<std::string> resolve(const std::string& nameOrPath) const;
    /// The model for a command without one: a chat model of the catalogue, in its order; else any other that can
    /// chat; else a base model. Errors: NotFound.
    engine::Result<std::string> defaultModel() const;

    /// By name; null for one that the catalogue does not have.
    const CatalogueEntry* entry(const std::string& name) const;
    const std::vector<CatalogueEntry>& catalogue() const { return m_catalogue; }
    const std::string& ownFolder() const { return m_folders.front(); }

private:
    std::vector<std::string> m_folders;
    std::vector<CatalogueEntry> m_catalogue;
};

}  // namespace firsttoken::sessions
