#include "wire/flv/video_tag.hpp"

#include <gtest/gtest.h>

#include "wire/flv/tag_vectors.hpp"

namespace live::wire::flv {
namespace {

TEST(VideoTag, ReadsEveryVector) {
    for (const VideoVector& vector : video_vectors()) {
        SCOPED_TRACE(vector.name);
        const auto tag = parse_video_tag(vector.bytes);
        ASSERT_TRUE(tag.ok()) << tag.error().text();
        EXPECT_EQ(tag->codec, vector.codec);
        EXPECT_EQ(tag->kind, vector.kind);
        EXPECT_EQ(tag->key, vector.key);
        EXPECT_EQ(tag->composition.count(), vector.composition_ms);
        EXPECT_EQ(tag->timestamp_offset.count(), vector.offset_ns);
        EXPECT_EQ(tag->track_id, vector.track_id);
        EXPECT_EQ(tag->body.size(), vector.body_bytes);
        EXPECT_EQ(tag->enhanced, (vector.bytes[0] & 0x80) != 0);
        if (!tag->body.empty()) {
            EXPECT_EQ(tag->body.data(), vector.bytes.data() + vector.header_bytes);
        }
    }
}

TEST(VideoTag, RoundTrips) {
    for (const VideoVector& vector : video_vectors()) {
        SCOPED_TRACE(vector.name);
        if (!vector.canonical)
            continue;
        ByteWriter out;
        write_video_tag(out, parse_video_tag(vector.bytes).value());
        EXPECT_EQ(out.release(), vector.bytes);
    }
}

TEST(VideoTag, EveryCutHeaderNeedsMore) {
    for (const VideoVector& vector : video_vectors()) {
        for (std::size_t size = 0; size < vector.header_bytes; ++size) {
            if (vector.kind == PacketKind::end_of_sequence && size >= 2)
                continue;  // Some encoders omit the composition time; tested below.
            EXPECT_EQ(parse_video_tag(Bytes(vector.bytes).first(size)).code(), Errc::need_more)
                << vector.name << " cut at " << size;
        }
        for (std::size_t size = vector.header_bytes; size <= vector.bytes.size(); ++size) {
            const auto tag =
                parse_video_tag(Bytes(vector.bytes).first(size));  // must not crash; a track's size may exceed the input
            if (!tag.ok()) {
                EXPECT_EQ(tag.code(), Errc::need_more) << vector.name;
            }
        }
    }
}

TEST(VideoTag, AcceptsAnEndOfSequenceCutAfterItsType) {
    EXPECT_EQ(parse_video_tag(hex("17 02")).value().kind, PacketKind::end_of_sequence);
}

TEST(VideoTag, RefusesReservedValues) {
    for (const char* packet : {"98 68766331", "9f 68766331", "96 07 68766331 00"})
        EXPECT_FALSE(parse_video_tag(hex(packet)).ok()) << packet;
    EXPECT_EQ(parse_video_tag(hex("98 68766331")).code(), Errc::unsupported);
    EXPECT_EQ(parse_video_tag(hex("96 06 68766331 00")).code(), Errc::malformed) << "multitrack inside multitrack";
    EXPECT_EQ(parse_video_tag(hex("96 31 68766331 00")).code(), Errc::unsupported) << "multitrack type 3";
    EXPECT_EQ(parse_video_tag(hex("97 01 0001 01 68766331 000000")).code(), Errc::malformed) << "offset of two bytes";
}

TEST(VideoTag, ReadsExtensionsOfSixteenBitSize) {
    ByteWriter packet;
    packet.u8(0x97).u8(0xFF).u16be(299).zeros(300).u8(0x13).bytes(hex("68766331 aa"));
    EXPECT_EQ(parse_video_tag(packet.written()).value().body.size(), 1u);
}

TEST(VideoTag, BoundsTheExtensions) {
    const auto packet = [](int extensions) {
        ByteWriter out;
        out.u8(0x97);
        for (int i = 1; i < extensions; ++i)
            out.bytes(hex("00 00 17"));
        out.bytes(hex("00 00 13 68766331 aa"));
        return out.release();
    };
    EXPECT_TRUE(parse_video_tag(packet(16)).ok());
    EXPECT_EQ(parse_video_tag(packet(17)).code(), Errc::limit);
}

TEST(VideoTag, ListsAllTracks) {
    const auto tracks = parse_video_tracks(hex("a6 21 61766331 01 000004 000003 aa 61763031 02 000001 bb"));
    ASSERT_TRUE(tracks.ok());
    ASSERT_EQ(tracks->size(), 2u);
    EXPECT_EQ((*tracks)[0].codec, Codec::avc);
    EXPECT_EQ((*tracks)[1].codec, Codec::av1);
    EXPECT_EQ((*tracks)[1].track_id, 2);
    EXPECT_EQ((*tracks)[1].body.size(), 1u);
}

TEST(VideoTag, ListsTheOnlyTrackOfPlainTags) {
    EXPECT_EQ(parse_video_tracks(hex("17 01 000050 0000000165"))->size(), 1u);
    EXPECT_EQ(parse_video_tracks(hex("91 68766331 000042 02"))->size(), 1u);
    EXPECT_EQ(parse_video_tracks(hex("d1 01"))->size(), 1u);
    EXPECT_EQ(parse_video_tracks(hex("96 11 68766331 00 000010 aa")).code(), Errc::need_more);
}

TEST(VideoTag, BoundsTheTracks) {
    const auto packet = [](std::size_t tracks) {
        ByteWriter out;
        out.bytes(hex("96 13 68766331"));
        for (std::size_t i = 0; i < tracks; ++i)
            out.u8(static_cast<std::uint8_t>(i)).u24be(0);
        return out.release();
    };
    EXPECT_EQ(parse_video_tracks(packet(256))->size(), 256u);
    EXPECT_EQ(parse_video_tracks(packet(257)).code(), Errc::limit);
}

TEST(FlvCodec, FourCcRoundTrips) {
    for (const auto codec : {Codec::avc, Codec::hevc, Codec::av1, Codec::vp9, Codec::vp8})
        EXPECT_EQ(video_codec_of(fourcc_of(codec).value()), codec) << name_of(codec);
    for (const auto codec : {Codec::aac, Codec::opus, Codec::mp3, Codec::flac, Codec::ac3, Codec::eac3})
        EXPECT_EQ(audio_codec_of(fourcc_of(codec).value()), codec) << name_of(codec);
    EXPECT_FALSE(fourcc_of(Codec::vp6).has_value());
    EXPECT_EQ(fourcc('O', 'p', 'u', 's'), 0x4F707573u);
}

TEST(VideoTag, OldCodecsGoBothWays) {
    constexpr std::array<Codec, 5> kOld{Codec::sorenson, Codec::screen, Codec::vp6, Codec::vp6_alpha, Codec::screen2};
    for (std::uint8_t id = 2; id < 7; ++id) {
        const std::vector<std::uint8_t> body{static_cast<std::uint8_t>(0x10 | id), 1, 2, 3};
        const auto tag = parse_video_tag(body);
        ASSERT_TRUE(tag.ok());
        EXPECT_EQ(tag->codec, kOld[id - 2U]);
        ByteWriter out;
        write_video_tag(out, *tag);
        EXPECT_EQ(out.release(), body) << name_of(tag->codec);
    }
}

}  // namespace
}  // namespace live::wire::flv
