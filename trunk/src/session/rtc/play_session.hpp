// PlaySession: a client that plays a stream by WebRTC. It keeps a position in the source's RTP log, and finds packets to
// retransmit there. Where its link is slower than the stream it resumes at the next key frame; where the publisher sends several
// layers of the video, it gets the one that its link carries.
#pragma once

#include <array>
#include <optional>
#include <string>

#include "engine/webrtc/play_session.hpp"
#include "media/ring/rendition_names.hpp"
#include "session/rtc/session_peer.hpp"
#include "session/rtc/transport/layer_reader.hpp"
#include "session/rtc/transport/players.hpp"

namespace live::session::rtc {

class PlaySession final : public SessionPeer, private RtpLogPlayer {
public:
    // A player that is further behind than this resumes at the newest key frame.
    static constexpr std::chrono::milliseconds kBehindMax{1'500};
    // If the newest key frame is older than this, a new one is requested from publishers that support it.
    static constexpr std::chrono::milliseconds kKeyAgeMax{2'000};

    PlaySession(Context& context, ClientRequest request, RtcOptions options, std::string ufrag, std::string token);
    ~PlaySession() override;

    // To be called before admit(). `rendition` is a layer of the publisher, or the name of a video track; empty: by the link.
    void choose(const media::TrackChoice& tracks, std::string rendition);
    // Checks admission and holds the stream's RTP log: Errc::denied, Errc::not_found, also for tracks that the stream does not
    // have, Errc::unsupported when the stream does not come by WebRTC and is not to be converted, Errc::limit.
    Result<void> admit(io::Deadline deadline);
    // nullptr while unknown. After admit().
    const media::RtpTrack* track(MediaKind kind) const { return group_->rtp_log().track(kind); }
    // Whether the publisher has announced all its tracks, so that unknown ones do not exist.
    bool knows_tracks() const { return group_->source().publications().brings_rtp(); }
    // The publisher's SSRC; 0 while unknown. After admit().
    std::uint32_t origin_ssrc(MediaKind kind) const { return group_->rtp_log().origin_ssrc(kind); }
    // After admit(). Errc::system.
    Result<void> begin(const engine::dtls::Context& dtls, const engine::webrtc::SessionOptions& options);
    // After begin().
    void play(const wire::sdp::Agreement& agreement);

private:
    struct Agreed {
        std::string codec;  // empty: the kind was not negotiated
    };

    void drain(TimePoint now) override;
    void on_established(TimePoint now) override;
    std::optional<TimePoint> serve(TimePoint now) override;
    std::optional<TimePoint> serve_layers(TimePoint now);
    bool names_layer() const { return !rendition_.empty() && rendition_ != media::kSourceRendition; }
    std::optional<LinkFigures> link_figures() const override;
    void add_hot_lines(HotLines& lines) const override;
    Result<Ref<media::Source>> without_b_frames(const Ref<media::Source>& source, io::Deadline deadline);
    Result<void> await_rendition(const Ref<media::Source>& source, io::Deadline deadline) const;
    Result<void> join(const Ref<media::Source>& source, io::Deadline deadline);
    void take_single_nal_units();
    std::uint64_t unsent_before(media::Sequence to) const;
    void count_lost(std::uint64_t packets);
    void leave_out();
    void join_rtp_log(TimePoint now);
    void skip_to_key(TimePoint now);
    bool is_far_behind(TimePoint now);
    void send(TimePoint now, const media::RtpPacket& packet);
    bool fits_tracks();

    std::optional<AdmittedPlay> admitted_;
    engine::webrtc::PlaySession* engine_ = nullptr;  // after begin(); owned by SessionPeer
    RtpLogGroup* group_ = nullptr;
    media::TrackChoice tracks_;
    std::string rendition_;
    LayerReader layers_;
    std::array<Agreed, 2> agreed_;
    media::Sequence next_ = 0;        // the first packet of any kind that was not sent
    media::Sequence next_audio_ = 0;  // audio before this was sent or dropped
    std::uint32_t version_ = 0;
    bool has_joined_ = false;
    bool waits_for_key_ = false;
    bool is_catching_up_ = false;  // since joining
    bool was_left_out_ = false;
    bool has_video_ = false;  // up to next_, from the stream's own log
};

}  // namespace live::session::rtc
