#include "media/ingest/announced_kinds.hpp"

#include <string_view>

namespace live::media {

KindSet announced_by(const wire::ts::TsReader& reader) {
    using wire::ts::StreamKind;
    KindSet kinds;
    for (const auto& track : reader.tracks()) {
        const StreamKind kind = kind_of(track.format);
        if (kind != StreamKind::data)
            kinds.add(kind == StreamKind::video ? Kind::video : Kind::audio);
    }
    return kinds;
}

KindSet announced_by(const wire::amf::Value& metadata) {
    const auto says = [&metadata](std::string_view key) {
        const wire::amf::Value* value = metadata.find(key);
        return value != nullptr && (value->number().value_or(0.0) > 0 || !value->string().value_or("").empty());
    };
    KindSet kinds;
    if (says("audiocodecid"))
        kinds.add(Kind::audio);
    if (says("videocodecid") || says("width"))
        kinds.add(Kind::video);
    return kinds;
}

}  // namespace live::media
