#include "service/engines/media_feed.hpp"

#include <algorithm>

#include "media/ring/tag_packet.hpp"
#include "wire/flv/flv_file.hpp"

namespace live::service::engines {

using media::Packet;

namespace {

bool is_media(const Packet& packet) {
    return packet.kind != MediaKind::data && packet.codec != media::Codec::none &&
           (packet.is_config() || packet.content == media::Content::frame);
}

// The payload with the header of a stream's only track, whatever track the publisher has used.
void write_tag(const Packet& packet, std::int64_t time_ms, ByteWriter& out) {
    Packet plain = packet;
    if (packet.track != media::TrackId{}) {
        plain.track = {};
        plain.payload = packet.frame_slice();
        plain.head = 0;
    }
    const auto header = media::body_header_of(plain);
    const auto type = packet.kind == MediaKind::video ? wire::flv::TagType::video : wire::flv::TagType::audio;
    wire::flv::write_tag(out, type, static_cast<std::uint32_t>(std::max<std::int64_t>(time_ms, 0)), plain.payload.bytes(),
                         header.view());
}

}  // namespace

void MediaFeed::push(const Packet& packet) {
    if (!is_media(packet) || has_changed_)
        return;
    if (packet.is_config() && takes_config(packet))
        return;
    if (!has_begun_)
        return look_for_beginning(packet);
    const bool is_known = packet.kind == MediaKind::video ? has_video_ : has_audio_;
    if (!is_known || packet.dts - base_ > kAgeMax) {
        has_changed_ = true;
        return;
    }
    if (skips_ && !(packet.kind == MediaKind::video && packet.key))
        return;
    skips_ = false;
    write(packet);
}

// Whether the packet is done: a beginning has the newest configuration of each kind, and must keep it.
bool MediaFeed::takes_config(const Packet& packet) {
    std::optional<Packet>& kept = config_of(packet.kind);
    const bool is_same = kept && kept->codec == packet.codec && std::ranges::equal(kept->frame(), packet.frame());
    if (has_begun_) {
        const bool is_known = packet.kind == MediaKind::video ? has_video_ : has_audio_;
        has_changed_ = has_changed_ || !is_same || !is_known;
        return true;
    }
    if (kept && !is_same && has_key_) {  // what is pending has another format
        pending_.clear();
        has_key_ = false;
    }
    kept = packet;
    return true;
}

void MediaFeed::look_for_beginning(const Packet& packet) {
    const bool can_be_key = packet.kind == MediaKind::video && packet.key && config_of(MediaKind::video);
    if (can_be_key && !has_key_) {
        pending_.clear();
        has_key_ = true;
    }
    if (!has_key_ && packet.kind == MediaKind::video)
        return;
    pending_.push_back(packet);
    const bool has_other = has_key_ && (config_of(MediaKind::audio) || std::ranges::any_of(pending_, [](const Packet& one) {
                                            return one.kind == MediaKind::audio;
                                        }));
    const MediaTime waited = packet.dts - pending_.front().dts;
    const bool is_audio_only = !has_key_ && !config_of(MediaKind::video) && waited >= kVideoWait;
    if (has_other || (has_key_ && waited >= kAudioWait) || is_audio_only)
        return begin();
    if (pending_.size() >= kPendingMax) {  // of a video without key frames, or of one without times
        pending_.clear();
        has_key_ = false;
    }
}

void MediaFeed::begin() {
    has_begun_ = true;
    has_video_ = has_key_;
    has_audio_ = !has_key_ || config_of(MediaKind::audio) ||
                 std::ranges::any_of(pending_, [](const Packet& one) { return one.kind == MediaKind::audio; });
    base_ = std::chrono::milliseconds(media::to_ms(pending_.front().dts));
    wire::flv::write_file_header(out_, {.has_audio = has_audio_, .has_video = has_video_});
    for (const MediaKind kind : {MediaKind::video, MediaKind::audio})
        if (const auto& config = config_of(kind); config && (kind == MediaKind::video ? has_video_ : has_audio_))
            write_tag(*config, 0, out_);
    for (const Packet& packet : pending_)
        write(packet);
    pending_.clear();
}

void MediaFeed::write(const Packet& packet) {
    if (packet.dts >= base_)
        write_tag(packet, media::to_ms(packet.dts - base_), out_);
}

}  // namespace live::service::engines
