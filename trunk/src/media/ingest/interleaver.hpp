// Interleaver: for publishers that send audio and video in bursts (mix_correct). Holds packets until there is one of each kind,
// or kHeldMax of one kind without the other, and returns them in time order.
#pragma once

#include <array>
#include <cstddef>
#include <map>
#include <optional>

#include "media/ring/packet.hpp"

namespace live::media {

class Interleaver {
public:
    static constexpr std::size_t kHeldMax = 10;

    void push(Packet packet);
    // The next packet whose order is certain.
    std::optional<Packet> pop();
    // The next packet regardless of order: the publisher has ended.
    std::optional<Packet> drain();

private:
    std::multimap<MediaTime, Packet> held_;  // packets with equal times keep their order
    std::array<std::size_t, kMediaKindCount> count_{};
};

}  // namespace live::media
