// FlvWireEncoder: packets as FLV tags (Video File Format 10.1, E.4), each followed by its size, each in one HTTP frame. Tags
// carry the time on the source's timeline, which is below 2^32 ms on the wire and wraps.
#pragma once

#include "media/wire_log/container.hpp"
#include "media/wire_log/framing.hpp"
#include "media/wire_log/wire_log.hpp"

namespace live::media {

class FlvWireEncoder final : public WireEncoder {
public:
    // Drops packets of kinds that are not in `kinds`.
    FlvWireEncoder(Framing framing, MediaKindSet kinds) : framing_(framing), kinds_(kinds) {}

    WireTimes times() const override { return WireTimes::stamped; }
    Encoded encode(const Packet& packet, SlabLog& log) override;
    // Large payloads are in the log by reference.
    bool is_slow(const Packet&) const override { return false; }
    // The whole message, unless its payload is in the log by reference.
    bool append_own_header(const Packet& packet, std::int64_t time_ms, std::vector<std::uint8_t>& out) const override;
    void append_own_message(const Packet& packet, std::int64_t time_ms, std::vector<std::uint8_t>& out) const override;
    std::size_t stamped_bytes() const override;
    void stamp(MutBytes message, std::int64_t time_ms) const override;

private:
    Framing framing_;
    MediaKindSet kinds_;
};

// The FLV file header in one HTTP frame: the first thing every player receives.
std::vector<std::uint8_t> flv_file_head(Framing framing, MediaKindSet kinds);

}  // namespace live::media
