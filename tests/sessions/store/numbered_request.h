#pragma once

#include "sessions/session_records.h"

namespace firsttoken::tests {

/// A request whose every value follows from its number, so that what is found can be checked whole.
inline sessions::RequestRecord numberedRequest(std::int64_t number) {
    sessions::RequestRecord record;
    record.number = number;
    record.plannedNs = number * 1'000'000;
    record.firstTokenNs = record.plannedNs + 50'000;
    record.endNs = record.plannedNs + 900'000;
    for (std::int64_t i = 0; i < number % 7; ++i) record.deltaNs.push_back(record.plannedNs + 50'000 + i * 1'000);
    record.outputTokens = number % 7;
    record.reason = engine::FinishReason::Length;
    record.prompt = "prompt " + std::to_string(number);
    record.output = std::string(static_cast<std::size_t>(number % 300), 'x');
    return record;
}

}  // namespace firsttoken::tests
