#include "wire/flv/audio_tag.hpp"

#include <gtest/gtest.h>

#include "wire/flv/tag_vectors.hpp"

namespace live::wire::flv {
namespace {

TEST(AudioTag, ReadsEveryVector) {
    for (const AudioVector& vector : audio_vectors()) {
        SCOPED_TRACE(vector.name);
        const auto tag = parse_audio_tag(vector.bytes);
        ASSERT_TRUE(tag.ok()) << tag.error().text();
        EXPECT_EQ(tag->codec, vector.codec);
        EXPECT_EQ(tag->kind, vector.kind);
        EXPECT_EQ(tag->sample_rate, vector.sample_rate);
        EXPECT_EQ(tag->sample_bits, vector.sample_bits);
        EXPECT_EQ(tag->channels, vector.channels);
        EXPECT_EQ(tag->timestamp_offset.count(), vector.offset_ns);
        EXPECT_EQ(tag->track_id, vector.track_id);
        EXPECT_EQ(tag->body.size(), vector.body_bytes);
        if (!tag->body.empty()) {
            EXPECT_EQ(tag->body.data(), vector.bytes.data() + vector.header_bytes);
        }
    }
}

TEST(AudioTag, RoundTrips) {
    for (const AudioVector& vector : audio_vectors()) {
        SCOPED_TRACE(vector.name);
        if (!vector.canonical)
            continue;
        ByteWriter out;
        write_audio_tag(out, parse_audio_tag(vector.bytes).value());
        EXPECT_EQ(out.release(), vector.bytes);
    }
}

TEST(AudioTag, EveryCutHeaderNeedsMore) {
    for (const AudioVector& vector : audio_vectors())
        for (std::size_t size = 1; size < vector.header_bytes; ++size)
            EXPECT_EQ(parse_audio_tag(Bytes(vector.bytes).first(size)).code(), Errc::need_more)
                << vector.name << " cut at " << size;
}

TEST(AudioTag, AnEmptyMessageIsSilence) {
    const auto tag = parse_audio_tag({}).value();
    EXPECT_EQ(tag.kind, PacketKind::end_of_sequence);
    EXPECT_EQ(tag.codec, Codec::none);
    EXPECT_EQ(parse_audio_tracks({})->size(), 1u);
    ByteWriter out;
    write_audio_tag(out, tag);
    EXPECT_EQ(out.size(), 0u);
}

TEST(AudioTag, RefusesReservedValues) {
    EXPECT_EQ(parse_audio_tag(hex("93 4f707573")).code(), Errc::unsupported);
    EXPECT_EQ(parse_audio_tag(hex("9f 4f707573")).code(), Errc::unsupported);
    EXPECT_EQ(parse_audio_tag(hex("95 05 4f707573 00")).code(), Errc::malformed) << "multitrack inside multitrack";
    EXPECT_EQ(parse_audio_tag(hex("95 31 4f707573 00")).code(), Errc::unsupported) << "multitrack type 3";
}

TEST(AudioTag, ListsAllTracks) {
    const auto tracks = parse_audio_tracks(hex("95 11 6d703461 00 000001 21 01 000002 2223"));
    ASSERT_TRUE(tracks.ok());
    ASSERT_EQ(tracks->size(), 2u);
    EXPECT_EQ((*tracks)[1].track_id, 1);
    EXPECT_EQ((*tracks)[1].body.size(), 2u);
    EXPECT_EQ(parse_audio_tracks(hex("af 01 21"))->size(), 1u);
    EXPECT_EQ(parse_audio_tracks(hex("95 11 6d703461 00 000002 21")).code(), Errc::need_more);
}

}  // namespace
}  // namespace live::wire::flv
