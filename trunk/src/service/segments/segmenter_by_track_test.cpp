#include <array>

#include <algorithm>

#include <gtest/gtest.h>

#include "media/ring/packet_fixture.hpp"
#include "service/segments/segmenter_fixture.hpp"
#include "wire/mp4/box_reader_fixture.hpp"

namespace live::service::segments {
namespace {

namespace mp4 = wire::mp4;

constexpr std::size_t kAudio = 0;
constexpr std::size_t kVideo = 1;

struct TrackPiece {
    MediaTime start{};
    MediaTime duration{};
    std::vector<Block> blocks;
    std::size_t bytes = 0;
};
struct Segment {
    std::uint64_t number = 0;
    std::array<TrackPiece, 2> tracks;
};
struct Chunk {
    std::uint64_t number = 0;
    bool begins = false;
    MediaTime start{};  // of the segment
    MediaTime end{};
    std::array<Block, 2> blocks;
};
struct Headers {
    std::array<std::optional<Header>, 2> headers;
};

CutRules whole_two_seconds(std::optional<MediaTime> part, std::uint64_t named_ahead = 0) {
    CutRules rules;
    rules.cut_at = rules.audio_cut_at = 2s;
    rules.hard_cut_at.reset();
    rules.part = part;
    rules.whole_only = true;
    rules.named_ahead = named_ahead;
    return rules;
}

// 25 frames per second with a key frame each second, and consecutive audio frames of 23 ms.
struct Stream {
    Segmenter segmenter;
    MediaTime video = 10s;
    MediaTime audio = 10s;
    std::vector<Segment> segments;
    std::vector<Chunk> chunks;
    std::vector<Headers> headers_made;
    std::vector<std::size_t> order;  // of the pieces: kAudio and kVideo
    std::size_t dropped = 0;

    explicit Stream(std::optional<MediaTime> chunk = {}, std::uint64_t named_ahead = 0)
        : segmenter(whole_two_seconds(chunk, named_ahead), Segmenter::Layout::by_track, make_cmaf(CmafMuxer::SegmentType::said)) {
    }

    void push(MediaKind kind, bool key, bool config, MediaTime at, const Slice& payload) {
        segmenter.push(media::tag_packet(kind, key, config, at, payload));
    }
    void headers() {
        push(MediaKind::video, false, true, video, media::avc_config_body());
        push(MediaKind::audio, false, true, audio, media::aac_config_body());
    }
    void seconds(int count, bool has_audio = true, bool has_video = true) {
        for (int i = 0; i < count * 25; ++i) {
            const bool key = i % 25 == 0;
            if (has_video)
                push(MediaKind::video, key, false, video,
                     media::tag_body(key ? hex("17 01 000000 00000002 65aa") : hex("27 01 000000 00000002 41bb")));
            video += 40ms;
            for (; audio < video; audio += MediaTime(23'220))
                if (has_audio)
                    push(MediaKind::audio, false, false, audio, media::tag_body(hex("af 01 210a")));
        }
    }
    // "a" and "v" for each segment, by the tracks it contains.
    std::vector<std::string> kinds() const {
        std::vector<std::string> all;
        for (const Segment& segment : segments) {
            all.emplace_back();
            for (const std::size_t kind : {kAudio, kVideo})
                all.back() += segment.tracks[kind].blocks.empty() ? "" : kind == kAudio ? "a" : "v";
        }
        return all;
    }
    void finish() {
        segmenter.interrupt();
        take();
    }
    void take() {
        for (SegmenterEvent& one : segmenter.take())
            std::visit([this](auto&& made) { add(std::move(made)); }, std::move(one));
    }
    void add(HeadersChanged made) {
        Headers& headers = headers_made.emplace_back();
        order.clear();
        for (Header& header : made.headers) {
            order.push_back(header.id.kind == MediaKind::video ? kVideo : kAudio);
            headers.headers[order.back()] = std::move(header);
        }
    }
    void add(PartMade made) {
        Chunk& chunk = chunks.emplace_back();
        chunk.number = made.number;
        chunk.begins = made.begins;
        chunk.start = made.segment_start;
        chunk.end = made.start + made.duration;
        for (std::size_t i = 0; i < order.size(); ++i)
            if (!made.pieces.at(i).blocks.empty())
                chunk.blocks[order[i]] = made.pieces[i].blocks.at(0);
    }
    void add(SegmentMade made) {
        Segment& segment = segments.emplace_back();
        segment.number = made.number;
        for (std::size_t i = 0; i < order.size(); ++i) {
            Piece& piece = made.pieces.at(i);
            segment.tracks[order[i]] = {piece.extent.start, piece.extent.duration, std::move(piece.blocks), piece.bytes};
        }
    }
    void add(SegmentDropped) { ++dropped; }
    template <class Other>
    void add(const Other&) {}
};

TEST(SegmenterByTrack, BeginsSegmentsAtKeyFramesWithoutGaps) {
    Stream stream;
    stream.headers();
    stream.seconds(7);
    stream.segmenter.interrupt();
    stream.take();
    ASSERT_EQ(stream.headers_made.size(), 1u);
    EXPECT_EQ(stream.headers_made[0].headers[kVideo]->format->codecs, "avc1.64001f");
    EXPECT_TRUE(mp4::read_file(*stream.headers_made[0].headers[kAudio]->init).has("moov"));
    const auto& segments = stream.segments;
    ASSERT_EQ(segments.size(), 4u) << "three of two seconds, and the rest";
    std::size_t pictures = 0;
    for (std::size_t i = 0; i < segments.size(); ++i) {
        EXPECT_EQ(segments[i].number, i);
        const TrackPiece& track = segments[i].tracks[kVideo];
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

TEST(SegmenterByTrack, ChunksAddUpToTheSegment) {
    Stream stream(200ms);
    stream.headers();
    stream.seconds(3);
    stream.take();
    ASSERT_EQ(stream.segments.size(), 1u);
    std::vector<std::uint8_t> video;
    std::size_t count = 0;
    for (const Chunk& chunk : stream.chunks) {
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

TEST(SegmenterByTrack, StartsWithOneKindAfterASilence) {
    Stream video;
    video.push(MediaKind::video, false, true, 10s, media::avc_config_body());
    video.seconds(6, false);
    video.take();
    ASSERT_EQ(video.headers_made.size(), 1u);
    EXPECT_TRUE(video.headers_made[0].headers[kVideo]);
    EXPECT_FALSE(video.headers_made[0].headers[kAudio]);
    EXPECT_EQ(video.kinds(), (std::vector<std::string>{"v", "v"}));
    EXPECT_EQ(video.segments[0].tracks[kVideo].start, 11s) << "the first key frame after the wait for audio";
    Stream audio;
    audio.push(MediaKind::audio, false, true, 10s, media::aac_config_body());
    audio.seconds(6, true, false);
    audio.segmenter.interrupt();
    audio.take();
    EXPECT_EQ(audio.kinds(), (std::vector<std::string>{"a", "a", "a"}));
    for (std::size_t i = 1; i < 3; ++i)
        EXPECT_EQ(audio.segments[i].tracks[kAudio].start,
                  audio.segments[i - 1].tracks[kAudio].start + audio.segments[i - 1].tracks[kAudio].duration);
    EXPECT_NEAR(static_cast<double>(audio.segments[0].tracks[kAudio].duration.count()), 2e6, 25'000);
    EXPECT_GE(mp4::fragment_samples(bytes_of(audio.segments[0].tracks[kAudio].blocks)).at(1).size(), 86u);
}

TEST(SegmenterByTrack, LaterKindJoinsAtAKeyFrame) {
    Stream stream;
    stream.push(MediaKind::video, false, true, 10s, media::avc_config_body());
    stream.seconds(3, false);
    stream.push(MediaKind::audio, false, true, stream.audio, media::aac_config_body());
    stream.seconds(5);
    stream.finish();
    ASSERT_EQ(stream.kinds(), (std::vector<std::string>{"v", "v", "av", "av"}));
    EXPECT_EQ(stream.segments[1].tracks[kVideo].start, 13s);
    EXPECT_EQ(stream.segments[1].tracks[kVideo].duration, 1s);
    EXPECT_EQ(stream.headers_made.size(), 2u);
    Stream silent_first;
    silent_first.push(MediaKind::audio, false, true, 10s, media::aac_config_body());
    silent_first.seconds(4, true, false);
    silent_first.push(MediaKind::video, false, true, silent_first.video, media::avc_config_body());
    silent_first.seconds(5);
    silent_first.finish();
    ASSERT_EQ(silent_first.kinds(), (std::vector<std::string>{"a", "a", "av", "av", "av"}));
    EXPECT_EQ(silent_first.segments[2].tracks[kVideo].start, 14s);
}

TEST(SegmenterByTrack, DropsASilentKindUntilItReturns) {
    Stream stream;
    stream.headers();
    stream.seconds(2);
    stream.seconds(4, false);
    stream.seconds(3);
    stream.finish();
    ASSERT_EQ(stream.kinds(), (std::vector<std::string>{"av", "v", "v", "v", "av"}));
    EXPECT_EQ(stream.segments[3].tracks[kVideo].start, 16s);
    EXPECT_EQ(stream.segments[4].tracks[kVideo].start, 17s);
    EXPECT_EQ(stream.headers_made.size(), 3u);
    Stream chunked(200ms);
    chunked.headers();
    chunked.seconds(2);
    chunked.seconds(4, false);
    chunked.seconds(3);
    chunked.finish();
    ASSERT_EQ(chunked.kinds(), (std::vector<std::string>{"av", "v", "v", "av"}));
    EXPECT_EQ(chunked.dropped, 1u) << "chunks of 1 have been emitted, with audio's header";
    EXPECT_EQ(chunked.segments[1].number, 2u);
    Stream pictures;
    pictures.headers();
    pictures.seconds(2);
    pictures.seconds(6, true, false);
    pictures.seconds(3);
    pictures.finish();
    EXPECT_EQ(pictures.kinds(), (std::vector<std::string>{"av", "a", "a", "av", "av"}));
}

TEST(SegmenterByTrack, EmitsHeadersForAnotherConfiguration) {
    Stream stream;
    stream.headers();
    stream.seconds(3);
    stream.headers();
    stream.seconds(3);
    stream.take();
    EXPECT_EQ(stream.headers_made.size(), 1u) << "the same again";
    stream.push(MediaKind::audio, false, true, stream.audio, media::tag_body(hex("af 00 1190")));
    stream.seconds(3);
    stream.segmenter.interrupt();
    stream.take();
    ASSERT_EQ(stream.headers_made.size(), 2u);
    EXPECT_EQ(stream.headers_made[1].headers[kAudio]->format->sample_rate, 48'000u);
    stream.segmenter.restart();
    stream.headers();
    stream.seconds(3);
    stream.take();
    EXPECT_EQ(stream.headers_made.size(), 3u) << "another publisher's audio is as the first one's";
    EXPECT_EQ(stream.segments.back().tracks[kVideo].duration, 2s);
}

TEST(SegmenterByTrack, SkipsTheNumbersNamedAheadForOtherHeaders) {
    Stream stream(200ms, 2);
    stream.headers();
    stream.seconds(4);
    stream.headers();
    stream.push(MediaKind::audio, false, true, stream.audio, media::tag_body(hex("af 00 1190")));
    stream.seconds(4);
    stream.finish();
    std::vector<std::uint64_t> numbers;
    for (const Segment& segment : stream.segments)
        numbers.push_back(segment.number);
    EXPECT_EQ(numbers, (std::vector<std::uint64_t>{0, 1, 4, 5}));
    ASSERT_EQ(stream.headers_made.size(), 2U);
    const auto begins = std::ranges::find_if(stream.chunks, [](const Chunk& chunk) { return chunk.number > 1; });
    EXPECT_EQ(begins->number, 4U) << "chunks too";
}

TEST(SegmenterByTrack, DropsAShortEnd) {
    Stream stream;
    stream.headers();
    stream.push(MediaKind::video, true, false, 10s, media::tag_body(hex("17 01 000000 00000002 65aa")));
    stream.push(MediaKind::audio, false, false, 10s, media::tag_body(hex("af 01 210a")));
    stream.segmenter.interrupt();
    stream.take();
    EXPECT_TRUE(stream.segments.empty());
    stream.seconds(2);
    stream.segmenter.interrupt();
    stream.take();
    ASSERT_EQ(stream.segments.size(), 1u);
    EXPECT_EQ(mp4::fragment_samples(bytes_of(stream.segments[0].tracks[kVideo].blocks)).at(1).size(), 50u);
}

TEST(SegmenterByTrack, CutsEveryTrackWithTheLeader) {
    Segmenter segmenter(whole_two_seconds({}), Segmenter::Layout::by_track, make_cmaf());
    const auto push_second = [&segmenter](MediaKind kind, bool key, bool config, MediaTime at, const Slice& body) {
        media::Packet packet = media::tag_packet(kind, key, config, at, body);
        packet.extra = true;
        segmenter.push(packet);
    };
    segmenter.push(config_packet(MediaKind::video, avc_config(), 10s));
    segmenter.push(config_packet(MediaKind::audio, aac_config(), 10s));
    push_second(MediaKind::audio, false, true, 10s, second_audio_config());
    push_second(MediaKind::video, false, true, 10s, second_video_config());
    for (MediaTime at = 10s; at < 15s; at += 40ms) {
        const bool key = at % 1s == 0s;
        segmenter.push(video_packet(at, key));
        segmenter.push(audio_packet(at));
        push_second(MediaKind::video, key, false, at, second_video(key));
        push_second(MediaKind::audio, false, false, at, second_audio());
    }
    segmenter.interrupt();
    std::vector<std::string> names;
    std::size_t segments = 0;
    for (const SegmenterEvent& made : segmenter.take()) {
        if (const auto* headers = std::get_if<HeadersChanged>(&made))
            for (const Header& header : headers->headers)
                names.push_back(header.id.name());
        const auto* segment = std::get_if<SegmentMade>(&made);
        if (segment == nullptr)
            continue;
        ++segments;
        ASSERT_EQ(segment->pieces.size(), 4U);
        for (const Piece& piece : segment->pieces)
            EXPECT_FALSE(piece.blocks.empty());
        for (const std::size_t video : {2U, 3U}) {
            EXPECT_TRUE(mp4::fragment_samples(bytes_of(segment->pieces[video].blocks)).at(1).front().key);
            EXPECT_EQ(segment->pieces[video].extent.start, segment->start);
        }
    }
    EXPECT_EQ(names, (std::vector<std::string>{"audio", "audio-1", "video", "video-1"})) << "once";
    EXPECT_EQ(segments, 3U);
}

// A rendition whose encoder has started late: its key frames are those of the default video, 4 s apart.
TEST(SegmenterByTrack, ATrackThatAppearsLateJoinsAtTheNextKeyFrame) {
    Segmenter segmenter(whole_two_seconds({}), Segmenter::Layout::by_track, make_cmaf(CmafMuxer::SegmentType::said));
    const auto push = [&segmenter](bool key, bool config, MediaTime at, const Slice& body, bool extra) {
        media::Packet packet = media::tag_packet(MediaKind::video, key, config, at, body);
        packet.extra = extra;
        segmenter.push(packet);
    };
    push(false, true, 0s, media::avc_config_body(), false);
    for (MediaTime at = 0s; at <= 16s; at += 40ms) {
        const bool key = at % 4s == MediaTime();
        push(key, false, at, picture(key), false);
        if (at == 3s)
            push(false, true, at, second_video_config(), true);
        if (at >= 3s)
            push(key, false, at, second_video(key), true);
    }
    std::vector<std::size_t> tracks;  // of each segment
    for (const SegmenterEvent& event : segmenter.take())
        if (const auto* made = std::get_if<SegmentMade>(&event))
            tracks.push_back(made->pieces.size());
    EXPECT_EQ(tracks, (std::vector<std::size_t>{1, 2, 2})) << "from 4 s on, because video alone waits a second for audio";
}

}  // namespace
}  // namespace live::service::segments
