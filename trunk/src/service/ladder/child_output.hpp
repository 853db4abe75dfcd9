// ChildOutput: reads one rendition of a child, an FLV with one video track, as frames on the source's timeline. A key frame gets
// the decoding time of the source's key frame at the same presentation time, so that all renditions are cut at the same time.
// Dry.
#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include "base/bytes/bytes.hpp"
#include "base/result.hpp"
#include "service/ladder/key_times.hpp"
#include "wire/codec/frame.hpp"
#include "wire/flv/flv_file.hpp"

namespace live::service::ladder {

class ChildOutput {
public:
    // `base`: the time on the source's timeline that is zero for the child. `keys` outlives this.
    ChildOutput(MediaTime base, const KeyTimes& keys) : base_(base), keys_(keys) {}

    // Appends the frames that these bytes complete, and configurations. The reader cannot be used after an error.
    Result<void> read(Bytes bytes, std::vector<wire::codec::Frame>& frames);
    // Key frames where the source has no key frame.
    std::uint64_t extra_keys() const { return extra_keys_; }

private:
    void set_times(wire::codec::Frame& frame, std::int64_t time_ms);

    const MediaTime base_;
    const KeyTimes& keys_;
    wire::flv::FlvReader reader_;
    MediaTime shift_{};  // from the child's decoding times
    MediaTime last_{};   // dts
    std::uint64_t extra_keys_ = 0;
};

}  // namespace live::service::ladder
