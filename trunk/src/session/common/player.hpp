// Player: sends a log to one client until something ends it, whatever the protocol. Over plain TCP the media is sent by a cohort;
// the player's own fiber only joins, listens to what the client says, and takes over while its socket is full. Over TLS, with a
// gap between messages, or with an end in sight it sends on a tick of its own instead.
#pragma once

#include <chrono>
#include <cstdint>
#include <optional>

#include "base/log.hpp"
#include "base/signal.hpp"
#include "io/deadline.hpp"
#include "io/stream.hpp"
#include "io/tcp_stream.hpp"
#include "media/options.hpp"
#include "media/wire_cursor.hpp"
#include "session/common/client_table.hpp"
#include "session/common/fan_out.hpp"

namespace live::session {

// What a protocol does while its client is sent to. Must not suspend.
class PlayerProtocol {
public:
    enum class Step : std::uint8_t { go_on, stopped };

    // There is something to read, or the end of it.
    virtual Result<Step> on_readable() = 0;
    // Asked each time the player wakes. True: what is left goes out, and that was it.
    virtual bool is_over() { return false; }

protected:
    ~PlayerProtocol() = default;
};

class Player {
public:
    // How long the rest may take to go out once the stream is over.
    static constexpr std::chrono::seconds kDrainLimit{5};

    // `tcp` is the same stream when it is plain TCP, else nullptr. What is referred to outlives this. Bytes that do not go out
    // through a cohort, which counts its own, are added to `sent_bytes`.
    Player(io::Stream& stream, io::TcpStream* tcp, media::WireCursor& cursor, FanOut& fan_out, const media::PlayOptions& options,
           PlayerProtocol& protocol, std::uint64_t& sent_bytes, const Log& log);
    ~Player();
    Player(const Player&) = delete;
    Player& operator=(const Player&) = delete;

    // After this much media run() ends with Errc::closed; zero: no end.
    void set_duration(std::chrono::milliseconds duration) { duration_ = duration; }
    // Until the protocol stops or is over (ok), or something ends the connection.
    Result<void> run(io::Deadline deadline);

    // For the protocol, while it is asked.
    void set_paused(bool paused);
    // Bytes that go out between two messages. Errc::limit as WireCursor::add_control.
    Result<void> answer(Bytes bytes);
    // Raised to have is_over() asked.
    Signal& wake() { return wake_; }

    // What this client has been sent of media and answers.
    std::uint64_t sent_bytes() const;
    // The same with packets, and what waits. Nothing in it is received.
    ClientFigures figures() const;

private:
    using Step = PlayerProtocol::Step;

    Result<void> prepare_socket();
    Result<void> play(io::Deadline deadline);
    void log_dropped() const;
    Result<void> run_with_cohort(io::Deadline deadline);
    Result<void> send_now();
    Result<void> drain(io::Deadline deadline);
    Result<void> end_message(io::Deadline deadline);
    Result<void> run_on_own_ticks(io::Deadline deadline);
    Result<bool> send_some(io::Deadline deadline);
    void leave_cohort();

    io::Stream& stream_;
    io::TcpStream* tcp_;
    media::WireCursor& cursor_;
    FanOut& fan_out_;
    const media::PlayOptions& options_;
    PlayerProtocol& protocol_;
    std::uint64_t& sent_bytes_;
    const Log& log_;
    Signal wake_;  // the cohort lets go, or is_over() has to be asked
    std::optional<CohortMember> member_;
    media::Sequence joined_at_;
    std::chrono::milliseconds duration_{0};
    std::uint32_t answers_ = 0;
    bool blocked_ = false;  // the socket is full
    bool paused_ = false;
};

}  // namespace live::session
