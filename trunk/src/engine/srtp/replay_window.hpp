// The replay list of one stream of SRTCP (RFC 3711, 3.3.2): which of the newest packet indexes were received.
#pragma once

#include <bitset>
#include <cstddef>
#include <cstdint>

namespace live::engine::srtp {

class ReplayWindow {
public:
    static constexpr std::uint32_t kPackets = 128;

    // Reports whether a packet with this index is new: neither received nor older than the window.
    bool accepts(std::uint32_t index) const {
        return !has_any_ || index > newest_ || (newest_ - index < kPackets && !received_[newest_ - index]);
    }
    // Call it for an authentic packet that it accepts.
    void add(std::uint32_t index) {
        if (!has_any_ || index > newest_) {
            received_ <<= has_any_ ? std::size_t{index - newest_} : 0;
            newest_ = index;
        }
        has_any_ = true;
        received_.set(newest_ - index);
    }

private:
    std::bitset<kPackets> received_;  // bit i: the index newest_ - i
    std::uint32_t newest_ = 0;
    bool has_any_ = false;
};

}  // namespace live::engine::srtp
