// The budget of a sender, independent of its peer's reports and requests. InputRate follows the rate of the payloads, for pacing.
// ResendBudget bounds retransmissions: a share of the new bytes, and a floor. Unused budget is saved, for an outage of a second.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <utility>

#include "engine/srt/transfer/round_trip.hpp"

namespace live::engine::srt {

// The densest window of the last second or so.
class InputRate {
public:
    static constexpr Micros kWindow{40'000};  // a frame's time

    void add(Micros now, std::size_t bytes) {
        if (now - began_ >= kWindow)
            begin_window(now);
        bytes_ += static_cast<std::int64_t>(bytes);
    }
    std::int64_t bytes_per_second() const { return std::max(peak_, bytes_) * (std::chrono::seconds(1) / kWindow); }

private:
    static constexpr std::int64_t kDecay = 32;        // of the peak, with each window; half of it in 0.9 s
    static constexpr std::int64_t kWindowsMax = 512;  // nothing is left of it then

    void begin_window(Micros now) {
        const std::int64_t passed = std::min((now - began_) / kWindow, kWindowsMax);
        peak_ = std::max(peak_, std::exchange(bytes_, 0));
        for (std::int64_t i = 0; i < passed && peak_ > 0; ++i)
            peak_ -= std::max<std::int64_t>(peak_ / kDecay, 1);
        began_ = now;
    }

    Micros began_{};
    std::int64_t bytes_ = 0;
    std::int64_t peak_ = 0;
};

class ResendBudget {
public:
    // The budget grows by one byte for this many new bytes, like the overhead limit of libsrt.
    static constexpr std::int64_t kNewBytesPerByte = 4;
    static constexpr std::int64_t kFloor = 64'000;  // bytes per second
    // At first; later as much as was new in a second, if that is more.
    static constexpr std::int64_t kSaved = 1 << 20;

    void add_new(Micros now, std::size_t bytes) {
        const auto added = static_cast<std::int64_t>(bytes);
        if (now - second_ >= std::chrono::seconds(1)) {
            last_second_ = std::exchange(this_second_, 0);
            second_ = now;
        }
        this_second_ += added;
        add(now, added * kMillionth / kNewBytesPerByte);
    }
    void spend(Micros now, std::size_t bytes) { add(now, -static_cast<std::int64_t>(bytes) * kMillionth); }
    // When there is something to spend. One packet may be more than there is.
    Micros affordable_at() const { return saved_ > 0 ? Micros::min() : at_ + Micros(-saved_ / kFloor + 1); }

private:
    static constexpr std::int64_t kMillionth = 1'000'000;  // counts are in millionths of a byte

    void add(Micros now, std::int64_t millionths) {
        const std::int64_t saved_max = std::max({kSaved, this_second_, last_second_}) * kMillionth;
        // More than a minute's floor is more than may be saved.
        const Micros passed = std::clamp<Micros>(now - at_, Micros(0), std::chrono::seconds(60));
        saved_ = std::min(saved_ + passed.count() * kFloor, saved_max) + millionths;
        saved_ = std::min(saved_, saved_max);
        at_ = now;
    }

    std::int64_t saved_ = kSaved * kMillionth;
    Micros at_{};
    Micros second_{};
    std::int64_t this_second_ = 0;
    std::int64_t last_second_ = 0;
};

}  // namespace live::engine::srt
