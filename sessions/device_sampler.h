#pragma once

#include <functional>

#include "engine/device.h"
#include "sessions/session_records.h"

namespace firsttoken::sessions {

/// What the machine does, filled into samples: for LoadSessionOptions::deviceSampler. Rates count from this call on.
/// What is unknown stays absent. Copies share one monitor; one thread at a time.
std::function<void(SampleRecord&)> deviceSampler();
std::function<void(SampleRecord&)> deviceSampler(engine::DeviceMonitor monitor);

}  // namespace firsttoken::sessions
