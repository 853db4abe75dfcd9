#include "media/ingest/key_gate.hpp"

#include <algorithm>

namespace live::media {

bool KeyGate::admits(const TagPacket& tagged, std::uint32_t stamp_ms, TimePoint now) {
    const Packet& packet = tagged.packet;
    if (!since_)
        since_ = now;
    has_video_ = has_video_ || packet.kind == MediaKind::video;
    if (packet.is_config()) {
        keep_config(tagged, stamp_ms);
        return false;
    }
    if (packet.content != Content::frame)
        return false;
    if (packet.kind == MediaKind::video)
        return packet.key || now - *since_ >= kKeyMax;
    return packet.kind == MediaKind::audio && !has_video_ && now - *since_ >= kAudioAlone;
}

// Kept for seconds, so that it must not keep the memory block that it shares with other packets.
void KeyGate::keep_config(const TagPacket& tagged, std::uint32_t stamp_ms) {
    Config kept{tagged, stamp_ms};
    kept.tagged.packet.payload = Slice::copy_of(tagged.packet.payload.bytes());
    const auto known = std::ranges::find_if(configs_, [&tagged](const Config& config) {
        return config.tagged.packet.kind == tagged.packet.kind && config.tagged.packet.track == tagged.packet.track;
    });
    if (known != configs_.end())
        *known = std::move(kept);
    else if (configs_.size() < kConfigsMax)
        configs_.push_back(std::move(kept));
}

void KeyGate::keep_data(std::uint32_t stamp_ms, const Slice& body) {
    if (data_.size() < kDataMax)
        data_.push_back({stamp_ms, Slice::copy_of(body.bytes())});
}

}  // namespace live::media
