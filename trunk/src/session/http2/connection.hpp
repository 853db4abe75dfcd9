// Connection: one HTTP/2 client from its TLS handshake to close. Its own fiber reads frames and starts a fiber for each request,
// which the handlers of HTTP/1.1 answer. The number of these fibers is bounded, also of requests that the client has reset.
#pragma once

#include <chrono>
#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/log/log.hpp"
#include "base/signal.hpp"
#include "engine/http2/server.hpp"
#include "io/fibers/scope.hpp"
#include "io/tls/tls_context.hpp"
#include "io/tls/tls_stream.hpp"
#include "session/http/acceptor.hpp"
#include "session/http/context.hpp"
#include "session/http2/request_stream.hpp"
#include "session/limits/connection_limits.hpp"

namespace live::session::http2 {

class Connection final : private Link, private MemoryBudget::Holder {
public:
    // Requests that are served at the same time, including those that the client has reset and whose handler still runs.
    static constexpr std::size_t kRequestsAtOnceMax = engine::http2::Server::kStreamsMax;
    // Per connection; after that it takes no more.
    static constexpr std::uint64_t kRequestsMax = 10'000;
    // Without a request; pings do not count.
    static constexpr std::chrono::seconds kIdleLimit{15};
    // Time limit for a request body that is not streamed.
    static constexpr std::chrono::seconds kReceiveLimit{15};
    // How long the last frames may take.
    static constexpr std::chrono::seconds kGoodbyeLimit{1};

    Connection(std::unique_ptr<io::TlsStream> stream, const http::SecureClient& client);

    // Returns when the connection and the handlers of its requests are over.
    void run(io::Deadline deadline);

private:
    using StreamId = engine::http2::StreamId;

    struct Served {
        Served(Link& link, StreamId id, MemoryBudget& budget, std::optional<ConnectionLimits::Place> taken)
            : stream(link, id, budget), place(std::move(taken)) {}
        RequestStream stream;
        std::optional<ConnectionLimits::Place> place;  // of a request beside others
    };

    // Link
    engine::http2::Server& engine() override { return engine_; }
    Result<void> pump() override;
    std::string peer() const override { return stream_->peer(); }
    std::string_view peer_ip() const override { return client_.peer_ip; }
    // MemoryBudget::Holder
    std::string_view address() const override { return client_.peer_ip; }
    void lose_memory(std::string why) override;

    Result<void> serve(io::Deadline deadline);
    Result<void> receive();
    Result<bool> send(Bytes frames);
    Result<bool> send_unsent();
    // Accepts no further requests when the server stops, is crowded or has a new certificate.
    void finish_if_due();
    void dispatch();
    void start_request(StreamId id);
    void serve_request(StreamId id, RequestStream& stream, io::Deadline deadline);
    Result<void> answer(RequestStream& stream, engine::http2::StreamRequest received, const Log& log, io::Deadline deadline);
    Result<std::optional<http::Reply>> read_whole(RequestStream& stream, std::string& body, io::Deadline deadline);
    void say_goodbye(bool is_refused, io::Deadline deadline);
    void log_end(const Error& error);

    std::unique_ptr<io::TlsStream> stream_;
    const http::SecureClient client_;
    const std::uint64_t certificate_;  // TlsContext::reloads() at the handshake
    engine::http2::Server engine_;
    MemoryBudget::Use memory_;  // bodies that are received and not read
    std::vector<std::uint8_t> unsent_;
    std::size_t sent_ = 0;  // of unsent_
    Signal wake_;
    std::map<StreamId, Served> served_;
    std::uint64_t requests_ = 0;
    TimePoint idle_since_;
    bool is_finishing_ = false;
    bool is_over_ = false;
    io::Scope fibers_{"http2-request"};
};

// Serves the HTTP/2 clients of acceptors.
class Server final : public http::MultiplexedServer {
public:
    void serve(std::unique_ptr<io::TlsStream> stream, const http::SecureClient& client, io::Deadline deadline) override;
};

}  // namespace live::session::http2
