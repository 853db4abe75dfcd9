// A WHIP publisher of a load: sends the frames of a clip, round after round with rising timestamps, which set the pace; with Opus
// silence if enabled. It answers the server's requests for lost packets, but not those for key frames: the clip's key frames are
// fixed.
#pragma once

#include <array>
#include <vector>

#include "bench/measure/delay_stamp.hpp"
#include "bench/rtc/rtc_client.hpp"
#include "engine/webrtc/play_session.hpp"

namespace live::bench {

class RtcPublisher final : public RtcClient {
public:
    // Packets kept for retransmission, of each kind.
    static constexpr std::size_t kHistory = 256;

    RtcPublisher(LoadClient& client, RtcShared& shared);

protected:
    RtcOffer offer() const override;
    engine::webrtc::SessionOptions session_options() const override;
    engine::webrtc::ClientSession::Maker session_maker() override;
    void begin(TimePoint now) override;
    void look_at(TimePoint, Bytes) override {}
    void serve(TimePoint now) override;
    TimePoint next_serve() const override;
    void finish() override;

private:
    // The origin of a sent packet.
    struct Sent {
        engine::rtp::RtpLogHeader header;
        std::size_t packet = 0;  // in the clip; kStampPacket for a stamp, kSilencePacket
        SystemMicros stamp{};
    };
    static constexpr std::size_t kStampPacket = SIZE_MAX;
    static constexpr std::size_t kSilencePacket = SIZE_MAX - 1;

    TimePoint video_due() const;
    TimePoint silence_due() const;
    void send_video_packet(TimePoint now);
    void send_silence(TimePoint now);
    void send(TimePoint now, MediaKind kind, Sent sent);
    void send_again(TimePoint now);
    // A stamp is built in `stamp`, everything else exists already.
    Bytes payload_of(const Sent& sent, std::vector<std::uint8_t>& stamp) const;

    engine::webrtc::PlaySession* media_ = nullptr;
    const bool stamps_;
    const bool has_silence_;
    std::array<std::uint32_t, 3> ssrcs_{};          // audio, video, its RTX
    std::array<std::vector<Sent>, 2> history_;      // by kind and number
    std::array<std::uint16_t, 2> next_sequence_{};  // by kind
    TimePoint start_{};
    std::int64_t round_ = 0;
    std::size_t next_ = 0;  // packet of the clip
    std::int64_t silences_ = 0;
};

}  // namespace live::bench
