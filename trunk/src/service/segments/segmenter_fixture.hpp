// Generated streams for tests of segmenting: frames with packet bodies, and the segmenter's output.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <utility>
#include <variant>
#include <vector>

#include "base/bytes/hex_fixture.hpp"
#include "media/ring/packet_fixture.hpp"
#include "service/segments/cmaf_muxer.hpp"
#include "service/segments/segmenter.hpp"
#include "service/segments/ts_muxer.hpp"
#include "wire/codec/codec_vectors.hpp"

namespace live::service::segments {

// H.264 sequence header, 128x96; `version` selects a different one.
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

// AV1 sequence header, 640x360.
inline Slice av1_config() {
    auto bytes = hex("90 61763031");
    const auto& record = wire::codec::av1_vectors().front().record;
    bytes.insert(bytes.end(), record.begin(), record.end());
    return Slice::copy_of(bytes);
}

inline Slice opus_config() { return Slice::copy_of(hex("90 4f707573 4f70757348656164 01 02 3801 80bb0000 0000 00")); }

inline Slice aac_config(std::uint8_t version = 0) {
    // 44,100 Hz or 48,000 Hz.
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

// Track 1 in enhanced RTMP's OneTrack messages: H.264 and AAC.
inline Slice second_video_config() {
    return media::tag_body(hex("96 00 61766331 01"), wire::codec::avc_vectors().front().record);
}
inline Slice second_video(bool key) {
    return media::tag_body(key ? hex("96 01 61766331 01 000000 00000002 65aa") : hex("a6 01 61766331 01 000000 00000002 41bb"));
}
inline Slice second_audio_config() { return Slice::copy_of(hex("95 00 6d703461 01 1190")); }
inline Slice second_audio() { return Slice::copy_of(hex("95 01 6d703461 01 210a210a")); }
// The same in MP3, which has no configuration.
inline Slice second_audio_in_mp3(std::size_t bytes = 20) {
    auto body = hex("95 01 2e6d7033 01 fffb9064");
    body.resize(body.size() + bytes, 0x33);
    return Slice::copy_of(body);
}

inline media::Packet config_packet(MediaKind kind, const Slice& payload, MediaTime at = {}) {
    return media::tag_packet(kind, false, true, at, payload);
}
inline media::Packet video_packet(MediaTime at, bool key, std::uint8_t composition_ms = 0) {
    return media::tag_packet(MediaKind::video, key, false, at, picture(key, composition_ms));
}
inline media::Packet audio_packet(MediaTime at) { return media::tag_packet(MediaKind::audio, false, false, at, audio()); }

// Cut rules as HLS sets them.
inline CutRules two_second_cuts(std::optional<MediaTime> part = {}) {
    CutRules rules;
    rules.cut_at = 2s;
    rules.hard_cut_at = rules.audio_cut_at = 4'200ms;
    rules.part = part;
    return rules;
}

inline Segmenter::MakeMuxer make_ts() {
    return [] { return std::make_unique<TsMuxer>(); };
}
inline Segmenter::MakeMuxer make_cmaf(CmafMuxer::SegmentType type = CmafMuxer::SegmentType::unsaid) {
    return [type] { return std::make_unique<CmafMuxer>(type); };
}

inline std::vector<std::uint8_t> bytes_of(const std::vector<Block>& blocks) {
    std::size_t size = 0;
    for (const Block& block : blocks)
        size += block->size();
    std::vector<std::uint8_t> all;
    all.reserve(size);
    for (const Block& block : blocks)
        all.insert(all.end(), block->begin(), block->end());
    return all;
}

// Output for the default tracks together.
struct OnePart {
    MediaTime duration{};
    bool independent = false;
    bool discontinuity = false;
    std::vector<Block> blocks;
    Block init;
};
struct OneSegment {
    MediaTime start{};
    MediaTime duration{};
    bool discontinuity = false;
    std::vector<Block> blocks;
    std::size_t bytes = 0;
    Block init;
    bool starts_with_key = false;
};
struct Together {
    std::vector<OneSegment> segments;
    std::vector<OnePart> parts;
    Block init;

    void take(Segmenter& segmenter) {
        for (SegmenterEvent& one : segmenter.take()) {
            if (auto* changed = std::get_if<HeadersChanged>(&one))
                init = changed->headers.at(0).init;
            else if (auto* part = std::get_if<PartMade>(&one))
                parts.push_back({part->duration, part->pieces.at(0).independent, part->discontinuity,
                                 std::move(part->pieces.at(0).blocks), init});
            else if (auto* segment = std::get_if<SegmentMade>(&one))
                segments.push_back({segment->start, segment->duration, segment->discontinuity,
                                    std::move(segment->pieces.at(0).blocks), segment->pieces.at(0).bytes, init,
                                    segment->pieces.at(0).starts_with_key});
        }
    }
};

}  // namespace live::service::segments
