#include "session/rtmp/acceptor.hpp"

#include <utility>

#include "base/bytes/random.hpp"
#include "base/log/log_format.hpp"
#include "io/fibers/loop.hpp"
#include "session/common/accept_loop.hpp"
#include "session/rtmp/connection.hpp"

namespace live::session::rtmp {

Acceptor::Acceptor(std::unique_ptr<io::TcpListener> listener, io::TlsContext* tls, Context& context, ConnectionLimits& places,
                   io::Scope& connections, const Log& log)
    : listener_(std::move(listener)), tls_(tls), context_(context), places_(places), connections_(connections), log_(log) {}

void Acceptor::run(io::Deadline deadline) {
    accept_each(*listener_, connections_, "rtmp", log_, places_, deadline,
                [this](std::unique_ptr<io::TcpStream> stream, io::Deadline forever) { serve(std::move(stream), forever); });
}

void Acceptor::serve(std::unique_ptr<io::TcpStream> stream, io::Deadline deadline) {
    const auto place = places_.take(ConnectionLimits::Kind::client, stream->peer_ip(), sizeof(Connection), io::now());
    if (!place.ok())
        return;
    const Log log = log_.with_id(random_id());
    LOG_INFO(log, "{} client ip={}, fd={}", tls_ == nullptr ? "RTMP" : "RTMPS", stream->peer(), stream->native_handle());
    const Addresses addresses{stream->peer_ip(), stream->local_ip()};
    // On the heap, because the stack of a parked fiber should fit into one page.
    if (tls_ == nullptr) {
        io::TcpStream* tcp = stream.get();
        std::make_unique<Connection>(std::move(stream), tcp, addresses, context_, places_.memory(), log)->run(deadline);
        return;
    }
    auto secured = io::TlsStream::accept(std::move(stream), *tls_, deadline.sooner(io::Deadline::after(kTlsLimit)));
    if (!secured.ok()) {
        LOG_WARN(log, "client finished. reason=\"TLS: {}\"", secured.error().text());
        return;
    }
    std::make_unique<Connection>(*std::move(secured), nullptr, addresses, context_, places_.memory(), log)->run(deadline);
}

}  // namespace live::session::rtmp
