#include "media/source/backlog.hpp"

#include <utility>

#include "base/log/log_format.hpp"

namespace live::media {

// Encoding it all at once would hold the loop, so the publisher loses frames until the DeferredEncoder is done; video until the
// next key frame.
bool Backlog::is_kept(const Packet& packet) {
    if (packet.kind == MediaKind::data || packet.is_config())
        return true;
    if (!std::exchange(is_outrun_, true))
        LOG_WARN(rtp_logs_.log(), "the publisher of {} sends faster than its frames are encoded: some are dropped", url_);
    if (!empty() || (packet.kind == MediaKind::video && !packet.key))
        return false;
    is_outrun_ = packet.kind != MediaKind::video;
    return true;
}

void Backlog::encode_some() {
    if (!wire_logs_.encode_some() && !rtp_logs_.convert_some())
        bytes_ = 0;
}

void Backlog::have_encoded() {
    if (!empty() && (encoder_ == nullptr || !encoder_->add(source_)))
        encode_all();
}

void Backlog::encode_all() {
    while (!empty())
        encode_some();
}

}  // namespace live::media
