// The server side of ICE for one session: lite (RFC 8445, 2.5 and 7.3) with one exception. A datagram and its source address go
// in, the answer to that address comes out. No state changes, and nothing but a short refusal is sent, before a check has proved
// knowledge of the session's password. Media goes to the address the client *nominated*: browsers check from several addresses at
// once, and neither the first nor the latest is necessarily the one they receive on.
//
// A check authenticates its sender, but not the datagram's source address, which can be spoofed, and an on-path attacker can
// replay a check from elsewhere. So media goes to a *proved* address only: one from which the handshake was answered, or a check
// of our own. Nominating another address starts such a check, as a full agent would (RFC 8445, 7.3.1.4; RFC 7675, 5.1); until it
// is answered, media stays where it is.
#pragma once

#include <chrono>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/bytes/bytes.hpp"
#include "base/net/transport_address.hpp"
#include "base/result.hpp"
#include "base/time.hpp"
#include "wire/stun/message.hpp"

namespace live::engine::ice {

// The session a check is for, before it is verified: the part of USERNAME before the colon (RFC 8445, 7.2.2). Nothing if it is
// not a binding request with a USERNAME.
std::optional<std::string_view> local_ufrag_of(const wire::stun::Message& message);

class Agent {
public:
    // Addresses remembered because they passed a check. The one silent for longest is replaced, but never one in use.
    static constexpr std::size_t kAddressesMax = 8;
    // Our own check is retransmitted after this time, then after twice as long each time, up to kOwnChecksMax.
    static constexpr std::chrono::milliseconds kOwnCheckRetry = 50ms;
    static constexpr unsigned kOwnChecksMax = 7;
    // Time limit for the proof, counted from require_proof().
    static constexpr std::chrono::milliseconds kProofTime = 10s;

    struct Options {
        std::string local_ufrag;
        std::string local_pwd;
        std::string remote_ufrag;
        std::string remote_pwd{};  // for our own checks
        std::chrono::milliseconds timeout =
            30s;  // without a valid check from the proved address; RFC 7675 requires consent every 30 s
        // Verifies the role a client claims: a controlled one is answered with a role conflict (487).
        bool is_strict = false;
    };
    enum class Outcome : std::uint8_t {
        ignored,        // no answer: not for this session, or not authentic
        refused,        // answered with an error; nothing has changed
        answered,       // a check from an address
        newly_checked,  // the first check from this address
        nominated,      // the client selected another pair than before
        proved,         // the answer to our own check: media goes to that address from now on
    };
    struct Reply {
        Outcome outcome = Outcome::ignored;
        std::vector<std::uint8_t> bytes;  // to be sent to the source of the check; empty for none
    };

    Agent(Options options, TimePoint now) : options_(std::move(options)), received_at_(now) {}

    struct OwnCheck {
        TransportAddress to;
        std::vector<std::uint8_t> bytes;
    };

    // A STUN message parsed from `datagram`. Errc::system if the hash is not available.
    Result<Reply> handle_stun(TimePoint now, Bytes datagram, const wire::stun::Message& message, const TransportAddress& from);

    // Whether this address has passed a check. DTLS, media and RTCP from any other must be dropped unread.
    bool is_checked(const TransportAddress& address) const;
    // The destination of all packets: the proved address. Until there is one, the handshake alone goes to the nominated address,
    // or to the first that passed a check (RFC 8445, 12.1 with 7.3.1.5). Nothing before any check.
    std::optional<TransportAddress> selected() const;
    bool is_proved() const { return proved_.has_value(); }

    // The handshake has proved that packets to this address are received.
    void confirm(TimePoint now, const TransportAddress& address);
    // Call this when only the proof is missing: starts a check of the selected address, with the time limit kProofTime.
    void require_proof(TimePoint now);
    // Our own check, if one is due. Errc::system.
    Result<std::optional<OwnCheck>> poll(TimePoint now);

    // When to poll, or when the session expires without further checks.
    TimePoint next_timeout() const;
    bool is_expired(TimePoint now) const { return now >= expiry(); }
    std::size_t addresses() const { return checked_.size(); }

private:
    struct Checked {
        TransportAddress address;
        TimePoint received_at;
    };
    // An unanswered check of our own.
    struct Asked {
        TransportAddress to;
        wire::stun::TransactionId transaction{};
        TimePoint next;
        unsigned sent = 0;
    };
    Result<bool> knows_password(Bytes datagram, const wire::stun::Message& message) const;
    Result<Reply> take_answer(TimePoint now, Bytes datagram, const wire::stun::Message& message, const TransportAddress& from);
    // Starts a check of our own, unless one to that address is in progress.
    void ask(TimePoint now, const TransportAddress& to);
    bool is_asking() const { return asked_ && asked_->sent < kOwnChecksMax; }
    TimePoint expiry() const;
    Result<Reply> answer(const wire::stun::Message& message, const TransportAddress& from, Outcome outcome) const;
    Result<Reply> refuse(const wire::stun::Message& message, std::uint16_t code, std::string_view reason) const;
    Outcome remember(TimePoint now, const TransportAddress& from);

    Options options_;
    std::vector<Checked> checked_;  // in the order of their first checks
    std::optional<TransportAddress> nominated_;
    std::optional<TransportAddress> proved_;
    std::optional<Asked> asked_;
    std::optional<TimePoint> proof_until_;
    TimePoint received_at_;  // from the proved address; before there is one, from any
};

}  // namespace live::engine::ice
