#include "sessions/compare/likeness.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <map>
#include <nlohmann/json.hpp>
#include <optional>

#include "sessions/compare/profile_difference.h"
#include "sessions/export/json_limits.h"

namespace firsttoken::sessions {

using Json = nlohmann::json;

namespace {

constexpr JsonLimits factLimits{24, 1024};
/// A kernel update moves the memory that a machine reports by a little.
constexpr double memoryTolerance = 0.02;

/// Discarded where the text is no JSON object.
Json objectOf(const std::string& text) {
    if (checkJson(text, factLimits).verdict != JsonVerdict::Fine) return Json(Json::value_t::discarded);
    Json value = Json::parse(text, nullptr, false);
    return value.is_object() ? value : Json(Json::value_t::discarded);
}

std::string nameOf(const SessionHeader& header) {
    return header.id != 0 ? fmt::format("session {}", header.id) : fmt::format("\"{}\"", header.title);
}

/// The seed is a field of its own.
Json workloadOf(const SessionHeader& header) {
    Json workload = objectOf(header.workload);
    if (!workload.is_discarded()) workload.erase("seed");
    return workload;
}

bool sameModel(const SessionHeader& a, const SessionHeader& b) {
    if (!a.modelHash.empty() && !b.modelHash.empty()) return a.modelHash == b.modelHash;
    return a.modelPath == b.modelPath && a.modelBytes == b.modelBytes;
}

bool sameMemory(const Json& a, const Json& b) {
    const auto bytesOf = [](const Json& machine) -> std::optional<double> {
        const auto found = machine.find("memory_bytes");
        if (found == machine.end() || !found->is_number()) return std::nullopt;
        return found->get<double>();
    };
    const auto bytesA = bytesOf(a);
    const auto bytesB = bytesOf(b);
    if (!bytesA || !bytesB) return !bytesA && !bytesB;
    return std::abs(*bytesA - *bytesB) <= memoryTolerance * std::max(*bytesA, *bytesB);
}

bool sameMachine(const SessionHeader& a, const SessionHeader& b) {
    if (a.machine == b.machine) return true;
    const Json machineA = objectOf(a.machine);
    const Json machineB = objectOf(b.machine);
    if (machineA.is_discarded() || machineB.is_discarded()) return false;
    const auto same = [&](const char* key) { return machineA.value(key, Json()) == machineB.value(key, Json()); };
    return same("processor") && same("cores") && sameMemory(machineA, machineB);
}

bool sameSetting(const SessionHeader& a, const SessionHeader& b, const char* key) {
    return profileValue(a.effectiveProfile, key) == profileValue(b.effectiveProfile, key);
}

class Judge {
public:
    Judge(std::span<const SessionData* const> a, std::span<const SessionData* const> b) : m_a(a), m_b(b) {
        m_all.assign(a.begin(), a.end());
        m_all.insert(m_all.end(), b.begin(), b.end());
    }

    std::vector<Unlikeness> run() {
        if (m_a.empty() || m_b.empty()) {
            add("session", fmt::format("arm {} has no session", m_a.empty() ? "A" : "B"));
            return m_found;
        }
        checkStates();
        checkWorkloads();
        checkSeeds();
        checkModels();
        checkMachines();
        checkArithmetic();
        checkArm("A", m_a);
        checkArm("B", m_b);
        return m_found;
    }

private:
    void add(const char* field, std::string reason) {
        const bool known = std::any_of(m_found.begin(), m_found.end(), [&](const auto& u) { return u.field == field; });
        if (!known) m_found.push_back({field, std::move(reason)});
    }
    /// Every run against the first one of arm A.
    template <class Same>
    const SessionHeader* firstUnlike(const Same& same) const {
        for (const SessionData* run : m_all) {
            if (!same(m_all.front()->header, run->header)) return &run->header;
        }
        return nullptr;
    }
    void checkTexts(const char* field, const char* what, std::string SessionHeader::*text) {
        const SessionHeader& first = m_all.front()->header;
        if (const auto* other = firstUnlike([&](const auto& a, const auto& b) { return a.*text == b.*text; })) {
            add(field, fmt::format("{} of {} is \"{}\", that of {} \"{}\"", what, nameOf(first), first.*text,
                                   nameOf(*other), other->*text));
        }
    }
    void checkStates() {
        for (const SessionData* run : m_all) {
            if (run->header.state == SessionState::Completed) continue;
            add("state",
                fmt::format("{} did not run to its end ({})", nameOf(run->header), toString(run->header.state)));
        }
    }
    void checkWorkloads() {
        const Json first = workloadOf(m_all.front()->header);
        for (const SessionData* run : m_all) {
            const Json workload = workloadOf(run->header);
            if (workload.is_discarded()) {
                add("workload", fmt::format("the workload of {} is not known{}", nameOf(run->header),
                                            run->header.kind == SessionKind::Chat ? ": it is a chat" : ""));
            } else if (!(workload == first)) {
                add("workload", workloadReason(first, workload, run->header));
            }
        }
    }
    std::string workloadReason(const Json& first, const Json& other, const SessionHeader& header) const {
        const std::string who = fmt::format("{} and {}", nameOf(m_all.front()->header), nameOf(header));
        if (!first.is_object()) return fmt::format("{} had different workloads", who);
        for (const auto& [key, value] : first.items()) {
            if (other.value(key, Json()) != value) return fmt::format("{} had workloads with another {}", who, key);
        }
        return fmt::format("{} had different workloads", who);
    }
    void checkSeeds() {
        std::map<std::optional<std::uint64_t>, std::pair<std::size_t, std::size_t>> counts;
        for (const SessionData* run : m_a) ++counts[run->header.seed].first;
        for (const SessionData* run : m_b) ++counts[run->header.seed].second;
        for (const auto& [seed, count] : counts) {
            if (count.first * m_b.size() == count.second * m_a.size()) continue;
            const std::string name = seed ? fmt::format("seed {}", *seed) : std::string("an unknown seed");
            add("seed", fmt::format("{} of {} runs of arm A had {}, but {} of {} of arm B", count.first, m_a.size(),
                                    name, count.second, m_b.size()));
        }
    }
    void checkModels() {
        if (const auto* other = firstUnlike(sameModel)) {
            add("model",
                fmt::format("{} and {} ran different model files", nameOf(m_all.front()->header), nameOf(*other)));
        }
    }
    void checkMachines() {
        if (const auto* other = firstUnlike(sameMachine)) {
            add("machine", fmt::format("{} and {} ran on different machines (processor, cores or memory)",
                                       nameOf(m_all.front()->header), nameOf(*other)));
        }
        checkTexts("driver", "the driver", &SessionHeader::driver);
        checkTexts("build", "the build", &SessionHeader::build);
    }
    /// What follows from the profile is what is being compared; what differs by itself is not.
    void checkArithmetic() {
        const auto arithmetic = [](const SessionHeader& a, const SessionHeader& b) {
            return a.arithmetic == b.arithmetic || !sameSetting(a, b, "model.precision") ||
                   !sameSetting(a, b, "device.kind");
        };
        const auto isa = [](const SessionHeader& a, const SessionHeader& b) {
            return a.isa == b.isa || !sameSetting(a, b, "device.kind");
        };
        if (firstUnlike(isa) != nullptr) checkTexts("isa", "the instruction set", &SessionHeader::isa);
        if (firstUnlike(arithmetic) != nullptr) checkTexts("arithmetic", "the arithmetic", &SessionHeader::arithmetic);
    }
    void checkArm(const char* name, std::span<const SessionData* const> arm) {
        const auto asked = [](const SessionHeader& header) {
            return header.requestedProfile.empty() ? header.effectiveProfile : header.requestedProfile;
        };
        const SessionHeader& first = arm.front()->header;
        for (const SessionData* run : arm) {
            if (sameSettings(asked(first), asked(run->header))) continue;
            add("profile", fmt::format("arm {} mixes profiles: {} and {} asked for different settings", name,
                                       nameOf(first), nameOf(run->header)));
        }
    }

    std::span<const SessionData*const> m_a, m_b;
    std::vector<const SessionData*> m_all;
    std::vector<Unlikeness> m_found;
};

}  // namespace

std::vector<Unlikeness> unlikenesses(std::span<const SessionData* const> a, std::span<const SessionData* const> b) {
    return Judge(a, b).run();
}

}  // namespace firsttoken::sessions
