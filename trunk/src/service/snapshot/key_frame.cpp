#include "service/snapshot/key_frame.hpp"

#include <string>

namespace live::service::snapshot {

Result<KeyFrame> key_frame_of(const media::Packet& picture, const media::Packet& config) {
    using enum media::Codec;
    if (picture.codec != avc && picture.codec != hevc && picture.codec != av1 && picture.codec != vp9)
        return Error(Errc::unsupported, "no snapshot is made of " + std::string(name_of(picture.codec)));
    const Bytes data = picture.frame();
    if (!picture.key || data.empty())
        return Error(Errc::malformed, "this is no key frame");
    KeyFrame made;
    made.codec = picture.codec;
    made.data.assign(data.begin(), data.end());
    if (config.is_config() && config.codec == picture.codec) {
        const Bytes record = config.frame();
        made.config.assign(record.begin(), record.end());
    }
    return made;
}

}  // namespace live::service::snapshot
