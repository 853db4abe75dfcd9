// Classifies media messages and tags by their first bytes, for load players.
#pragma once

#include "base/bytes/bytes.hpp"
#include "wire/flv/flv_file.hpp"

namespace live::bench {

// Audio or video frames, not decoder configuration. Unreadable bytes count as media.
bool carries_frames(wire::flv::TagType type, Bytes head);

}  // namespace live::bench
