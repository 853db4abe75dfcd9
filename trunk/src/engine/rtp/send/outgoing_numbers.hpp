// Maps RTP log packets to sequence numbers for one player: packets skipped on purpose (a jump to a key frame, a change of layer)
// leave no gap in the player's numbers, a loss does. The mapping is remembered for the last few jumps.
#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include "engine/rtp/media_types.hpp"

namespace live::engine::rtp {

class OutgoingNumbers {
public:
    static constexpr std::size_t kLinesMax = 8;  // jumps remembered

    // The first number is derived from the stream's SSRC.
    explicit OutgoingNumbers(std::uint32_t ssrc);

    // Our widened number for the next packet: increments by one whatever the reader skipped; a loss leaves a gap.
    std::uint64_t advance(LogNumber packet, bool follows_loss) {
        const std::uint16_t hole = follows_loss ? 1 : 0;
        const auto following = static_cast<std::uint16_t>(last_.sequence + 1 + hole);
        if (!lines_.empty() && packet == LogNumber{following, last_.layer})
            next_ += hole;
        else
            begin_line(packet, packet.layer == last_.layer ? 0 : hole);
        last_ = packet;
        return next_++;
    }
    // The newest packet that had this number in its RTP log.
    std::optional<std::uint64_t> out_of(LogNumber packet) const;
    // The packet that the player received as `sequence`; nothing beyond the last `back_max` numbers.
    std::optional<LogNumber> log_number(std::uint16_t sequence, std::uint64_t back_max) const;
    std::uint64_t next() const { return next_; }
    // Memory besides the object itself.
    std::size_t held_bytes() const { return lines_.capacity() * sizeof(Line); }

private:
    // A range of packets with consecutive numbers both in one RTP log and for the player.
    struct Line {
        LogNumber first;
        std::uint64_t out = 0;  // its number for the player
    };
    void begin_line(LogNumber packet, std::uint16_t hole);
    std::uint64_t end_of(std::size_t line) const { return line + 1 < lines_.size() ? lines_[line + 1].out : next_; }

    LogNumber last_;
    std::uint64_t next_;  // ours, widened
    std::vector<Line> lines_;
};

}  // namespace live::engine::rtp
