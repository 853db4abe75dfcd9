// Maps RTP log packets to sequence numbers for one player: packets skipped on purpose (a jump to a key frame) leave no gap in the
// player's numbers, a loss does. The mapping is remembered for the last few jumps.
#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include "wire/rtp/sequence.hpp"

namespace live::engine::rtp {

class OutgoingNumbers {
public:
    static constexpr std::size_t kLinesMax = 8;  // jumps remembered

    // The first number is derived from the stream's SSRC.
    explicit OutgoingNumbers(std::uint32_t ssrc);

    // Our widened number for the next packet of the RTP log: increments by one whatever the reader skipped; a loss leaves a gap.
    std::uint64_t advance(std::uint16_t log_sequence, bool follows_loss) {
        const std::uint64_t rtp_log = log_unwrapper_.widen(log_sequence);
        const std::uint64_t hole = follows_loss ? 1 : 0;
        if (rtp_log_ && rtp_log == *rtp_log_ + 1 + hole)
            next_ += hole;
        else
            begin_line(rtp_log);
        rtp_log_ = rtp_log;
        return next_++;
    }
    // The newest packet that had this number in the RTP log.
    std::optional<std::uint64_t> out_of(std::uint16_t log_sequence) const;
    // The RTP log's number of the packet that the player received as `sequence`; nothing beyond the last `back_max` numbers.
    std::optional<std::uint16_t> log_number(std::uint16_t sequence, std::uint64_t back_max) const;
    std::uint64_t next() const { return next_; }
    // Memory besides the object itself.
    std::size_t held_bytes() const { return lines_.capacity() * sizeof(Line); }

private:
    // A range of packets with consecutive numbers both in the RTP log and for the player.
    struct Line {
        std::uint64_t rtp_log = 0;  // its first packet in the RTP log
        std::uint64_t out = 0;      // its number for the player
    };
    void begin_line(std::uint64_t rtp_log);
    std::uint64_t end_of(std::size_t line) const { return line + 1 < lines_.size() ? lines_[line + 1].out : next_; }

    wire::rtp::SequenceUnwrapper log_unwrapper_;
    std::optional<std::uint64_t> rtp_log_;  // of the last packet
    std::uint64_t next_;                    // ours, widened
    std::vector<Line> lines_;
};

}  // namespace live::engine::rtp
