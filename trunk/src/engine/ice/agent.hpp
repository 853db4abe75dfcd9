// The server's side of ICE for one session: lite (RFC 8445, 2.5 and 7.3), but for one thing. A datagram and where it came from go
// in, the answer to send back there comes out. Nothing changes, and nothing but a short refusal leaves, before a check has proved
// that it knows the session's password. Media goes where the client *nominated*: browsers check from several addresses at once,
// and neither the first nor the latest is the one they listen on.
//
// A check proves who asks, not that who asks is at the address in the datagram, which anybody can write, and anybody on the way
// can send it again from elsewhere. So media goes to a *proved* address only: one from which the handshake was answered, or a
// check of our own. A nomination of another address starts such a check, as a full agent would (RFC 8445, 7.3.1.4; RFC
// 7675, 5.1); until it is answered media stays where it is.
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

namespace live::engine::ice {

// Whose session a check is for, before anybody has verified it: the part of USERNAME in front of the colon (RFC 8445, 7.2.2).
// Nothing when it is not a binding request with one.
std::optional<std::string_view> local_ufrag_of(const wire::stun::Message& message);

class Agent {
public:
    // Addresses that have passed a check and are remembered. The longest silent one gives way, one that is used never.
    static constexpr std::size_t kAddressesMax = 8;
    // Our own check is sent so often, first after this time and then after twice as long each.
    static constexpr std::chrono::milliseconds kOwnCheckRetry = 50ms;
    static constexpr unsigned kOwnChecksMax = 7;
    // From require_proof() on.
    static constexpr std::chrono::milliseconds kProofTime = 10s;

    struct Options {
        std::string local_ufrag;
        std::string local_pwd;
        std::string remote_ufrag;
        std::string remote_pwd{};  // for checks of our own
        std::chrono::milliseconds timeout =
            30s;  // without a valid check from the proved address; RFC 7675 asks for consent every 30 s
        // The role a client claims is looked at: a controlled one is told of its mistake (487).
        bool is_strict = false;
    };
    enum class Outcome : std::uint8_t {
        ignored,        // no answer: not for us, or not proved to be
        refused,        // an answer that is an error; nothing has changed
        answered,       // a check from an address
        newly_checked,  // the first check from this address
        nominated,      // the client wants another pair than before
        proved,         // the answer to our own check: media goes there from now on
    };
    struct Reply {
        Outcome outcome = Outcome::ignored;
        std::vector<std::uint8_t> bytes;  // send to where the check came from; empty for none
    };

    Agent(Options options, TimePoint now) : options_(std::move(options)), heard_(now) {}

    struct OwnCheck {
        TransportAddress to;
        std::vector<std::uint8_t> bytes;
    };

    // A STUN message as parsed from `datagram`. Errc::system when the hash is not available.
    Result<Reply> handle_stun(TimePoint now, Bytes datagram, const wire::stun::Message& message, const TransportAddress& from);

    // Has this address passed a check? DTLS, media and RTCP from any other are to be dropped unread.
    bool is_checked(const TransportAddress& address) const;
    // Where everything goes: the proved address. Before there is one the handshake alone goes to the nominated one, or to the
    // first that passed a check (RFC 8445, 12.1 with 7.3.1.5). Nothing before any check.
    std::optional<TransportAddress> selected() const;
    bool is_proved() const { return proved_.has_value(); }

    // The handshake has shown that what goes to this address is received.
    void confirm(TimePoint now, const TransportAddress& address);
    // Nothing has shown it, and only the proof is missing: the selected address is asked, and given kProofTime.
    void require_proof(TimePoint now);
    // Our own check, when one is due. Errc::system.
    Result<std::optional<OwnCheck>> poll(TimePoint now);

    // When to poll, or when the session is over unless something comes before.
    TimePoint next_timeout() const;
    bool is_expired(TimePoint now) const { return now >= expiry(); }
    std::size_t addresses() const { return checked_.size(); }

private:
    struct Checked {
        TransportAddress address;
        TimePoint heard;
    };
    // A check of our own that is not answered.
    struct Asked {
        TransportAddress to;
        wire::stun::TransactionId transaction{};
        TimePoint next;
        unsigned sent = 0;
    };
    Result<bool> knows_password(Bytes datagram, const wire::stun::Message& message) const;
    Result<Reply> take_answer(TimePoint now, Bytes datagram, const wire::stun::Message& message, const TransportAddress& from);
    // Starts a check of our own, unless one is on its way there.
    void ask(TimePoint now, const TransportAddress& to);
    bool is_asking() const { return asked_ && asked_->sent < kOwnChecksMax; }
    TimePoint expiry() const;
    Result<Reply> answer(const wire::stun::Message& message, const TransportAddress& from, Outcome outcome) const;
    Result<Reply> refuse(const wire::stun::Message& message, std::uint16_t code, std::string_view reason) const;
    Outcome remember(TimePoint now, const TransportAddress& from);

    Options options_;
    std::vector<Checked> checked_;  // in the order of their first check
    std::optional<TransportAddress> nominated_;
    std::optional<TransportAddress> proved_;
    std::optional<Asked> asked_;
    std::optional<TimePoint> proof_until_;
    TimePoint heard_;  // the proved address; before there is one, any
};

}  // namespace live::engine::ice
