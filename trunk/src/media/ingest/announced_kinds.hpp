// The kinds of media that a publisher's container announces before their first frame.
#pragma once

#include "media/ring/packet.hpp"
#include "wire/amf/value.hpp"
#include "wire/ts/read/ts_reader.hpp"

namespace live::media {

// The streams of the program map.
MediaKindSet announced_by(const wire::ts::TsReader& reader);

// onMetaData: a codec id, or the size of the picture. A codec id of 0 announces nothing: encoders without video or audio write
// it.
MediaKindSet announced_by(const wire::amf::Value& metadata);

}  // namespace live::media
