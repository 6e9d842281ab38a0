#pragma once

#include <optional>
#include <string>

#include "engine/model/gguf_bytes.h"
#include "engine/model/gguf_file.h"

namespace firsttoken::engine {

/// Reads the container's header, records and tensor table into a GgufFile, and checks every claim before it is
/// used (facts: gguf_formats, section 2). Each step returns the first fault, or nothing.
class GgufParser {
public:
    explicit GgufParser(GgufFile& file) : m_file(file), m_cursor(file.m_file->bytes()) {}
    std::optional<Error> parse();

private:
    using Fault = std::optional<Error>;

    Fault header();
    Fault record(std::uint64_t index);
    Fault value(GgufEntry& entry);
    Fault array(GgufEntry& entry);
    Fault skipStrings(std::string_view key, std::uint64_t count, std::span<const std::byte>& value);
    Fault alignment();
    Fault tensor(std::uint64_t index);
    Fault tensorShape(GgufTensor& tensor);
    Fault placeTensors();
    Fault sortNames();
    Fault truncated(const std::string& what) const;
    Fault fault(const std::string& sentence) const { return m_file.fault(sentence); }

    GgufFile& m_file;
    ByteCursor m_cursor;
    std::int64_t m_entryCount = 0;
    std::int64_t m_tensorCount = 0;
};

}  // namespace firsttoken::engine
