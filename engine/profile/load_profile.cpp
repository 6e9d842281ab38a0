#include <algorithm>
#include <cerrno>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <string>
#include <vector>

#include "engine/profile.h"
#include "engine/profile/scalars.h"

namespace firsttoken::engine {

namespace {

namespace fs = std::filesystem;

/// One byte more than parseProfile() takes, so that it sees and names what is too large.
constexpr std::size_t mostBytes = (1U << 20U) + 1;

Result<std::string> readProfileFile(const std::string& path) {
    std::error_code ignored;
    if (fs::is_directory(path, ignored)) return Error{ErrorCode::BadInput, path + " is a folder, not a profile"};
    errno = 0;
    std::ifstream file(path, std::ios::binary);
    if (!file) {
        const int cause = errno;
        return Error{ErrorCode::Io, "cannot open the profile " + path + ": " + std::strerror(cause)};
    }
    std::string text(mostBytes, '\0');
    file.read(text.data(), static_cast<std::streamsize>(text.size()));
    if (file.bad()) return Error{ErrorCode::Io, "cannot read the profile " + path};
    text.resize(static_cast<std::size_t>(file.gcount()));
    return text;
}

Error notFound(const std::string& name) {
    std::string list;
    std::vector<std::string_view> names;
    for (const BuiltInProfile& builtIn : builtInProfiles()) {
        names.push_back(builtIn.name);
        list += (list.empty() ? "" : ", ") + std::string(builtIn.name);
    }
    const auto near = nearestWord(name, names);
    return {ErrorCode::NotFound, "no profile '" + name + "': it is neither a file nor a built-in (" + list + ")" +
                                     (near.empty() ? "" : "; did you mean '" + std::string(near) + "'?")};
}

Result<Profile> parsed(std::string_view yaml, const std::string& name, const std::string& origin) {
    ParsedProfile result = parseProfile(yaml, name);
    if (result.errors.empty()) return std::move(result.profile);
    const ProfileError& first = result.errors.front();
    std::string message =
        origin + ":" + std::to_string(first.line) + ":" + std::to_string(first.column) + ": " + first.message;
    const std::size_t others = result.errors.size() - 1;
    if (others > 0) message += " (and " + std::to_string(others) + (others == 1 ? " more fault)" : " more faults)");
    return Error{ErrorCode::BadInput, std::move(message), first.line, first.column};
}

}  // namespace

Result<Profile> loadProfile(const std::string& nameOrFile) {
    for (const BuiltInProfile& builtIn : builtInProfiles()) {
        if (builtIn.name == nameOrFile) return parsed(builtIn.yaml, nameOrFile, nameOrFile);
    }
    std::error_code error;
    if (nameOrFile.empty() || !fs::exists(nameOrFile, error)) return notFound(nameOrFile);
    const auto text = readProfileFile(nameOrFile);
    if (!text) return text.error();
    return parsed(*text, fs::path(nameOrFile).stem().string(), nameOrFile);
}

}  // namespace firsttoken::engine
