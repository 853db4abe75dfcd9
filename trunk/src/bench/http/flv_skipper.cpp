#include "bench/http/flv_skipper.hpp"

#include <algorithm>
#include <string>

namespace live::bench {

namespace flv = wire::flv;

Result<std::optional<SkippedTag>> FlvSkipper::read(Bytes& input) {
    while (!input.empty()) {
        switch (stage_) {
            case Stage::file_header:
                input = input.subspan(fill(input, flv::kFileHeaderBytes));
                if (held_bytes_ == flv::kFileHeaderBytes)
                    TRY(begin_tags());
                break;
            case Stage::skipping: {
                const std::size_t count = std::min(skip_bytes_, input.size());
                input = input.subspan(count);
                skip_bytes_ -= count;
                if (skip_bytes_ == 0)
                    stage_ = Stage::tag_header;
                break;
            }
            case Stage::tag_header:
                input = input.subspan(fill(input, flv::kTagHeaderBytes));
                if (held_bytes_ == flv::kTagHeaderBytes)
                    TRY(begin_tag());
                break;
            case Stage::body: {
                const std::size_t count = std::min<std::size_t>(header_.size - body_bytes_, input.size());
                if (body_bytes_ < kHeadBytes) {
                    std::copy_n(input.begin(), std::min(count, kHeadBytes - body_bytes_),
                                head_.begin() + static_cast<std::ptrdiff_t>(body_bytes_));
                }
                body_bytes_ += count;
                input = input.subspan(count);
                break;
            }
        }
        if (stage_ == Stage::body && body_bytes_ == header_.size) {
            stage_ = Stage::skipping;
            skip_bytes_ = flv::kTagSizeBytes;
            return std::optional(SkippedTag{header_, Bytes(head_).first(std::min<std::size_t>(header_.size, kHeadBytes))});
        }
    }
    return std::optional<SkippedTag>();
}

std::size_t FlvSkipper::fill(Bytes input, std::size_t wanted) {
    const std::size_t count = std::min(wanted - held_bytes_, input.size());
    std::copy_n(input.begin(), count, held_.begin() + static_cast<std::ptrdiff_t>(held_bytes_));
    held_bytes_ += count;
    return count;
}

Result<void> FlvSkipper::begin_tags() {
    if (held_[0] != 'F' || held_[1] != 'L' || held_[2] != 'V')
        return Error(Errc::malformed, "this is no FLV: it begins with other letters");
    ByteReader in(Bytes(held_).subspan(5, 4));
    const std::uint32_t header_bytes = TRY(in.u32be());
    if (header_bytes < flv::kFileHeaderBytes)
        return Error(Errc::malformed, "an FLV header of " + std::to_string(header_bytes) + " bytes");
    if (header_bytes > kFileHeaderBytesMax)
        return Error(Errc::limit, "an FLV header of " + std::to_string(header_bytes) + " bytes, the limit is " +
                                      std::to_string(kFileHeaderBytesMax));
    skip_bytes_ = header_bytes - flv::kFileHeaderBytes + flv::kTagSizeBytes;
    held_bytes_ = 0;
    stage_ = Stage::skipping;
    return {};
}

Result<void> FlvSkipper::begin_tag() {
    ByteReader in(held_);
    header_ = TRY(flv::read_tag_header(in));
    held_bytes_ = 0;
    body_bytes_ = 0;
    stage_ = Stage::body;
    return {};
}

}  // namespace live::bench
