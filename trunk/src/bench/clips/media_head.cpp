#include "bench/clips/media_head.hpp"

#include "wire/flv/audio_tag.hpp"
#include "wire/flv/video_tag.hpp"

namespace live::bench {

namespace flv = wire::flv;

bool carries_frames(flv::TagType type, Bytes head) {
    if (type == flv::TagType::video) {
        const auto tag = flv::parse_video_tag(head);
        return !tag.ok() || tag->kind == flv::PacketKind::frames;
    }
    if (type == flv::TagType::audio) {
        const auto tag = flv::parse_audio_tag(head);
        return !tag.ok() || tag->kind == flv::PacketKind::frames;
    }
    return false;
}

}  // namespace live::bench
