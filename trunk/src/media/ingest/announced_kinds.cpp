#include "media/ingest/announced_kinds.hpp"

#include <string_view>

namespace live::media {

MediaKindSet announced_by(const wire::ts::TsReader& reader) {
    MediaKindSet kinds;
    for (const auto& track : reader.tracks()) {
        const MediaKind kind = kind_of(track.format);
        if (kind != MediaKind::data)
            kinds.add(kind);
    }
    return kinds;
}

MediaKindSet announced_by(const wire::amf::Value& metadata) {
    const auto says = [&metadata](std::string_view key) {
        const wire::amf::Value* value = metadata.find(key);
        return value != nullptr && (value->number().value_or(0.0) > 0 || !value->string().value_or("").empty());
    };
    MediaKindSet kinds;
    if (says("audiocodecid"))
        kinds.add(MediaKind::audio);
    if (says("videocodecid") || says("width"))
        kinds.add(MediaKind::video);
    return kinds;
}

}  // namespace live::media
