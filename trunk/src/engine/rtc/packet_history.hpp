// The last packets of one stream, as they are before protection, to answer NACKs from. One a source and not one a player: who
// asks gets the packet under its own number, SSRC and key.
#pragma once

#include <algorithm>
#include <chrono>
#include <cstdint>
#include <utility>
#include <vector>

#include "base/bytes.hpp"
#include "base/time.hpp"

namespace live::engine::rtc {

class PacketHistory {
public:
    static constexpr std::size_t kPacketsMax = 1'024;  // a power of two; 2 s of 4 Mbps

    explicit PacketHistory(std::chrono::milliseconds age_max = 2s) : age_max_(age_max) {}

    // Takes the place of the packet kPacketsMax before.
    void put(TimePoint now, std::uint64_t sequence, Slice packet) {
        if (entries_.empty())
            entries_.resize(kPacketsMax);
        entries_[sequence % kPacketsMax] = {sequence, now, std::move(packet)};
        newest_ = std::max(newest_, sequence);
    }
    // An empty one when it is not there any more, or too old to be of use.
    Slice find(TimePoint now, std::uint16_t sequence) const {
        if (entries_.empty())
            return {};
        // The latest number with these low bits.
        const auto behind = static_cast<std::uint16_t>(static_cast<std::uint16_t>(newest_) - sequence);
        if (behind >= kPacketsMax || behind > newest_)
            return {};
        const Entry& entry = entries_[(newest_ - behind) % kPacketsMax];
        return entry.sequence == newest_ - behind && now - entry.at <= age_max_ ? entry.packet : Slice();
    }

private:
    struct Entry {
        std::uint64_t sequence = 0;
        TimePoint at;
        Slice packet;
    };
    std::vector<Entry> entries_;
    std::chrono::milliseconds age_max_;
    std::uint64_t newest_ = 0;
};

}  // namespace live::engine::rtc
