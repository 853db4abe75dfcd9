#include "wire/flv/multitrack.hpp"

#include <algorithm>

#include <gtest/gtest.h>

#include "wire/flv/tag_vectors.hpp"

namespace live::wire::flv {
namespace {

template <class Tag>
void expect_same(const Tag& track, const Tag& alone) {
    EXPECT_FALSE(alone.has_more);
    EXPECT_EQ(alone.multitrack, track.track_id != 0);
    EXPECT_EQ(alone.track_id, track.track_id);
    EXPECT_EQ(alone.codec, track.codec);
    EXPECT_EQ(alone.kind, track.kind);
    EXPECT_EQ(alone.timestamp_offset, track.timestamp_offset);
    EXPECT_TRUE(std::ranges::equal(alone.body, track.body));
}

template <class Tag>
void expect_taken_apart(MediaKind kind, Bytes message, const std::vector<Tag>& tracks, Result<Tag> (*parse)(Bytes)) {
    const auto parts = read_tracks(kind, message);
    ASSERT_TRUE(parts.ok()) << parts.error().text();
    ASSERT_EQ(parts->parts.size(), tracks.size());
    for (std::size_t i = 0; i < tracks.size(); ++i) {
        ByteWriter out;
        write_track(out, *parts, parts->parts[i]);
        const auto alone = parse(out.written());
        ASSERT_TRUE(alone.ok());
        expect_same(tracks[i], *alone);
    }
}

TEST(Multitrack, EveryVectorOfSeveralTracksIsTakenApart) {
    std::size_t count = 0;
    for (const VideoVector& vector : video_vectors()) {
        SCOPED_TRACE(vector.name);
        if (!parse_video_tag(vector.bytes)->has_more) {
            EXPECT_EQ(read_tracks(MediaKind::video, vector.bytes).ok(), false);
            continue;
        }
        ++count;
        expect_taken_apart(MediaKind::video, vector.bytes, *parse_video_tracks(vector.bytes), parse_video_tag);
    }
    for (const AudioVector& vector : audio_vectors()) {
        SCOPED_TRACE(vector.name);
        if (!parse_audio_tag(vector.bytes)->has_more) {
            EXPECT_EQ(read_tracks(MediaKind::audio, vector.bytes).ok(), false);
            continue;
        }
        ++count;
        expect_taken_apart(MediaKind::audio, vector.bytes, *parse_audio_tracks(vector.bytes), parse_audio_tag);
    }
    EXPECT_EQ(count, 4U);
}

TEST(Multitrack, EveryTruncationIsAnErrorOrFewerTracks) {
    const auto message = hex("a7 02 0007a1 06 21 61766331 01 000004 000003 aa 61763031 00 000001 bb");
    for (std::size_t size = 0; size < message.size(); ++size) {
        const auto parts = read_tracks(MediaKind::video, Bytes(message).first(size));
        if (parts.ok())
            EXPECT_EQ(parts->parts.size(), 1U) << size;
        else
            EXPECT_EQ(parts.code(), Errc::need_more) << size;
    }
}

TEST(Multitrack, IsBounded) {
    const auto with_tracks = [](std::size_t tracks) {
        ByteWriter out;
        out.bytes(hex("95 11 6d703461"));
        for (std::size_t i = 0; i < tracks; ++i)
            out.u8(static_cast<std::uint8_t>(i)).u24be(0);
        return out.release();
    };
    EXPECT_EQ(read_tracks(MediaKind::audio, with_tracks(256))->parts.size(), 256U);
    EXPECT_EQ(read_tracks(MediaKind::audio, with_tracks(257)).code(), Errc::limit);
    const auto with_lead = [](std::size_t lead) {
        ByteWriter out;
        out.u8(0x97).u8(static_cast<std::uint8_t>(lead - 4)).zeros(lead - 3).u8(0x15).bytes(hex("11 6d703461 00 000000"));
        return out.release();
    };
    EXPECT_TRUE(read_tracks(MediaKind::audio, with_lead(kTrackLeadMax)).ok());
    EXPECT_EQ(read_tracks(MediaKind::audio, with_lead(kTrackLeadMax + 1)).code(), Errc::limit);
}

TEST(Multitrack, SplitsNothingElse) {
    for (const char* message : {"96 01 68766331 05 aa", "91 68766331 aa", "17 01 000000 aa", "16 11 68766331 00 000000"})
        EXPECT_EQ(read_tracks(MediaKind::video, hex(message)).code(), Errc::malformed) << message;
    EXPECT_EQ(read_tracks(MediaKind::video, {}).code(), Errc::need_more);
}

TEST(Multitrack, ACommandHasNoTracks) {
    EXPECT_EQ(read_tracks(MediaKind::video, hex("d6 13 68766331 00 000002 aabb 01 000001 cc")).code(), Errc::malformed);
    EXPECT_EQ(read_tracks(MediaKind::video, hex("a6 13 68766331 00 000002 aabb 01 000001 cc"))->parts.size(), 2U);
}

}  // namespace
}  // namespace live::wire::flv
