#pragma once

#include <cstdlib>
#include <filesystem>
#include <string>

namespace firsttoken::tests {

/// The reference folder (../shared beside the project, or $FIRSTTOKEN_SHARED); empty where it is absent.
inline std::string sharedFolder() {
    if (const char* given = std::getenv("FIRSTTOKEN_SHARED")) {
        return std::filesystem::is_directory(given) ? std::string(given) : std::string();
    }
    const auto beside = std::filesystem::path(FIRSTTOKEN_SOURCE_DIR) / ".." / "shared";
    return std::filesystem::is_directory(beside) ? beside.lexically_normal().string() : std::string();
}

/// Files that lie in the tree: tests/fixtures/NAME.
inline std::string fixture(const std::string& name) {
    return (std::filesystem::path(FIRSTTOKEN_SOURCE_DIR) / "tests" / "fixtures" / name).string();
}

}  // namespace firsttoken::tests
