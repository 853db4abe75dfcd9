#include "app/parts/stream_core.hpp"

#include <algorithm>

#include "base/log/log_format.hpp"

namespace live::app {

namespace {

bool pulls_rtsp(const settings::Vhost& vhost) {
    return std::ranges::any_of(vhost.ingests, [](const service::ingest::IngestOptions& one) {
        return one.enabled && one.input_url.starts_with("rtsp");
    });
}

// WebRTC, and the G.711 of cameras and of RTSP publishers.
bool wants_conversion(const settings::Settings& settings) {
    return settings.find_caster("gb28181") != nullptr || std::ranges::any_of(settings.vhosts, [](const settings::Vhost& vhost) {
               return vhost.play.bridge.rtmp_to_rtc || vhost.play.bridge.rtc_to_rtmp || vhost.rtsp.enabled || pulls_rtsp(vhost);
           });
}

}  // namespace

StreamCore::StreamCore(const settings::CurrentSettings& settings, io::Scope& fibers, const Log& log)
    : transcoders_([&settings] { return wants_conversion(settings.coming()); }, log),
      fan_out_(fibers, settings->io_uring ? io::FanSender::Use::io_uring : io::FanSender::Use::plain_sends),
      deferred_encoder_(fibers) {
    table_.set_conversion(&transcoders_, log.with_id("BRG"));
    table_.set_deferred_encoder(deferred_encoder_);
    LOG_INFO(log, "sending to players {}", fan_out_.uses_io_uring() ? "in batches through io_uring" : "one by one");
}

}  // namespace live::app
