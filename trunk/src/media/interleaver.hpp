// Interleaver: for publishers that send audio and video in clumps (mix_correct). Holds packets until one of each kind is there,
// or kHeldMax of one kind without the other, and gives them out in order of time.
#pragma once

#include <array>
#include <cstddef>
#include <map>
#include <optional>

#include "media/packet.hpp"

namespace live::media {

class Interleaver {
public:
    static constexpr std::size_t kHeldMax = 10;

    void push(Packet packet);
    // The next packet whose turn is certain.
    std::optional<Packet> pop();
    // The next packet, certain or not: the publisher has ended.
    std::optional<Packet> drain();

private:
    std::multimap<MediaTime, Packet> held_;  // packets of one time keep their order
    std::array<std::size_t, kKindCount> count_{};
};

}  // namespace live::media
