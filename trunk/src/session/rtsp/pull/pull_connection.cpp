#include "session/rtsp/pull/pull_connection.hpp"

#include <array>
#include <utility>

#include "base/bytes/random.hpp"
#include "base/log/log_format.hpp"
#include "base/net/own_endpoint.hpp"
#include "base/net/redirect_rule.hpp"
#include "io/fibers/loop.hpp"
#include "io/net/resolve.hpp"
#include "io/net/tcp_stream.hpp"
#include "io/tls/tls_stream.hpp"

namespace live::session::rtsp {

namespace rtsp = engine::rtsp;
using wire::rtsp::PullUrl;

Result<void> PullConnection::connect_to(const Endpoint& endpoint, const PullUrl& url, const std::string& sent_by,
                                        io::Deadline deadline) {
    if (!sent_by.empty() && !may_send_us(sent_by, endpoint.ip))
        return Error(Errc::denied, fmt::format("{} may not send this server to {}", sent_by, endpoint.text()));
    auto tcp = TRY(io::TcpStream::connect(endpoint, deadline));
    if (!sent_by.empty() && is_own_endpoint(endpoint, own_endpoints_(), tcp->local_ip()))
        return Error(Errc::denied,
                     fmt::format("{} is this server itself: the stream would go round in a circle", endpoint.text()));
    local_ip_ = tcp->local_ip();
    peer_ = endpoint;
    is_secure_ = url.is_secure;
    if (!url.is_secure) {
        stream_ = std::move(tcp);
        return {};
    }
    if (options_.tls == nullptr)
        return Error(Errc::unsupported, "TLS is not available");
    stream_ = TRY(io::TlsStream::connect(std::move(tcp), *options_.tls, url.host, deadline));
    return {};
}

// All addresses of the host, one after the other.
Result<void> PullConnection::connect(const PullUrl& url, const std::string& sent_by, io::Deadline deadline) {
    const auto whose = sent_by.empty() ? io::Work::remote : io::Work::stranger;
    Result<void> connected = Error(Errc::not_found, "no address");
    for (const Endpoint& endpoint : TRY(io::resolve(url.host, url.port, deadline, whose))) {
        connected = connect_to(endpoint, url, sent_by, deadline);
        if (connected.ok() || connected.code() == Errc::cancelled || connected.code() == Errc::denied)
            break;
    }
    TRY(connected);
    engine_ =
        std::make_unique<rtsp::Client>(rtsp::ClientOptions{url.url, url.user, url.password, context_.product, random_id(16)});
    engine_->start();
    return {};
}

Result<void> PullConnection::send(Bytes bytes, io::Deadline deadline) {
    if (bytes.empty())
        return {};
    traffic_.sent_bytes += bytes.size();
    context_.traffic.sent_bytes += bytes.size();
    const std::array parts{io::as_part(bytes)};
    return stream_->write_all(parts, deadline.sooner(io::Deadline::after(kAnswerLimit)));
}

Result<std::size_t> PullConnection::read_piece() {
    const auto count = stream_->try_read(context_.scratch);
    if (!count.ok() && count.code() == Errc::need_more)
        return std::size_t{0};
    const std::size_t bytes = TRY(count);
    traffic_.received_bytes += bytes;
    context_.traffic.received_bytes += bytes;
    engine_->borrow_bytes(context_.scratch.first(bytes));
    return bytes;
}

Result<rtsp::ClientEvent> PullConnection::next_event(io::Deadline deadline) {
    for (;;) {
        auto event = TRY(engine_->poll_event(io::now()));
        TRY(send(as_bytes(engine_->take_output()), deadline));
        if (event)
            return *std::move(event);
        // A flood without events delays neither other fibers nor the limit.
        if (deadline.expired())
            return Error(Errc::timed_out, "the other side does not answer");
        if (io::is_turn_over())
            TRY(io::yield(deadline));
        if (TRY(read_piece()) > 0) {
            engine_->keep_bytes();
            continue;
        }
        if (TRY(stream_->wait_ready(io::Interest::readable, nullptr, deadline)).timed_out)
            return Error(Errc::timed_out, "the other side does not answer");
    }
}

// Credentials are for the host that the operator has named, and are not sent in the clear after TLS.
Result<wire::rtsp::Description> PullConnection::open(PullUrl url, io::Deadline deadline) {
    std::string sent_by;
    for (int redirects = 0; redirects <= kRedirectsMax; ++redirects) {
        const auto limit = deadline.sooner(io::Deadline::after(kAnswerLimit));
        TRY(connect(url, sent_by, limit));
        const auto event = TRY(next_event(limit));
        if (const auto* described = std::get_if<rtsp::Described>(&event))
            return described->description;
        const auto* redirected = std::get_if<rtsp::Redirected>(&event);
        if (redirected == nullptr)
            return Error(Errc::malformed, "media before a description");
        auto next = wire::rtsp::parse_pull_url(redirected->url);
        if (!next.ok())
            return std::move(next).error().during("following a redirect");
        LOG_INFO(log_, "RTSP: redirected to {}", next->label());
        if (next->host == url.host && (next->is_secure || !url.is_secure)) {
            next->user = url.user;
            next->password = url.password;
        }
        sent_by = peer_.ip;
        url = *std::move(next);
    }
    return Error(Errc::limit, "more than 5 redirects");
}

void PullConnection::close() {
    if (stream_ == nullptr)
        return;
    if (engine_ != nullptr) {
        engine_->tear_down();
        const std::string output = engine_->take_output();
        const std::array parts{io::as_part(as_bytes(output))};
        if (!output.empty())
            static_cast<void>(stream_->try_write(parts));
    }
    stream_->close();
}

}  // namespace live::session::rtsp
