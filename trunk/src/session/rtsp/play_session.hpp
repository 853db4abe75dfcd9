// PlaySession: an admitted RTSP player, from its description of the stream to the last byte. Over the connection itself, Player
// sends a log that all players of the stream share; over UDP, the packets in that log go to the client's ports. It ends when the
// publisher leaves.
#pragma once

#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "base/log/log.hpp"
#include "io/fibers/deadline.hpp"
#include "media/source/wire_cursor.hpp"
#include "media/wire_log/rtsp_track.hpp"
#include "session/common/admission.hpp"
#include "session/fan_out/end_watch.hpp"
#include "session/fan_out/player.hpp"
#include "session/rtsp/context.hpp"
#include "session/rtsp/peer.hpp"
#include "session/rtsp/udp_sender.hpp"

namespace live::session::rtsp {

class PlaySession final : private PlayerProtocol, private UdpReceiver {
public:
    // A player over UDP that sends neither requests nor reports for this long is gone.
    static constexpr std::chrono::seconds kSilenceMax{90};

    // Time limit from one request to the next, until the media starts.
    static constexpr std::chrono::seconds kSetUpLimit{30};

    // Everything referred to outlives this.
    PlaySession(Peer& peer, Context& context, const StreamPlan& plan, const RtspOptions& options, Ref<media::Source> source,
                std::string url, const Log& log);

    ~PlaySession();
    PlaySession(const PlaySession&) = delete;
    PlaySession& operator=(const PlaySession&) = delete;

    // Answers the description, and runs until the client or the stream ends.
    Result<void> run(io::Deadline deadline);
    // Without the bytes of requests and responses before the media.
    ClientFigures figures() const;

private:
    using Track = media::RtspTrack;

    // The tracks of the stream, once they are known; empty while they are not.
    std::vector<Track> known_tracks() const;
    Result<void> wait_for_tracks(io::Deadline deadline);
    Result<void> describe(io::Deadline deadline);
    Result<void> refuse(const Error& error, io::Deadline deadline);
    Result<void> set_up(const engine::rtsp::WantsToSetUp& asked);
    Result<void> set_up_udp(std::size_t track, wire::rtsp::Transport& transport);
    Result<void> stream(io::Deadline deadline);
    Result<void> prepare(io::Deadline deadline);
    Result<void> stream_by_udp(io::Deadline deadline);
    Result<Step> handle_requests();
    void set_paused(bool paused);
    std::vector<engine::rtsp::TrackStart> find_starts();
    media::RtspLayout layout() const;
    // PlayerProtocol
    Result<Step> on_readable() override;
    bool is_over() override;
    // UdpReceiver: reports keep the session alive.
    void on_datagram(std::size_t track, bool is_rtcp, Bytes datagram) override;
    void on_datagrams_end() override {}

    Peer& peer_;
    Context& context_;
    const StreamPlan& plan_;
    const RtspOptions& options_;
    const Ref<media::Source> source_;
    const std::string url_;
    const Log& log_;
    std::vector<Track> tracks_;  // in the order of the description
    std::optional<media::WireCursor> cursor_;
    std::optional<Player> player_;
    std::optional<EndWatch> end_watch_;
    std::unique_ptr<UdpSender> udp_;  // nullptr: over the connection; leaves its cohort before the cursor is destroyed
    TimePoint heard_;
};

}  // namespace live::session::rtsp
