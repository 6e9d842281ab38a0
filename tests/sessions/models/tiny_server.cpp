#include "tests/sessions/models/tiny_server.h"

#include <unistd.h>
#include <QString>
#include <array>

#include <sys/socket.h>
#include <sys/types.h>
#include <sys/un.h>

// <netinet/in.h> and <arpa/inet.h>, which POSIX wants for sockaddr_in.
#include <linux/in.h>

namespace firsttoken::tests {

TinyServer::TinyServer(Answer answer) : m_answer(std::move(answer)) {
    m_listener = ::socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
    sockaddr_in where{};
    where.sin_family = AF_INET;
    where.sin_addr.s_addr = __builtin_bswap32(0x7f000001);
    ::bind(m_listener, reinterpret_cast<const sockaddr*>(&where), sizeof where);
    ::listen(m_listener, 8);
    socklen_t size = sizeof where;
    ::getsockname(m_listener, reinterpret_cast<sockaddr*>(&where), &size);
    m_port = __builtin_bswap16(where.sin_port);
    m_thread = std::thread([this] { serve(); });
}

TinyServer::~TinyServer() {
    m_ending = true;
    ::shutdown(m_listener, SHUT_RDWR);
    m_thread.join();
    ::close(m_listener);
}

std::string TinyServer::address(const std::string& path) const {
    return "http://127.0.0.1:" + std::to_string(m_port) + path;
}

std::vector<std::string> TinyServer::requests() const {
    const std::lock_guard lock(m_mutex);
    return m_requests;
}

void TinyServer::serve() {
    while (!m_ending) {
        const int client = ::accept4(m_listener, nullptr, nullptr, SOCK_CLOEXEC);
        if (client < 0) continue;
        std::string request;
        std::array<char, 4096> block;
        while (request.find("\r\n\r\n") == std::string::npos) {
            const auto count = ::recv(client, block.data(), block.size(), 0);
            if (count <= 0) break;
            request.append(block.data(), static_cast<std::size_t>(count));
        }
        {
            const std::lock_guard lock(m_mutex);
            m_requests.push_back(request);
        }
        std::string answer = m_answer(request);
        std::string_view rest = answer;
        while (!rest.empty()) {
            const auto sent = ::send(client, rest.data(), rest.size(), MSG_NOSIGNAL);
            if (sent <= 0) break;
            rest.remove_prefix(static_cast<std::size_t>(sent));
        }
        ::close(client);
    }
}

std::string headerOf(const std::string& request, const std::string& name) {
    for (const auto& line : QString::fromStdString(request).split("\r\n")) {
        const auto colon = line.indexOf(':');
        if (colon > 0 && line.left(colon).compare(QString::fromStdString(name), Qt::CaseInsensitive) == 0) {
            return line.mid(colon + 1).trimmed().toStdString();
        }
    }
    return {};
}

}  // namespace firsttoken::tests
