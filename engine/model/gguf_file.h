#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "engine/model/gguf_types.h"
#include "engine/model/mapped_file.h"
#include "engine/result.h"
#include "engine/tensor/format.h"

namespace firsttoken::engine {

/// One metadata record. All views point into the mapping.
struct GgufEntry {
    std::string_view key;
    GgufType type = GgufType::U8;
    GgufType elementType = GgufType::U8;  ///< of an array
    std::uint64_t count = 1;              ///< elements of an array
    std::span<const std::byte> value;     ///< a string's characters, an array's elements, else the little-endian value
};

/// One tensor of the file; its bytes are checked to lie within it.
struct GgufTensor {
    std::string_view name;
    GgufTensorType type;
    std::uint32_t dimensions = 0;                       ///< 0 … 4
    std::array<std::uint64_t, 4> shape = {1, 1, 1, 1};  ///< ne; shape[0] is contiguous
    std::uint64_t elements = 0;
    std::uint64_t offset = 0;          ///< from the file's start
    std::span<const std::byte> bytes;  ///< empty if a dimension is 0

    /// Empty if this build does not decode the type.
    std::optional<WeightFormat> format() const { return formatFromGgufType(type.id); }
};

/// A mapped GGUF file (version 2 or 3) whose container has been checked whole: counts, lengths, types, names,
/// shapes and the place of every tensor. Says nothing about architectures. Copies share the mapping, and every view
/// that the lookups return lives as long as one of them. Immutable: any thread.
///
/// Lookups answer an empty optional for a key that is not there, and an error (BadInput, naming file and key) for
/// one with another type or an impossible value.
class GgufFile {
public:
    /// Errors: NotFound, Io; BadInput for anything malformed, Unsupported for version 1 and byte-swapped files.
    /// Files without tensors are fine. Types that this build cannot decode are fine: see requireFormat().
    static Result<GgufFile> open(const std::string& path);

    const std::string& path() const { return m_path; }
    std::uint64_t fileBytes() const { return m_file->bytes().size(); }
    std::uint32_t version() const { return m_version; }
    std::uint64_t alignment() const { return m_alignment; }
    const std::shared_ptr<const MappedFile>& mapping() const { return m_file; }

    /// In the file's order.
    std::span<const GgufEntry> entries() const { return m_entries; }
    std::span<const GgufTensor> tensors() const { return m_tensors; }
    const GgufEntry* entry(std::string_view key) const;
    const GgufTensor* tensor(std::string_view name) const;
    bool has(std::string_view key) const { return entry(key) != nullptr; }

    Result<std::optional<std::string_view>> string(std::string_view key) const;
    /// Any integer type, if the value lies in min … max.
    Result<std::optional<std::int64_t>> integer(std::string_view key,
                                                std::int64_t min = std::numeric_limits<std::int64_t>::min(),
                                                std::int64_t max = std::numeric_limits<std::int64_t>::max()) const;
    /// f32, f64 or any integer type; finite, and in min … max.
    Result<std::optional<double>> real(std::string_view key, double min = std::numeric_limits<double>::lowest(),
                                       double max = std::numeric_limits<double>::max()) const;
    /// A bool, or an integer 0 or 1.
    Result<std::optional<bool>> boolean(std::string_view key) const;

    /// Elements of an array: views of its strings.
    Result<std::optional<std::vector<std::string_view>>> strings(std::string_view key) const;
    /// Elements of an array of any integer type, or of bools (as 0 and 1), each in min … max.
    Result<std::optional<std::vector<std::int64_t>>> integers(
        std::string_view key, std::int64_t min = std::numeric_limits<std::int64_t>::min(),
        std::int64_t max = std::numeric_limits<std::int64_t>::max()) const;
    /// Elements of an array of any numeric type, as f32; finite.
    Result<std::optional<std::vector<float>>> reals(std::string_view key) const;
    /// A value that is either one for all layers, or an array of exactly `layers`: always `layers` values. Bools
    /// count as 0 and 1.
    Result<std::optional<std::vector<std::int64_t>>> perLayer(std::string_view key, std::size_t layers,
                                                              std::int64_t min, std::int64_t max) const;

    /// The same lookups for keys that must be there: a missing one is BadInput, too.
    Result<std::string_view> requireString(std::string_view key) const;
    Result<std::int64_t> requireInteger(std::string_view key, std::int64_t min, std::int64_t max) const;
    Result<double> requireReal(std::string_view key, double min, double max) const;
    Result<std::vector<std::int64_t>> requirePerLayer(std::string_view key, std::size_t layers, std::int64_t min,
                                                      std::int64_t max) const;

    /// The weight format of a tensor, or Unsupported: its type by name, and what this build supports.
    Result<WeightFormat> requireFormat(const GgufTensor& tensor) const;

    /// An error about this file: "PATH: SENTENCE".
    Error fault(std::string_view sentence, ErrorCode code = ErrorCode::BadInput) const;

private:
    friend class GgufParser;
    GgufFile() = default;

    Result<const GgufEntry*> arrayEntry(std::string_view key) const;
    Error wrongType(const GgufEntry& entry, std::string_view expected) const;
    Error missing(std::string_view key) const;

    std::string m_path;
    std::shared_ptr<const MappedFile> m_file;
    std::uint32_t m_version = 0;
    std::uint64_t m_alignment = 32;
    std::vector<GgufEntry> m_entries;
    std::vector<GgufTensor> m_tensors;
    // Indices sorted by name. Sorted, not hashed: a file cannot choose names that make the search slow.
    std::vector<std::size_t> m_entryOrder;
    std::vector<std::size_t> m_tensorOrder;
};

/// A name from a file, fit for a message: control and broken characters as \xNN, cut off after 80 bytes.
std::string printableName(std::string_view name);
/// "{64, 128}".
std::string shapeText(const GgufTensor& tensor);

}  // namespace firsttoken::engine
