#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "engine/result.h"

/// Small whole files, and the folder of models. Any thread.
namespace firsttoken::sessions {

/// Errors: NotFound, BadInput (a directory, or more than `limitBytes`), Io; each names the path.
engine::Result<std::string> readWholeFile(const std::string& path, std::uint64_t limitBytes);
/// Writes beside `path`, then renames: a reader sees the old text or the new one. Errors: Io.
engine::Status writeWholeFile(const std::string& path, std::string_view text);

/// Creates the folder and its parents. Errors: Io.
engine::Status makeFolder(const std::string& path);
/// Bytes a new file in this folder may take; none where the system does not say.
std::optional<std::uint64_t> freeDiskBytes(const std::string& folder);

/// $FIRSTTOKEN_MODELS, else $XDG_DATA_HOME/firsttoken/models, else ~/.local/share/firsttoken/models.
/// Errors: NotFound if none of them is set.
engine::Result<std::string> defaultModelsFolder();

}  // namespace firsttoken::sessions
