#include "service/snapshot/key_frame.hpp"

#include <string>

#include "wire/flv/video_tag.hpp"

namespace live::service::snapshot {

namespace flv = wire::flv;

Result<KeyFrame> key_frame_of(Bytes frame, Bytes config) {
    const auto tag = TRY(flv::parse_video_tag(frame));
    using enum flv::VideoCodec;
    if (tag.codec != avc && tag.codec != hevc && tag.codec != av1 && tag.codec != vp9)
        return Error(Errc::unsupported, "no snapshot is made of " + std::string(flv::name_of(tag.codec)));
    if (tag.kind != flv::PacketKind::frames || !tag.key || tag.body.empty())
        return Error(Errc::malformed, "this is no key frame");
    KeyFrame made;
    made.codec = tag.codec;
    made.data.assign(tag.body.begin(), tag.body.end());
    if (config.empty())
        return made;
    const auto before = TRY(flv::parse_video_tag(config));
    if (before.codec == tag.codec && before.kind == flv::PacketKind::sequence_header)
        made.config.assign(before.body.begin(), before.body.end());
    return made;
}

}  // namespace live::service::snapshot
