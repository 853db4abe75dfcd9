// Connection: one HTTP/1.1 client from accept to close: reads requests and has them answered one after the other. Malformed,
// oversized or slow input gets the appropriate 4xx and the connection is closed. A client that supports it (RFC 9112, 9.3) keeps
// its connection for the next request, unless the server is crowded.
#pragma once

#include <chrono>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "base/log/log.hpp"
#include "engine/http1/parser.hpp"
#include "io/net/stream.hpp"
#include "io/net/tcp_stream.hpp"
#include "session/http/context.hpp"
#include "session/http/exchange.hpp"
#include "session/limits/connection_limits.hpp"
#include "wire/http/target.hpp"

namespace live::session::http {

class Connection final : private MemoryBudget::Holder {
public:
    // Time limit for a complete request, or for the header of one with a streamed body, so that one byte per second does not hold
    // a place forever.
    static constexpr std::chrono::seconds kReceiveLimit{15};
    // Per connection; after that it is closed.
    static constexpr std::size_t kRequestsMax = 10'000;
    // How long a client may keep an idle connection.
    static constexpr std::chrono::seconds kIdleLimit{15};
    // After this part of it, the connection needs no fiber, or gives the pages of its stack back.
    static constexpr std::chrono::seconds kBusyLimit{1};
    // How long, and how much, a refused client may still send.
    static constexpr std::chrono::seconds kRefusalLimit{1};
    static constexpr std::size_t kRefusalBytesMax = 1 << 20;

    // `tcp` is the stream when it is plain TCP, otherwise nullptr: then it is TLS.
    Connection(std::unique_ptr<io::Stream> stream, io::TcpStream* tcp, std::string peer_ip, Context& context,
               ConnectionLimits& places, const Log& log);

    // Returns when the connection is over.
    void run(io::Deadline deadline);
    // Returns also when the client has been silent for kBusyLimit between two requests: then it may be called again when there is
    // something to read, or within the rest of kIdleLimit.
    enum class Ended : bool { over, silent };
    Ended run_until_silent(io::Deadline deadline);

private:
    enum class Next : bool { close, go_on };
    enum class Waited : std::uint8_t { request, silent, over };

    // MemoryBudget::Holder
    std::string_view address() const override { return peer_ip_; }
    void lose_memory(std::string why) override;

    Result<Ended> serve(io::Deadline deadline);
    void finish(const Result<Ended>& ended);
    void refuse_for(const Error& error, io::Deadline deadline);
    // `message` is the request as far as it is known: the response to HEAD has no body, and the log names no request that could
    // not be read.
    void refuse(int status, io::Deadline deadline, engine::http1::Request message = {});
    // Reads the next request into message_ (a member, because a live stream is served for hours from the same stack), without its
    // body when that is streamed; none when the client has closed or stayed idle between two requests.
    Result<void> receive(io::Deadline deadline);
    Result<void> feed(Bytes input);
    Result<Waited> wait_for_next(io::Deadline deadline);
    void make_parser();
    Result<void> understand_next(io::Deadline deadline);
    Result<Next> answer(io::Deadline deadline);
    // Whether another request may follow the current one.
    bool may_stay() const;
    Result<Handler*> route(Exchange& exchange, io::Deadline deadline);
    Request made_of(engine::http1::Request message, wire::http::Target target) const;
    bool streams_body(const engine::http1::Request& head) const;
    void log_end(const Error& error);

    std::unique_ptr<io::Stream> stream_;
    io::TcpStream* tcp_;
    std::string peer_;
    std::string peer_ip_;
    Context& context_;
    const ConnectionLimits& places_;
    const Log& log_;
    MemoryBudget::Use memory_;  // of unfinished requests
    std::size_t requests_ = 0;
    bool returns_when_silent_ = false;
    std::optional<engine::http1::RequestParser> parser_;  // exists while there may be something to read
    // Input after the current request; at most one read.
    std::vector<std::uint8_t> rest_;
    std::optional<engine::http1::Request> message_;
    std::optional<Request> request_;  // the one being answered
};

}  // namespace live::session::http
