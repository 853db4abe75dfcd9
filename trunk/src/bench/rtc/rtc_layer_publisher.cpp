#include "bench/rtc/rtc_layer_publisher.hpp"

#include <memory>
#include <utility>

namespace live::bench {

RtcOffer RtcLayerPublisher::offer() const {
    RtcOffer made;
    made.purpose = wire::sdp::Purpose::publish;
    made.has_audio = false;
    made.format = "level-asymmetry-allowed=1;packetization-mode=1;profile-level-id=42e01f";
    for (std::size_t i = 0; i < rates_.size(); ++i)
        made.layers.push_back(RtcLayerSession::name_of(i));
    return made;
}

engine::webrtc::ClientSession::Maker RtcLayerPublisher::session_maker() {
    using namespace engine;
    return [this](const dtls::Context& context, const webrtc::SessionOptions& options, webrtc::DatagramBatch& output,
                  TimePoint now) -> Result<std::unique_ptr<webrtc::Session>> {
        auto made = TRY(RtcLayerSession::create(context, options, output, now, rates_));
        media_ = made.get();
        return std::unique_ptr<webrtc::Session>(std::move(made));
    };
}

void RtcLayerPublisher::serve(TimePoint now) {
    note_received(now);
    if (!is_leaving())
        media_->send_due(now);
}

}  // namespace live::bench
