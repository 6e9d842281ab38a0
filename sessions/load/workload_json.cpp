#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <filesystem>
#include <fstream>
#include <nlohmann/json.hpp>

#include "sessions/load/json_tree.h"
#include "sessions/load/workload.h"

namespace firsttoken::sessions {

using engine::Error;
using engine::ErrorCode;
using engine::Result;

namespace {

constexpr std::size_t mostWorkloadBytes = (1U << 20U) + 1;  ///< one more than is taken, so that the rest is noticed

/// Reads the members of one object; the first fault of the whole document is kept.
class Members {
public:
    Members(const JsonNode& object, std::string path, std::optional<Error>& fault)
        : m_object(object), m_path(std::move(path)), m_fault(fault) {
        if (object.kind != JsonNode::Kind::Object) fail(object, m_path.empty() ? "the workload" : m_path, "an object");
    }
    /// What nobody asked for is a mistake of the writer.
    ~Members() {
        for (const auto& [name, node] : m_object.members) {
            if (m_fault || std::find(m_known.begin(), m_known.end(), name) != m_known.end()) continue;
            m_fault =
                Error{ErrorCode::BadInput,
                      fmt::format("unknown key \"{}\"; here may stand: {}", pathOf(name), fmt::join(m_known, ", ")),
                      node.line, node.column};
        }
    }
    Members(const Members&) = delete;
    Members& operator=(const Members&) = delete;

    const JsonNode* find(std::string_view key) {
        m_known.emplace_back(key);
        return m_object.find(key);
    }
    void number(std::string_view key, double& value) {
        const JsonNode* node = find(key);
        if (node == nullptr) return;
        if (node->kind != JsonNode::Kind::Number || !std::isfinite(node->number)) return fail(*node, key, "a number");
        value = node->number;
    }
    void count(std::string_view key, std::int64_t& value) {
        const JsonNode* node = find(key);
        if (node == nullptr) return;
        if (!node->whole || *node->whole > INT64_MAX) return fail(*node, key, "a whole number");
        value = static_cast<std::int64_t>(*node->whole);
    }
    void unsignedCount(std::string_view key, std::uint64_t& value) {
        const JsonNode* node = find(key);
        if (node == nullptr) return;
        if (!node->whole) return fail(*node, key, "a whole number");
        value = *node->whole;
    }
    template <class Kind>
    void choice(std::string_view key, std::initializer_list<Kind> kinds, Kind& value) {
        const JsonNode* node = find(key);
        if (node == nullptr) return;
        std::vector<std::string_view> names;
        for (const Kind kind : kinds) {
            names.push_back(toString(kind));
            if (node->kind == JsonNode::Kind::Text && node->text == names.back()) value = kind;
        }
        if (node->kind != JsonNode::Kind::Text || std::find(names.begin(), names.end(), node->text) == names.end()) {
            fail(*node, key, fmt::format("one of {}", fmt::join(names, ", ")));
        }
    }
    /// Forgets the value where the key is null.
    template <class T, class Read>
    void optional(std::string_view key, std::optional<T>& value, const Read& read) {
        const JsonNode* node = m_object.find(key);
        if (node != nullptr && node->kind == JsonNode::Kind::Null) {
            find(key);
            value.reset();
            return;
        }
        T given = value.value_or(T());
        read(given);
        if (node != nullptr) value = given;
    }
    std::string pathOf(std::string_view key) const {
        return m_path.empty() ? std::string(key) : fmt::format("{}.{}", m_path, key);
    }
    std::optional<Error>& fault() { return m_fault; }

private:
    void fail(const JsonNode& node, std::string_view key, std::string_view wanted) {
        if (m_fault) return;
        const bool self = &node == &m_object;
        m_fault =
            Error{ErrorCode::BadInput, fmt::format("{} must be {}", self ? std::string(key) : pathOf(key), wanted),
                  node.line, node.column};
    }

    const JsonNode& m_object;
    std::string m_path;
    std::optional<Error>& m_fault;
    std::vector<std::string> m_known;
};

void readArrivals(Members& parent, Arrivals& arrivals) {
    const JsonNode* node = parent.find("arrivals");
    if (node == nullptr) return;
    Members members(*node, "arrivals", parent.fault());
    members.choice("kind", {ArrivalKind::Constant, ArrivalKind::Poisson, ArrivalKind::Gamma, ArrivalKind::Closed},
                   arrivals.kind);
    members.number("rate_per_s", arrivals.ratePerS);
    members.number("shape", arrivals.shape);
    members.count("clients", arrivals.clients);
    members.choice("think", {ThinkKind::Fixed, ThinkKind::Exponential}, arrivals.think);
    members.number("think_s", arrivals.thinkS);
    members.number("ramp_s", arrivals.rampS);
}

/// A number alone is a fixed length.
void readLength(Members& parent, const char* key, TokenLength& length) {
    const JsonNode* node = parent.find(key);
    if (node == nullptr) return;
    if (node->kind == JsonNode::Kind::Number) {
        length.kind = LengthKind::Fixed;
        length.mean = node->number;
        return;
    }
    Members members(*node, key, parent.fault());
    members.choice("kind", {LengthKind::Fixed, LengthKind::Normal, LengthKind::LogNormal}, length.kind);
    members.number("mean", length.mean);
    members.number("sd", length.sd);
    members.count("min", length.min);
    members.count("max", length.max);
}

void readRest(Members& members, Workload& workload) {
    if (const JsonNode* node = members.find("shared_prefix")) {
        Members prefix(*node, "shared_prefix", members.fault());
        prefix.number("share", workload.sharedPrefix.share);
        prefix.count("groups", workload.sharedPrefix.groups);
        prefix.count("tokens", workload.sharedPrefix.tokens);
    }
    members.number("hang_up_share", workload.hangUpShare);
    if (const JsonNode* node = members.find("warm_up")) {
        Members warmup(*node, "warm_up", members.fault());
        warmup.count("requests", workload.warmup.requests);
        warmup.number("seconds", workload.warmup.seconds);
    }
    members.unsignedCount("seed", workload.seed);
}

/// Where the key of a range fault ("prompt_tokens.mean must …") stands, as far down as it was given.
void placeFault(Error& fault, const JsonNode& root) {
    const JsonNode* node = &root;
    std::string path = fault.message.substr(0, fault.message.find(' '));
    while (node != nullptr && !path.empty()) {
        fault.line = node->line;
        fault.column = node->column;
        const std::size_t dot = path.find('.');
        node = node->find(path.substr(0, dot));
        path = dot == path.npos ? std::string() : path.substr(dot + 1);
    }
    if (node != nullptr) {
        fault.line = node->line;
        fault.column = node->column;
    }
}

nlohmann::ordered_json lengthJson(const TokenLength& length) {
    return {{"kind", toString(length.kind)},
            {"mean", length.mean},
            {"sd", length.sd},
            {"min", length.min},
            {"max", length.max}};
}

std::string placed(const std::string& file, const Error& fault) {
    if (fault.line == 0) return fmt::format("{}: {}", file, fault.message);
    return fmt::format("{}:{}:{}: {}", file, fault.line, fault.column, fault.message);
}

}  // namespace

Result<Workload> parseWorkload(std::string_view json, std::string name) {
    Result<JsonNode> tree = parseJsonTree(json);
    if (!tree) return tree.error();
    std::optional<Error> fault;
    Workload workload;
    workload.name = std::move(name);
    {
        Members members(*tree, "", fault);
        readArrivals(members, workload.arrivals);
        // A file that gives only a duration means no number of requests.
        if (tree->find("duration_s") != nullptr && tree->find("requests") == nullptr) workload.requests.reset();
        members.optional("requests", workload.requests, [&](std::int64_t& v) { members.count("requests", v); });
        members.optional("duration_s", workload.durationS, [&](double& v) { members.number("duration_s", v); });
        readLength(members, "prompt_tokens", workload.promptTokens);
        readLength(members, "output_tokens", workload.outputTokens);
        readRest(members, workload);
    }
    if (fault) return *fault;
    if (auto fine = checkWorkload(workload); !fine) {
        placeFault(fine.error(), *tree);
        return fine.error();
    }
    return workload;
}

std::string toJson(const Workload& workload, int indent) {
    using json = nlohmann::ordered_json;
    const Arrivals& arrivals = workload.arrivals;
    json out;
    out["arrivals"] = {{"kind", toString(arrivals.kind)},   {"rate_per_s", arrivals.ratePerS},
                       {"shape", arrivals.shape},           {"clients", arrivals.clients},
                       {"think", toString(arrivals.think)}, {"think_s", arrivals.thinkS},
                       {"ramp_s", arrivals.rampS}};
    out["requests"] = workload.requests ? json(*workload.requests) : json();
    out["duration_s"] = workload.durationS ? json(*workload.durationS) : json();
    out["prompt_tokens"] = lengthJson(workload.promptTokens);
    out["output_tokens"] = lengthJson(workload.outputTokens);
    out["shared_prefix"] = {{"share", workload.sharedPrefix.share},
                            {"groups", workload.sharedPrefix.groups},
                            {"tokens", workload.sharedPrefix.tokens}};
    out["hang_up_share"] = workload.hangUpShare;
    out["warm_up"] = {{"requests", workload.warmup.requests}, {"seconds", workload.warmup.seconds}};
    out["seed"] = workload.seed;
    return out.dump(indent);
}

Result<Workload> loadWorkload(const std::string& nameOrFile) {
    for (const BuiltInWorkload& builtIn : builtInWorkloads()) {
        if (builtIn.name == nameOrFile) return parseWorkload(builtIn.json, nameOrFile);
    }
    std::error_code failed;
    if (!std::filesystem::exists(nameOrFile, failed)) {
        std::vector<std::string_view> names;
        for (const BuiltInWorkload& builtIn : builtInWorkloads()) names.push_back(builtIn.name);
        return Error{ErrorCode::NotFound, fmt::format("\"{}\" is neither a file nor a built-in workload ({})",
                                                      nameOrFile, fmt::join(names, ", "))};
    }
    std::ifstream file(nameOrFile, std::ios::binary);
    std::string text(mostWorkloadBytes, '\0');
    file.read(text.data(), static_cast<std::streamsize>(text.size()));
    text.resize(static_cast<std::size_t>(file.gcount()));
    if (file.bad() || (!file.eof() && text.empty())) return Error{ErrorCode::Io, nameOrFile + ": cannot be read"};
    Result<Workload> workload = parseWorkload(text, std::filesystem::path(nameOrFile).stem().string());
    if (!workload) workload.error().message = placed(nameOrFile, workload.error());
    return workload;
}

}  // namespace firsttoken::sessions
