// A WHEP player of a load: counts packets, detects losses, reads delay stamps. With --skip-decryption it sees headers only.
#pragma once

#include "bench/rtc/rtc_client.hpp"
#include "engine/webrtc/publish_session.hpp"
#include "wire/rtp/sequence.hpp"

namespace live::bench {

class RtcPlayer final : public RtcClient {
public:
    RtcPlayer(LoadClient& client, RtcShared& shared);

protected:
    RtcOffer offer() const override;
    engine::webrtc::SessionOptions session_options() const override;
    engine::webrtc::ClientSession::Maker session_maker() override;
    void begin(TimePoint now) override;
    void look_at(TimePoint arrived, Bytes datagram) override;
    void serve(TimePoint now) override;
    TimePoint next_serve() const override;
    void finish() override { count_packets(); }

private:
    void take_media(TimePoint arrived, std::uint32_t timestamp);
    void count_packets();

    const bool headers_only_;
    engine::webrtc::PublishSession* media_ = nullptr;  // nullptr without decryption
    const bool twcc_;
    // The kind whose timestamps count as media time: video, or audio when there is no video.
    MediaKind clock_kind_{};
    std::uint8_t clock_payload_type_ = 0;
    std::uint32_t clock_rate_ = 0;
    bool may_have_stamps_ = false;
    wire::rtp::TimestampUnwrapper unwrapper_;
    std::uint64_t packets_ = 0;  // reported to the meter
    std::uint64_t lost_ = 0;
    TimePoint counted_{};
    std::chrono::microseconds caught_up_{};  // by the system's clock
};

}  // namespace live::bench
