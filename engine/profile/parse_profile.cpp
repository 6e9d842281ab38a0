#include <algorithm>
#include <cmath>
#include <unordered_map>
#include <unordered_set>
#include <utility>

#include "engine/profile/scalars.h"
#include "engine/profile/settings.h"
#include "engine/profile/yaml_tree.h"

namespace firsttoken::engine {

namespace {

constexpr std::size_t mostErrors = 100;

std::string joined(std::span<const std::string_view> words) {
    std::string text;
    for (const std::string_view word : words) text += (text.empty() ? "" : ", ") + std::string(word);
    return text;
}

std::string rangeText(double least, double most) {
    return "must be from " + decimalText(least) + " to " + decimalText(most);
}

/// Reads values into a profile and notes every fault.
class Reader {
public:
    explicit Reader(ParsedProfile& result) : m_result(result) {}

    void readRoot(const YamlNode& root);

private:
    friend struct ValueReader;

    void fail(const YamlNode& at, std::string message);
    /// Calls use(key, value) for every well-formed key of a map, first ones only.
    template <class Use>
    void eachKey(const YamlNode& map, Use use);
    void readSection(const YamlNode& name, const YamlNode& section);
    void readKey(std::string_view section, const YamlNode& key, const YamlNode& value);
    void unknownSection(const YamlNode& name);
    void unknownKey(std::string_view section, const YamlNode& key);

    ParsedProfile& m_result;
};

/// Reads one value by its kind of field.
struct ValueReader {
    Reader& reader;
    const Setting& setting;
    const YamlNode& node;
    Profile& profile;

    void fail(const std::string& phrase) const { failAt(node, phrase); }
    void failAt(const YamlNode& at, const std::string& phrase) const {
        reader.fail(at, dottedName(setting) + " " + phrase);
    }
    bool isUnset(std::string_view word) const {
        const bool isWord = node.kind == YamlNode::Kind::Scalar && !node.quoted && node.text == word;
        return isWord || node.kind == YamlNode::Kind::Null;
    }
    /// The plain scalar's text; notes a fault and gives null otherwise.
    const std::string* plain(const YamlNode& at, const std::string& wanted) const {
        if (at.kind == YamlNode::Kind::Null) {
            failAt(at, "has no value; it must be " + wanted);
        } else if (at.kind != YamlNode::Kind::Scalar) {
            failAt(at, "must be " + wanted + ", not a " + (at.kind == YamlNode::Kind::List ? "list" : "map"));
        } else if (at.quoted) {
            failAt(at, "must be " + wanted + ", not a text in quotes");
        } else {
            return &at.text;
        }
        return nullptr;
    }
    template <class Parse>
    auto parsed(const YamlNode& at, const std::string& wanted, Parse parse) const
        -> std::optional<std::decay_t<decltype(*parse(std::string_view()))>> {
        const std::string* text = plain(at, wanted);
        if (text == nullptr) return std::nullopt;
        auto value = parse(std::string_view(*text));
        if (value) return *value;
        failAt(at, value.error().message);
        return std::nullopt;
    }
    std::string orWord(const std::string& wanted, std::string_view word) const {
        return wanted + " or " + std::string(word);
    }

    void operator()(const BoolField& f) const {
        if (const auto value = parsed(node, "true or false", parseBool)) f.at(profile) = *value;
    }
    void operator()(const OptionalBoolField& f) const {
        if (isUnset(f.unset)) {
            f.at(profile).reset();
        } else if (const auto value = parsed(node, orWord("true, false", f.unset), parseBool)) {
            f.at(profile) = *value;
        }
    }
    void operator()(const IntegerField& f) const {
        const auto value = parsed(node, "a whole number", parseInteger);
        if (!value) return;
        if (!f.allowed.empty() && std::find(f.allowed.begin(), f.allowed.end(), *value) == f.allowed.end()) {
            std::string list;
            for (const std::int64_t allowed : f.allowed) list += (list.empty() ? "" : ", ") + std::to_string(allowed);
            fail("must be one of " + list + ", not " + std::to_string(*value));
        } else if (inRange(*value, f.least, f.most)) {
            f.at(profile) = *value;
        }
    }
    void operator()(const OptionalIntegerField& f) const {
        if (isUnset(f.unset)) {
            f.at(profile).reset();
            return;
        }
        const auto value = parsed(node, orWord("a whole number", f.unset), parseInteger);
        if (value && inRange(*value, f.least, f.most)) f.at(profile) = *value;
    }
    bool inRange(std::int64_t value, std::int64_t least, std::int64_t most) const {
        if (value >= least && value <= most) return true;
        fail("must be from " + std::to_string(least) + " to " + std::to_string(most) + ", not " +
             std::to_string(value));
        return false;
    }
    void operator()(const SeedField& f) const {
        if (isUnset(f.unset)) {
            f.at(profile).reset();
        } else if (const auto value = parsed(node, orWord("a whole number", f.unset), parseUnsigned)) {
            f.at(profile) = *value;
        }
    }
    void operator()(const BytesField& f) const {
        if (isUnset(f.unset)) {
            f.at(profile).reset();
            return;
        }
        const auto value = parsed(node, orWord("bytes", f.unset), parseBytes);
        if (!value) return;
        if (*value == 0) return fail("must be more than 0 bytes");
        f.at(profile) = *value;
    }
    void operator()(const NumberField& f) const {
        const auto value = parsed(node, "a number", parseDecimal);
        if (!value) return;
        if (*value < f.least || *value > f.most) {
            return fail(rangeText(f.least, f.most) + ", not " + decimalText(*value));
        }
        f.at(profile) = *value;
    }
    void operator()(const OptionalNumberField& f) const {
        if (isUnset(f.unset)) {
            f.at(profile).reset();
            return;
        }
        const auto value = parsed(node, orWord("a number", f.unset), parseDecimal);
        if (!value) return;
        if (*value < f.least || (*value == f.least && !f.leastToo)) {
            return fail("must be " + std::string(f.leastToo ? "at least " : "more than ") + decimalText(f.least) +
                        ", not " + decimalText(*value));
        }
        if (*value > f.most) return fail("must be at most " + decimalText(f.most) + ", not " + decimalText(*value));
        f.at(profile) = *value;
    }
    void operator()(const TextField& f) const {
        if (node.kind == YamlNode::Kind::Null) {
            f.at(profile).reset();
        } else if (node.kind != YamlNode::Kind::Scalar) {
            fail("must be a text");
        } else if (node.text.empty()) {
            fail("is an empty text; write null to leave it unset");
        } else if (node.text.size() > f.longest) {
            fail("is longer than " + std::to_string(f.longest) + " bytes");
        } else {
            f.at(profile) = node.text;
        }
    }
    void operator()(const ChoiceField& f) const {
        if (node.kind != YamlNode::Kind::Scalar) return fail("must be one of " + joined(f.names));
        const auto found = std::find(f.names.begin(), f.names.end(), node.text);
        if (found != f.names.end()) return f.set(profile, static_cast<std::size_t>(found - f.names.begin()));
        const auto near = nearestWord(node.text, f.names);
        fail("must be one of " + joined(f.names) + ", not " + quotedWord(node.text) +
             (near.empty() ? "" : "; did you mean " + quotedWord(near) + "?"));
    }
    void operator()(const TargetsField&) const {
        if (isUnset("none")) {
            profile.slo.targets.clear();
            return;
        }
        if (node.kind != YamlNode::Kind::List) return fail("must be a list, as [ttft p95 <= 650 ms]");
        if (node.values.size() > mostTargets)
            return fail("holds more than " + std::to_string(mostTargets) + " targets");
        std::vector<SloTarget> targets;
        for (const YamlNode& item : node.values) {
            if (item.kind != YamlNode::Kind::Scalar) {
                failAt(item, "holds something that is no text; a target reads as 'ttft p95 <= 650 ms'");
                continue;
            }
            const auto target = parseSloTarget(item.text);
            if (!target) {
                failAt(item, target.error().message);
                continue;
            }
            const bool twice = std::any_of(targets.begin(), targets.end(), [&](const SloTarget& other) {
                return other.metric == target->metric && other.quantile == target->quantile;
            });
            if (twice) failAt(item, "limits the same quantile twice: " + quotedWord(item.text));
            if (!twice) targets.push_back(*target);
        }
        profile.slo.targets = std::move(targets);
    }
    void operator()(const LogitBiasField&) const {
        if (node.kind == YamlNode::Kind::Null) {
            profile.sampling.logitBias.clear();
            return;
        }
        if (node.kind != YamlNode::Kind::Map) return fail("must be a map, as {50256: -100}");
        std::map<std::int32_t, double> biases;
        reader.eachKey(node, [&](const YamlNode& key, const YamlNode& value) {
            const auto id = parseInteger(key.text);
            if (!id || *id < 0 || *id > mostTokenId) {
                return failAt(key, "needs token ids as keys, which " + quotedWord(key.text) + " is not");
            }
            const auto bias = parsed(value, "a map of numbers", parseDecimal);
            if (!bias) return;
            if (std::abs(*bias) > mostBias) {
                return failAt(value, rangeText(-mostBias, mostBias) + ", not " + decimalText(*bias));
            }
            biases[static_cast<std::int32_t>(*id)] = *bias;
        });
        profile.sampling.logitBias = std::move(biases);
    }
};

void Reader::fail(const YamlNode& at, std::string message) {
    auto& errors = m_result.errors;
    if (errors.size() < mostErrors) {
        errors.push_back({at.line, at.column, std::move(message)});
    } else if (errors.size() == mostErrors) {
        errors.push_back({at.line, at.column, "more faults follow; only the first 100 are listed"});
    }
}

template <class Use>
void Reader::eachKey(const YamlNode& map, Use use) {
    std::unordered_map<std::string_view, int> lines;
    for (std::size_t i = 0; i < map.keys.size(); ++i) {
        const YamlNode& key = map.keys[i];
        if (key.kind != YamlNode::Kind::Scalar || key.text.empty()) {
            fail(key, "a key must be a word");
            continue;
        }
        const auto [place, fresh] = lines.try_emplace(key.text, key.line);
        if (!fresh) {
            fail(key, "key " + quotedWord(key.text) + " is given twice; the first is on line " +
                          std::to_string(place->second));
            continue;
        }
        use(key, map.values[i]);
    }
}

void Reader::readRoot(const YamlNode& root) {
    if (root.kind == YamlNode::Kind::Null) return;  // an empty profile is the default
    if (root.kind != YamlNode::Kind::Map) {
        const std::string what = root.kind == YamlNode::Kind::List ? "a list" : "a single text";
        fail(root, "a profile holds sections (model:, scheduler:, cache: ...); this is " + what);
        return;
    }
    eachKey(root, [&](const YamlNode& name, const YamlNode& section) { readSection(name, section); });
}

void Reader::readSection(const YamlNode& name, const YamlNode& section) {
    const auto later = sectionsToCome();
    if (std::find(later.begin(), later.end(), name.text) != later.end()) {
        return fail(name, "section " + quotedWord(name.text) + " is not supported by this build yet");
    }
    const auto all = settings();
    const bool known =
        std::any_of(all.begin(), all.end(), [&](const Setting& setting) { return setting.section == name.text; });
    if (!known) return unknownSection(name);
    if (section.kind == YamlNode::Kind::Null) return;  // all its keys left out
    if (section.kind != YamlNode::Kind::Map) {
        return fail(section, "section " + quotedWord(name.text) + " must hold keys, one a line, indented");
    }
    eachKey(section, [&](const YamlNode& key, const YamlNode& value) { readKey(name.text, key, value); });
}

void Reader::readKey(std::string_view section, const YamlNode& key, const YamlNode& value) {
    const Setting* setting = findSetting(section, key.text);
    if (setting == nullptr) return unknownKey(section, key);
    m_result.keysGiven.push_back(dottedName(*setting));
    std::visit(ValueReader{*this, *setting, value, m_result.profile}, setting->field);
}

void Reader::unknownSection(const YamlNode& name) {
    std::vector<std::string_view> sections;
    for (const Setting& setting : settings()) {
        if (sections.empty() || sections.back() != setting.section) sections.push_back(setting.section);
        if (setting.key == name.text) {
            return fail(name,
                        "key " + quotedWord(name.text) + " belongs in section '" + std::string(setting.section) + "'");
        }
    }
    const auto near = nearestWord(name.text, sections);
    fail(name, "unknown section " + quotedWord(name.text) +
                   (near.empty() ? "; sections are " + joined(sections) : "; did you mean " + quotedWord(near) + "?"));
}

void Reader::unknownKey(std::string_view section, const YamlNode& key) {
    std::vector<std::string_view> keys;
    std::string_view elsewhere;
    for (const Setting& setting : settings()) {
        if (setting.section == section) keys.push_back(setting.key);
        if (setting.key == key.text) elsewhere = setting.section;
    }
    const std::string start = "unknown key " + quotedWord(key.text) + " in section " + quotedWord(section);
    if (!elsewhere.empty()) return fail(key, start + "; it belongs in section " + quotedWord(elsewhere));
    const auto near = nearestWord(key.text, keys);
    fail(key, start + (near.empty() ? "; its keys are " + joined(keys) : "; did you mean " + quotedWord(near) + "?"));
}

}  // namespace

ParsedProfile parseProfile(std::string_view yaml, std::string name) {
    ParsedProfile result;
    result.profile.name = std::move(name);
    YamlTree tree = readYaml(yaml);
    if (!tree.errors.empty()) {
        result.errors = std::move(tree.errors);
        return result;
    }
    Reader(result).readRoot(tree.root);
    return result;
}

}  // namespace firsttoken::engine
