#include "service/dash/segmenter.hpp"

#include <gtest/gtest.h>

#include "wire/mp4/test_box_reader.hpp"
#include "wire/mp4/test_media.hpp"

namespace live::service::dash {
namespace {

namespace mp4 = wire::mp4;

constexpr std::size_t kAudio = 0;
constexpr std::size_t kVideo = 1;

// Pictures at 25 a second, a key frame each second, and sound of 23 ms behind each other.
struct Stream {
    Segmenter segmenter;
    MediaTime video = 10s;
    MediaTime audio = 10s;
    std::vector<SegmentMade> segments;
    std::vector<ChunkMade> chunks;
    std::vector<HeadersMade> headers_made;
    std::size_t dropped = 0;

    explicit Stream(std::optional<MediaTime> chunk = {}) : segmenter(2s, chunk) {}

    void push(media::Kind kind, bool key, bool config, MediaTime at, const Slice& payload) {
        segmenter.push({kind, key, config, at, payload, {}});
    }
    void headers() {
        push(media::Kind::video, false, true, video, mp4::avc_config_body());
        push(media::Kind::audio, false, true, audio, mp4::aac_config_body());
    }
    void seconds(int count, bool has_sound = true) {
        for (int i = 0; i < count * 25; ++i) {
            const bool key = i % 25 == 0;
            push(media::Kind::video, key, false, video,
                 mp4::body_of(key ? hex("17 01 000000 00000002 65aa") : hex("27 01 000000 00000002 41bb")));
            video += 40ms;
            for (; audio < video; audio += MediaTime(23'220))
                if (has_sound)
                    push(media::Kind::audio, false, false, audio, mp4::body_of(hex("af 01 210a")));
        }
    }
    void take() {
        for (Made& one : segmenter.take()) {
            if (auto* segment = std::get_if<SegmentMade>(&one))
                segments.push_back(std::move(*segment));
            else if (auto* chunk = std::get_if<ChunkMade>(&one))
                chunks.push_back(std::move(*chunk));
            else if (auto* made = std::get_if<HeadersMade>(&one))
                headers_made.push_back(std::move(*made));
            else
                ++dropped;
        }
    }
};

std::vector<std::uint8_t> bytes_of(const std::vector<io::Block>& blocks) {
    std::vector<std::uint8_t> bytes;
    for (const io::Block& block : blocks)
        bytes.insert(bytes.end(), block->begin(), block->end());
    return bytes;
}

TEST(DashSegmenter, SegmentsBeginAtKeyFramesAndMeet) {
    Stream stream;
    stream.headers();
    stream.seconds(7);
    stream.segmenter.finish();
    stream.take();
    ASSERT_EQ(stream.headers_made.size(), 1u);
    EXPECT_EQ(stream.headers_made[0].headers[kVideo].format.codecs, "avc1.64001f");
    EXPECT_TRUE(mp4::read_file(*stream.headers_made[0].headers[kAudio].bytes).has("moov"));
    const auto& segments = stream.segments;
    ASSERT_EQ(segments.size(), 4u) << "three of two seconds, and the rest";
    std::size_t pictures = 0;
    for (std::size_t i = 0; i < segments.size(); ++i) {
        EXPECT_EQ(segments[i].number, i);
        const TrackSegment& track = segments[i].tracks[kVideo];
        ASSERT_EQ(track.blocks.size(), 1u);
        EXPECT_EQ(track.bytes, track.blocks[0]->size());
        EXPECT_EQ(as_text(Bytes(*track.blocks[0]).subspan(4, 4)), "styp");
        const auto video = mp4::fragment_samples(bytes_of(track.blocks)).at(1);
        EXPECT_TRUE(video.front().key);
        EXPECT_EQ(track.start, MediaTime(video.front().tick * 100 / 9));
        pictures += video.size();
        if (i == 0)
            continue;
        for (const std::size_t kind : {kAudio, kVideo})
            EXPECT_EQ(segments[i].tracks[kind].start, segments[i - 1].tracks[kind].start + segments[i - 1].tracks[kind].duration);
    }
    EXPECT_EQ(pictures, 175u);
    EXPECT_EQ(segments[0].tracks[kVideo].duration, 2s);
    EXPECT_EQ(segments[3].tracks[kVideo].duration, 1s);
    EXPECT_EQ(stream.segmenter.number(), 4u);
}

TEST(DashSegmenter, ChunksAreTheSegmentInPieces) {
    Stream stream(200ms);
    stream.headers();
    stream.seconds(3);
    stream.take();
    ASSERT_EQ(stream.segments.size(), 1u);
    std::vector<std::uint8_t> video;
    std::size_t count = 0;
    for (const ChunkMade& chunk : stream.chunks) {
        EXPECT_EQ(chunk.begins, count == 0 || chunk.number != stream.chunks[count - 1].number);
        ++count;
        if (chunk.number != 0)
            continue;
        EXPECT_EQ(chunk.start, 10s);
        const auto& block = chunk.blocks[kVideo];
        video.insert(video.end(), block->begin(), block->end());
        EXPECT_EQ(chunk.end, 10s + static_cast<int>(count) * 200ms);
    }
    EXPECT_EQ(video, bytes_of(stream.segments[0].tracks[kVideo].blocks));
    EXPECT_EQ(stream.segments[0].tracks[kVideo].blocks.size(), 10u);
    EXPECT_EQ(mp4::fragment_samples(video).at(1).size(), 50u);
    EXPECT_EQ(stream.segments[0].tracks[kVideo].duration, 2s);
    EXPECT_EQ(stream.chunks.back().number, 1u);
}

TEST(DashSegmenter, NeedsBothKinds) {
    Stream stream;
    stream.push(media::Kind::video, false, true, 10s, mp4::avc_config_body());
    stream.seconds(5);
    stream.segmenter.finish();
    EXPECT_TRUE(stream.segmenter.take().empty());
    stream.push(media::Kind::audio, false, true, 15s, mp4::aac_config_body());
    stream.seconds(3);
    stream.take();
    EXPECT_EQ(stream.segments.size(), 1u) << "from here on there are";
}

TEST(DashSegmenter, ASegmentThatLacksSoundIsLeftOut) {
    Stream stream;
    stream.headers();
    stream.seconds(2);
    stream.seconds(4, false);
    stream.seconds(3);
    stream.take();
    ASSERT_EQ(stream.segments.size(), 2u);
    EXPECT_EQ(stream.segments[1].number, 1u) << "nobody has heard of it";
    EXPECT_EQ(stream.segments[1].tracks[kVideo].start, 16s);
    Stream chunked(200ms);
    chunked.headers();
    chunked.seconds(2);
    chunked.seconds(3, false);
    chunked.seconds(3);
    chunked.take();
    ASSERT_EQ(chunked.segments.size(), 2u);
    EXPECT_EQ(chunked.dropped, 1u);
    EXPECT_EQ(chunked.segments[1].number, 2u) << "chunks of 1 have been told";
}

TEST(DashSegmenter, AnotherConfigurationNeedsOtherHeaders) {
    Stream stream;
    stream.headers();
    stream.seconds(3);
    stream.headers();
    stream.seconds(3);
    stream.take();
    EXPECT_EQ(stream.headers_made.size(), 1u) << "the same once more";
    stream.push(media::Kind::audio, false, true, stream.audio, mp4::body_of(hex("af 00 1190")));
    stream.seconds(3);
    stream.segmenter.finish();
    stream.take();
    ASSERT_EQ(stream.headers_made.size(), 2u);
    EXPECT_EQ(stream.headers_made[1].headers[kAudio].format.sample_rate, 48'000u);
    stream.segmenter.restart();
    stream.headers();
    stream.seconds(3);
    stream.take();
    EXPECT_EQ(stream.headers_made.size(), 3u) << "another publisher's sound is as the first one's";
    EXPECT_EQ(stream.segments.back().tracks[kVideo].duration, 2s);
}

TEST(DashSegmenter, AMomentAtTheEndIsLeftOut) {
    Stream stream;
    stream.headers();
    stream.push(media::Kind::video, true, false, 10s, mp4::body_of(hex("17 01 000000 00000002 65aa")));
    stream.push(media::Kind::audio, false, false, 10s, mp4::body_of(hex("af 01 210a")));
    stream.segmenter.finish();
    stream.take();
    EXPECT_TRUE(stream.segments.empty());
    stream.seconds(2);
    stream.segmenter.finish();
    stream.take();
    ASSERT_EQ(stream.segments.size(), 1u);
    EXPECT_EQ(mp4::fragment_samples(bytes_of(stream.segments[0].tracks[kVideo].blocks)).at(1).size(), 50u);
}

}  // namespace
}  // namespace live::service::dash
