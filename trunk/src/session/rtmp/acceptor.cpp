#include "session/rtmp/acceptor.hpp"

#include <utility>

#include "base/log_format.hpp"
#include "base/random.hpp"
#include "session/common/accept_loop.hpp"
#include "session/rtmp/connection.hpp"

namespace live::session::rtmp {

Acceptor::Acceptor(std::unique_ptr<io::TcpListener> listener, io::TlsContext* tls, Context& context, ConnectionLimit& limit,
                   io::Scope& connections, const Log& log)
    : listener_(std::move(listener)), tls_(tls), context_(context), limit_(limit), connections_(connections), log_(log) {}

void Acceptor::run(io::Deadline deadline) {
    accept_each(*listener_, connections_, "rtmp", log_, deadline,
                [this](std::unique_ptr<io::TcpStream> stream, io::Deadline forever) { serve(std::move(stream), forever); });
}

void Acceptor::serve(std::unique_ptr<io::TcpStream> stream, io::Deadline deadline) {
    const ConnectionLimit::Place place(limit_, sizeof(Connection));
    const Log log = log_.with_id(random_id());
    if (!place) {
        // The reference's number for it, which scripts look for.
        constexpr int kTooMany = 1074;
        LOG_WARN(log, "refused {}: {} connections are the limit (max_connections), code={}", stream->peer(), limit_.max(),
                 kTooMany);
        return;
    }
    LOG_INFO(log, "{} client ip={}, fd={}", tls_ == nullptr ? "RTMP" : "RTMPS", stream->peer(), stream->native_handle());
    const Addresses addresses{stream->peer_ip(), stream->local_ip()};
    // On the heap, because what a parked fiber keeps on its stack should fit into one page.
    if (tls_ == nullptr) {
        io::TcpStream* tcp = stream.get();
        std::make_unique<Connection>(std::move(stream), tcp, addresses, context_, log)->run(deadline);
        return;
    }
    auto secured = io::TlsStream::accept(std::move(stream), *tls_, deadline.sooner(io::Deadline::after(kTlsLimit)));
    if (!secured.ok()) {
        LOG_WARN(log, "client finished. reason=\"TLS: {}\"", secured.error().text());
        return;
    }
    std::make_unique<Connection>(*std::move(secured), nullptr, addresses, context_, log)->run(deadline);
}

}  // namespace live::session::rtmp
