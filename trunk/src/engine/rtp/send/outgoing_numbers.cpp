#include "engine/rtp/send/outgoing_numbers.hpp"

namespace live::engine::rtp {

namespace {

constexpr std::uint64_t kTurn = 1 << 16;

// RFC 3550, 5.1 requires an unpredictable start; RFC 3711, 3.3.1 one below 2^15, so that loss around a wrap does not confuse the
// roll-over counter.
std::uint64_t first_number(std::uint32_t ssrc) { return kTurn + ((ssrc ^ ssrc >> 16) & 0x7FFFU); }

}  // namespace

OutgoingNumbers::OutgoingNumbers(std::uint32_t ssrc) : next_(first_number(ssrc)) {}

void OutgoingNumbers::begin_line(LogNumber packet, std::uint16_t hole) {
    if (!lines_.empty())
        next_ += hole;
    if (lines_.size() == kLinesMax)
        lines_.erase(lines_.begin());
    lines_.push_back({packet, next_});
}

// Counts back from the last packet of a line, so that the newest one is found if a line has more than 65,536.
std::optional<std::uint64_t> OutgoingNumbers::out_of(LogNumber packet) const {
    for (std::size_t i = lines_.size(); i-- > 0;) {
        const Line& line = lines_[i];
        const std::uint64_t last = end_of(i) - 1;
        const auto last_sequence = static_cast<std::uint16_t>(line.first.sequence + (last - line.out));
        const auto back = static_cast<std::uint16_t>(last_sequence - packet.sequence);
        if (line.first.layer == packet.layer && back <= last - line.out)
            return last - back;
    }
    return std::nullopt;
}

std::optional<LogNumber> OutgoingNumbers::log_number(std::uint16_t sequence, std::uint64_t back_max) const {
    if (lines_.empty())
        return std::nullopt;
    // The latest number sent with these low bits.
    const std::uint64_t back = static_cast<std::uint16_t>(static_cast<std::uint16_t>(next_ - 1) - sequence);
    if (back >= back_max || back > next_ - 1 - lines_[0].out)
        return std::nullopt;
    const std::uint64_t out = next_ - 1 - back;
    for (std::size_t i = lines_.size(); i-- > 0;)
        if (out >= lines_[i].out)
            return LogNumber{static_cast<std::uint16_t>(lines_[i].first.sequence + (out - lines_[i].out)), lines_[i].first.layer};
    return std::nullopt;
}

}  // namespace live::engine::rtp
