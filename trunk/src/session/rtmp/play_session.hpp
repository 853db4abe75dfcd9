// PlaySession: from an admitted RTMP player's first byte of media to its last. Player does the sending; this handles what is
// specific to RTMP: the chunk size before the first message, pauses, and the end.
#pragma once

#include <chrono>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <utility>

#include "base/log/log.hpp"
#include "io/fibers/deadline.hpp"
#include "media/source/wire_cursor.hpp"
#include "session/common/admission.hpp"
#include "session/fan_out/end_watch.hpp"
#include "session/fan_out/fan_out.hpp"
#include "session/fan_out/player.hpp"
#include "session/rtmp/options.hpp"
#include "session/rtmp/peer.hpp"

namespace live::session::rtmp {

class PlaySession final : private PlayerProtocol {
public:
    // `peer`, `plan`, `options` and `log` outlive this. `duration` of media after which the session ends; zero: no end. Another
    // node (`format.is_relayed()`) has a merge window of its own and is notified when the stream ends; other players then just
    // wait.
    PlaySession(Peer& peer, const StreamPlan& plan, const RtmpOptions& options, FanOut& fan_out, Ref<media::Source> source,
                media::WireFormat format, std::optional<media::Sequence> from, std::chrono::milliseconds duration,
                const Log& log);

    // Runs until the client stops playing (ok: the connection may continue) or something ends it.
    Result<void> run(io::Deadline deadline);

    // Requests the player to reconnect after it has received everything up to now. Empty: to its current address. May be called
    // from any fiber.
    void ask_to_reconnect(std::string tc_url);

    // Counters of this session, without the bytes of the connection itself.
    ClientFigures figures() const { return player_.figures(); }

private:
    Result<Step> on_readable() override;
    Result<void> on_caught_up() override;
    // Handles pending client messages.
    Result<Step> receive();

    Peer& peer_;
    const StreamPlan& plan_;
    const RtmpOptions& options_;
    media::WireCursor cursor_;
    Player player_;
    // Few players have these members; for the others they take the memory of a pointer.
    std::unique_ptr<EndWatch> end_watch_;         // for another node
    std::unique_ptr<std::string> reconnect_url_;  // to be sent
    const Log& log_;
};

}  // namespace live::session::rtmp
