// For tests only: a source whose payloads each carry their own number.
#pragma once

#include <algorithm>
#include <array>
#include <chrono>
#include <cstring>
#include <utility>
#include <vector>

#include "media/ring/packet_fixture.hpp"
#include "media/source/source.hpp"

namespace live::media {

inline Slice payload_of(std::uint32_t number, std::size_t size) {
    // Copied from a pattern that repeats after 256 bytes: tests are compiled without optimisation and make gigabytes of it.
    static const auto pattern = [] {
        std::array<std::uint8_t, 512> bytes{};
        for (std::size_t i = 0; i < bytes.size(); ++i)
            bytes[i] = static_cast<std::uint8_t>(i);
        return bytes;
    }();
    Slice slice = Slice::allocate(std::max<std::size_t>(size, 4));
    const MutBytes bytes = slice.mutable_bytes();
    for (std::size_t at = 0; at < bytes.size(); at += 256)
        std::memcpy(bytes.data() + at, pattern.data() + number % 256, std::min<std::size_t>(256, bytes.size() - at));
    for (std::size_t i = 0; i < 4; ++i)
        bytes[i] = static_cast<std::uint8_t>(number >> (8 * i));
    return slice;
}

inline std::uint32_t number_of(const Slice& payload) {
    std::uint32_t number = 0;
    for (std::size_t i = 0; i < 4; ++i)
        number |= static_cast<std::uint32_t>(payload.data()[i]) << (8 * i);
    return number;
}

// A source with a publisher that sends 25 frames and 40 audio frames per second, a key frame every 50 frames.
struct Stage {
    explicit Stage(PlayOptions options = {}, std::uint32_t chunk_size = 4096)
        : source(make_ref<Source>("/live/test", options, chunk_size, pool)) {}

    void config() {
        source->append(plain_packet(MediaKind::data, false, true, {}, payload_of(1'000'001, 40)));
        source->append(plain_packet(MediaKind::video, false, true, {}, payload_of(1'000'002, 50)));
        source->append(plain_packet(MediaKind::audio, false, true, {}, payload_of(1'000'003, 7)));
    }
    // One frame and its audio; frames are 3,000 bytes, key frames 20,000.
    void picture() {
        const bool key = pictures % 50 == 0;
        const MediaTime at = std::chrono::milliseconds(40 * pictures) + start;
        send(MediaKind::video, key, false, at, payload_of(number, key ? 20'000 : 3'000));
        send(MediaKind::audio, false, false, at + 17ms, payload_of(number, 200));
        ++pictures;
    }
    void send(MediaKind kind, bool key, bool config, MediaTime dts, Slice payload) {
        Packet packet = plain_packet(kind, key, config, dts, std::move(payload));
        sent.push_back(packet);
        ++number;
        source->append(std::move(packet));
    }

    SlabPool pool;
    Ref<Source> source;
    std::vector<Packet> sent;  // by number
    std::uint32_t number = 0;
    int pictures = 0;
    MediaTime start{};
};

}  // namespace live::media
