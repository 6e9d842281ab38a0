#include "sessions/load/json_tree.h"

#include <fmt/format.h>

#include <cstddef>
#include <iterator>
#include <nlohmann/json.hpp>

namespace firsttoken::sessions {

using engine::Error;
using engine::ErrorCode;
using engine::Result;

namespace {

constexpr std::size_t mostBytes = 1U << 20U;
constexpr std::size_t mostDepth = 32;

struct Place {
    int line = 1, column = 1;
};

Place placeOf(std::string_view text, std::size_t offset) {
    Place place;
    for (const char c : text.substr(0, offset)) {
        if (c == '\n') {
            ++place.line;
            place.column = 1;
        } else {
            ++place.column;
        }
    }
    return place;
}

/// Bytes of the text, telling how many the parser has taken.
class CountingIterator {
public:
    using iterator_category = std::input_iterator_tag;
    using value_type = char;
    using difference_type = std::ptrdiff_t;
    using pointer = const char*;
    using reference = const char&;

    CountingIterator(const char* at, std::size_t* taken) : m_at(at), m_taken(taken) {}
    reference operator*() const { return *m_at; }
    CountingIterator& operator++() {
        ++m_at;
        ++*m_taken;
        return *this;
    }
    bool operator==(const CountingIterator& other) const { return m_at == other.m_at; }

private:
    const char* m_at;
    std::size_t* m_taken;
};

/// Builds the tree as the parser tells it. The names are the library's.
class TreeBuilder {
public:
    explicit TreeBuilder(std::string_view text) : m_text(text) {}

    std::size_t* taken() { return &m_taken; }
    std::optional<Error>& fault() { return m_fault; }
    JsonNode& root() { return m_root; }

    bool null() { return add({}); }
    bool boolean(bool value) {
        JsonNode node;
        node.kind = JsonNode::Kind::Boolean;
        node.boolean = value;
        return add(std::move(node));
    }
    bool number_integer(std::int64_t value) { return addNumber(static_cast<double>(value), std::nullopt); }
    bool number_unsigned(std::uint64_t value) { return addNumber(static_cast<double>(value), value); }
    bool number_float(double value, const std::string&) { return addNumber(value, std::nullopt); }
    bool string(std::string& value) {
        JsonNode node;
        node.kind = JsonNode::Kind::Text;
        node.text = std::move(value);
        return add(std::move(node));
    }
    bool binary(nlohmann::json::binary_t&) { return false; }
    bool start_object(std::size_t) { return open(JsonNode::Kind::Object); }
    bool start_array(std::size_t) { return open(JsonNode::Kind::Array); }
    bool end_object() { return close(); }
    bool end_array() { return close(); }

    bool key(std::string& name) {
        m_keyPlace = placeOf(m_text, keyStart());
        if (m_open.back()->find(name) != nullptr) {
            return fail(fmt::format("\"{}\" is given twice", name), m_keyPlace);
        }
        m_key = std::move(name);
        return true;
    }
    bool parse_error(std::size_t position, const std::string&, const nlohmann::detail::exception& fault) {
        std::string_view what = fault.what();
        const std::size_t start = what.find(": ");
        if (start != what.npos) what.remove_prefix(start + 2);
        return fail(std::string(what), placeOf(m_text, position > 0 ? position - 1 : 0));
    }

private:
    /// Where the key that was just read begins: its opening quote.
    std::size_t keyStart() const {
        std::size_t at = m_taken >= 2 ? m_taken - 2 : 0;  // the byte before the closing quote
        for (; at > 0; --at) {
            if (m_text[at] != '"') continue;
            std::size_t backslashes = 0;
            while (backslashes < at && m_text[at - 1 - backslashes] == '\\') ++backslashes;
            if (backslashes % 2 == 0) break;
        }
        return at;
    }
    bool fail(std::string message, Place place) {
        m_fault = Error{ErrorCode::BadInput, std::move(message), place.line, place.column};
        return false;
    }
    bool addNumber(double value, std::optional<std::uint64_t> whole) {
        JsonNode node;
        node.kind = JsonNode::Kind::Number;
        node.number = value;
        node.whole = whole;
        return add(std::move(node));
    }
    bool add(JsonNode node) { return place(std::move(node)) != nullptr; }
    JsonNode* place(JsonNode node) {
        node.line = m_keyPlace.line;
        node.column = m_keyPlace.column;
        if (m_open.empty()) {
            m_root = std::move(node);
            return &m_root;
        }
        JsonNode& parent = *m_open.back();
        if (parent.kind == JsonNode::Kind::Array) return &parent.elements.emplace_back(std::move(node));
        return &parent.members.emplace_back(std::move(m_key), std::move(node)).second;
    }
    bool open(JsonNode::Kind kind) {
        if (m_open.size() == mostDepth) {
            return fail(fmt::format("nested deeper than {}", mostDepth), placeOf(m_text, m_taken));
        }
        JsonNode node;
        node.kind = kind;
        m_open.push_back(place(std::move(node)));
        return true;
    }
    bool close() {
        m_open.pop_back();
        return true;
    }

    std::string_view m_text;
    std::size_t m_taken = 0;
    JsonNode m_root;
    std::vector<JsonNode*> m_open;  ///< only the last one's children are added to, so the others stay in place
    std::string m_key;
    Place m_keyPlace;
    std::optional<Error> m_fault;
};

}  // namespace

const JsonNode* JsonNode::find(std::string_view key) const {
    for (const auto& [name, node] : members) {
        if (name == key) return &node;
    }
    return nullptr;
}

Result<JsonNode> parseJsonTree(std::string_view text) {
    if (text.size() > mostBytes) return Error{ErrorCode::BadInput, "more than 1 MiB of JSON"};
    if (const std::size_t zero = text.find('\0'); zero != text.npos) {  // the library would take it for the end
        const Place place = placeOf(text, zero);
        return Error{ErrorCode::BadInput, "a zero byte", place.line, place.column};
    }
    TreeBuilder builder(text);
    CountingIterator begin(text.data(), builder.taken());
    CountingIterator end(text.data() + text.size(), builder.taken());
    bool parsed = false;
    try {
        parsed = nlohmann::json::sax_parse(begin, end, &builder);
    } catch (const nlohmann::json::exception& fault) {
        return Error{ErrorCode::BadInput, fault.what()};
    }
    if (builder.fault()) return *builder.fault();
    if (!parsed) return Error{ErrorCode::BadInput, "not JSON"};
    return std::move(builder.root());
}

}  // namespace firsttoken::sessions
