#include <fmt/format.h>

#include <cmath>

#include "engine/model/gguf_bytes.h"
#include "engine/model/gguf_file.h"

// The typed lookups of GgufFile.
namespace firsttoken::engine {

namespace {

/// A whole number of any width, wide enough for u64 and i64 alike.
__extension__ using Wide = __int128;

bool isNumber(GgufType type) { return isGgufInteger(type) || type == GgufType::F32 || type == GgufType::F64; }

/// Pre: an integer type, or Bool.
Wide wholeAt(GgufType type, const std::byte* bytes) {
    switch (type) {
        case GgufType::U8:
        case GgufType::Bool:
            return readValue<std::uint8_t>(bytes);
        case GgufType::I8:
            return readValue<std::int8_t>(bytes);
        case GgufType::U16:
            return readValue<std::uint16_t>(bytes);
        case GgufType::I16:
            return readValue<std::int16_t>(bytes);
        case GgufType::U32:
            return readValue<std::uint32_t>(bytes);
        case GgufType::I32:
            return readValue<std::int32_t>(bytes);
        case GgufType::U64:
            return readValue<std::uint64_t>(bytes);
        case GgufType::I64:
            return readValue<std::int64_t>(bytes);
        default:
            return 0;
    }
}

/// Pre: isNumber(type).
double realAt(GgufType type, const std::byte* bytes) {
    if (type == GgufType::F32) return readValue<float>(bytes);
    if (type == GgufType::F64) return readValue<double>(bytes);
    return static_cast<double>(wholeAt(type, bytes));
}

/// fmt knows no 128-bit numbers in strict mode; every value here fits one of the two.
std::string wholeText(Wide value) {
    return value < 0 ? fmt::format("{}", static_cast<std::int64_t>(value))
                     : fmt::format("{}", static_cast<std::uint64_t>(value));
}

std::string rangeText(std::int64_t min, std::int64_t max) {
    if (max == std::numeric_limits<std::int64_t>::max()) return fmt::format("at least {}", min);
    return fmt::format("{} to {}", min, max);
}

/// One whole number of an entry, checked.
struct WholeCheck {
    const GgufFile& file;
    const GgufEntry& entry;
    std::int64_t min;
    std::int64_t max;

    Result<std::int64_t> at(GgufType type, std::uint64_t index) const {
        const Wide value = wholeAt(type, entry.value.data() + index * ggufTypeBytes(type));
        if (value >= min && value <= max) return static_cast<std::int64_t>(value);
        const std::string where = entry.type == GgufType::Array ? fmt::format("element {} of ", index) : std::string();
        return file.fault(fmt::format("{}the key '{}' is {}, which is out of range ({})", where,
                                      printableName(entry.key), wholeText(value), rangeText(min, max)));
    }
};

}  // namespace

Error GgufFile::wrongType(const GgufEntry& entry, std::string_view expected) const {
    const std::string actual = entry.type == GgufType::Array ? fmt::format("array of {}", toString(entry.elementType))
                                                             : std::string(toString(entry.type));
    return fault(fmt::format("the key '{}' has the type {}, not {}", printableName(entry.key), actual, expected));
}

Error GgufFile::missing(std::string_view key) const {
    return fault(fmt::format("the key '{}' is missing", printableName(key)));
}

Result<std::optional<std::string_view>> GgufFile::string(std::string_view key) const {
    const GgufEntry* found = entry(key);
    if (found == nullptr) return std::optional<std::string_view>();
    if (found->type != GgufType::String) return wrongType(*found, "string");
    return std::optional(asText(found->value));
}

Result<std::optional<std::int64_t>> GgufFile::integer(std::string_view key, std::int64_t min, std::int64_t max) const {
    const GgufEntry* found = entry(key);
    if (found == nullptr) return std::optional<std::int64_t>();
    if (!isGgufInteger(found->type)) return wrongType(*found, "an integer");
    const auto value = WholeCheck{*this, *found, min, max}.at(found->type, 0);
    if (!value) return value.error();
    return std::optional(*value);
}

Result<std::optional<double>> GgufFile::real(std::string_view key, double min, double max) const {
    const GgufEntry* found = entry(key);
    if (found == nullptr) return std::optional<double>();
    if (!isNumber(found->type)) return wrongType(*found, "a number");
    const double value = realAt(found->type, found->value.data());
    // Negated, so that NaN fails too.
    if (!(value >= min && value <= max) || !std::isfinite(value)) {
        return fault(fmt::format("the key '{}' is {:g}, which is out of range", printableName(key), value));
    }
    return std::optional(value);
}

Result<std::optional<bool>> GgufFile::boolean(std::string_view key) const {
    const GgufEntry* found = entry(key);
    if (found == nullptr) return std::optional<bool>();
    if (found->type != GgufType::Bool && !isGgufInteger(found->type)) return wrongType(*found, "bool");
    const auto value = WholeCheck{*this, *found, 0, 1}.at(found->type, 0);
    if (!value) return value.error();
    return std::optional(*value == 1);
}

Result<const GgufEntry*> GgufFile::arrayEntry(std::string_view key) const {
    const GgufEntry* found = entry(key);
    if (found != nullptr && found->type != GgufType::Array) return wrongType(*found, "an array");
    return found;
}

Result<std::optional<std::vector<std::string_view>>> GgufFile::strings(std::string_view key) const {
    using Strings = std::vector<std::string_view>;
    const auto found = arrayEntry(key);
    if (!found) return found.error();
    if (*found == nullptr) return std::optional<Strings>();
    const GgufEntry& array = **found;
    if (array.elementType != GgufType::String) return wrongType(array, "array of string");
    Strings values;
    values.reserve(static_cast<std::size_t>(array.count));
    ByteCursor cursor(array.value);
    for (std::uint64_t i = 0; i < array.count; ++i) {
        std::uint64_t length = 0;
        std::span<const std::byte> text;
        // Cannot fail: open() walked through the same lengths.
        if (!cursor.read(length) || !cursor.take(length, text)) return wrongType(array, "array of string");
        values.push_back(asText(text));
    }
    return std::optional(std::move(values));
}

Result<std::optional<std::vector<std::int64_t>>> GgufFile::integers(std::string_view key, std::int64_t min,
                                                                    std::int64_t max) const {
    using Integers = std::vector<std::int64_t>;
    const auto found = arrayEntry(key);
    if (!found) return found.error();
    if (*found == nullptr) return std::optional<Integers>();
    const GgufEntry& array = **found;
    if (array.elementType != GgufType::Bool && !isGgufInteger(array.elementType)) {
        return wrongType(array, "array of integers");
    }
    Integers values;
    values.reserve(static_cast<std::size_t>(array.count));
    const WholeCheck check{*this, array, min, max};
    for (std::uint64_t i = 0; i < array.count; ++i) {
        const auto value = check.at(array.elementType, i);
        if (!value) return value.error();
        values.push_back(*value);
    }
    return std::optional(std::move(values));
}

Result<std::optional<std::vector<float>>> GgufFile::reals(std::string_view key) const {
    using Reals = std::vector<float>;
    const auto found = arrayEntry(key);
    if (!found) return found.error();
    if (*found == nullptr) return std::optional<Reals>();
    const GgufEntry& array = **found;
    if (!isNumber(array.elementType)) return wrongType(array, "array of numbers");
    const std::uint64_t step = ggufTypeBytes(array.elementType);
    Reals values;
    values.reserve(static_cast<std::size_t>(array.count));
    for (std::uint64_t i = 0; i < array.count; ++i) {
        const double value = realAt(array.elementType, array.value.data() + i * step);
        if (!(std::abs(value) <= double{std::numeric_limits<float>::max()})) {
            return fault(
                fmt::format("element {} of the key '{}' is {:g}, which is out of range", i, printableName(key), value));
        }
        values.push_back(static_cast<float>(value));
    }
    return std::optional(std::move(values));
}

Result<std::optional<std::vector<std::int64_t>>> GgufFile::perLayer(std::string_view key, std::size_t layers,
                                                                    std::int64_t min, std::int64_t max) const {
    using Integers = std::vector<std::int64_t>;
    const GgufEntry* found = entry(key);
    if (found == nullptr) return std::optional<Integers>();
    if (found->type == GgufType::Array) {
        if (found->count != layers) {
            return fault(
                fmt::format("the key '{}' has {} values for {} layers", printableName(key), found->count, layers));
        }
        return integers(key, min, max);
    }
    if (found->type != GgufType::Bool && !isGgufInteger(found->type))
        return wrongType(*found, "an integer or an array");
    const auto value = WholeCheck{*this, *found, min, max}.at(found->type, 0);
    if (!value) return value.error();
    return std::optional(Integers(layers, *value));
}

Result<std::string_view> GgufFile::requireString(std::string_view key) const {
    const auto value = string(key);
    if (!value) return value.error();
    if (!value->has_value()) return missing(key);
    return **value;
}

Result<std::int64_t> GgufFile::requireInteger(std::string_view key, std::int64_t min, std::int64_t max) const {
    const auto value = integer(key, min, max);
    if (!value) return value.error();
    if (!value->has_value()) return missing(key);
    return **value;
}

Result<double> GgufFile::requireReal(std::string_view key, double min, double max) const {
    const auto value = real(key, min, max);
    if (!value) return value.error();
    if (!value->has_value()) return missing(key);
    return **value;
}

Result<std::vector<std::int64_t>> GgufFile::requirePerLayer(std::string_view key, std::size_t layers, std::int64_t min,
                                                            std::int64_t max) const {
    auto value = perLayer(key, layers, min, max);
    if (!value) return value.error();
    if (!value->has_value()) return missing(key);
    return std::move(**value);
}

}  // namespace firsttoken::engine
