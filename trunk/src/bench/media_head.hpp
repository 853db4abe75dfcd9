// What the first bytes of a media message or tag say to a load player.
#pragma once

#include "base/bytes.hpp"
#include "wire/flv/flv_file.hpp"

namespace live::bench {

// Audio or frames, not what only prepares a decoder. Bytes that cannot be read count as media.
bool carries_frames(wire::flv::TagType type, Bytes head);

}  // namespace live::bench
