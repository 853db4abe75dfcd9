// A WHIP publisher of a load that sends a synthetic simulcast video (RtcLayerSession).
#pragma once

#include <cstdint>
#include <vector>

#include "bench/rtc/rtc_client.hpp"
#include "bench/rtc/rtc_layer_session.hpp"

namespace live::bench {

class RtcLayerPublisher final : public RtcClient {
public:
    RtcLayerPublisher(LoadClient& client, RtcShared& shared) : RtcClient(client, shared), rates_(client.context.options.layers) {}

protected:
    RtcOffer offer() const override;
    engine::webrtc::SessionOptions session_options() const override { return {}; }
    engine::webrtc::ClientSession::Maker session_maker() override;
    void begin(TimePoint now) override { client().meter.on_first_frame(now); }
    void look_at(TimePoint, Bytes) override {}
    void serve(TimePoint now) override;
    TimePoint next_serve() const override { return is_leaving() ? TimePoint::max() : media_->next_frame(); }
    void finish() override { client().meter.on_packets(session().figures().packets_out, 0); }

private:
    const std::vector<std::uint64_t> rates_;
    RtcLayerSession* media_ = nullptr;
};

}  // namespace live::bench
