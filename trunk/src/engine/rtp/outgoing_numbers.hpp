// Which number a packet of the RTP log has for one player: what the RTP log leaves out on purpose (a jump to a key frame) leaves
// no hole in the player's numbers, a loss does. Which number stood for which packet is remembered for the last few jumps.
#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include "wire/rtp/sequence.hpp"

namespace live::engine::rtp {

class OutgoingNumbers {
public:
    static constexpr std::size_t kLinesMax = 8;  // jumps that are remembered

    // The first number follows from the stream's SSRC.
    explicit OutgoingNumbers(std::uint32_t ssrc);

    // Our number, widened, of the RTP log's next packet: goes on by one, whatever its reader left out; a loss stays a hole.
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
    // The newest packet that had this number in the rtp_log.
    std::optional<std::uint64_t> out_of(std::uint16_t log_sequence) const;
    // The RTP log's number of what the player calls `sequence`; nothing for what is not among the last `back_max` numbers.
    std::optional<std::uint16_t> log_number(std::uint16_t sequence, std::uint64_t back_max) const;
    std::uint64_t next() const { return next_; }
    // Of memory, beside the object itself.
    std::size_t held_bytes() const { return lines_.capacity() * sizeof(Line); }

private:
    // A stretch of packets that the RTP log and the player count alike.
    struct Line {
        std::uint64_t rtp_log = 0;  // its first packet in the RTP log
        std::uint64_t out = 0;      // and here
    };
    void begin_line(std::uint64_t rtp_log);
    std::uint64_t end_of(std::size_t line) const { return line + 1 < lines_.size() ? lines_[line + 1].out : next_; }

    wire::rtp::SequenceUnwrapper log_unwrapper_;
    std::optional<std::uint64_t> rtp_log_;  // of the last packet
    std::uint64_t next_;                    // ours, widened
    std::vector<Line> lines_;
};

}  // namespace live::engine::rtp
