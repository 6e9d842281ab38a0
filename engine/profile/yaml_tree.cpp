#include "engine/profile/yaml_tree.h"

#include <yaml-cpp/eventhandler.h>
#include <yaml-cpp/exceptions.h>
#include <yaml-cpp/parser.h>

#include <algorithm>
#include <exception>
#include <optional>
#include <sstream>
#include <utility>

namespace firsttoken::engine {

namespace {

constexpr std::size_t mostBytes = 1U << 20U;
constexpr std::size_t deepest = 16;
constexpr std::size_t mostNodes = 200'000;

/// Thrown through the YAML parser, caught in readYaml().
struct Refusal : std::exception {
    Refusal(const YAML::Mark& where, std::string why) : mark(where), message(std::move(why)) {}
    const char* what() const noexcept override { return message.c_str(); }
    YAML::Mark mark;
    std::string message;
};

/// Builds the tree from the parser's events, so that nothing is expanded and every key is seen.
class TreeBuilder : public YAML::EventHandler {
public:
    explicit TreeBuilder(YamlNode& root) : m_root(root) {}

    void OnDocumentStart(const YAML::Mark& mark) override {
        if (m_documents++ > 0) throw Refusal(mark, "a profile is one YAML document; a second one starts here");
    }
    void OnDocumentEnd() override {}
    void OnNull(const YAML::Mark& mark, YAML::anchor_t anchor) override {
        refuseAnchor(mark, anchor);
        add(mark, YamlNode::Kind::Null);
    }
    void OnAlias(const YAML::Mark& mark, YAML::anchor_t) override {
        throw Refusal(mark, "aliases (*name) are not allowed in a profile; write the value out");
    }
    void OnScalar(const YAML::Mark& mark, const std::string& tag, YAML::anchor_t anchor,
                  const std::string& value) override {
        refuseAnchor(mark, anchor);
        refuseTag(mark, tag);
        YamlNode& node = add(mark, YamlNode::Kind::Scalar);
        node.text = value;
        node.quoted = tag == "!";
    }
    void OnSequenceStart(const YAML::Mark& mark, const std::string& tag, YAML::anchor_t anchor,
                         YAML::EmitterStyle::value) override {
        open(mark, tag, anchor, YamlNode::Kind::List);
    }
    void OnSequenceEnd() override { close(); }
    void OnMapStart(const YAML::Mark& mark, const std::string& tag, YAML::anchor_t anchor,
                    YAML::EmitterStyle::value) override {
        open(mark, tag, anchor, YamlNode::Kind::Map);
    }
    void OnMapEnd() override { close(); }

private:
    static void refuseAnchor(const YAML::Mark& mark, YAML::anchor_t anchor) {
        if (anchor != 0) throw Refusal(mark, "anchors (&name) are not allowed in a profile; write the value out");
    }
    static void refuseTag(const YAML::Mark& mark, const std::string& tag) {
        if (!tag.empty() && tag != "?" && tag != "!") throw Refusal(mark, "tags (!name) are not allowed in a profile");
    }

    /// The new node under the innermost open one. The reference holds until the next add().
    YamlNode& add(const YAML::Mark& mark, YamlNode::Kind kind) {
        if (++m_nodes > mostNodes) throw Refusal(mark, "the profile holds too many values");
        YamlNode node;
        node.kind = kind;
        node.line = mark.line + 1;
        node.column = mark.column + 1;
        if (m_open.empty()) {
            m_root = std::move(node);
            return m_root;
        }
        YamlNode& parent = *m_open.back();
        const bool isKey = parent.kind == YamlNode::Kind::Map && parent.keys.size() == parent.values.size();
        if (kind == YamlNode::Kind::Null && !isKey && parent.kind == YamlNode::Kind::Map) {
            node.line = parent.keys.back().line;  // the parser marks the token after the missing value
            node.column = parent.keys.back().column;
        }
        auto& siblings = isKey ? parent.keys : parent.values;
        siblings.push_back(std::move(node));
        return siblings.back();
    }
    void open(const YAML::Mark& mark, const std::string& tag, YAML::anchor_t anchor, YamlNode::Kind kind) {
        refuseAnchor(mark, anchor);
        refuseTag(mark, tag);
        if (m_open.size() >= deepest) throw Refusal(mark, "the profile is nested too deeply");
        m_open.push_back(&add(mark, kind));  // stays in place: its siblings come only after it is closed
    }
    void close() { m_open.pop_back(); }

    YamlNode& m_root;
    std::vector<YamlNode*> m_open;
    std::size_t m_nodes = 0;
    int m_documents = 0;
};

/// Length of the valid UTF-8 sequence at the front, 0 if there is none.
std::size_t utf8Length(std::string_view text) {
    const auto byte = [&](std::size_t i) { return static_cast<unsigned char>(text[i]); };
    const unsigned char lead = byte(0);
    if (lead < 0x80) return 1;
    std::size_t length = 0;
    unsigned char low = 0x80;
    unsigned char high = 0xBF;
    if (lead >= 0xC2 && lead <= 0xDF) {
        length = 2;
    } else if (lead >= 0xE0 && lead <= 0xEF) {
        length = 3;
        if (lead == 0xE0) low = 0xA0;
        if (lead == 0xED) high = 0x9F;
    } else if (lead >= 0xF0 && lead <= 0xF4) {
        length = 4;
        if (lead == 0xF0) low = 0x90;
        if (lead == 0xF4) high = 0x8F;
    }
    if (length == 0 || text.size() < length || byte(1) < low || byte(1) > high) return 0;
    for (std::size_t i = 2; i < length; ++i) {
        if ((byte(i) & 0xC0U) != 0x80) return 0;
    }
    return length;
}

/// Error at the first byte that is no UTF-8 text.
std::optional<ProfileError> badText(std::string_view text) {
    int line = 1;
    int column = 1;
    while (!text.empty()) {
        const std::size_t length = utf8Length(text);
        if (length == 0) return ProfileError{line, column, "the profile is not UTF-8 text"};
        if (text.front() == '\0') return ProfileError{line, column, "the profile holds a zero byte; it is no text"};
        if (text.front() == '\n') {
            ++line;
            column = 1;
        } else {
            ++column;
        }
        text.remove_prefix(length);
    }
    return std::nullopt;
}

/// The lines of the text, to turn the parser's byte columns into characters.
class Lines {
public:
    explicit Lines(std::string_view text) {
        while (true) {
            const auto end = text.find('\n');
            m_lines.push_back(text.substr(0, end));
            if (end == std::string_view::npos) break;
            text.remove_prefix(end + 1);
        }
    }
    std::string_view line(int number) const {
        return number >= 1 && static_cast<std::size_t>(number) <= m_lines.size()
                   ? m_lines[static_cast<std::size_t>(number) - 1]
                   : std::string_view();
    }
    int characterColumn(int number, int byteColumn) const {
        const auto before = line(number).substr(0, static_cast<std::size_t>(std::max(0, byteColumn - 1)));
        const auto continuations = std::count_if(
            before.begin(), before.end(), [](char c) { return (static_cast<unsigned char>(c) & 0xC0U) == 0x80; });
        return byteColumn - static_cast<int>(continuations);
    }
    void fix(YamlNode& node) const {
        node.column = characterColumn(node.line, node.column);
        for (YamlNode& key : node.keys) fix(key);
        for (YamlNode& value : node.values) fix(value);
    }
    bool indentedByTab(int number) const {
        const auto text = line(number);
        const auto indent = text.substr(0, text.find_first_not_of(" \t"));
        return indent.find('\t') != std::string_view::npos;
    }

private:
    std::vector<std::string_view> m_lines;
};

ProfileError errorAt(const Lines& lines, const YAML::Mark& mark, std::string message) {
    const int line = std::max(1, mark.line + 1);
    return {line, lines.characterColumn(line, std::max(1, mark.column + 1)), std::move(message)};
}

ProfileError syntaxError(const Lines& lines, const YAML::Exception& exception) {
    for (const int line : {exception.mark.line + 1, exception.mark.line}) {
        if (lines.indentedByTab(line)) return {line, 1, "a tab indents this line; YAML wants spaces"};
    }
    return errorAt(lines, exception.mark, "this is not valid YAML: " + exception.msg);
}

}  // namespace

YamlTree readYaml(std::string_view text) {
    constexpr std::string_view byteOrderMark = "\xEF\xBB\xBF";
    if (text.starts_with(byteOrderMark)) text.remove_prefix(byteOrderMark.size());
    YamlTree tree;
    if (text.size() > mostBytes) {
        tree.errors.push_back({1, 1, "the profile is larger than 1 MiB"});
        return tree;
    }
    if (auto bad = badText(text)) {
        tree.errors.push_back(std::move(*bad));
        return tree;
    }
    const Lines lines(text);
    try {
        std::istringstream stream{std::string(text)};
        YAML::Parser parser(stream);
        TreeBuilder builder(tree.root);
        while (parser.HandleNextDocument(builder)) {
        }
        lines.fix(tree.root);
    } catch (const Refusal& refusal) {
        tree.errors.push_back(errorAt(lines, refusal.mark, refusal.message));
    } catch (const YAML::Exception& exception) {
        tree.errors.push_back(syntaxError(lines, exception));
    } catch (const std::exception& exception) {
        tree.errors.push_back({1, 1, std::string("the profile cannot be read: ") + exception.what()});
    }
    if (!tree.errors.empty()) tree.root = {};
    return tree;
}

}  // namespace firsttoken::engine
