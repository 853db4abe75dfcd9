// Widens the sequence numbers and timestamps of one RTP stream to 64 bits on arrival, so that later code never compares numbers
// that wrap.
#pragma once

#include <cstdint>
#include <limits>
#include <optional>
#include <type_traits>

namespace live::wire::rtp {

template <class Narrow>
class Unwrapper {
public:
    // The number nearest to the last one whose low bits are `value`. The first number is offset by one full cycle, so that
    // packets from before it stay above zero.
    std::uint64_t widen(Narrow value) {
        const std::uint64_t wide = peek(value);
        last_ = wide;
        return wide;
    }
    // The same without updating the state.
    std::uint64_t peek(Narrow value) const {
        if (!last_)
            return kTurn + value;
        const auto ahead = static_cast<std::make_signed_t<Narrow>>(static_cast<Narrow>(value - static_cast<Narrow>(*last_)));
        const auto wide = static_cast<std::int64_t>(*last_) + ahead;
        return wide < 0 ? value : static_cast<std::uint64_t>(wide);
    }
    void reset() { last_.reset(); }

private:
    static constexpr std::uint64_t kTurn = std::uint64_t{std::numeric_limits<Narrow>::max()} + 1;

    std::optional<std::uint64_t> last_;
};

using SequenceUnwrapper = Unwrapper<std::uint16_t>;
using TimestampUnwrapper = Unwrapper<std::uint32_t>;

}  // namespace live::wire::rtp
