#include "engine/observe/device_limits.h"

#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <functional>
#include <memory>
#include <new>
#include <system_error>
#include <thread>
#include <vector>

#include "engine/observe/limit_kernels.h"

// What is timed: from the moment when all threads are ready, each thread repeats a fixed piece of work until the time
// is over, and counts what it did over its own time. Outside: making threads, allocating and touching the buffer.
// The result is the sum of the threads' rates. The work is equal in every repeat: the same bytes, the same products.
namespace firsttoken::engine {

namespace {

using Clock = std::chrono::steady_clock;

/// Runs `work(thread)`, which returns the amount it did, again and again in every thread; the summed rate a second.
double summedRate(std::int64_t threads, std::chrono::milliseconds time,
                  const std::function<double(std::int64_t)>& work) {
    std::vector<double> rates(static_cast<std::size_t>(threads));
    std::atomic<std::int64_t> waiting{threads};
    const auto body = [&](std::int64_t thread) {
        work(thread);  // warms caches and clocks
        --waiting;
        while (waiting.load() > 0) std::this_thread::yield();
        double amount = 0;
        const auto start = Clock::now();
        auto now = start;
        while (now - start < time) {
            amount += work(thread);
            now = Clock::now();
        }
        rates[static_cast<std::size_t>(thread)] = amount / std::chrono::duration<double>(now - start).count();
    };
    {
        std::vector<std::jthread> others;
        try {
            for (std::int64_t thread = 1; thread < threads; ++thread) others.emplace_back(body, thread);
        } catch (const std::system_error&) {  // the system gives no more threads: measure with those there are
            waiting -= threads - 1 - static_cast<std::int64_t>(others.size());
        }
        body(0);
    }
    double sum = 0;
    for (const double rate : rates) sum += rate;
    return sum;
}

std::optional<double> readRate(const LimitKernels& kernels, std::int64_t threads, const LimitsEffort& effort) {
    const std::size_t count = effort.bufferBytes / sizeof(std::uint64_t) / static_cast<std::size_t>(threads);
    std::vector<std::unique_ptr<std::uint64_t[]>> parts(static_cast<std::size_t>(threads));
    for (auto& part : parts) {
        part.reset(new (std::nothrow) std::uint64_t[count]);
        if (!part) return std::nullopt;
        std::fill_n(part.get(), count, 1U);  // real pages, not the shared page of zeros
    }
    std::atomic<std::uint64_t> digest{0};  // the sums are used, so the reads happen
    return summedRate(threads, effort.each, [&](std::int64_t thread) {
        digest ^= kernels.read(parts[static_cast<std::size_t>(thread)].get(), count);
        return static_cast<double>(count * sizeof(std::uint64_t));
    });
}

std::optional<double> productRate(double (*kernel)(), std::int64_t threads, std::chrono::milliseconds time) {
    if (kernel == nullptr) return std::nullopt;
    return summedRate(threads, time, [kernel](std::int64_t) { return 2.0 * kernel(); });
}

std::optional<double> scaled(std::optional<double> value, double factor) {
    return value ? std::optional(*value * factor) : std::nullopt;
}

}  // namespace

DeviceLimits measureLimitsWith(std::int64_t threads, const LimitsEffort& effort) {
    threads = std::clamp<std::int64_t>(threads, 1, 256);
    const LimitKernels kernels = limitKernels(instructionSets());
    DeviceLimits limits;
    limits.readGbPerS = scaled(readRate(kernels, threads, effort), 1e-9);
    limits.int8TopPerS = scaled(productRate(kernels.int8, threads, effort.each), 1e-12);
    limits.bf16TopPerS = scaled(productRate(kernels.bf16, threads, effort.each), 1e-12);
    return limits;
}

DeviceLimits measureLimits(std::int64_t threads) {
    constexpr std::size_t mebibyte = 1U << 20U;
    std::size_t bytes = 256 * mebibyte;
#if defined(_SC_LEVEL3_CACHE_SIZE)
    const long cache = sysconf(_SC_LEVEL3_CACHE_SIZE);
    if (cache > 0) bytes = std::clamp(2 * static_cast<std::size_t>(cache), bytes, 1024 * mebibyte);
#endif
    const auto available = availableMemoryBytes();
    if (available) bytes = std::min<std::size_t>(bytes, *available / 4);
    return measureLimitsWith(threads, {std::max(bytes, 16 * mebibyte), std::chrono::milliseconds(200)});
}

}  // namespace firsttoken::engine
