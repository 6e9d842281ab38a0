#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "engine/model/gguf_file.h"
#include "engine/tensor/format.h"

namespace firsttoken::engine {

/// Puts the head of a GGUF file (version 3) together: records and tensor table. The data follow at the offsets that
/// it gives out.
class GgufWriter {
public:
    void add(std::string_view key, std::string_view value);
    void add(std::string_view key, const char* value) { add(key, std::string_view(value)); }
    void add(std::string_view key, std::uint32_t value);
    void add(std::string_view key, float value);
    void add(std::string_view key, bool value);
    void add(std::string_view key, std::span<const std::string> values);
    void add(std::string_view key, std::span<const float> values);
    void add(std::string_view key, std::span<const std::int32_t> values);
    /// A record of another file, as it is.
    void add(const GgufEntry& entry);

    /// shape: ne, the contiguous dimension first; it is a whole number of blocks. Returns the offset in the data.
    std::uint64_t addTensor(std::string_view name, WeightFormat format, std::span<const std::uint64_t> shape);

    /// Everything before the data, padded to the alignment: the data begin where it ends.
    std::vector<std::byte> head() const;
    std::uint64_t dataBytes() const { return m_dataBytes; }

private:
    void key(std::string_view name, GgufType type);
    void array(std::string_view name, GgufType elements, std::size_t count);

    std::vector<std::byte> m_entries;
    std::vector<std::byte> m_tensors;
    std::uint64_t m_entryCount = 0;
    std::uint64_t m_tensorCount = 0;
    std::uint64_t m_dataBytes = 0;  ///< padded
};

}  // namespace firsttoken::engine
