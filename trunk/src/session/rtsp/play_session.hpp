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

    // The request of the client. `rendition` is the name of its video track (media/ring/rendition_names.hpp); empty: the stream
    // itself, with its publisher's further tracks.
    struct Asked {
        std::string url;
        std::string rendition;
    };
    // Everything referred to outlives this.
    PlaySession(Peer& peer, Context& context, const StreamPlan& plan, const RtspOptions& options, Ref<media::Source> source,
                Asked asked, const Log& log);

    ~PlaySession();
    PlaySession(const PlaySession&) = delete;
    PlaySession& operator=(const PlaySession&) = delete;

    // Answers the description, and runs until the client or the stream ends.
    Result<void> run(io::Deadline deadline);
    // Without the bytes of requests and responses before the media.
    ClientFigures figures() const;

private:
    using Track = media::RtspTrack;

    // Finds the tracks of the stream; false while they are not known.
    bool find_tracks();
    const media::Track* find_track(MediaKind kind) const;
    bool lacks_rendition() const { return !asked_.rendition.empty() && find_track(MediaKind::video) == nullptr; }
    void find_further_tracks();
    void add_track(const media::TrackList::Place& place, const media::Track& track);
    Bytes config_at(std::size_t place) const;
    // Answers requests until the client plays; false if it leaves before.
    Result<bool> negotiate(io::Deadline deadline);
    Result<void> wait_for_tracks(io::Deadline deadline);
    Result<void> describe(io::Deadline deadline);
    Result<void> refuse(const Error& error, io::Deadline deadline);
    Result<void> set_up(const engine::rtsp::WantsToSetUp& asked);
    Result<void> set_up_udp(std::size_t track, wire::rtsp::Transport& transport);
    Result<void> stream(io::Deadline deadline);
    std::optional<media::Sequence> find_begin() const;
    Result<void> prepare(io::Deadline deadline);
    Result<void> stream_by_udp(io::Deadline deadline);
    Result<Step> handle_requests();
    void set_paused(bool paused);
    std::vector<engine::rtsp::TrackStart> find_starts();
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
    const Asked asked_;
    const Log& log_;
    media::TrackList list_;
    std::vector<Track> tracks_;  // by place
    std::optional<media::WireCursor> cursor_;
    std::optional<Player> player_;
    std::optional<EndWatch> end_watch_;
    std::unique_ptr<UdpSender> udp_;  // nullptr: over the connection; leaves its cohort before the cursor is destroyed
    TimePoint heard_;
};

}  // namespace live::session::rtsp
