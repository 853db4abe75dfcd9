#include "session/common/accept_loop.hpp"

#include <optional>
#include <vector>

#include "base/log/log_format.hpp"
#include "io/fibers/loop.hpp"
#include "wire/proxy/proxy_header.hpp"

namespace live::session {

namespace {

constexpr std::chrono::seconds kProxyHeaderLimit{5};

// Not inlined: the buffer must not remain on the stack of the connection's fiber.
[[gnu::noinline]] Result<std::optional<TransportAddress>> read_proxy_header(io::TcpStream& stream, io::Deadline deadline) {
    const auto limit = deadline.sooner(io::Deadline::after(kProxyHeaderLimit));
    std::vector<std::uint8_t> header(wire::proxy::kBytesMin);
    std::size_t count = 0;
    for (;;) {
        while (count < header.size())
            count += TRY(stream.read_some(MutBytes(header).subspan(count), limit));
        const std::size_t missing = TRY(wire::proxy::bytes_missing(header));
        if (missing == 0)
            return wire::proxy::parse_proxy_header(header);
        header.resize(header.size() + missing);
    }
}

}  // namespace

std::unique_ptr<io::TcpStream> next_connection(io::TcpListener& listener, const Log& log, io::Deadline deadline) {
    for (;;) {
        auto stream = listener.accept(deadline);
        if (stream.ok())
            return *std::move(stream);
        if (stream.code() == Errc::cancelled || stream.code() == Errc::closed)
            return nullptr;
        LOG_ERROR(log, "accept at {}: {}", listener.endpoint().text(), stream.error().text());
        constexpr std::chrono::milliseconds kPause{100};
        if (!io::sleep(deadline.sooner(io::Deadline::after(kPause))).ok())
            return nullptr;
    }
}

bool take_proxy_header(io::TcpStream& stream, const ProxyRules& proxies, const Log& log, io::Deadline deadline) {
    if (!proxies.sends_proxy_header(stream.peer_endpoint().ip)) [[likely]]
        return true;
    const auto found = read_proxy_header(stream, deadline);
    if (!found.ok()) {
        LOG_WARN(log, "refused the proxy {}: {}", stream.peer(), found.error().sentence());
        return false;
    }
    if (*found)
        stream.set_peer({ip_text((*found)->ip), (*found)->port});
    return true;
}

void log_refused(const io::TcpStream& stream, const Error& error, const Log& log) {
    LOG_WARN(log, "refused {}: {}", stream.peer(), error.text());
}

void log_accepted(const io::TcpStream& stream, std::string_view text, const Log& log) {
    LOG_INFO(log, "{} ip={}, fd={}", text, stream.peer(), stream.native_handle());
}

void log_failed_handshake(const Error& error, const Log& log) {
    LOG_WARN(log, "client finished. reason=\"TLS: {}\"", error.text());
}

}  // namespace live::session
