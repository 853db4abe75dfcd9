// Player: sends a log to one client until something ends it, whatever the protocol. A cohort sends the media, over plain TCP and
// over TLS; the player's own fiber only joins, reads from the client, and takes over while its socket is full. With a minimum
// interval between messages, or with a limited duration, it sends on its own tick instead.
#pragma once

#include <chrono>
#include <cstdint>
#include <optional>

#include "base/log/log.hpp"
#include "base/signal.hpp"
#include "io/fibers/deadline.hpp"
#include "io/net/stream.hpp"
#include "media/ring/options.hpp"
#include "media/source/wire_cursor.hpp"
#include "session/common/client_table.hpp"
#include "session/fan_out/fan_out.hpp"

namespace live::session {

// A protocol's work while media is sent to its client. Must not suspend.
class PlayerProtocol {
public:
    enum class Step : std::uint8_t { go_on, stopped };

    // There is something to read, or the end of input.
    virtual Result<Step> on_readable() = 0;
    // Called each time the player wakes. True: the rest is sent, and the player ends.
    virtual bool is_over() { return false; }
    // Called when the player has woken and has been sent everything so far.
    virtual Result<void> on_caught_up() { return {}; }

protected:
    ~PlayerProtocol() = default;
};

class Player {
public:
    // How long the remaining data may take to go out once the stream is over.
    static constexpr std::chrono::seconds kDrainLimit{5};

    // A stream that is neither TCP nor TLS over TCP has no cohort, and ticks of its own. Everything referred to outlives this.
    // `sent_bytes` counts bytes that do not go out through a cohort, which has its own counter.
    Player(io::Stream& stream, media::WireCursor& cursor, FanOut& fan_out, const media::PlayOptions& options,
           PlayerProtocol& protocol, std::uint64_t& sent_bytes, const Log& log);
    ~Player();
    Player(const Player&) = delete;
    Player& operator=(const Player&) = delete;

    // After this much media run() ends with Errc::closed; zero: no end.
    void set_duration(std::chrono::milliseconds duration) { duration_ = duration; }
    // Merged write, in place of that of the options.
    void set_window(std::chrono::milliseconds window) { window_ = window; }
    // TCP_NODELAY from the first write of media on; without it the socket's remains.
    void set_no_delay(bool on) { no_delay_ = on; }
    // Until the protocol stops or is over (ok), or something ends the connection.
    Result<void> run(io::Deadline deadline);

    // For the protocol, from within its callbacks.
    void set_paused(bool paused);
    // Sends bytes between two messages. Errc::limit as WireCursor::add_control.
    Result<void> answer(Bytes bytes);
    // Raised to have is_over() checked and on_caught_up() called.
    Signal& wake() { return wake_; }

    // Bytes of media and answers sent to this client.
    std::uint64_t sent_bytes() const;
    // The same with packets, and what is queued. Received bytes are not set.
    ClientFigures figures() const;

private:
    using Step = PlayerProtocol::Step;

    Result<void> prepare_socket(io::TcpStream& socket);
    Result<void> play(io::Deadline deadline);
    void log_dropped() const;
    Result<void> run_with_cohort(io::TcpStream& socket, io::Deadline deadline);
    Result<void> send_now();
    Result<void> send_and_answer();
    Result<void> drain(io::Deadline deadline);
    Result<void> end_message(io::Deadline deadline);
    // `socket` may be nullptr.
    Result<void> run_on_own_ticks(io::TcpStream* socket, io::Deadline deadline);
    Result<bool> send_some(io::Deadline deadline);
    void leave_cohort();

    io::Stream& stream_;
    media::WireCursor& cursor_;
    FanOut& fan_out_;
    const media::PlayOptions& options_;
    PlayerProtocol& protocol_;
    std::uint64_t& sent_bytes_;
    const Log& log_;
    Signal wake_;  // released by the cohort, or is_over() has to be checked
    std::optional<CohortMember> member_;
    media::Sequence joined_at_;
    std::chrono::milliseconds duration_{0};
    std::optional<std::chrono::milliseconds> window_;
    std::uint32_t answers_ = 0;
    std::optional<bool> no_delay_;
    bool blocked_ = false;  // the socket is full
    bool paused_ = false;
};

}  // namespace live::session
