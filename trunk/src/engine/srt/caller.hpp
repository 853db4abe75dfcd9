// The calling end of an SRT handshake, version 5: an induction, then a conclusion, each repeated until it is answered. It becomes
// a Connection.
#pragma once

#include <chrono>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "base/bytes/bytes.hpp"
#include "base/net/transport_address.hpp"
#include "base/time.hpp"
#include "engine/srt/connection.hpp"
#include "engine/srt/handshake/crypto.hpp"
#include "engine/srt/handshake/handshake_message.hpp"

namespace live::engine::srt {

class Caller {
public:
    static constexpr std::chrono::milliseconds kRepeat = 250ms;

    // Encryption: the salt is ours (random_salt()), the key is derived from it with derive_key before the call begins.
    struct Encryption {
        Salt salt{};
        KeyEncryptingKey kek{};
    };
    struct Options {
        TransportAddress to{};
        SocketId socket_id{};     // ours: not 0, random
        std::string stream_id{};  // up to kStreamIdBytesMax
        std::optional<Encryption> encryption{};
        std::chrono::milliseconds connect_timeout = 3s;
        ConnectionOptions connection{};
    };
    enum class State : std::uint8_t { calling, connected, refused, timed_out, failed };

    Caller(TimePoint now, Options options);
    ~Caller();
    Caller(const Caller&) = delete;
    Caller& operator=(const Caller&) = delete;

    // Handles one datagram, which must come from options.to. Ignores datagrams for other socket ids.
    void handle_datagram(TimePoint now, Bytes datagram);
    void handle_timeout(TimePoint now);
    TimePoint next_timeout() const;
    // As Connection::write_next.
    std::size_t write_next(TimePoint now, MutBytes into);

    State state() const { return state_; }
    // The peer has answered; the outcome of the call is still open.
    bool is_heard() const { return is_concluding_; }
    // When refused: the peer's reason.
    RejectReason reason() const { return reason_; }
    // When failed: the peer's fault, as a sentence.
    const std::string& failure() const { return failure_; }
    // Once, when connected. The connection handles all later datagrams.
    std::unique_ptr<Connection> take_connection() { return std::move(connection_); }

private:
    void handle_induction(TimePoint now, const Handshake& handshake);
    void handle_conclusion(TimePoint now, const Handshake& handshake, std::uint32_t timestamp);
    void fail(std::string why);

    Options options_;
    TimePoint began_at_;
    TimePoint repeat_at_;
    Handshake message_;  // repeated until answered
    bool is_concluding_ = false;
    std::vector<std::uint8_t> key_;  // of the stream
    std::uint32_t initial_sequence_ = 0;
    State state_ = State::calling;
    RejectReason reason_ = RejectReason::unknown;
    std::string failure_;
    std::unique_ptr<Connection> connection_;
};

}  // namespace live::engine::srt
