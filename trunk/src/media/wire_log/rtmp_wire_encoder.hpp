// RtmpWireEncoder: packets as RTMP chunks with type 1 headers (time as a delta to the previous packet of the same kind), so that
// the bytes do not depend on where a player joined. Data has time 0 in a full header. Audio, video and data each use a chunk
// stream that nothing else uses. RTMP 1.0, sections 5.3.1.2 and 5.3.1.3.
#pragma once

#include <array>

#include "media/wire_log/container.hpp"
#include "media/wire_log/wire_log.hpp"

namespace live::media {

class RtmpWireEncoder final : public WireEncoder {
public:
    // `chunk_size` is the size every reader of the log has announced to its peer.
    explicit RtmpWireEncoder(std::uint32_t chunk_size) : chunk_size_(chunk_size) {}

    WireTimes times() const override { return WireTimes::relative; }
    Encoded encode(const Packet& packet, SlabLog& log) override;
    // Large payloads are in the log by reference.
    bool is_slow(const Packet&) const override { return false; }
    bool append_own_header(const Packet& packet, std::int64_t time_ms, std::vector<std::uint8_t>& out) const override;
    void append_own_message(const Packet& packet, std::int64_t time_ms, std::vector<std::uint8_t>& out) const override;

private:
    struct Track {
        std::int64_t last_ms = 0;
        bool seen = false;
    };

    std::array<Track, kMediaKindCount> tracks_{};
    std::uint32_t chunk_size_;
};

}  // namespace live::media
