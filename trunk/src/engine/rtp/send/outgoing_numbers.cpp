#include "engine/rtp/send/outgoing_numbers.hpp"

namespace live::engine::rtp {

namespace {

constexpr std::uint64_t kTurn = 1 << 16;

// RFC 3550, 5.1 requires an unpredictable start; RFC 3711, 3.3.1 one below 2^15, so that loss around a wrap does not confuse the
// roll-over counter.
std::uint64_t first_number(std::uint32_t ssrc) { return kTurn + ((ssrc ^ ssrc >> 16) & 0x7FFFU); }

}  // namespace

OutgoingNumbers::OutgoingNumbers(std::uint32_t ssrc) : next_(first_number(ssrc)) {}

void OutgoingNumbers::begin_line(std::uint64_t rtp_log) {
    if (lines_.size() == kLinesMax)
        lines_.erase(lines_.begin());
    lines_.push_back({rtp_log, next_});
}

std::optional<std::uint64_t> OutgoingNumbers::out_of(std::uint16_t log_sequence) const {
    const std::uint64_t rtp_log = log_unwrapper_.peek(log_sequence);
    for (std::size_t i = lines_.size(); i-- > 0;)
        if (rtp_log >= lines_[i].rtp_log && rtp_log - lines_[i].rtp_log < end_of(i) - lines_[i].out)
            return lines_[i].out + (rtp_log - lines_[i].rtp_log);
    return std::nullopt;
}

std::optional<std::uint16_t> OutgoingNumbers::log_number(std::uint16_t sequence, std::uint64_t back_max) const {
    if (lines_.empty())
        return std::nullopt;
    // The latest number sent with these low bits.
    const std::uint64_t back = static_cast<std::uint16_t>(static_cast<std::uint16_t>(next_ - 1) - sequence);
    if (back >= back_max || back > next_ - 1 - lines_[0].out)
        return std::nullopt;
    const std::uint64_t out = next_ - 1 - back;
    for (std::size_t i = lines_.size(); i-- > 0;)
        if (out >= lines_[i].out)
            return static_cast<std::uint16_t>(lines_[i].rtp_log + (out - lines_[i].out));
    return std::nullopt;
}

}  // namespace live::engine::rtp
