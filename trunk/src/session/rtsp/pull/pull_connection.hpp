// PullConnection: the RTSP connection of a pull and its engine. It follows redirects and finds the description of the stream.
#pragma once

#include <chrono>
#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "base/log/log.hpp"
#include "base/net/endpoint.hpp"
#include "base/result.hpp"
#include "engine/rtsp/client.hpp"
#include "io/fibers/deadline.hpp"
#include "io/net/stream.hpp"
#include "session/common/traffic.hpp"
#include "session/rtsp/context.hpp"
#include "session/rtsp/pull/pull_options.hpp"
#include "wire/rtsp/pull_url.hpp"

namespace live::session::rtsp {

class PullConnection {
public:
    // Time limit for a connection, and for each answer until the media starts.
    static constexpr std::chrono::seconds kAnswerLimit{10};
    static constexpr int kRedirectsMax = 5;
    using OwnEndpoints = std::function<std::vector<Endpoint>()>;

    // Everything referred to outlives this. `own_endpoints`: where this server listens for RTSP.
    PullConnection(Context& context, const PullOptions& options, const OwnEndpoints& own_endpoints, const Log& log)
        : context_(context), options_(options), own_endpoints_(own_endpoints), log_(log) {}

    // Connects, follows redirects, and returns the description. Errc::denied for credentials that are refused, and for a redirect
    // to this server or to an address that the redirecting server may not name; errors as engine::rtsp::Client.
    Result<wire::rtsp::Description> open(wire::rtsp::PullUrl url, io::Deadline deadline);
    // The next event; sends what the engine has for the other side.
    Result<engine::rtsp::ClientEvent> next_event(io::Deadline deadline);
    Result<void> send(Bytes bytes, io::Deadline deadline);
    // Passes what has arrived to the engine; returns the number of bytes. The engine borrows them: before anything suspends, the
    // caller must poll all events or call keep_bytes(). Never suspends.
    Result<std::size_t> read_piece();
    // Ends the session and the connection, as far as that needs no wait.
    void close();

    engine::rtsp::Client& engine() { return *engine_; }
    io::Stream& stream() { return *stream_; }
    bool is_open() const { return stream_ != nullptr; }
    bool is_secure() const { return is_secure_; }
    const Endpoint& peer() const { return peer_; }
    const std::string& local_ip() const { return local_ip_; }
    Traffic& traffic() { return traffic_; }
    const Traffic& traffic() const { return traffic_; }

private:
    // The address of a redirecting server; empty for the operator's URL.
    Result<void> connect(const wire::rtsp::PullUrl& url, const std::string& sent_by, io::Deadline deadline);
    Result<void> connect_to(const Endpoint& endpoint, const wire::rtsp::PullUrl& url, const std::string& sent_by,
                            io::Deadline deadline);

    Context& context_;
    const PullOptions& options_;
    const OwnEndpoints& own_endpoints_;
    const Log& log_;
    std::unique_ptr<io::Stream> stream_;
    std::unique_ptr<engine::rtsp::Client> engine_;
    Endpoint peer_;
    std::string local_ip_;
    Traffic traffic_;
    bool is_secure_ = false;
};

}  // namespace live::session::rtsp
