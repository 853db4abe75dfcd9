// TsWireEncoder: packets as MPEG transport packets (188 bytes each), all those of one packet in one HTTP frame. The log's
// continuity counters and clock are the same for every reader; the tables precede each key frame.
#pragma once

#include <optional>
#include <utility>
#include <vector>

#include "media/ring/timed_event.hpp"
#include "media/wire_log/container.hpp"
#include "media/wire_log/framing.hpp"
#include "media/wire_log/wire_log.hpp"
#include "wire/ts/write/ts_converter.hpp"

namespace live::media {

class TsWireEncoder final : public WireEncoder {
public:
    // `audio` and `video`: the newest configurations, with no content if there is none.
    TsWireEncoder(Framing framing, const Packet& audio, const Packet& video);

    WireTimes times() const override { return WireTimes::shared; }
    // Packets that cannot be carried or parsed are dropped.
    Encoded encode(const Packet& packet, SlabLog& log) override;
    bool is_slow(const Packet& packet) const override;
    bool prepare(const Packet& packet, std::size_t bytes) override;
    bool append_own_header(const Packet& packet, std::int64_t time_ms, std::vector<std::uint8_t>& out) const override;
    // For a sequence header: the tables, for readers that join between two key frames.
    void append_own_message(const Packet& packet, std::int64_t time_ms, std::vector<std::uint8_t>& out) const override;

private:
    // A frame that is packed in pieces, into memory that the log then refers to.
    struct Large {
        Large(Slice of, Slice into) : payload(std::move(of)), packed(std::move(into)) {}
        Slice payload;  // of the packet
        Slice packed;
        std::size_t filled = 0;
    };

    void convert(const Packet& packet);
    void convert(const TimedEvent& event, MediaTime now);
    void begin_large(const Packet& packet);
    void fill_large();

    wire::ts::TsConverter converter_;
    std::vector<std::uint8_t> packets_;  // scratch, kept for its memory
    std::optional<Large> large_;
    Framing framing_;
};

}  // namespace live::media
