#pragma once

#include <atomic>
#include <functional>
#include <mutex>
#include <string>
#include <thread>
#include <vector>

namespace firsttoken::tests {

/// An HTTP server on the loopback interface for one client at a time: each connection has one request and one answer.
class TinyServer {
public:
    /// Gives the raw answer (status line, headers, body) to the raw request (its head).
    using Answer = std::function<std::string(const std::string& request)>;

    explicit TinyServer(Answer answer);
    ~TinyServer();
    TinyServer(const TinyServer&) = delete;
    TinyServer& operator=(const TinyServer&) = delete;

    std::string address(const std::string& path = "/file") const;
    std::vector<std::string> requests() const;

private:
    void serve();

    Answer m_answer;
    int m_listener = -1;
    int m_port = 0;
    std::atomic<bool> m_ending{false};
    mutable std::mutex m_mutex;
    std::vector<std::string> m_requests;
    std::thread m_thread;
};

/// A header's value in a raw request, or empty.
std::string headerOf(const std::string& request, const std::string& name);

}  // namespace firsttoken::tests
