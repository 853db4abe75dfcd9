// AnnexBTags: for publishers that put Annex B byte streams into RTMP, which is against its texts. Their frames and sequence
// headers are converted to the form that all readers expect, message by message: a publisher may send both forms.
#pragma once

#include <cstdint>
#include <optional>

#include "base/result.hpp"
#include "media/ring/tag_packet.hpp"

namespace live::media {

class AnnexBTags {
public:
    // `first`: a frame that may be of both forms is taken for Annex B, once the publisher has sent Annex B (try_annexb_first).
    explicit AnnexBTags(bool first) : first_(first) {}

    // For a video tag whose contents may be Annex B. Leaves those of the other form alone. Returns a sequence header that goes in
    // front of the frame: its parameter sets, if `known`, the newest header or nullptr, has others. `length_size` is that of
    // `known`. Errors: the tag cannot be converted.
    Result<std::optional<TagPacket>> convert(TagPacket& tagged, std::uint8_t length_size, const Packet* known);

    bool has_converted() const { return has_converted_; }

private:
    bool is_annex_b(const Packet& packet, std::uint8_t length_size);
    Result<void> convert_config(TagPacket& tagged);

    bool first_;
    bool has_converted_ = false;
};

}  // namespace live::media
