// The client side of ICE: checks one server address, nominates it with the first check, and keeps checking to keep the session
// alive (RFC 8445, 6.1.1: with a lite server, the client controls). It also answers the checks of a server that is not lite. For
// tests, load programs and the doctor; a browser does more.
#pragma once

#include <chrono>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "base/bytes/bytes.hpp"
#include "base/net/transport_address.hpp"
#include "base/result.hpp"
#include "base/time.hpp"
#include "wire/stun/message.hpp"

namespace live::engine::ice {

class Client {
public:
    struct Options {
        TransportAddress remote;
        std::string local_ufrag;
        std::string local_pwd{};  // verifies the server's own checks; empty: they are not answered
        std::string remote_ufrag;
        std::string remote_pwd;
        std::chrono::milliseconds first_retry = 50ms;  // doubles, up to retry_max
        std::chrono::milliseconds retry_max = 1s;
        std::chrono::milliseconds keep_alive = 2'500ms;  // between checks once one was answered
        std::chrono::milliseconds timeout = 15s;         // without an answer
    };

    Client(Options options, TimePoint now);

    // A check to send to the remote address now, if one is due. Errc::system.
    Result<std::optional<std::vector<std::uint8_t>>> poll(TimePoint now);
    // True for an authentic answer to the last check, from the address it was sent to. Errc::system.
    Result<bool> handle_stun(TimePoint now, Bytes datagram, const wire::stun::Message& message, const TransportAddress& from);

    // The answer to the server's own check; empty if none is due. Errc::system.
    Result<std::vector<std::uint8_t>> answer(Bytes datagram, const wire::stun::Message& message,
                                             const TransportAddress& from) const;

    bool is_connected() const { return is_connected_; }
    TimePoint next_timeout() const { return std::min(next_check_, received_at_ + options_.timeout); }
    bool is_expired(TimePoint now) const { return now >= received_at_ + options_.timeout; }
    const TransportAddress& remote() const { return options_.remote; }
    // Our address as seen by the server.
    const std::optional<TransportAddress>& mapped() const { return mapped_; }

private:
    Options options_;
    wire::stun::TransactionId transaction_{};
    TimePoint next_check_;
    TimePoint received_at_;
    std::chrono::milliseconds retry_;
    std::optional<TransportAddress> mapped_;
    bool is_waiting_ = false;  // for the answer to transaction_
    bool is_connected_ = false;
};

}  // namespace live::engine::ice
