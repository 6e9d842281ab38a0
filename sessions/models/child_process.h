#pragma once

#include <stop_token>
#include <string>
#include <vector>

#include "engine/result.h"

namespace firsttoken::sessions {

struct ChildResult {
    int exitCode = 0;    ///< 128 + signal where a signal ended it
    std::string output;  ///< the last 64 KiB of stdout and stderr together
};

/// Runs a program found in PATH, with no input, and waits for it. The child has a process group of its own: a stop
/// ends it and what it started, first with SIGINT, after two seconds with SIGKILL.
/// Errors: NotFound (no such program), Io, Cancelled (only after the child has ended).
engine::Result<ChildResult> runChild(const std::vector<std::string>& arguments, std::stop_token stop);

}  // namespace firsttoken::sessions
