// The listening end of SRT handshakes (draft-sharabayko-srt-01, 4.3.1). It keeps nothing about callers: an induction is answered
// with a cookie, a keyed hash of the caller's address and the minute, and only a conclusion with that cookie becomes a Request.
// The owner decides about the Request without a time limit, then calls accept() or refuse(). An answer is never longer than the
// datagram it answers, so that a spoofed source gains nothing.
#pragma once

#include <array>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <variant>
#include <vector>

#include "base/bytes/bytes.hpp"
#include "base/net/transport_address.hpp"
#include "base/result.hpp"
#include "base/time.hpp"
#include "engine/srt/connection.hpp"
#include "engine/srt/handshake/crypto.hpp"
#include "engine/srt/handshake/handshake_message.hpp"
#include "engine/srt/handshake/key_message.hpp"

namespace live::engine::srt {

// A caller that has proved its address and requests a connection.
struct Request {
    TransportAddress from;
    SocketId socket_id{};  // the caller's. With `from` it identifies the caller: a repeated Request has the same.
    std::uint32_t cookie = 0;
    std::uint32_t handshake_version = 5;    // 4: no stream id, capabilities follow after the handshake
    Capabilities capabilities;              // with the peer's version and latencies
    std::string stream_id;                  // empty if it sent none; up to 512 bytes, any
    std::optional<KeyMessage> key_request;  // it encrypts: derive_key(passphrase, key_request->salt, key_request->key_bytes)
    std::uint32_t initial_sequence = 0;
    std::uint32_t mtu = 1'500;
    std::uint32_t flow_window = 8'192;
    std::uint32_t timestamp = 0;
    TimePoint received_at;

    bool is_encrypted() const { return key_request.has_value(); }
};

class Listener {
public:
    using Secret = std::array<std::uint8_t, 16>;
    // Datagrams for the sender of the input; std::monostate: nothing to do or to answer.
    using Outcome = std::variant<std::monostate, std::vector<std::uint8_t>, Request>;

    explicit Listener(const Secret& secret) : secret_(secret) {}
    static Secret random_secret();

    // Bytes of a key that the induction's answer advertises; 0, 16, 24 or 32. The caller decides unless it has no preference.
    void set_key_bytes(std::size_t bytes) { key_bytes_ = bytes; }

    // For datagrams whose destination is socket id 0. About a microsecond, and no memory but the answer.
    Outcome handle_datagram(TimePoint now, Bytes datagram, const TransportAddress& from) const;
    // The same for inductions only, which are most of a flood: writes the answer into `into` (64 bytes) and returns its size.
    // 0 if it is no induction: call handle_datagram.
    std::size_t answer_induction(TimePoint now, Bytes datagram, const TransportAddress& from, MutBytes into) const;

private:
    std::uint32_t cookie_of(const TransportAddress& from, std::int64_t minute) const;
    bool is_cookie(TimePoint now, const TransportAddress& from, std::uint32_t cookie) const;

    Secret secret_;
    std::size_t key_bytes_ = 0;
};

// A connection whose first datagram (write_next) is the response. `socket_id` is ours: not 0, random, not in use. The key is
// derived from the passphrase that the request must have. Errc::denied with a wrong key (refuse with RejectReason::bad_secret),
// and if only one end has a passphrase (RejectReason::unsecure; the error names the end). A version 4 caller brings no key: a
// player gets a key of ours after the handshake, with a `kek` made of `salt`, which is new for each connection; a publisher needs
// none.
Result<std::unique_ptr<Connection>> accept(TimePoint now, const Request& request, SocketId socket_id,
                                           const ConnectionOptions& options, const std::optional<KeyEncryptingKey>& kek,
                                           const Salt& salt = {});
// The datagram to send to request.from.
std::vector<std::uint8_t> refuse(const Request& request, RejectReason reason);
// Returns the reject reason that corresponds to an HTTP status; RejectReason::peer for other statuses.
RejectReason reject_reason_of_status(unsigned http_status);

}  // namespace live::engine::srt
