// The session of a load that publishes a synthetic simulcast video: several layers of one H.264 video, of given rates, each with
// key frames only on request, as browsers send them. The frames have the headers of H.264 and no content: no decoder can show
// them. It answers no request for lost packets.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "engine/rtp/rtcp_output.hpp"
#include "engine/webrtc/peer_link.hpp"
#include "engine/webrtc/session.hpp"

namespace live::bench {

class RtcLayerSession final : public engine::webrtc::Session {
    struct Private {};

public:
    static constexpr std::chrono::milliseconds kFrameInterval{40};
    static constexpr std::chrono::milliseconds kReportInterval{1'000};
    // A key frame has this many times the bytes of another frame.
    static constexpr std::size_t kKeyFactor = 4;
    static constexpr std::size_t kPayloadBytes = 1'100;

    // The name of a layer in the offer (rid).
    static std::string name_of(std::size_t layer) { return "l" + std::to_string(layer + 1); }

    // `rates` in bits per second; `output` and `context` outlive the session. Errc::system.
    static Result<std::unique_ptr<RtcLayerSession>> create(const engine::dtls::Context& context,
                                                           const engine::webrtc::SessionOptions& options,
                                                           engine::webrtc::DatagramBatch& output, TimePoint now,
                                                           const std::vector<std::uint64_t>& rates);
    RtcLayerSession(Private, engine::webrtc::PeerLink link, const engine::webrtc::SessionOptions& options,
                    const std::vector<std::uint64_t>& rates);

    Result<void> handle_datagram(TimePoint now, MutBytes datagram, const TransportAddress& from) override;
    Result<void> handle_timeout(TimePoint now) override;
    std::optional<TimePoint> next_timeout() const override { return link_.next_timeout(next_report_); }
    void close(TimePoint now) override { link_.transport().close(link_.advance(now)); }
    engine::webrtc::SessionFigures figures() const override;
    std::size_t bytes() const override { return sizeof *this + link_.bytes() + layers_.size() * sizeof(Layer); }
    const engine::webrtc::PeerTransport& transport() const override { return link_.transport(); }

    // Sends a frame of each layer, if it is due.
    void send_due(TimePoint now);
    TimePoint next_frame() const { return next_frame_; }
    std::uint64_t key_frames() const { return key_frames_; }

private:
    struct Layer {
        std::string name;
        std::size_t frame_bytes = 0;
        std::uint32_t ssrc = 0;
        std::uint32_t first_timestamp = 0;
        std::uint16_t sequence = 0;
        std::uint32_t packets = 0;
        std::uint32_t payload_bytes = 0;
        bool has_key_due = true;
    };

    Result<void> take_rtcp(const wire::rtcp::Packet& packet);
    void send_frame(Layer& layer);
    std::uint32_t timestamp_of(const Layer& layer) const;
    void report(TimePoint now);

    engine::webrtc::PeerLink link_;
    std::vector<Layer> layers_;
    std::uint8_t payload_type_ = 0;
    TimePoint begin_{};
    TimePoint next_frame_{};
    std::optional<TimePoint> next_report_;
    std::uint32_t frames_ = 0;
    std::uint64_t key_frames_ = 0;
};

}  // namespace live::bench
