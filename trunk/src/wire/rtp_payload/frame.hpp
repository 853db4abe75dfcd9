// What goes into a depacketiser and comes out of it, and what a packetiser makes: the types that all payload formats share.
#pragma once

#include <cstdint>
#include <vector>

#include "base/bytes.hpp"
#include "base/check.hpp"

namespace live::wire::rtp_payload {

inline constexpr std::size_t kFrameBytesMax = 8 << 20;
inline constexpr std::size_t kPayloadBytesMin = 64;  // the least room that a packetiser may be given in a packet

// One packet, as far as a payload format cares. Packets are given in the order of their sequence numbers; a number that is left
// out was lost.
struct Fragment {
    std::uint64_t sequence = 0;  // widened
    std::uint32_t timestamp = 0;
    bool marker = false;
    Bytes payload;
};

// One access unit. Video of H.264 and HEVC: NAL units behind lengths of four bytes; AV1: OBUs with their sizes, no temporal
// delimiter; VP8, VP9, Opus, G.711: the frame as the codec's own text has it.
struct Frame {
    std::uint32_t timestamp = 0;
    bool is_key = false;
    bool follows_loss = false;  // something before it was lost: decoding should wait for a key frame
    std::uint64_t first_sequence = 0;
    std::uint64_t last_sequence = 0;
    std::vector<std::uint8_t> data;
};

// Payloads of the packets of one frame, in one buffer. The caller sets the marker on the last one.
class PayloadList {
public:
    std::size_t size() const { return ends_.size(); }
    bool empty() const { return ends_.empty(); }
    Bytes operator[](std::size_t index) const {
        CHECK(index < ends_.size());
        const std::size_t from = index == 0 ? 0 : ends_[index - 1];
        return Bytes(bytes_).subspan(from, ends_[index] - from);
    }
    // All payloads, one behind the other.
    Bytes bytes() const { return bytes_; }
    void clear() {
        bytes_.clear();
        ends_.clear();
    }

    // Bytes of the payload being written, then its end.
    void append(Bytes bytes) { bytes_.insert(bytes_.end(), bytes.begin(), bytes.end()); }
    void append(std::uint8_t byte) { bytes_.push_back(byte); }
    void end_payload() { ends_.push_back(bytes_.size()); }

private:
    std::vector<std::uint8_t> bytes_;
    std::vector<std::size_t> ends_;
};

}  // namespace live::wire::rtp_payload
