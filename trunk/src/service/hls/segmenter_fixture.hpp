// Streams made up for tests of segmenting: frames with the bodies that packets carry.
#pragma once

#include <cstdint>
#include <vector>

#include "base/hex_fixture.hpp"
#include "media/packet_fixture.hpp"
#include "wire/codec/codec_vectors.hpp"

namespace live::service::hls {

// A sequence header of H.264, 128 by 96; `version` makes another one of it.
inline Slice avc_config(std::uint8_t version = 0) {
    auto bytes = hex("17 00 000000 01 42c01e ff e1 0009 6742c01e8c68504e 40 01 0004 68ce3c80");
    bytes.back() = static_cast<std::uint8_t>(bytes.back() + version);
    return Slice::copy_of(bytes);
}

inline Slice hevc_config() {
    auto bytes = hex("90 68766331");
    const auto& record = wire::codec::hevc_vectors().front().record;
    bytes.insert(bytes.end(), record.begin(), record.end());
    return Slice::copy_of(bytes);
}

// A sequence header of AV1, 640 by 360.
inline Slice av1_config() {
    auto bytes = hex("90 61763031");
    const auto& record = wire::codec::av1_vectors().front().record;
    bytes.insert(bytes.end(), record.begin(), record.end());
    return Slice::copy_of(bytes);
}

inline Slice opus_config() { return Slice::copy_of(hex("90 4f707573 4f70757348656164 01 02 3801 80bb0000 0000 00")); }

inline Slice aac_config(std::uint8_t version = 0) {
    // 44,100 Hz, or 48,000.
    return Slice::copy_of(version == 0 ? hex("af 00 1210") : hex("af 00 1190"));
}

inline Slice picture(bool key, std::uint8_t composition_ms = 0, std::size_t bytes = 40) {
    auto body = key ? hex("17 01 000000") : hex("27 01 000000");
    body[4] = composition_ms;
    const auto size = static_cast<std::uint32_t>(bytes);
    for (const int shift : {24, 16, 8, 0})
        body.push_back(static_cast<std::uint8_t>(size >> shift));
    body.push_back(key ? 0x65 : 0x41);
    body.resize(body.size() + bytes - 1, 0x5A);
    return Slice::copy_of(body);
}

inline Slice hevc_frame(bool key, std::uint8_t composition_ms = 0) {
    auto body = key ? hex("91 68766331 000000 00000028 2601") : hex("a1 68766331 000000 00000028 0201");
    body[7] = composition_ms;
    body.resize(body.size() + 38, 0x5A);
    return Slice::copy_of(body);
}

inline Slice av1_frame(bool key) {
    auto body = key ? hex("91 61763031") : hex("a1 61763031");
    body.resize(body.size() + 38, 0x5A);
    return Slice::copy_of(body);
}

inline Slice audio(std::size_t bytes = 20) {
    auto body = hex("af 01");
    body.resize(body.size() + bytes, 0x21);
    return Slice::copy_of(body);
}

inline media::Packet config_packet(media::Kind kind, const Slice& payload, MediaTime at = {}) {
    return media::tag_packet(kind, false, true, at, payload);
}
inline media::Packet video_packet(MediaTime at, bool key, std::uint8_t composition_ms = 0) {
    return media::tag_packet(media::Kind::video, key, false, at, picture(key, composition_ms));
}
inline media::Packet audio_packet(MediaTime at) { return media::tag_packet(media::Kind::audio, false, false, at, audio()); }

}  // namespace live::service::hls
