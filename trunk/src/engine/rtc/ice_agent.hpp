// The server's side of ICE for one session: lite, so it answers checks and makes none (RFC 8445, 2.5 and 7.3). A datagram and
// where it came from go in, the answer to send back there comes out. Nothing changes, and nothing but a short refusal leaves,
// before a check has proved that it knows the session's password. Media goes where the client *nominated*: browsers check from
// several addresses at once, and neither the first nor the latest is the one they listen on.
#pragma once

#include <chrono>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/bytes.hpp"
#include "base/result.hpp"
#include "base/time.hpp"
#include "base/transport_address.hpp"
#include "wire/stun/message.hpp"

namespace live::engine::rtc {

// Whose session a check is for, before anybody has verified it: the part of USERNAME in front of the colon (RFC 8445, 7.2.2).
// Nothing when it is not a binding request with one.
std::optional<std::string_view> local_ufrag_of(const wire::stun::Message& message);

class IceAgent {
public:
    // Addresses that have passed a check and are remembered. The longest silent one gives way, the nominated one never.
    static constexpr std::size_t kAddressesMax = 8;

    struct Options {
        std::string local_ufrag;
        std::string local_pwd;
        std::string remote_ufrag;
        std::chrono::milliseconds timeout = 30s;  // without a valid check; RFC 7675 asks for consent every 30 s
        // The role a client claims is looked at: a controlled one is told of its mistake (487).
        bool is_strict = false;
    };
    enum class Outcome : std::uint8_t {
        ignored,        // no answer: not for us, or not proved to be
        refused,        // an answer that is an error; nothing has changed
        answered,       // a check from an address
        newly_checked,  // the first check from this address
        nominated,      // the pair that media follows is a new one
    };
    struct Reply {
        Outcome outcome = Outcome::ignored;
        std::vector<std::uint8_t> bytes;  // send to where the check came from; empty for none
    };

    IceAgent(Options options, TimePoint now) : options_(std::move(options)), heard_(now) {}

    // A STUN message as parsed from `datagram`. Errc::system when the hash is not available.
    Result<Reply> handle_stun(TimePoint now, Bytes datagram, const wire::stun::Message& message, const TransportAddress& from);

    // Has this address passed a check? DTLS, media and RTCP from any other are to be dropped unread.
    bool is_checked(const TransportAddress& address) const;
    // Where media and DTLS go: the nominated address; before there is one, the first that passed a check, since DTLS may start
    // then (RFC 8445, 12.1 with 7.3.1.5). Nothing before any check.
    std::optional<TransportAddress> selected() const;
    bool is_nominated() const { return nominated_.has_value(); }

    // When the session is over unless another valid check comes.
    TimePoint next_timeout() const { return heard_ + options_.timeout; }
    bool is_expired(TimePoint now) const { return now >= next_timeout(); }
    std::size_t addresses() const { return checked_.size(); }

private:
    struct Checked {
        TransportAddress address;
        TimePoint heard;
    };
    Result<bool> is_proved(Bytes datagram, const wire::stun::Message& message) const;
    Result<Reply> answer(const wire::stun::Message& message, const TransportAddress& from, Outcome outcome) const;
    Result<Reply> refuse(const wire::stun::Message& message, std::uint16_t code, std::string_view reason) const;
    Outcome remember(TimePoint now, const TransportAddress& from);

    Options options_;
    std::vector<Checked> checked_;  // in the order of their first check
    std::optional<TransportAddress> nominated_;
    TimePoint heard_;
};

}  // namespace live::engine::rtc
