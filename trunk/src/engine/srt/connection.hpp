// One SRT connection in live mode after its handshake, either end, both directions (draft-sharabayko-srt-01, sections 4 to 6).
// Datagrams and times go in; datagrams, payloads and the time of the next timeout come out. It is made by Listener::accept or by
// a Caller.
//
//   connection.handle_datagram(now, datagram);              // only from connection.peer(); see `is_peer`
//   connection.handle_timeout(now);                         // when next_timeout() has come; also harmless earlier
//   while (auto payload = connection.next_payload(now)) ... // in order, when it is due
//   connection.send(now, slice);                            // queues; shared bytes, not copied
//   while (size = connection.write_next(now, buffer)) ...   // datagrams that may be sent now: handshake, control, data as paced
//   connection.next_timeout(now)
//
// After any input: drain payloads and datagrams, then read the state and the next timeout. Nothing a peer sends is an error of a
// call: it is counted, ignored, or ends the connection.
#pragma once

#include <chrono>
#include <cstdint>
#include <memory>
#include <optional>

#include "base/bytes/bytes.hpp"
#include "base/net/transport_address.hpp"
#include "base/result.hpp"
#include "base/time.hpp"
#include "engine/srt/connection_types.hpp"
#include "engine/srt/figures.hpp"
#include "engine/srt/handshake/crypto.hpp"
#include "engine/srt/packet.hpp"

namespace live::engine::srt {

struct ConnectionSetup;  // what a handshake agreed on; see connection_setup.hpp

class Connection {
public:
    using Payload = ReceivedPayload;
    using KeyQuestion = srt::KeyQuestion;
    enum class Sent : std::uint8_t {
        queued,
        full,  // the buffer is full, or the link too slow
        too_long,
        closed,
        no_key,  // encryption is required, and a version 4 caller has not confirmed a key for what it receives
    };

    using Setup = ConnectionSetup;
    Connection(TimePoint now, Setup setup);
    ~Connection();
    Connection(const Connection&) = delete;
    Connection& operator=(const Connection&) = delete;

    SocketId socket_id() const;  // ours: the destination of the peer's datagrams
    SocketId peer_socket_id() const;
    const TransportAddress& peer() const;
    // Whether a datagram for our socket id may be handled: socket ids are no secret, so those from other addresses are dropped.
    bool is_peer(const TransportAddress& from) const { return from == peer(); }

    void handle_datagram(TimePoint now, Bytes datagram);
    void handle_timeout(TimePoint now);
    // Returns the latest time for the next call of handle_timeout, next_payload and write_next; TimePoint::max() when closed.
    TimePoint next_timeout(TimePoint now) const;

    // One payload, at most payload_bytes_max, such as seven TS packets. Its bytes are shared with other holders of the slice.
    Sent send(TimePoint now, const Slice& payload);
    // Writes one datagram of at most kDatagramBytesMax bytes and returns its size; 0 if none may be sent now.
    std::size_t write_next(TimePoint now, MutBytes into);

    std::optional<Payload> next_payload(TimePoint now);
    // Whether the owner reads payloads in order when they arrive, while they are in the cache, and keeps what it makes of them
    // until they are due: then it drains next_arrived() after each call of handle_datagram(). next_payload() returns each of them
    // when it is due, without its bytes; until then it counts against the receive buffer's limits. Those that arrive out of order
    // wait for the missing ones, and are returned by next_payload() if these are given up first.
    void read_on_arrival(bool does);
    std::optional<ArrivedPayload> next_arrived();
    // Returns how late datagrams of the peer may be handled, with the times of their arrival, and still be in time: a part of the
    // agreed latency. Zero if payloads are delivered as they arrive, and until ten seconds after the latest loss, because NAKs
    // are urgent then.
    Duration slack(TimePoint now) const;

    std::optional<KeyQuestion> key_question() const;
    // Answers the peer's key message. `kek`: nullopt if no passphrase is known. Errc::denied if the key does not unwrap the
    // message, because the passphrase is wrong; the peer is notified.
    Result<void> answer_key(const std::optional<KeyEncryptingKey>& kek);

    // The caller repeats its request because our response was lost: write_next repeats it. Only for a Request that is equal to
    // the one accepted in peer, socket id and cookie.
    void repeat_response();
    // Queues a shutdown, which write_next still writes. No effect when closed.
    void close();

    bool is_open() const { return close_reason() == CloseReason::none; }
    CloseReason close_reason() const;
    Figures figures() const;
    // Memory of both buffers, payloads included.
    std::size_t held_bytes() const;

private:
    class State;
    std::unique_ptr<State> state_;
};

}  // namespace live::engine::srt
