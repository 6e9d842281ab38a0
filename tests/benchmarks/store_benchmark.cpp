#include <fmt/format.h>

#include <algorithm>
#include <chrono>
#include <cstdlib>
#include <ctime>
#include <filesystem>
#include <string>
#include <thread>

#include "sessions/export/session_json.h"
#include "sessions/metrics/session_metrics.h"
#include "sessions/session_store.h"
#include "tests/sessions/store/sample_sessions.h"

/// What a large session costs: bench_store [REQUESTS [FOLDER]]. 100,000 requests of 64 deltas and 4 spans each, and
/// 10,000 samples, unless told otherwise.
///
/// Inside the time of "open and summarise": opening the store, reading every row of the session, computing its
/// metrics. Outside: making the session, and writing it. Every run is of a store opened anew; the file is in the
/// page cache from the second run on, and the runs are shown one by one. The digest is over what was read and
/// computed, so that a faster run of less work shows.
namespace {

using namespace firsttoken;
using Clock = std::chrono::steady_clock;

/// Of all threads: beside the wall time, what a busy machine does not change.
double cpuMilliseconds() { return static_cast<double>(std::clock()) * 1e3 / CLOCKS_PER_SEC; }

double millisecondsSince(Clock::time_point start) {
    return std::chrono::duration<double, std::milli>(Clock::now() - start).count();
}

[[noreturn]] void fail(const engine::Error& error) {
    fmt::print(stderr, "{}\n", error.message);
    std::exit(1);
}

std::unique_ptr<sessions::SessionStore> opened(const std::string& path) {
    auto store = sessions::SessionStore::open({.path = path});
    if (!store) fail(store.error());
    return std::move(*store);
}

std::uint64_t digestOf(const sessions::SessionData& data, const sessions::SessionMetrics& metrics) {
    std::uint64_t digest = 14695981039346656037U;
    const auto add = [&](std::uint64_t value) { digest = (digest ^ value) * 1099511628211U; };
    for (const auto& request : data.requests) {
        add(static_cast<std::uint64_t>(request.endNs.value_or(0)));
        for (const auto time : request.deltaNs) add(static_cast<std::uint64_t>(time));
    }
    for (const auto& span : data.spans) add(static_cast<std::uint64_t>(span.endNs));
    add(data.samples.size());
    add(static_cast<std::uint64_t>(metrics.counts.completed));
    add(static_cast<std::uint64_t>(metrics.ttft.p95.value.value_or(0) * 1e6));
    return digest;
}

/// As a load writes it: one record after the other, committed in the background.
void measureWriting(const std::string& path, const sessions::SessionData& data) {
    const auto store = opened(path);
    const auto start = Clock::now();
    auto writer = store->begin(data.header);
    if (!writer) fail(writer.error());
    for (const auto& request : data.requests) {
        (*writer)->request(request);
        // Half of the queue at most: a load is slower than this loop.
        const auto commits = static_cast<std::uint64_t>(request.number) / 8192;
        while (request.number % 8192 == 0 && store->statistics().commits < commits) std::this_thread::yield();
    }
    for (const auto& sample : data.samples) (*writer)->sample(sample);
    if (const auto ended = (*writer)->end(sessions::SessionState::Completed); !ended) fail(ended.error());
    const auto statistics = store->statistics();
    const auto records = static_cast<double>(data.requests.size() + data.samples.size());
    fmt::print("write: {:.0f} ms, {:.2f} us of the storage thread's CPU a record, queue peak {}, dropped {}\n",
               millisecondsSince(start), static_cast<double>(statistics.writerCpuNs) / 1e3 / records,
               statistics.queuePeak, statistics.queueDropped);
}

void measureReading(const std::string& path, sessions::SessionId id) {
    for (int run = 1; run <= 5; ++run) {
        const auto start = Clock::now();
        const auto cpuBefore = cpuMilliseconds();
        const auto store = opened(path);
        const auto data = store->load(id);
        if (!data) fail(data.error());
        const auto loaded = millisecondsSince(start);
        const auto metrics = sessions::summarise(*data);
        const auto whole = millisecondsSince(start);
        const auto cpu = cpuMilliseconds() - cpuBefore;
        fmt::print("open and summarise: {:.0f} ms, of it {:.0f} ms reading, {:.0f} ms of CPU; digest {:016x}\n", whole,
                   loaded, cpu, digestOf(*data, metrics));
    }
}

void measureExport(const sessions::SessionData& data) {
    auto start = Clock::now();
    const auto text = sessions::toJson(data);
    fmt::print("JSON: {:.0f} MB in {:.0f} ms", static_cast<double>(text.size()) / 1e6, millisecondsSince(start));
    start = Clock::now();
    const auto read = sessions::fromJson(text);
    if (!read) fail(read.error());
    fmt::print(", read again in {:.0f} ms, {}\n", millisecondsSince(start), *read == data ? "equal" : "NOT EQUAL");
}

}  // namespace

int main(int argc, char** argv) {
    const std::int64_t requests = argc > 1 ? std::max(1LL, std::atoll(argv[1])) : 100'000;
    const auto base = argc > 2 ? std::filesystem::path(argv[2]) : std::filesystem::temp_directory_path();
    const auto folder = base / fmt::format("firsttoken-bench-{}", Clock::now().time_since_epoch().count());
    const auto path = (folder / "sessions.sqlite").string();
    const auto data = tests::largeLoad(requests);
    measureWriting(path, data);
    sessions::SessionId id = 0;
    {
        const auto store = opened(path);
        const auto start = Clock::now();
        const auto inserted = store->insert(data);
        if (!inserted) fail(inserted.error());
        id = *inserted;
        fmt::print("import: {:.0f} ms, file {:.1f} MB for both\n", millisecondsSince(start),
                   static_cast<double>(std::filesystem::file_size(path)) / 1e6);
    }
    measureReading(path, id);
    measureExport(data);
    {
        const auto store = opened(path);
        const auto start = Clock::now();
        if (const auto removed = store->remove(id); !removed) fail(removed.error());
        fmt::print("remove: {:.0f} ms\n", millisecondsSince(start));
    }
    std::filesystem::remove_all(folder);
    return 0;
}
