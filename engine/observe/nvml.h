#pragma once

#include <memory>
#include <string>
#include <vector>

#include "engine/device.h"

namespace firsttoken::engine {

/// NVIDIA's management library, found at run time: the program needs neither card nor driver. What the library lacks
/// or refuses stays empty. One thread.
class Nvml {
public:
    /// Null without the library, a working driver, or a card.
    static std::unique_ptr<Nvml> open(const std::string& library);
    ~Nvml();
    Nvml(const Nvml&) = delete;
    Nvml& operator=(const Nvml&) = delete;

    std::vector<GpuSample> sample() const;
    std::string driver() const;

private:
    struct Functions;
    struct Card;
    Nvml();

    void* m_library = nullptr;
    bool m_started = false;
    std::unique_ptr<Functions> m_functions;
    std::vector<Card> m_cards;
};

}  // namespace firsttoken::engine
