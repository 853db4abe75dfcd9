// Properties that hold for the segments of every stream: generated streams of video only, audio only or both, with B-frames,
// sparse key frames, timestamp jumps, changes of configuration and codec, as MPEG-TS and fragmented MP4, with and without parts.
// Each frame carries a serial number by which it is identified in the output.
#include <malloc.h>

#include <algorithm>
#include <array>
#include <random>

#include <gtest/gtest.h>

#include "base/rounds_fixture.hpp"
#include "service/hls/segment_list.hpp"
#include "service/segments/segmenter_fixture.hpp"
#include "wire/hls/playlist_reader.hpp"
#include "wire/mp4/box_reader_fixture.hpp"
#include "wire/ts/clock.hpp"
#include "wire/ts/read/demuxer_fixture.hpp"
#include "wire/ts/write/muxer.hpp"

namespace live::service::hls {
namespace {

using segments::aac_config;
using segments::audio_packet;
using segments::avc_config;
using segments::bytes_of;
using segments::config_packet;
using segments::CutRules;
using segments::File;
using segments::FileRef;
using segments::hevc_config;
using segments::hevc_frame;
using segments::make_cmaf;
using segments::make_ts;
using segments::OnePart;
using segments::OneSegment;
using segments::PartMade;
using segments::Segmenter;
using segments::SegmenterEvent;
using segments::SegmentMade;
using segments::StreamOfFilesRef;
using segments::Together;
using segments::video_packet;

const std::uint32_t kSeeds = rounds(8U, 24U);
constexpr std::size_t kSerialBytes = 4;

enum class Format : bool { ts, fmp4 };

// The number is at the end of the frame; its bytes contain no start code.
media::Packet with_serial(media::Packet packet, std::size_t serial) {
    const Bytes old = packet.payload.bytes();
    std::vector<std::uint8_t> body(old.begin(), old.end());
    for (std::size_t i = 1; i <= kSerialBytes; ++i, serial >>= 7)
        body[body.size() - i] = static_cast<std::uint8_t>(0x80 | (serial & 0x7F));
    packet.payload = Slice::copy_of(body);
    return packet;
}

std::size_t serial_of(Bytes frame) {
    std::size_t serial = 0;
    for (const std::uint8_t byte : frame.last(kSerialBytes))
        serial = serial << 7 | (byte & 0x7F);
    return serial;
}

// One generated stream of one minute; packets other than configurations are numbered by position.
class Teller {
public:
    explicit Teller(std::uint32_t seed) : random_(seed) {
        const auto kind = below(4);
        has_video_ = kind != 0;
        has_audio_ = kind != 1;
        frame_ = milliseconds(10 + below(60));
        gop_ = below(5) == 0 ? 30s : milliseconds(200 + below(4'000));
        b_frames_ = below(2) == 0;
    }

    std::vector<media::Packet> tell() {
        if (has_video_)
            add(config_packet(MediaKind::video, avc_config()));
        if (has_audio_)
            add(config_packet(MediaKind::audio, aac_config()));
        MediaTime key_due{};
        MediaTime audio_due{};
        for (MediaTime now{}; now < 60s; now += frame_) {
            if (has_video_) {
                const bool key = now >= key_due;
                if (key)
                    key_due = now + gop_;
                add(picture_at(now, key));
            }
            for (; has_audio_ && audio_due < now + frame_; audio_due += 23ms)
                add(audio_packet(audio_due));
            if (below(400) == 0) {  // a jump small enough for the timeline to pass
                now += milliseconds(below(8'000));
                audio_due = std::max(audio_due, now - 15ms);
            }
            if (below(500) == 0 && has_video_) {
                change_video(now + frame_);
                // Not every encoder sends a key frame at once; a video-only stream would have no output until it does.
                if (!has_audio_ || below(2) == 0)
                    key_due = now;
            }
            if (below(500) == 0 && has_audio_)
                add(config_packet(MediaKind::audio, aac_config(static_cast<std::uint8_t>(below(2))), now + frame_));
        }
        return std::move(packets_);
    }

    std::uint32_t below(std::uint32_t bound) { return std::uniform_int_distribution<std::uint32_t>(0, bound - 1)(random_); }
    static MediaTime milliseconds(std::uint32_t count) { return std::chrono::milliseconds(count); }

private:
    void add(media::Packet packet) {
        packets_.push_back(packet.is_config() ? std::move(packet) : with_serial(std::move(packet), packets_.size()));
    }
    media::Packet picture_at(MediaTime at, bool key) {
        const auto composition = b_frames_ ? static_cast<std::uint8_t>(below(200)) : std::uint8_t{0};
        return is_hevc_ ? media::tag_packet(MediaKind::video, key, false, at, hevc_frame(key, composition))
                        : video_packet(at, key, composition);
    }
    void change_video(MediaTime at) {
        is_hevc_ = below(3) == 0;
        add(config_packet(MediaKind::video, is_hevc_ ? hevc_config() : avc_config(static_cast<std::uint8_t>(1 + below(3))), at));
    }

    std::mt19937 random_;
    std::vector<media::Packet> packets_;
    bool has_video_ = true;
    bool has_audio_ = true;
    bool b_frames_ = false;
    bool is_hevc_ = false;
    MediaTime frame_{};
    MediaTime gop_{};
};

// Serial numbers of a segment's frames, in decoding order within each kind.
std::vector<std::size_t> serials_of(const OneSegment& segment, Format format) {
    std::vector<std::size_t> serials;
    const auto bytes = bytes_of(segment.blocks);
    if (format == Format::ts) {
        for (const wire::ts::TestUnit& unit : wire::ts::demuxed(bytes).units)
            serials.push_back(serial_of(unit.payload));
    } else {
        for (const auto& [track, samples] : wire::mp4::fragment_samples(bytes))
            for (const wire::mp4::TestSample& sample : samples)
                serials.push_back(serial_of(sample.data));
    }
    return serials;
}

struct Case {
    std::uint32_t seed = 0;
    Format format = Format::ts;
    CutRules rules;
    std::vector<media::Packet> packets;
    std::vector<OneSegment> segments;
    std::vector<OnePart> parts;
};

Case run_case(std::uint32_t seed) {
    Teller teller(seed);
    Case one;
    one.seed = seed;
    one.format = seed % 2 == 0 ? Format::ts : Format::fmp4;
    one.rules = {.cut_at = 1s + Teller::milliseconds(teller.below(4'000)),
                 .hard_cut_at = 6s,
                 .audio_cut_at = 6s,
                 .waits_for_key = teller.below(4) != 0,
                 .part = {},
                 .whole_only = false};
    if (teller.below(2) == 0)
        one.rules.part = 200ms;
    one.packets = teller.tell();
    Segmenter segmenter(one.rules, Segmenter::Layout::together, one.format == Format::fmp4 ? make_cmaf() : make_ts());
    Together made;
    for (const media::Packet& packet : one.packets) {
        segmenter.push(packet);
        made.take(segmenter);
    }
    segmenter.interrupt();
    made.take(segmenter);
    one.segments = std::move(made.segments);
    one.parts = std::move(made.parts);
    return one;
}

TEST(SegmenterProperty, SegmentsCoverTheTimelineOnce) {
    for (std::uint32_t seed = 1; seed <= kSeeds; ++seed) {
        const Case one = run_case(seed);
        ASSERT_FALSE(one.segments.empty()) << seed;
        MediaTime at = one.segments.front().start;
        MediaTime in_segments{};
        MediaTime in_holes{};
        for (const OneSegment& segment : one.segments) {
            // Only a segment shorter than kKeptMin is dropped and leaves a gap.
            const MediaTime hole = segment.start - at;
            EXPECT_GE(hole, 0ms) << seed;
            EXPECT_LT(hole, Segmenter::kKeptMin) << seed;
            EXPECT_TRUE(hole == 0ms || segment.discontinuity) << seed << ": a gap without a discontinuity";
            EXPECT_GE(segment.duration, one.rules.part ? 0ms : MediaTime(Segmenter::kKeptMin)) << seed;
            in_segments += segment.duration;
            in_holes += hole;
            at = segment.start + segment.duration;
        }
        EXPECT_EQ(in_segments + in_holes, at - one.segments.front().start) << seed;
        const media::Packet& last = one.packets.back();
        EXPECT_GE(at + Segmenter::kKeptMin, last.dts) << seed << ": the end is missing";
    }
}

// More than any distance between frames of one track.
constexpr MediaTime kFrameMax = 80ms;

// Time that belongs to no part: jumps, a part whose leader is gone until the next key frame, and the part's last frame.
MediaTime outside_of_parts(const Case& one) {
    MediaTime sum = one.parts.size() * 5ms;
    MediaTime newest{};
    for (const media::Packet& packet : one.packets) {
        if (packet.is_config())
            sum += 2 * *one.rules.part;
        else if (packet.dts > newest + kFrameMax)
            sum += packet.dts - newest;
        newest = std::max(newest, packet.dts);
    }
    return sum;
}

TEST(SegmenterProperty, PartsCoverTheSegmentsExceptGaps) {
    for (std::uint32_t seed = 1; seed <= kSeeds; ++seed) {
        const Case one = run_case(seed);
        if (!one.rules.part) {
            EXPECT_TRUE(one.parts.empty()) << seed;
            continue;
        }
        MediaTime in_segments{};
        MediaTime in_parts{};
        for (const OneSegment& segment : one.segments)
            in_segments += segment.duration;
        for (const OnePart& part : one.parts) {
            EXPECT_LE(part.duration, *one.rules.part + kFrameMax) << seed;
            in_parts += part.duration;
        }
        EXPECT_LE(in_parts, in_segments) << seed;
        EXPECT_GE(in_parts, in_segments - outside_of_parts(one)) << seed;
    }
}

TEST(SegmenterProperty, EveryFrameIsInOneSegment) {
    for (std::uint32_t seed = 1; seed <= kSeeds; ++seed) {
        const Case one = run_case(seed);
        std::vector<int> times_seen(one.packets.size());
        std::array<std::size_t, kMediaKindCount> last{};
        for (const OneSegment& segment : one.segments)
            for (const std::size_t serial : serials_of(segment, one.format)) {
                ASSERT_LT(serial, one.packets.size()) << seed;
                const media::Packet& packet = one.packets[serial];
                ++times_seen[serial];
                EXPECT_GT(serial, std::exchange(last[index_of(packet.kind)], serial)) << seed;
                // Audio and video interleave within less than a frame's duration.
                EXPECT_GE(packet.dts + 100ms, segment.start) << seed;
                EXPECT_LE(packet.dts, segment.start + segment.duration + 100ms) << seed;
            }
        // Frames may be lost before the first key frame, when they need a configuration whose segment has not begun, and when
        // they are too short for a segment.
        bool waits = one.rules.waits_for_key;
        std::array<bool, kMediaKindCount> changed{};
        for (std::size_t i = 0; i < one.packets.size(); ++i) {
            const media::Packet& packet = one.packets[i];
            ASSERT_LE(times_seen[i], 1) << seed;
            waits = waits && !(packet.kind == MediaKind::video && packet.key);
            bool& is_changed = changed[index_of(packet.kind)];
            is_changed = packet.is_config() || (is_changed && times_seen[i] == 0);
            const bool may_be_lost = is_changed || (packet.kind == MediaKind::video && waits);
            const auto holds = [&packet](const OneSegment& segment) {
                return packet.dts >= segment.start + 100ms && packet.dts < segment.start + segment.duration - 100ms;
            };
            EXPECT_TRUE(may_be_lost || times_seen[i] == 1 || std::ranges::none_of(one.segments, holds))
                << seed << ": frame " << i << " at " << packet.dts.count();
        }
    }
}

TEST(SegmenterProperty, SegmentsBeginWithAKeyFrameExceptAfterAHardCut) {
    std::size_t judged = 0;
    for (std::uint32_t seed = 1; seed <= kSeeds; ++seed) {
        const Case one = run_case(seed);
        if (!one.rules.waits_for_key)
            continue;
        MediaTime before{};
        for (const OneSegment& segment : one.segments) {
            const auto serials = serials_of(segment, one.format);
            const auto first = std::ranges::find_if(
                serials, [&one](std::size_t serial) { return one.packets.at(serial).kind == MediaKind::video; });
            if (first != serials.end() && before < *one.rules.hard_cut_at) {
                EXPECT_TRUE(one.packets[*first].key) << seed << " at " << segment.start.count();
                ++judged;
            }
            before = segment.duration;
        }
    }
    EXPECT_GT(judged, 3 * kSeeds);
}

// Writes the playlist after each segment and parses it again, as a player would see it.
TEST(SegmenterProperty, EveryPlaylistKeepsItsTargetDuration) {
    for (std::uint32_t seed = 1; seed <= kSeeds; ++seed) {
        const Case one = run_case(seed);
        SegmentList list({.target = one.rules.cut_at, .window = 15s, .low_latency = false});
        std::uint64_t discontinuities = 0;
        std::size_t first = 0;
        for (std::size_t i = 0; i < one.segments.size(); ++i) {
            ListedSegment segment;
            segment.name = {"", std::to_string(i), ""};
            segment.duration = one.segments[i].duration;
            segment.discontinuity = one.segments[i].discontinuity;
            list.add(std::move(segment));
            const auto read =
                wire::hls::parse_media_playlist(wire::hls::write_media_playlist(list.playlist(SegmentList::Form::players)));
            ASSERT_TRUE(read.ok()) << seed;
            for (; first < read->media_sequence; ++first)
                discontinuities += one.segments[first].discontinuity ? 1 : 0;
            ASSERT_EQ(first + read->segments.size(), i + 1) << seed;
            EXPECT_EQ(read->discontinuity_sequence, discontinuities) << seed;
            MediaTime listed{};
            for (std::size_t place = 0; place < read->segments.size(); ++place) {
                const wire::hls::Segment& entry = read->segments[place];
                EXPECT_EQ(entry.uri, std::to_string(first + place)) << seed;
                EXPECT_EQ(entry.duration, one.segments[first + place].duration) << seed;
                EXPECT_LE(entry.duration, read->target_duration) << seed;
                listed += entry.duration;
            }
            EXPECT_TRUE(read->segments.size() == 1 || listed - read->segments.front().duration < 15s + 1ms) << seed;
        }
    }
}

FileRef file_of(const std::vector<Block>& blocks) {
    static const auto budget = std::make_shared<files::CopyBudget>();
    auto file = std::make_shared<File>(StreamOfFilesRef(), budget);
    for (const Block& block : blocks)
        file->add(block);
    file->end();
    return file;
}

std::size_t heap_in_use() { return ::mallinfo2().uordblks; }  // 0 under a sanitizer

// A day of media time (eight hours by day), across the wraparound of the 33-bit MPEG-TS clock; a new publisher every six hours.
TEST(SegmenterProperty, KeepsMemoryFlatForADay) {
    constexpr MediaTime kBegin = 20h;
    const MediaTime length = rounds(8h, 24h);
    Segmenter segmenter(CutRules{.part = 1s}, Segmenter::Layout::together, make_ts());
    SegmentList list({.target = 10s, .window = 60s, .low_latency = true, .part = 1s});
    std::uint64_t segments = 0;
    std::uint64_t expired = 0;
    std::size_t most_bytes = 0;
    std::size_t heap_of_first_hour = 0;
    MediaTime covered{};
    const auto configure = [&segmenter](MediaTime at) {
        segmenter.push(config_packet(MediaKind::video, avc_config(), at));
        segmenter.push(config_packet(MediaKind::audio, aac_config(), at));
    };
    const auto take = [&] {
        for (SegmenterEvent& made : segmenter.take()) {
            if (auto* part = std::get_if<PartMade>(&made)) {
                if (!list.has_open())
                    list.begin_open({{"", std::to_string(list.next_number()), ""}, part->discontinuity});
                list.add_part({{}, part->duration, part->pieces.at(0).independent, file_of(part->pieces.at(0).blocks)});
                continue;
            }
            if (!std::holds_alternative<SegmentMade>(made))
                continue;
            const auto& segment = std::get<SegmentMade>(made);
            ASSERT_EQ(list.next_number(), segments++);
            ASSERT_EQ(segment.duration, 10s) << segment.start.count();
            if (segments % 360 == 1) {
                const auto unit = wire::ts::demuxed(bytes_of(segment.pieces.at(0).blocks)).units.front();
                ASSERT_EQ(unit.dts, wire::ts::ticks_of(segment.start + wire::ts::Muxer::kDecodeDelay)) << segment.start.count();
            }
            covered += segment.duration;
            ListedSegment listed;
            listed.name = {"", std::to_string(list.next_number()), ""};
            listed.duration = segment.duration;
            listed.discontinuity = segment.discontinuity;
            listed.bytes = segment.pieces.at(0).bytes;
            listed.file = file_of(segment.pieces.at(0).blocks);
            list.add(std::move(listed));
            expired += list.take_expired().size();
            list.take_dropped_blocks();
            most_bytes = std::max(most_bytes, list.bytes());
        }
    };
    configure(kBegin);
    for (MediaTime at = kBegin; at < kBegin + length; at += 1s) {
        if (at != kBegin && (at - kBegin) % 6h == 0h) {
            segmenter.restart();
            configure(at);
        }
        segmenter.push(video_packet(at, at % 2s == 0s));
        segmenter.push(audio_packet(at));
        take();
        if (at == kBegin + 1h)
            heap_of_first_hour = heap_in_use();
    }
    EXPECT_NEAR(static_cast<double>(heap_in_use()), static_cast<double>(heap_of_first_hour), 64 << 10);
    segmenter.interrupt();
    take();
    EXPECT_EQ(covered, length);
    EXPECT_EQ(segments, static_cast<std::uint64_t>(length / 10s));
    EXPECT_LT(most_bytes, 10 * list.listed().back().bytes) << "six listed, two retired, and one in progress";
    EXPECT_GT(expired, segments - 30);
    const auto playlist = list.playlist(SegmentList::Form::players);
    EXPECT_EQ(playlist.media_sequence, segments - 6);
    EXPECT_EQ(playlist.segments.size(), 6U);
    EXPECT_EQ(playlist.discontinuity_sequence, static_cast<std::uint64_t>((length + 5h) / 6h))
        << "the first segment of each publisher";
    EXPECT_EQ(playlist.segments.back().uri, std::to_string(segments - 1));
}

}  // namespace
}  // namespace live::service::hls
