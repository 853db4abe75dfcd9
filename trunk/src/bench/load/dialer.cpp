#include "bench/load/dialer.hpp"

#include <array>
#include <chrono>
#include <utility>

#include "io/fibers/loop.hpp"
#include "io/net/resolve.hpp"
#include "io/net/tcp_stream.hpp"
#include "io/tls/tls_stream.hpp"

namespace live::bench {

Result<std::vector<Endpoint>> Dialer::look_up(const Place& place, io::Deadline deadline) {
    // Thousands of clients may resolve at the same moment, and the number of pending look-ups is bounded: the others poll for the
    // result here.
    constexpr std::chrono::milliseconds kAskAgain{20};
    const auto key = std::make_pair(place.host, place.port);
    for (;;) {
        if (const auto found = known_.find(key); found != known_.end())
            return found->second;
        auto endpoints = io::resolve(place.host, place.port, deadline);
        if (endpoints.ok() && known_.size() < kHostsMax)
            known_.emplace(key, *endpoints);
        if (endpoints.ok() || endpoints.code() != Errc::limit || deadline.expired())
            return endpoints;
        TRY(io::sleep(deadline.sooner(io::Deadline::after(kAskAgain))));
    }
}

Result<std::unique_ptr<io::TcpStream>> Dialer::connect(const Place& place, io::Deadline deadline) {
    const auto endpoints = TRY(look_up(place, deadline));
    Result<std::unique_ptr<io::TcpStream>> tcp = Error(Errc::not_found, "no address");
    for (const Endpoint& endpoint : endpoints) {
        tcp = io::TcpStream::connect(endpoint, deadline);
        if (tcp.ok() || tcp.code() == Errc::cancelled || deadline.expired())
            break;
    }
    if (tcp.ok())
        TRY((*tcp)->set_no_delay(true));
    return tcp;
}

Result<std::unique_ptr<io::Stream>> Dialer::dial(const Place& place, io::Deadline deadline) {
    if (!place.is_secure)
        return std::unique_ptr<io::Stream>(TRY(connect(place, deadline)));
    if (tls_ == nullptr) {
        tls_ = TRY(io::TlsContext::client(io::TlsVerify::none));
        if (resumes_)
            tls_->resume_sessions(io::TlsContext::Resume::first);
    }
    if (resumes_)
        TRY(await_session(place, deadline));
    auto tcp = TRY(connect(place, deadline));
    return std::unique_ptr<io::Stream>(TRY(io::TlsStream::connect(std::move(tcp), *tls_, place.host, deadline)));
}

// A ticket of TLS 1.3 follows the handshake; the server waits for a request then.
Result<void> Dialer::await_session(const Place& place, io::Deadline deadline) {
    constexpr std::chrono::milliseconds kAskAgain{5};
    constexpr std::chrono::seconds kTicketLimit{5};
    while (fetches_session_)
        TRY(io::sleep(deadline.sooner(io::Deadline::after(kAskAgain))));
    if (tls_->session() != nullptr)
        return {};
    fetches_session_ = true;
    const auto fetched = [&]() -> Result<void> {
        const auto limit = deadline.sooner(io::Deadline::after(kTicketLimit));
        const auto stream = TRY(io::TlsStream::connect(TRY(connect(place, limit)), *tls_, place.host, limit));
        std::array<std::uint8_t, 64> unused{};
        while (tls_->session() == nullptr) {
            TRY(stream->wait_readable(limit));
            if (const auto got = stream->try_read(unused); !got.ok() && got.code() != Errc::need_more)
                return Error(got.error());
        }
        return {};
    }();
    fetches_session_ = false;
    return fetched;
}

}  // namespace live::bench
