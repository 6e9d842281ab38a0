#include "sessions/load/session_header.h"

#include <nlohmann/json.hpp>

namespace firsttoken::sessions {

using json = nlohmann::ordered_json;

namespace {

/// Names from files may hold bytes that are no UTF-8: those are replaced, nothing throws.
std::string dumped(const json& value) { return value.dump(-1, ' ', false, json::error_handler_t::replace); }

}  // namespace

SessionHeader headerOf(const engine::Engine& engine) {
    const engine::ModelInfo& model = engine.model();
    const engine::EffectiveProfile& effective = engine.effective();
    const engine::MachineFacts facts = engine::machineFacts();
    SessionHeader header;
    header.modelPath = model.path;
    header.modelName = model.name;
    header.architecture = model.architecture;
    header.modelFormat = model.format;
    header.modelBytes = model.fileBytes;
    header.profileName = engine.requestedProfile().name;
    header.requestedProfile = engine::toJson(engine.requestedProfile());
    header.effectiveProfile = engine::toJson(effective.profile);
    header.profileChanges = toJson(effective.changes);
    header.arithmetic = engine.arithmetic();
    header.isa = engine.isa();
    header.machine = toJson(facts);
    header.build = facts.build;
    return header;
}

std::string toJson(const std::vector<engine::ProfileChange>& changes) {
    json list = json::array();
    for (const engine::ProfileChange& change : changes) {
        list.push_back({{"key", change.key},
                        {"requested", change.requested},
                        {"effective", change.effective},
                        {"reason", change.reason}});
    }
    return dumped(list);
}

std::string toJson(const engine::MachineFacts& facts) {
    json object;
    object["processor"] = facts.processor;
    object["cores"] = facts.cores;
    object["memory_bytes"] = facts.memoryBytes ? json(*facts.memoryBytes) : json();
    object["instruction_sets"] = facts.instructionSets;
    object["system"] = facts.system;
    object["build"] = facts.build;
    return dumped(object);
}

}  // namespace firsttoken::sessions
