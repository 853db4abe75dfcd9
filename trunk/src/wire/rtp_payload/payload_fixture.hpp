// For payload format tests: frames of seeded random content, and packets sent through a depacketiser with some of them lost.
#pragma once

#include <cstdint>
#include <random>
#include <vector>

#include "base/bytes/bytes.hpp"
#include "wire/rtp_payload/frame.hpp"

namespace live::wire::rtp_payload {

using Octets = std::vector<std::uint8_t>;

inline Octets random_octets(std::mt19937& random, std::size_t size) {
    Octets bytes(size);
    for (std::uint8_t& byte : bytes)
        byte = static_cast<std::uint8_t>(random());
    return bytes;
}

// From tiny to several packets.
inline std::size_t random_size(std::mt19937& random, std::size_t min) {
    constexpr std::size_t kSpans[] = {8, 100, 1'500, 9'000};
    return min + random() % kSpans[random() % 4];
}

// The packets of a sequence of frames, with sequence numbers and timestamps.
struct Stream {
    struct Sent {
        Octets payload;
        std::uint64_t sequence;
        std::uint32_t timestamp;
        bool marker;
        bool lost = false;
    };
    std::vector<Sent> packets;
    std::uint64_t next_sequence = 65'536;

    void add(const PayloadList& payloads, std::uint32_t timestamp) {
        for (std::size_t i = 0; i < payloads.size(); ++i)
            packets.push_back({{payloads[i].begin(), payloads[i].end()}, next_sequence++, timestamp, i + 1 == payloads.size()});
    }
    // True when all packets with that timestamp are present.
    bool has_all_of(std::uint32_t timestamp) const {
        for (const Sent& sent : packets)
            if (sent.timestamp == timestamp && sent.lost)
                return false;
        return true;
    }
};

template <class Depacketizer>
std::vector<Frame> received(Depacketizer& depacketizer, const Stream& stream) {
    std::vector<Frame> frames;
    for (const Stream::Sent& sent : stream.packets) {
        if (sent.lost)
            continue;
        static_cast<void>(depacketizer.push({sent.sequence, sent.timestamp, sent.marker, sent.payload}));
        while (auto frame = depacketizer.poll())
            frames.push_back(std::move(*frame));
    }
    return frames;
}

}  // namespace live::wire::rtp_payload
