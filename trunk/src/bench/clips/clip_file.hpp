// Loads an FLV file from disk as a clip: read whole, before the loop begins.
#pragma once

#include <string>

#include "base/result.hpp"
#include "bench/clips/flv_clip.hpp"

namespace live::bench {

// Errors of parse_clip, Errc::limit above FlvClip::kFileBytesMax, Errc::system.
Result<FlvClip> load_clip(const std::string& name);

}  // namespace live::bench
