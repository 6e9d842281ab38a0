#include "engine/profile/scalars.h"

#include <algorithm>
#include <array>
#include <charconv>
#include <cmath>
#include <vector>

namespace firsttoken::engine {

namespace {

Error bad(std::string phrase) { return {ErrorCode::BadInput, std::move(phrase)}; }

bool isDigit(char c) { return c >= '0' && c <= '9'; }

Error notWhole(std::string_view text) {
    return bad("must be a whole number in plain digits (as 4096), not " + quotedWord(text));
}

template <class Number>
Result<Number> parseWhole(std::string_view text) {
    std::string_view digits = text;
    if (digits.starts_with('-')) digits.remove_prefix(1);
    if (digits.empty() || !std::all_of(digits.begin(), digits.end(), isDigit)) return notWhole(text);
    if (digits.size() > 1 && digits.front() == '0') {
        return bad("must not start with a zero (some programs read " + quotedWord(text) + " as octal)");
    }
    Number value = 0;
    const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
    if (error == std::errc::result_out_of_range) return bad("is out of range: " + quotedWord(text));
    if (error != std::errc() || end != text.data() + text.size()) {
        return std::is_unsigned_v<Number> ? bad("must not be negative, as " + quotedWord(text) + " is")
                                          : notWhole(text);
    }
    return value;
}

std::string_view withoutBlanks(std::string_view text) {
    while (!text.empty() && text.front() == ' ') text.remove_prefix(1);
    while (!text.empty() && text.back() == ' ') text.remove_suffix(1);
    return text;
}

/// Takes the longest run of what `belongs` accepts from the front.
template <class Predicate>
std::string_view take(std::string_view& text, Predicate belongs) {
    text = withoutBlanks(text);
    const auto end = static_cast<std::size_t>(std::find_if_not(text.begin(), text.end(), belongs) - text.begin());
    const std::string_view taken = text.substr(0, end);
    text.remove_prefix(end);
    text = withoutBlanks(text);
    return taken;
}

bool isLetter(char c) { return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z'); }
bool isNumeric(char c) { return isDigit(c) || c == '.'; }

struct ByteUnit {
    std::string_view name;
    std::uint64_t bytes;
};
constexpr std::array<ByteUnit, 9> byteUnits{{{"B", 1},
                                             {"kB", 1000},
                                             {"KiB", 1ULL << 10U},
                                             {"MB", 1'000'000},
                                             {"MiB", 1ULL << 20U},
                                             {"GB", 1'000'000'000},
                                             {"GiB", 1ULL << 30U},
                                             {"TB", 1'000'000'000'000},
                                             {"TiB", 1ULL << 40U}}};

/// A decimal number as digits and the place of its point: the value is 0.DIGITS * 10^exponent.
struct Digits {
    std::string digits;
    int exponent = 0;
};

Digits digitsOf(double value) {
    std::array<char, 40> buffer;
    const auto end =
        std::to_chars(buffer.data(), buffer.data() + buffer.size(), value, std::chars_format::scientific).ptr;
    const std::string_view text(buffer.data(), static_cast<std::size_t>(end - buffer.data()));
    Digits result;
    const auto e = text.find('e');
    for (const char c : text.substr(0, e)) {
        if (isDigit(c)) result.digits += c;
    }
    std::string_view exponent = text.substr(e + 1);
    if (exponent.starts_with('+')) exponent.remove_prefix(1);
    std::from_chars(exponent.data(), exponent.data() + exponent.size(), result.exponent);
    ++result.exponent;
    return result;
}

std::string fixedText(const Digits& number) {
    const int count = static_cast<int>(number.digits.size());
    if (number.exponent <= 0)
        return "0." + std::string(static_cast<std::size_t>(-number.exponent), '0') + number.digits;
    if (number.exponent >= count) {
        return number.digits + std::string(static_cast<std::size_t>(number.exponent - count), '0');
    }
    const auto point = static_cast<std::size_t>(number.exponent);
    return number.digits.substr(0, point) + "." + number.digits.substr(point);
}

constexpr std::array<std::string_view, 5> sloMetrics{"ttft", "itl", "tpot", "e2e", "queue"};

}  // namespace

Result<std::int64_t> parseInteger(std::string_view text) { return parseWhole<std::int64_t>(text); }

Result<std::uint64_t> parseUnsigned(std::string_view text) { return parseWhole<std::uint64_t>(text); }

Result<double> parseDecimal(std::string_view text) {
    std::string_view digits = text;
    if (digits.starts_with('-')) digits.remove_prefix(1);
    double value = 0;
    const bool startsWell = !digits.empty() && isNumeric(digits.front());  // from_chars also reads inf and nan
    const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
    if (!startsWell || end != text.data() + text.size() || error == std::errc::invalid_argument) {
        return bad("must be a number (as 0.7), not " + quotedWord(text));
    }
    if (error == std::errc::result_out_of_range || !std::isfinite(value))
        return bad("is out of range: " + quotedWord(text));
    if (digits.size() > 1 && digits[0] == '0' && isDigit(digits[1])) {
        return bad("must not start with a zero (some programs read " + quotedWord(text) + " as octal)");
    }
    return value;
}

Result<bool> parseBool(std::string_view text) {
    for (const std::string_view yes : {"true", "True", "TRUE"}) {
        if (text == yes) return true;
    }
    for (const std::string_view no : {"false", "False", "FALSE"}) {
        if (text == no) return false;
    }
    return bad("must be true or false, not " + quotedWord(text));
}

Result<std::uint64_t> parseBytes(std::string_view text) {
    std::string_view rest = text;
    const std::string_view number = take(rest, isNumeric);
    const std::string_view name = rest.empty() ? std::string_view("B") : rest;
    const auto unit =
        std::find_if(byteUnits.begin(), byteUnits.end(), [&](const ByteUnit& u) { return u.name == name; });
    if (number.empty() || unit == byteUnits.end()) {
        return bad("must be bytes (as 4 GiB, 512 MiB or 1073741824), not " + quotedWord(text));
    }
    if (number.find('.') == std::string_view::npos) {
        const auto whole = parseUnsigned(number);
        if (!whole) return whole.error();
        if (*whole > UINT64_MAX / unit->bytes) return bad("is out of range: " + quotedWord(text));
        return *whole * unit->bytes;
    }
    const auto decimal = parseDecimal(number);
    if (!decimal) return decimal.error();
    const double bytes = *decimal * static_cast<double>(unit->bytes);
    if (bytes >= 0x1p63) return bad("is out of range: " + quotedWord(text));
    if (bytes != std::floor(bytes))
        return bad("must be a whole number of bytes, which " + quotedWord(text) + " is not");
    return static_cast<std::uint64_t>(bytes);
}

Result<SloTarget> parseSloTarget(std::string_view text) {
    const Error wrong =
        bad("must read as 'ttft p95 <= 650 ms' (ttft, itl, tpot, e2e or queue), not " + quotedWord(text));
    std::string_view rest = text;
    SloTarget target;
    target.metric = take(rest, [](char c) { return isLetter(c) || isDigit(c); });
    if (std::find(sloMetrics.begin(), sloMetrics.end(), target.metric) == sloMetrics.end()) return wrong;
    if (!rest.starts_with('p')) return wrong;
    rest.remove_prefix(1);
    const std::string_view percent = take(rest, isNumeric);
    const auto quantile = parseDecimal(std::string(percent) + "e-2");  // exact, where a division would round twice
    bool compares = false;
    for (const std::string_view sign : {"<=", "\xE2\x89\xA4"}) {
        if (compares || !rest.starts_with(sign)) continue;
        rest.remove_prefix(sign.size());
        compares = true;
    }
    const std::string_view limit = take(rest, isNumeric);
    const auto value = rest == "s" ? parseDecimal(std::string(limit) + "e3") : parseDecimal(limit);
    if (percent.empty() || !quantile || !compares || !value || (rest != "ms" && rest != "s")) return wrong;
    if (!(*quantile > 0 && *quantile < 1))
        return bad("needs a percentile above p0 and below p100, not " + quotedWord(text));
    if (!(*value > 0 && *value <= 86'400'000))
        return bad("needs a limit above 0 and up to a day, not " + quotedWord(text));
    target.quantile = *quantile;
    target.limitMs = *value;
    return target;
}

std::string decimalText(double value) {
    std::array<char, 40> buffer;
    const auto end = std::to_chars(buffer.data(), buffer.data() + buffer.size(), value).ptr;
    return std::string(buffer.data(), end);
}

std::string bytesText(std::uint64_t bytes) {
    for (const std::string_view name : {"TiB", "GiB", "MiB", "KiB"}) {
        const auto unit =
            std::find_if(byteUnits.begin(), byteUnits.end(), [&](const ByteUnit& u) { return u.name == name; });
        if (bytes != 0 && bytes % unit->bytes == 0)
            return std::to_string(bytes / unit->bytes) + " " + std::string(name);
    }
    return std::to_string(bytes);
}

std::string sloTargetText(const SloTarget& target) {
    Digits percent = digitsOf(target.quantile);
    percent.exponent += 2;
    return target.metric + " p" + fixedText(percent) + " <= " + fixedText(digitsOf(target.limitMs)) + " ms";
}

std::string quotedText(std::string_view text) {
    constexpr std::string_view hex = "0123456789abcdef";
    std::string result = "\"";
    for (const char c : text) {
        const auto byte = static_cast<unsigned char>(c);
        if (c == '"' || c == '\\') {
            result += '\\';
            result += c;
        } else if (c == '\n') {
            result += "\\n";
        } else if (c == '\t') {
            result += "\\t";
        } else if (byte < 0x20 || byte == 0x7F) {
            result += "\\u00";
            result += hex[byte >> 4U];
            result += hex[byte & 0xFU];
        } else {
            result += c;
        }
    }
    return result + "\"";
}

std::string quotedWord(std::string_view text) {
    constexpr std::size_t most = 48;
    std::size_t end = std::min(text.size(), most);
    while (end < text.size() && end > 0 && (static_cast<unsigned char>(text[end]) & 0xC0U) == 0x80) --end;
    std::string result = "'";  // appended to: g++ 12 warns falsely about "'" + std::string at -O3
    for (const char c : text.substr(0, end)) result += static_cast<unsigned char>(c) < 0x20 ? ' ' : c;
    result += end < text.size() ? "...'" : "'";
    return result;
}

std::size_t editDistance(std::string_view a, std::string_view b) {
    constexpr std::size_t longest = 64;  // no key is longer: such words are not slips
    if (a.size() > longest || b.size() > longest) return std::max(a.size(), b.size());
    std::vector<std::size_t> row(b.size() + 1);
    for (std::size_t j = 0; j <= b.size(); ++j) row[j] = j;
    for (std::size_t i = 1; i <= a.size(); ++i) {
        std::size_t diagonal = row[0];
        row[0] = i;
        for (std::size_t j = 1; j <= b.size(); ++j) {
            const std::size_t replaced = diagonal + (a[i - 1] == b[j - 1] ? 0 : 1);
            diagonal = row[j];
            row[j] = std::min({row[j] + 1, row[j - 1] + 1, replaced});
        }
    }
    return row[b.size()];
}

}  // namespace firsttoken::engine
