// Types shared by all payload formats: the input and output of depacketisers, and the output of packetisers.
#pragma once

#include <cstdint>
#include <vector>

#include "base/bytes/bytes.hpp"
#include "base/check.hpp"

namespace live::wire::rtp_payload {

inline constexpr std::size_t kFrameBytesMax = 8 << 20;
inline constexpr std::size_t kPayloadBytesMin = 64;  // the smallest allowed payload limit of a packetiser

// The parts of a packet that payload formats need. Packets are passed in sequence order; a missing number is a lost packet.
struct Fragment {
    std::uint64_t sequence = 0;  // widened
    std::uint32_t timestamp = 0;
    bool marker = false;
    Bytes payload;
};

// One access unit. H.264 and HEVC: NAL units with four-byte lengths; AV1: OBUs with size fields, no temporal delimiter; VP8, VP9,
// Opus, G.711: the frame as the codec defines it.
struct Frame {
    std::uint32_t timestamp = 0;
    bool is_key = false;
    bool follows_loss = false;  // an earlier packet was lost: decoding should wait for a key frame
    std::uint64_t first_sequence = 0;
    std::uint64_t last_sequence = 0;
    std::vector<std::uint8_t> data;
};

// The packet payloads of one frame, in one buffer. The caller sets the marker on the last packet.
class PayloadList {
public:
    std::size_t size() const { return ends_.size(); }
    bool empty() const { return ends_.empty(); }
    Bytes operator[](std::size_t index) const {
        CHECK(index < ends_.size());
        const std::size_t from = index == 0 ? 0 : ends_[index - 1];
        return Bytes(bytes_).subspan(from, ends_[index] - from);
    }
    // All payloads, concatenated.
    Bytes bytes() const { return bytes_; }
    void clear() {
        bytes_.clear();
        ends_.clear();
    }

    // Appends to the current payload; end_payload() completes it.
    void append(Bytes bytes) { bytes_.insert(bytes_.end(), bytes.begin(), bytes.end()); }
    void append(std::uint8_t byte) { bytes_.push_back(byte); }
    void end_payload() { ends_.push_back(bytes_.size()); }

private:
    std::vector<std::uint8_t> bytes_;
    std::vector<std::size_t> ends_;
};

}  // namespace live::wire::rtp_payload
