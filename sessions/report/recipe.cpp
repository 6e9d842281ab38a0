#include "sessions/report/recipe.h"

#include <fmt/format.h>

#include <algorithm>
#include <map>

#include "sessions/load/json_tree.h"
#include "sessions/load/workload.h"
#include "sessions/report/quantities.h"

namespace firsttoken::sessions {

namespace {

constexpr std::size_t mostLeaves = 500;
constexpr std::size_t mostCharacters = 2000;  ///< of one value

std::string leafText(const JsonNode& node) {
    switch (node.kind) {
        case JsonNode::Kind::Boolean:
            return node.boolean ? "true" : "false";
        case JsonNode::Kind::Number:
            return node.whole ? std::to_string(*node.whole) : fmt::format("{}", node.number);
        case JsonNode::Kind::Text:
            return node.text;
        case JsonNode::Kind::Object:
            return "{}";
        case JsonNode::Kind::Array: {
            std::string list;
            for (const JsonNode& element : node.elements) {
                if (list.size() > mostCharacters) return list + ", …";
                list += (list.empty() ? "" : ", ") + leafText(element);
            }
            return list.empty() ? "[]" : list;
        }
        case JsonNode::Kind::Null:
            break;
    }
    return "not set";
}

using Leaves = std::vector<std::pair<std::string, std::string>>;

/// Depth is bounded by parseJsonTree().
void flatten(const JsonNode& node, const std::string& key, Leaves& leaves) {
    if (leaves.size() > mostLeaves) return;
    const bool holdsObjects = node.kind == JsonNode::Kind::Array &&
                              std::any_of(node.elements.begin(), node.elements.end(),
                                          [](const auto& e) { return e.kind == JsonNode::Kind::Object; });
    const std::string dot = key.empty() ? "" : ".";
    if (node.kind == JsonNode::Kind::Object && !node.members.empty()) {
        for (const auto& [name, member] : node.members) flatten(member, key + dot + name, leaves);
    } else if (holdsObjects) {
        std::size_t index = 0;
        for (const JsonNode& element : node.elements) flatten(element, key + dot + std::to_string(++index), leaves);
    } else if (leaves.size() == mostLeaves) {
        leaves.emplace_back("…", "…");
    } else {
        leaves.emplace_back(key, shortened(leafText(node), mostCharacters));
    }
}

class RecipeWriter {
public:
    RecipeWriter(Markup& html, const SessionHeader& header) : m_html(html), m_header(header) {}

    void model() {
        begin("Model");
        row("name", m_header.modelName);
        row("file", m_header.modelPath.substr(m_header.modelPath.rfind('/') + 1));
        row("architecture", m_header.architecture);
        row("format", m_header.modelFormat);
        row("size", m_header.modelBytes == 0 ? "" : formatBytes(m_header.modelBytes));
        row("sha256", m_header.modelHash);
        end();
    }
    /// Keys of both profiles, in the order of the effective one.
    void profile() {
        const Leaves requested = flattened(m_header.requestedProfile);
        Leaves effective = flattened(m_header.effectiveProfile);
        const std::map<std::string, std::string> asked(requested.begin(), requested.end());
        const auto has = [&](const std::string& key) {
            return std::any_of(effective.begin(), effective.end(), [&](const auto& leaf) { return leaf.first == key; });
        };
        for (const auto& [key, value] : requested) {
            if (!has(key)) effective.emplace_back(key, "");
        }
        m_html.element("h4", m_header.profileName.empty() ? "Profile" : "Profile " + m_header.profileName);
        if (effective.size() == 1 && effective.front().first.empty() && effective.front().second.empty()) {
            m_html.element("p", notMeasured, {{"class", "note"}});
            return;
        }
        m_html.open("div", {{"class", "scroll"}}).open("table", {{"class", "recipe"}}).open("thead").open("tr");
        for (const char* name : {"key", "requested", "effective"}) m_html.element("th", name, {{"scope", "col"}});
        m_html.close().close().open("tbody");
        for (const auto& [key, value] : effective) {
            const auto found = asked.find(key);
            const std::string wanted = found == asked.end() ? "" : found->second;
            m_html.open("tr", {{"class", wanted == value ? "" : "changed"}});
            m_html.element("th", key, {{"scope", "row"}}).element("td", wanted).element("td", value).close();
        }
        m_html.close().close().close();
    }
    void changes() {
        const auto tree = parseJsonTree(m_header.profileChanges);
        if (!tree || tree->kind != JsonNode::Kind::Array || tree->elements.empty()) return;
        m_html.element("h4", "What the engine changed, and why").open("ul");
        std::size_t count = 0;
        for (const JsonNode& change : tree->elements) {
            if (++count > mostLeaves) break;
            const auto part = [&](std::string_view key) {
                const JsonNode* node = change.find(key);
                return node == nullptr ? std::string("?") : shortened(leafText(*node), mostCharacters);
            };
            m_html.open("li").element("code", part("key")).text(": " + part("requested") + " → " + part("effective"));
            m_html.element("span", part("reason"), {{"class", "note"}}).close();
        }
        m_html.close();
    }
    void workload() {
        if (m_header.workload.empty() && !m_header.seed) return;
        const auto parsed = parseWorkload(m_header.workload);
        if (parsed) {
            m_html.element("h4", "Workload").element("p", describeWorkload(*parsed));
            m_html.element("pre", toJson(*parsed, 2));
        } else {
            table("Workload", m_header.workload);
        }
        m_html.element("p", "Seed: " + (m_header.seed ? std::to_string(*m_header.seed) : std::string("not set")));
    }
    void machine() {
        begin("Machine and build");
        for (const auto& [key, value] : flattened(m_header.machine)) {
            const auto bytes = parsedNumber(value);
            row(key.empty() ? "machine" : key, key == "memory_bytes" && bytes ? formatBytes(*bytes) : value);
        }
        row("build of the program", m_header.build);
        row("arithmetic", m_header.arithmetic);
        row("instruction set", m_header.isa);
        row("GPU driver", m_header.driver.empty() ? "none" : m_header.driver);
        end();
    }

private:
    static std::optional<std::uint64_t> parsedNumber(const std::string& text) {
        const auto tree = parseJsonTree(text);
        return tree ? tree->whole : std::nullopt;
    }
    void begin(std::string_view title) {
        m_html.element("h4", title);
        m_html.open("div", {{"class", "scroll"}}).open("table", {{"class", "recipe"}}).open("tbody");
    }
    void row(std::string_view key, std::string_view value) {
        m_html.open("tr").element("th", key, {{"scope", "row"}});
        m_html.element("td", value.empty() ? "not known" : shortened(value, mostCharacters)).close();
    }
    void end() { m_html.close().close().close(); }
    void table(std::string_view title, std::string_view json) {
        begin(title);
        for (const auto& [key, value] : flattened(json)) row(key.empty() ? "text" : key, value);
        end();
    }

    Markup& m_html;
    const SessionHeader& m_header;
};

}  // namespace

Leaves flattened(std::string_view json) {
    const auto tree = parseJsonTree(json);
    if (!tree) return {{"", shortened(json, mostCharacters)}};
    Leaves leaves;
    flatten(*tree, "", leaves);
    return leaves;
}

void writeRecipe(Markup& html, const SessionView& view) {
    RecipeWriter writer(html, view.data->header);
    html.open("div", {{"class", "recipes"}});
    writer.model();
    writer.profile();
    writer.changes();
    writer.workload();
    writer.machine();
    html.close();
}

}  // namespace firsttoken::sessions
