// The other side of ICE, for who connects to a server: checks one address, nominates it with the first check, and goes on
// checking so that the server knows it is there (RFC 8445, 6.1.1: with a lite server that side controls). A server that is not
// lite checks, too, and is answered. For tests, load programs and the doctor; a browser does more.
#pragma once

#include <chrono>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "base/bytes.hpp"
#include "base/result.hpp"
#include "base/time.hpp"
#include "base/transport_address.hpp"
#include "wire/stun/message.hpp"

namespace live::engine::ice {

class Client {
public:
    struct Options {
        TransportAddress remote;
        std::string local_ufrag;
        std::string local_pwd{};  // by which the server's own checks are known; empty: they are not answered
        std::string remote_ufrag;
        std::string remote_pwd;
        std::chrono::milliseconds first_retry = 50ms;  // doubles, up to retry_max
        std::chrono::milliseconds retry_max = 1s;
        std::chrono::milliseconds keep_alive = 2'500ms;  // between checks once one was answered
        std::chrono::milliseconds timeout = 15s;         // without an answer
    };

    Client(Options options, TimePoint now);

    // A check to be sent to the remote address now, if one is due. Errc::system.
    Result<std::optional<std::vector<std::uint8_t>>> poll(TimePoint now);
    // True for the answer to the last check: authentic, and from where it went. Errc::system.
    Result<bool> handle_stun(TimePoint now, Bytes datagram, const wire::stun::Message& message, const TransportAddress& from);

    // What to answer to the server's own check; empty when there is nothing to say. Errc::system.
    Result<std::vector<std::uint8_t>> answer(Bytes datagram, const wire::stun::Message& message,
                                             const TransportAddress& from) const;

    bool is_connected() const { return is_connected_; }
    TimePoint next_timeout() const { return std::min(next_check_, heard_ + options_.timeout); }
    bool is_expired(TimePoint now) const { return now >= heard_ + options_.timeout; }
    const TransportAddress& remote() const { return options_.remote; }
    // Where the server sees us.
    const std::optional<TransportAddress>& mapped() const { return mapped_; }

private:
    Options options_;
    wire::stun::TransactionId transaction_{};
    TimePoint next_check_;
    TimePoint heard_;
    std::chrono::milliseconds retry_;
    std::optional<TransportAddress> mapped_;
    bool is_waiting_ = false;  // for the answer to transaction_
    bool is_connected_ = false;
};

}  // namespace live::engine::ice
