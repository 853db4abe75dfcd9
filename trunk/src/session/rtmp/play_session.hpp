// PlaySession: from an admitted player's first byte of media to its last. The media itself is sent by a cohort; this fiber only
// joins, reads what the client says, and takes over while its socket is full. Over TLS, with a gap between messages, or with an
// end in sight it sends on a beat of its own instead.
#pragma once

#include <chrono>
#include <cstdint>

#include "base/log.hpp"
#include "base/signal.hpp"
#include "io/deadline.hpp"
#include "media/run_cursor.hpp"
#include "session/common/admission.hpp"
#include "session/common/fan_out.hpp"
#include "session/rtmp/peer.hpp"

namespace live::session::rtmp {

class PlaySession {
public:
    // `peer`, `plan` and `log` outlive this. `duration` of media after which the session ends; zero: no end.
    PlaySession(Peer& peer, const StreamPlan& plan, FanOut& fan_out, Ref<media::Source> source,
                std::chrono::milliseconds duration, const Log& log);
    ~PlaySession();
    PlaySession(const PlaySession&) = delete;
    PlaySession& operator=(const PlaySession&) = delete;

    // Until the client stops playing (ok: the connection may go on) or something ends it.
    Result<void> run(io::Deadline deadline);

    std::uint64_t dropped() const { return cursor_.dropped(); }

private:
    enum class Step : std::uint8_t { go_on, stopped };

    Result<void> prepare_socket(io::TcpStream& tcp);
    Result<void> run_with_cohort(io::TcpStream& tcp, Seat& seat, io::Deadline deadline);
    Result<void> send_now(io::TcpStream& tcp, Seat& seat);
    Result<void> run_on_own_beat(io::Deadline deadline);
    Result<bool> send_some(io::Deadline deadline);
    Result<Step> handle_events(Seat* seat);

    Peer& peer_;
    const StreamPlan& plan_;
    FanOut& fan_out_;
    media::RunCursor cursor_;
    std::chrono::milliseconds duration_;
    const Log& log_;
    Signal handed_back_;
    std::uint32_t answers_ = 0;  // of the engine, given to the cursor
    bool blocked_ = false;       // the socket is full
    bool paused_ = false;
};

}  // namespace live::session::rtmp
