// Connection: one HTTP/1.1 client from accept to close: reads requests, has them answered, one after the other. What is broken,
// too long or too slow gets the fitting 4xx and is closed. Every answer says "Connection: close", yet a client that goes on is
// served.
#pragma once

#include <chrono>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "base/log.hpp"
#include "engine/http1/parser.hpp"
#include "io/stream.hpp"
#include "session/http/context.hpp"

namespace live::session::http {

class Connection {
public:
    // A whole request has to come in this time, so that one byte a second does not hold a place for ever.
    static constexpr std::chrono::seconds kReceiveLimit{15};
    static constexpr std::chrono::seconds kSendLimit{30};
    static constexpr std::size_t kRequestsMax = 10'000;
    // How long, and how much, a client that is refused may still send.
    static constexpr std::chrono::seconds kRefusalLimit{1};
    static constexpr std::size_t kRefusalBytesMax = 1 << 20;

    Connection(std::unique_ptr<io::Stream> stream, Context& context, std::string scheme, const Log& log);

    // Returns when the connection is over.
    void run(io::Deadline deadline);

private:
    Result<void> serve(io::Deadline deadline);
    void refuse(int status, io::Deadline deadline);
    // The next request; none when the client has gone, or stayed away, between two of them.
    Result<std::optional<engine::http1::Request>> receive(io::Deadline deadline);
    Result<void> feed(Bytes input);
    Result<void> answer(engine::http1::Request message, io::Deadline deadline);
    Reply reply_to(const Request& request, io::Deadline deadline);
    Reply dispatch(const Request& request, io::Deadline deadline);
    bool is_authorised(const Request& request) const;
    Result<void> send(const Reply& reply, const engine::http1::Request& message, io::Deadline deadline);
    Result<void> send_text(std::string_view text, io::Deadline deadline);
    void log_request(const engine::http1::Request& message);

    std::unique_ptr<io::Stream> stream_;
    Context& context_;
    std::string scheme_;
    const Log& log_;
    engine::http1::RequestParser parser_;
    // What a client sent behind the request that is being answered; at most one read.
    std::vector<std::uint8_t> rest_;
};

}  // namespace live::session::http
