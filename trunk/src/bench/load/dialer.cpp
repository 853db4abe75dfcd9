#include "bench/load/dialer.hpp"

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

Result<std::unique_ptr<io::Stream>> Dialer::dial(const Place& place, io::Deadline deadline) {
    const auto endpoints = TRY(look_up(place, deadline));
    Result<std::unique_ptr<io::TcpStream>> tcp = Error(Errc::not_found, "no address");
    for (const Endpoint& endpoint : endpoints) {
        tcp = io::TcpStream::connect(endpoint, deadline);
        if (tcp.ok() || tcp.code() == Errc::cancelled || deadline.expired())
            break;
    }
    if (!tcp.ok())
        return Error(tcp.error());
    TRY((*tcp)->set_no_delay(true));
    if (!place.is_secure)
        return std::unique_ptr<io::Stream>(std::move(*tcp));
    if (tls_ == nullptr)
        tls_ = TRY(io::TlsContext::client(io::TlsVerify::none));
    return std::unique_ptr<io::Stream>(TRY(io::TlsStream::connect(std::move(*tcp), *tls_, place.host, deadline)));
}

}  // namespace live::bench
