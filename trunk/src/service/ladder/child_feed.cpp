#include "service/ladder/child_feed.hpp"

#include <algorithm>

#include "media/ring/tag_packet.hpp"
#include "wire/flv/flv_file.hpp"

namespace live::service::ladder {

using media::Packet;

ChildFeed::ChildFeed(const Packet& config, const Packet& begin, KeyTimes& keys)
    : config_(config), base_(std::chrono::milliseconds(media::to_ms(begin.dts))), keys_(keys) {}

bool ChildFeed::changes_format(const Packet& packet) const {
    return packet.kind == MediaKind::video && packet.is_config() &&
           (packet.codec != config_.codec || !std::ranges::equal(packet.frame(), config_.frame()));
}

// With the header of a stream's only track, whatever track and header the publisher has used.
void ChildFeed::write_tag(const Packet& packet, std::int64_t time_ms, ByteWriter& out) {
    Packet plain = packet;
    plain.track = {};
    plain.payload = packet.frame_slice();
    plain.head = 0;
    const auto header = media::make_body_header(plain);
    wire::flv::write_tag(out, wire::flv::TagType::video, static_cast<std::uint32_t>(time_ms), plain.payload.bytes(),
                         header.view());
}

void ChildFeed::write(const Packet& packet, ByteWriter& out) {
    if (packet.kind != MediaKind::video || packet.content != media::Content::frame || packet.dts < base_)
        return;
    if (!has_begun_) {
        if (!packet.key)
            return;
        wire::flv::write_file_header(out, {.has_audio = false, .has_video = true});
        write_tag(config_, 0, out);
        has_begun_ = true;
    }
    const std::int64_t dts_ms = media::to_ms(packet.dts - base_);
    const std::int64_t cts_ms = std::chrono::floor<std::chrono::milliseconds>(packet.cts).count();
    if (packet.key)
        keys_.add({dts_ms + cts_ms, packet.dts, packet.dts + packet.cts});
    write_tag(packet, dts_ms, out);
}

}  // namespace live::service::ladder
