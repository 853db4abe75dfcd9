// PublishSession: a client that sends its audio and video by WebRTC. Packets go into the source's RTP log as they arrive, in
// order, without waiting for whole frames. With rtc_to_rtmp on, frames are also assembled from them.
#pragma once

#include <array>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "engine/webrtc/publish_session.hpp"
#include "media/ingest/rtp_to_frames.hpp"
#include "media/rtp/rtp_clock.hpp"
#include "media/rtp/rtp_layers.hpp"
#include "media/source/publication.hpp"
#include "session/common/admitted_publish.hpp"
#include "session/rtc/session_peer.hpp"

namespace live::session::rtc {

class PublishSession final : public SessionPeer,
                             private media::KeyFrameSource,
                             private media::LayerSource,
                             private Signal::Waiter,
                             private MemoryBudget::Holder {
public:
    // A connected client that is silent for this long counts as disconnected: browsers check consent every 5 s, and send media
    // all the time.
    static constexpr std::chrono::seconds kSilenceMax{10};
    // How long a stream whose publisher has left waits for its last audio, which worker threads convert.
    static constexpr std::chrono::milliseconds kLastAudioMax{200};
    // How often the layers are measured, and the session's memory is counted.
    static constexpr std::chrono::milliseconds kLookEvery{250};
    // How often a publisher that a slate waits for is asked for a key frame.
    static constexpr std::chrono::milliseconds kKeyRequestEvery{500};

    using SessionPeer::SessionPeer;
    ~PublishSession() override;

    // Checks admission, and whether the stream is free: Errc::denied, Errc::not_found, Errc::conflict, Errc::limit.
    Result<void> admit(io::Deadline deadline);
    // After admit(). Errc::system.
    Result<void> begin(const engine::dtls::Context& dtls, const engine::webrtc::SessionOptions& options);
    // Starts to fill the RTP log, or does so with the first key frame if a stand-in feeds the stream. Call this after begin(),
    // with the offer that led to the agreement.
    void publish(const wire::sdp::Agreement& agreement, const wire::sdp::Description& offer);

    void finish_batch(TimePoint now) override;
    bool may_go(TimePoint now) const override {
        return !to_frames_ || to_frames_->is_idle() || now - over_since() >= kLastAudioMax;
    }

private:
    struct OfferedTrack {
        media::RtpTrack track;
        std::optional<std::uint32_t> ssrc{};
        std::vector<std::string> layers{};  // simulcast rids
    };

    void fill();
    bool begins_with(const engine::rtp::MediaPacket& packet, TimePoint now);
    void drain(TimePoint now) override;
    void on_established(TimePoint) override {}
    std::optional<Duration> silence_max() const override;
    // MemoryBudget::Holder
    std::string_view address() const override { return request().ip; }
    void lose_memory(std::string why) override { kick(std::move(why)); }
    void look_at_layers(TimePoint now);
    void take_layers();
    void on_key_frame_wanted() override;
    void on_layer_wanted(std::size_t layer, bool is_wanted) override;
    void on_layer_key_frame_wanted(std::size_t layer) override;
    // Another publisher has taken over the stream.
    void on_raised() override;

    engine::webrtc::PublishSession* engine_ = nullptr;  // after begin(); owned by SessionPeer
    std::unique_ptr<media::Publication> publication_;
    std::optional<AdmittedPublish> admitted_;
    std::vector<OfferedTrack> offered_;
    media::RtpLog* rtp_log_ = nullptr;      // once it is filled
    std::optional<media::RtpClock> clock_;  // likewise
    TimePoint asked_{};                     // for a key frame, while a stand-in feeds the stream
    std::optional<media::RtpToFrames> to_frames_;
    std::array<std::uint32_t, 2> clock_rates_{};
    bool has_new_ = false;
    std::optional<media::RtpLayers> layers_;  // with simulcast
    TimePoint looked_{};
    MemoryBudget::Use memory_{context().places.memory(), MemoryBudget::Kind::buffers, *this};
};

}  // namespace live::session::rtc
