// AAC in RTP (RFC 3640, mode AAC-hbr and its relatives), both directions: access units behind a table of their sizes, several in
// one packet, or one in several packets.
#pragma once

#include <cstdint>
#include <deque>
#include <optional>
#include <vector>

#include "base/bytes/bytes.hpp"
#include "base/result.hpp"
#include "wire/rtp_payload/frame.hpp"

namespace live::wire::rtp_payload {

// The bits of the fields of an AU header, as announced. At most 32 each.
struct AacHeaderBits {
    unsigned size = 13;
    unsigned index = 3;
    unsigned index_delta = 3;
};

class AacDepacketizer {
public:
    static constexpr std::size_t kUnitsMax = 64;            // of one packet
    static constexpr std::size_t kUnitBytesMax = 64 << 10;  // of one access unit

    // `unit_ticks`: the duration of an access unit, in units of the timestamp.
    AacDepacketizer(AacHeaderBits bits, std::uint32_t unit_ticks) : bits_(bits), unit_ticks_(unit_ticks) {}

    // Errc::need_more, Errc::malformed, Errc::limit: the packet is lost; later packets are accepted.
    Result<void> push(const Fragment& fragment);
    // The next access unit; its sequence numbers are not set.
    std::optional<Frame> poll();

private:
    Result<std::vector<std::size_t>> read_sizes(Bytes table, std::size_t bits) const;
    Result<void> take_part(const Fragment& fragment, std::size_t size, Bytes part);
    void emit(std::uint32_t timestamp, Bytes data);

    AacHeaderBits bits_;
    std::uint32_t unit_ticks_;
    std::deque<Frame> frames_;
    // The state of an access unit in several packets.
    std::vector<std::uint8_t> open_;
    std::size_t open_size_ = 0;
    std::uint64_t next_sequence_ = 0;
};

// One access unit, in several packets if it is too long for one. `payload_bytes_max` is at least kPayloadBytesMin. Errc::limit
// for one that 13 bits cannot describe.
Result<void> packetize_aac(Bytes unit, std::size_t payload_bytes_max, PayloadList& out);

}  // namespace live::wire::rtp_payload
