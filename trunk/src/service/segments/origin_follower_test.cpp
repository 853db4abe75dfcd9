// A property of sync messages: a node that relays a stream, joins anywhere and loses any packets makes only segments that equal
// those of the node that has the publisher, byte for byte.
#include <algorithm>
#include <deque>
#include <map>
#include <random>

#include <gtest/gtest.h>

#include "base/rounds_fixture.hpp"
#include "service/segments/origin_follower.hpp"
#include "service/segments/segment_sync.hpp"
#include "service/segments/segmenter_fixture.hpp"

namespace live::service::segments {
namespace {

using media::Packet;

struct Whole {
    bool discontinuity = false;
    MediaTime start{};
    MediaTime duration{};
    std::vector<std::vector<std::uint8_t>> pieces;

    bool operator==(const Whole&) const = default;
};

Whole whole_of(const SegmentMade& made) {
    Whole whole{made.discontinuity, made.start, made.duration, {}};
    for (const Piece& piece : made.pieces)
        whole.pieces.push_back(bytes_of(piece.blocks));
    return whole;
}

using OnWire = std::variant<Packet, SegmentSync>;

enum class Form : std::uint8_t { ts, ts_counted, cmaf, cmaf_parts, by_track };

CutRules rules_of(Form form) {
    return two_second_cuts(form == Form::cmaf_parts ? std::optional<MediaTime>(200ms) : std::nullopt);
}

Segmenter segmenter_of(Form form) {
    const auto layout = form == Form::by_track ? Segmenter::Layout::by_track : Segmenter::Layout::together;
    if (form == Form::ts)
        return {rules_of(form), layout, make_ts()};
    if (form == Form::ts_counted)
        return {rules_of(form), layout, [] { return std::make_unique<TsMuxer>(TsMuxer::Audio::counted); }};
    return {rules_of(form), layout, make_cmaf()};
}

// A stream of some publishers: video with B-frames and uneven GOPs, audio with gaps, sometimes a new configuration or another
// codec. Every other publisher has MP3 as a second track, which is late by some frames.
std::vector<std::vector<Packet>> publishers(std::uint32_t seed, bool with_video) {
    std::mt19937 random(seed);
    std::vector<std::vector<Packet>> all;
    MediaTime at{};
    const std::size_t count = 1 + random() % 3;
    for (std::size_t i = 0; i < count; ++i) {
        std::vector<Packet>& packets = all.emplace_back();
        if (with_video)
            packets.push_back(config_packet(MediaKind::video, avc_config(), at));
        packets.push_back(config_packet(MediaKind::audio, aac_config(), at));
        MediaTime audio_at = at;
        MediaTime silent_until{};
        bool is_hevc = false;
        const bool has_mp3 = random() % 2 == 0;
        MediaTime mp3_at = at;
        const MediaTime end = at + std::chrono::milliseconds(4'000 + random() % 15'000);
        for (std::size_t frame = 0, next_key = 0; at < end; ++frame, at += 40ms) {
            const bool key = frame == next_key;
            if (key)
                next_key = frame + 10 + random() % 60;
            if (key && random() % 6 == 0 && with_video) {
                is_hevc = random() % 3 == 0;
                const auto version = static_cast<std::uint8_t>(random() % 3);
                packets.push_back(config_packet(MediaKind::video, is_hevc ? hevc_config() : avc_config(version), at));
            }
            if (with_video) {
                const auto composition_ms = static_cast<std::uint8_t>(random() % 3 * 40);
                const Slice body = is_hevc ? hevc_frame(key, composition_ms) : picture(key, composition_ms, 20 + random() % 900);
                packets.push_back(media::tag_packet(MediaKind::video, key, false, at, body));
            }
            if (random() % 200 == 0)
                silent_until = at + 700ms;
            for (; audio_at <= at; audio_at += audio_at.count() / 1000 % 3 == 0 ? 24ms : 23ms)
                if (audio_at >= silent_until)
                    packets.push_back(media::tag_packet(MediaKind::audio, false, false, audio_at, audio(10 + random() % 100)));
            for (; has_mp3 && mp3_at + 100ms <= at; mp3_at += 32ms) {
                packets.push_back(
                    media::tag_packet(MediaKind::audio, false, false, mp3_at, second_audio_in_mp3(10 + random() % 100)));
                packets.back().extra = true;
            }
        }
        at += 10ms;
    }
    return all;
}

// The parts of each segment.
using Parts = std::map<std::uint64_t, std::vector<std::vector<std::vector<std::uint8_t>>>>;

void add_part(Parts& parts, const PartMade& made) {
    auto& part = parts[made.number].emplace_back();
    for (const Piece& piece : made.pieces)
        part.push_back(bytes_of(piece.blocks));
}

// The origin: its segments, and the packets and messages that it sends to other nodes. Its segmenter is some packets behind, and
// `late` packets when another publisher starts.
struct Origin {
    std::map<std::uint64_t, Whole> segments;
    Parts parts;
    std::vector<OnWire> wire;
    std::vector<std::size_t> begins;  // the wire position of each publisher's first packet
    std::vector<std::size_t> ends;    // the messages that end their last segments

    Origin(Form form, const std::vector<std::vector<Packet>>& all, std::uint32_t seed, std::size_t late = 0)
        : segmenter(segmenter_of(form)) {
        std::mt19937 random(seed);
        std::deque<std::optional<Packet>> behind;  // none: the publisher ends
        const auto catch_up = [&](std::size_t left) {
            for (; behind.size() > left; behind.pop_front()) {
                if (behind.front())
                    segmenter.push(*behind.front());
                else
                    end_publisher();
                take();
            }
        };
        for (const auto& packets : all) {
            begins.push_back(wire.size());
            std::size_t taken = 0;
            for (const Packet& packet : packets) {
                wire.emplace_back(packet);
                behind.emplace_back(packet);
                // With parts the segmenter is not behind.
                if (++taken > late && (form == Form::cmaf_parts || random() % 4 == 0))
                    catch_up(random() % (form == Form::cmaf_parts ? 3 : 20));
            }
            behind.emplace_back();
            // Otherwise an edge without a message about the next publisher could emit a part with packets of both.
            if (form == Form::cmaf_parts && late == 0)
                catch_up(0);
        }
        catch_up(0);
    }

private:
    void end_publisher() {
        segmenter.interrupt();
        take();
        ends.push_back(wire.size());
        wire.emplace_back(SegmentSync{7, 8, SegmentsEnded{segmenter.number(), segmenter.frames_hash()}, {}});
        segmenter.restart();
    }
    void take() {
        for (SegmenterEvent& made : segmenter.take()) {
            if (const auto* opened = std::get_if<SegmentOpened>(&made))
                wire.emplace_back(SegmentSync{7, 8, opened->state, {opened->state.number}});
            else if (const auto* part = std::get_if<PartMade>(&made))
                add_part(parts, *part);
            else if (const auto* segment = std::get_if<SegmentMade>(&made))
                segments[segment->number] = whole_of(*segment);
        }
    }

    Segmenter segmenter;
};

// Before a wire position; the beginning of a stream without video.
std::size_t newest_key(const std::vector<OnWire>& wire, std::size_t at) {
    std::size_t key = 0;
    for (std::size_t i = 0; i < at; ++i)
        if (const auto* packet = std::get_if<Packet>(&wire[i]); packet != nullptr && packet->key)
            key = i;
    return key;
}

struct Edge {
    Segmenter segmenter;
    OriginFollower follower{segmenter};
    std::map<std::uint64_t, Whole> segments;
    Parts parts;
    std::size_t resumed = 0;
    std::size_t dropped = 0;
    bool is_same_instance = false;  // as of the newest resumed

    explicit Edge(Form form) : segmenter(segmenter_of(form)) {}

    // The item takes the same way as on the wire, with the text of its message.
    void push(const OnWire& item) {
        if (const auto* sync = std::get_if<SegmentSync>(&item)) {
            const auto read = read_segment_sync(write_segment_sync(*sync));
            ASSERT_TRUE(read.ok());
            ASSERT_EQ(*read, *sync);
            follower.push(*read);
        } else {
            follower.push(std::get<Packet>(item));
        }
        for (const SegmenterEvent& event : follower.take()) {
            if (const auto* at = std::get_if<Resumed>(&event)) {
                ++resumed;
                is_same_instance = at->is_same_instance;
            }
            dropped += std::holds_alternative<SegmentDropped>(event) ? 1 : 0;
            if (const auto* part = std::get_if<PartMade>(&event))
                add_part(parts, *part);
            if (const auto* segment = std::get_if<SegmentMade>(&event)) {
                EXPECT_FALSE(segments.contains(segment->number)) << segment->number;
                segments[segment->number] = whole_of(*segment);
            }
        }
    }

    // Joins at a wire position: the newest configurations, the newest message, and the packets since the newest key frame.
    void join(const std::vector<OnWire>& wire, std::size_t at) {
        std::map<MediaKind, Packet> configs;
        const OnWire* sync = nullptr;
        const std::size_t key = newest_key(wire, at);
        for (std::size_t i = 0; i < at; ++i) {
            const auto* packet = std::get_if<Packet>(&wire[i]);
            if (packet == nullptr)
                sync = &wire[i];
            else if (packet->is_config())
                configs[packet->kind] = *packet;
        }
        for (const auto& [kind, config] : configs)
            push(config);
        if (sync != nullptr)
            push(*sync);
        for (std::size_t i = key; i < at; ++i)
            push(wire[i]);
    }
};

class OriginFollowerTest : public ::testing::TestWithParam<Form> {
protected:
    static inline const std::uint32_t kSeeds = rounds(6U, 30U);

    static void expect_same(const Edge& edge, const Origin& origin, std::uint32_t seed) {
        for (const auto& [number, segment] : edge.segments) {
            const auto there = origin.segments.find(number);
            ASSERT_NE(there, origin.segments.end()) << "seed " << seed << ", segment " << number;
            EXPECT_TRUE(there->second == segment) << "seed " << seed << ", segment " << number;
        }
    }
};

TEST_P(OriginFollowerTest, MakesEverySegmentFromTheStart) {
    for (std::uint32_t seed = 1; seed <= kSeeds; ++seed) {
        const Origin origin(GetParam(), publishers(seed, seed % 4 != 0), seed);
        Edge edge(GetParam());
        for (const OnWire& item : origin.wire)
            edge.push(item);
        EXPECT_EQ(edge.segments.size(), origin.segments.size()) << "seed " << seed;
        expect_same(edge, origin, seed);
    }
}

// Moves each message about a segment before its first frame, by up to 60 packets.
std::vector<OnWire> with_early_messages(const std::vector<OnWire>& wire, std::uint32_t seed) {
    std::mt19937 random(seed);
    std::vector<OnWire> early;
    std::size_t newest = 0;  // the place after the newest message
    for (const OnWire& item : wire) {
        const auto* sync = std::get_if<SegmentSync>(&item);
        const auto* state = sync == nullptr ? nullptr : std::get_if<SegmentState>(&sync->event);
        std::size_t to = early.size();
        const auto is_first = [&](const OnWire& one) {
            const auto* packet = std::get_if<Packet>(&one);
            return packet != nullptr && !packet->is_config() && packet->kind == state->kind && packet->track == state->track &&
                   packet->dts == state->at;
        };
        if (state != nullptr) {
            to = static_cast<std::size_t>(std::ranges::find_if(early, is_first) - early.begin());
            to = std::max(newest, to - std::min<std::size_t>(to, random() % 60));
        }
        early.insert(early.begin() + static_cast<std::ptrdiff_t>(to), item);
        newest = sync != nullptr ? to + 1 : newest;
    }
    return early;
}

// This node puts packets into order later than the origin does, so that messages arrive before the frames that they name.
TEST_P(OriginFollowerTest, WaitsForTheFrameOfAnEarlyMessage) {
    for (std::uint32_t seed = 1; seed <= kSeeds; ++seed) {
        auto all = publishers(seed, seed % 4 != 0);
        all.resize(1);
        const Origin origin(GetParam(), all, seed);
        Edge edge(GetParam());
        for (const OnWire& item : with_early_messages(origin.wire, seed))
            edge.push(item);
        EXPECT_EQ(edge.segments.size(), origin.segments.size()) << "seed " << seed;
        expect_same(edge, origin, seed);
        EXPECT_TRUE(edge.parts == origin.parts) << "seed " << seed;
        EXPECT_EQ(edge.dropped, 0U) << "seed " << seed;
        EXPECT_LE(edge.resumed, 1U) << "the first message precedes the stream";
    }
}

// Its frame is lost: the segment before it is complete.
TEST_P(OriginFollowerTest, LosesOneSegmentIfTheFrameOfAnEarlyMessageIsLost) {
    auto all = publishers(2, true);
    all.resize(1);
    const Origin origin(GetParam(), all, 2);
    const auto wire = with_early_messages(origin.wire, 2);
    std::optional<SegmentState> lost;
    for (const OnWire& item : wire)
        if (const auto* sync = std::get_if<SegmentSync>(&item))
            if (const auto* state = std::get_if<SegmentState>(&sync->event); state != nullptr && state->number == 2)
                lost = *state;
    ASSERT_TRUE(lost);
    Edge edge(GetParam());
    for (const OnWire& item : wire) {
        const auto* packet = std::get_if<Packet>(&item);
        const bool is_lost = packet != nullptr && !packet->is_config() && packet->kind == lost->kind &&
                             packet->track == lost->track && packet->dts == lost->at;
        if (!is_lost)
            edge.push(item);
    }
    expect_same(edge, origin, 2);
    EXPECT_TRUE(edge.segments.contains(1));
    EXPECT_FALSE(edge.segments.contains(2));
    EXPECT_TRUE(edge.segments.contains(3));
}

// The origin reports at once that a publisher has left. The next publisher's first packets arrive before the message that ends
// the last segment.
TEST_P(OriginFollowerTest, KeepsPacketsThatArriveBeforeTheEndOfThePreviousPublisher) {
    std::size_t overtakings = 0;
    for (std::uint32_t seed = 1; seed <= kSeeds; ++seed) {
        const Origin origin(GetParam(), publishers(seed, seed % 4 != 0), seed, seed % 3 * 30);
        Edge edge(GetParam());
        for (std::size_t i = 0, publisher = 0; i < origin.wire.size(); ++i) {
            if (publisher < origin.begins.size() && i == origin.begins[publisher]) {
                overtakings += publisher > 0 && i < origin.ends[publisher - 1] ? 1 : 0;
                edge.follower.begin_next();
                ++publisher;
            }
            edge.push(origin.wire[i]);
        }
        EXPECT_EQ(edge.segments.size(), origin.segments.size()) << "seed " << seed;
        expect_same(edge, origin, seed);
        EXPECT_TRUE(edge.parts == origin.parts) << "seed " << seed;
        EXPECT_EQ(edge.resumed, 0U) << "seed " << seed;
    }
    EXPECT_GE(overtakings, kSeeds / 4);
}

// The next message ends it as well, because it has the hash of the previous segment's frames.
TEST_P(OriginFollowerTest, EndsASegmentByTheNextMessage) {
    for (std::uint32_t seed = 1; seed <= kSeeds; ++seed) {
        const Origin origin(GetParam(), publishers(seed, true), seed, 30);
        Edge edge(GetParam());
        for (std::size_t i = 0, publisher = 0; i < origin.wire.size(); ++i) {
            if (publisher < origin.begins.size() && i == origin.begins[publisher]) {
                edge.follower.begin_next();
                ++publisher;
            }
            if (i == origin.ends.back() || std::ranges::find(origin.ends, i) == origin.ends.end())
                edge.push(origin.wire[i]);
        }
        EXPECT_EQ(edge.segments.size(), origin.segments.size()) << "seed " << seed;
        expect_same(edge, origin, seed);
    }
}

// After the limit it continues alone, with the kept packets.
TEST_P(OriginFollowerTest, LimitsTheWaitForAnEnd) {
    const Origin origin(GetParam(), publishers(5, true), 5);
    Edge edge(GetParam());
    for (std::size_t i = 0; i < origin.ends.front(); ++i)
        edge.push(origin.wire[i]);
    ASSERT_TRUE(edge.follower.is_following());
    const std::size_t before = edge.segments.size();
    edge.follower.begin_next();
    edge.push(config_packet(MediaKind::video, avc_config(), 100s));
    constexpr auto kFrames = static_cast<int>(2 * OriginFollower::kPatience / 1s);
    for (int i = 0; i < kFrames; ++i) {
        edge.push(video_packet(100s + i * 1s, true));
        EXPECT_EQ(edge.follower.is_following(), i * 1s < OriginFollower::kPatience) << i;
    }
    EXPECT_GE(edge.segments.size(), before + kFrames / 2 - 3);
}

// Pushes the packets up to the end of the first publisher, which the edge has noticed without the message.
void push_until_the_end(Edge& edge, const Origin& origin) {
    for (std::size_t i = 0; i < origin.ends.front(); ++i)
        edge.push(origin.wire[i]);
    ASSERT_TRUE(edge.follower.is_following());
    edge.follower.begin_next();
}

// The packets of the second publisher are not lost.
TEST_P(OriginFollowerTest, AcceptsAThirdPublisherBeforeTheEndOfTheFirst) {
    const Origin origin(GetParam(), publishers(5, true), 5);
    Edge edge(GetParam());
    push_until_the_end(edge, origin);
    const std::size_t before = edge.segments.size();
    edge.push(config_packet(MediaKind::video, avc_config(), 100s));
    for (int i = 0; i < 10; ++i)
        edge.push(video_packet(100s + i * 1s, true));
    EXPECT_EQ(edge.segments.size(), before);
    edge.follower.begin_next();
    edge.push(config_packet(MediaKind::video, avc_config(), 200s));
    EXPECT_GE(edge.segments.size(), before + 4);
}

// The output has switched to the container that the next publisher's codec needs. It cannot make the last segment again.
TEST_P(OriginFollowerTest, DropsASegmentOfThePreviousContainer) {
    const Origin origin(GetParam(), publishers(5, true), 5);
    Edge edge(GetParam());
    push_until_the_end(edge, origin);
    const bool was_ts = GetParam() == Form::ts || GetParam() == Form::ts_counted;
    const std::size_t held = edge.segmenter.events().size();
    edge.segmenter.restart(Segmenter::Layout::together, was_ts ? make_cmaf() : make_ts());
    edge.segmenter.events().resize(held);
    edge.push(origin.wire[origin.ends.front()]);
    expect_same(edge, origin, 5);
}

// A message of the origin may name a frame twice.
TEST_P(OriginFollowerTest, DropsPacketsThatWaitForAnEnd) {
    const Origin origin(GetParam(), publishers(5, true), 5);
    Edge edge(GetParam());
    push_until_the_end(edge, origin);
    const OnWire* newest = nullptr;
    for (std::size_t i = 0; i < origin.ends.front(); ++i)
        newest = std::holds_alternative<SegmentSync>(origin.wire[i]) ? &origin.wire[i] : newest;
    ASSERT_TRUE(newest != nullptr);
    const auto& opened = std::get<SegmentState>(std::get<SegmentSync>(*newest).event);
    const MediaTime at = opened.at;
    for (std::size_t i = 0; i < OriginFollower::kPacketsMax; ++i)
        edge.push(opened.kind == MediaKind::video && i == OriginFollower::kPacketsMax / 2 ? video_packet(at, true)
                                                                                          : audio_packet(at + 1us));
    edge.push(*newest);
    edge.push(origin.wire[origin.ends.front()]);
    EXPECT_FALSE(edge.follower.is_following());
}

TEST_P(OriginFollowerTest, MakesEverySegmentAfterAJoin) {
    for (std::uint32_t seed = 1; seed <= kSeeds; ++seed) {
        const Origin origin(GetParam(), publishers(seed, seed % 4 != 0), seed);
        std::mt19937 random(seed);
        const std::size_t at = random() % origin.wire.size();
        Edge edge(GetParam());
        edge.join(origin.wire, at);
        std::optional<std::uint64_t> next;  // the first segment that begins after the join
        for (std::size_t i = at; i < origin.wire.size(); ++i) {
            if (const auto* sync = std::get_if<SegmentSync>(&origin.wire[i]); sync != nullptr && !next)
                if (const auto* state = std::get_if<SegmentState>(&sync->event))
                    next = state->number + 1;  // its beginning may be older than the join
            edge.push(origin.wire[i]);
        }
        expect_same(edge, origin, seed);
        for (auto segment = origin.segments.lower_bound(next.value_or(UINT64_MAX)); segment != origin.segments.end(); ++segment)
            EXPECT_TRUE(edge.segments.contains(segment->first)) << "seed " << seed << ", segment " << segment->first;
    }
}

TEST_P(OriginFollowerTest, LosesOnlyTheSegmentsWithLostPackets) {
    for (std::uint32_t seed = 1; seed <= kSeeds; ++seed) {
        const Origin origin(GetParam(), publishers(seed, seed % 4 != 0), seed);
        std::mt19937 random(seed);
        Edge edge(GetParam());
        std::size_t losses = 0;
        std::size_t left_out = 0;
        for (const OnWire& item : origin.wire) {
            const auto* packet = std::get_if<Packet>(&item);
            if (left_out == 0 && packet != nullptr && !packet->is_config() && random() % 500 == 0) {
                left_out = 1 + random() % 30;
                ++losses;
            }
            if (left_out > 0 && (packet == nullptr || !packet->is_config()))
                --left_out;
            else
                edge.push(item);
        }
        expect_same(edge, origin, seed);
        EXPECT_GE(edge.segments.size() + 4 * losses + 1, origin.segments.size()) << "seed " << seed << ", losses " << losses;
    }
}

TEST_P(OriginFollowerTest, ContinuesAfterALostConnection) {
    for (std::uint32_t seed = 1; seed <= kSeeds; ++seed) {
        const Origin origin(GetParam(), publishers(seed, true), seed);
        std::mt19937 random(seed);
        Edge first(GetParam());
        const std::size_t lost = random() % origin.wire.size();
        for (std::size_t i = 0; i < lost; ++i)
            first.push(origin.wire[i]);
        expect_same(first, origin, seed);
        const std::size_t back = std::min(lost + random() % 200, origin.wire.size());
        first.follower.restart();
        // A segment that is emitted twice is the same: the lists skip it.
        std::map<std::uint64_t, Whole> before;
        std::swap(before, first.segments);
        first.join(origin.wire, back);
        for (std::size_t i = back; i < origin.wire.size(); ++i)
            first.push(origin.wire[i]);
        expect_same(first, origin, seed);
    }
}

std::vector<OnWire>::const_iterator wire_at(const Origin& origin, std::size_t at) {
    return origin.wire.begin() + static_cast<std::ptrdiff_t>(at);
}

// The new connection begins with the newest GOP. Repeated packets are not segmented twice, and the open segment continues. If
// packets are missing, or the new connection begins with a different GOP, no wrong segment is emitted.
TEST_P(OriginFollowerTest, LosesNothingIfAConnectionRepeatsPackets) {
    std::size_t whole = 0;
    for (std::uint32_t seed = 1; seed <= 2 * kSeeds; ++seed) {
        auto all = publishers(seed, seed % 4 != 0);
        all.resize(1);
        const Origin origin(GetParam(), all, seed);
        std::mt19937 random(seed);
        SCOPED_TRACE(seed);
        Edge edge(GetParam());
        std::size_t at = 0;
        bool is_whole = true;
        while (at < origin.wire.size()) {
            edge.push(origin.wire[at++]);
            if (random() % 150 != 0)
                continue;
            const std::size_t back = at + random() % 40;
            // The last message is the publisher's end.
            if (back >= origin.wire.size())
                continue;
            // A new configuration precedes the repeated packets.
            const bool is_configured = std::any_of(wire_at(origin, at), wire_at(origin, back), [](const OnWire& item) {
                const auto* packet = std::get_if<Packet>(&item);
                return packet != nullptr && packet->is_config();
            });
            if (!edge.follower.is_following() || !edge.segmenter.is_open() || is_configured)
                continue;
            is_whole = is_whole && newest_key(origin.wire, back) < at;
            if (!is_whole)
                edge.segments.clear();
            edge.follower.begin_next();
            edge.follower.reconnect();
            edge.join(origin.wire, back);
            at = back;
        }
        expect_same(edge, origin, seed);
        whole += is_whole ? 1 : 0;
        if (!is_whole)
            continue;
        EXPECT_EQ(edge.segments.size(), origin.segments.size()) << "seed " << seed;
        EXPECT_TRUE(edge.parts == origin.parts) << "seed " << seed;
        EXPECT_EQ(edge.dropped, 0U) << "seed " << seed;
    }
    EXPECT_GE(whole, kSeeds / 4);
}

// The next segment has begun at the origin meanwhile. The open segment is complete only if none of its frames is missing.
TEST_P(OriginFollowerTest, LosesNothingIfAConnectionEndsWithASegment) {
    std::size_t tried = 0;
    for (std::uint32_t seed = 1; seed <= kSeeds; ++seed) {
        auto all = publishers(seed, true);
        all.resize(1);
        const Origin origin(GetParam(), all, seed);
        for (const std::size_t missing : {0U, 1U}) {
            Edge edge(GetParam());
            std::size_t lost = 0;  // before the first frame of a segment
            for (std::size_t i = 0; i < origin.wire.size() && lost == 0; ++i) {
                const auto* packet = std::get_if<Packet>(&origin.wire[i]);
                lost = packet != nullptr && packet->key && packet->dts > 8s ? i : 0;
            }
            std::size_t back = lost;
            while (back < origin.wire.size() && !std::holds_alternative<SegmentSync>(origin.wire[back]))
                ++back;
            if (lost == 0 || back == origin.wire.size() || newest_key(origin.wire, ++back) != lost)
                continue;
            const auto* said = std::get_if<SegmentState>(&std::get<SegmentSync>(origin.wire[back - 1]).event);
            if (said == nullptr || said->at != std::get<Packet>(origin.wire[lost]).dts)
                continue;
            ++tried;
            for (std::size_t i = 0; i + missing < lost; ++i)
                edge.push(origin.wire[i]);
            edge.follower.reconnect();
            edge.join(origin.wire, back);
            for (std::size_t i = back; i < origin.wire.size(); ++i)
                edge.push(origin.wire[i]);
            expect_same(edge, origin, seed);
            const auto* before = std::get_if<Packet>(&origin.wire[lost - 1]);
            const bool was_in_segment = before != nullptr && (!before->extra || GetParam() == Form::by_track);
            EXPECT_EQ(edge.segments.size() == origin.segments.size(), missing == 0 || !was_in_segment) << "seed " << seed;
        }
    }
    EXPECT_GE(tried, kSeeds * 3 / 4);
}

// Its numbers are not those of another origin.
TEST_P(OriginFollowerTest, RecognizesAnOriginAfterAReconnect) {
    const Origin origin(GetParam(), publishers(2, true), 2);
    Edge edge(GetParam());
    for (std::size_t i = 0; i < origin.wire.size() / 2; ++i)
        edge.push(origin.wire[i]);
    ASSERT_TRUE(edge.follower.is_following());
    ASSERT_EQ(edge.resumed, 0U);
    edge.follower.restart();
    edge.segments.clear();
    for (std::size_t i = origin.wire.size() / 2 + 60; i < origin.wire.size(); ++i)
        edge.push(origin.wire[i]);
    EXPECT_GE(edge.resumed, 1U);
    EXPECT_TRUE(edge.is_same_instance);
}

// All disturbances together: joins anywhere, loses any packets and messages, and reconnects often.
TEST_P(OriginFollowerTest, MakesNoOtherSegmentAfterJoinsAndLosses) {
    for (std::uint32_t seed = 1; seed <= kSeeds; ++seed) {
        const Origin origin(GetParam(), publishers(seed, seed % 4 != 0), seed);
        std::mt19937 random(seed);
        const std::size_t size = origin.wire.size();
        Edge edge(GetParam());
        std::size_t at = random() % size;
        std::size_t quiet_from = at;  // where the last disturbance ended
        edge.join(origin.wire, at);
        for (std::size_t lost = 0; at < size; ++at) {
            const bool may_disturb = at < size / 2;
            if (may_disturb && random() % 700 == 0) {
                at = std::min(at + random() % 150, size - 1);
                seed % 2 == 0 ? edge.follower.restart() : edge.follower.reconnect();
                // A segment that is emitted again is the same: the lists skip it.
                expect_same(edge, origin, seed);
                edge.segments.clear();
                edge.join(origin.wire, at);
                quiet_from = at;
            }
            const auto* packet = std::get_if<Packet>(&origin.wire[at]);
            const bool is_config = packet != nullptr && packet->is_config();
            if (may_disturb && lost == 0 && random() % 500 == 0)
                lost = 1 + random() % 30;
            if (lost > 0 && !is_config) {
                --lost;
                quiet_from = at + 1;
            } else {
                edge.push(origin.wire[at]);
            }
        }
        expect_same(edge, origin, seed);
        // All segments from the second message after it on are complete.
        std::optional<std::uint64_t> next;
        for (std::size_t i = quiet_from; i < size && !next; ++i)
            if (const auto* sync = std::get_if<SegmentSync>(&origin.wire[i]))
                if (const auto* state = std::get_if<SegmentState>(&sync->event))
                    next = state->number + 1;
        for (auto segment = origin.segments.lower_bound(next.value_or(UINT64_MAX)); segment != origin.segments.end(); ++segment)
            EXPECT_TRUE(edge.segments.contains(segment->first)) << "seed " << seed << ", segment " << segment->first;
    }
}

// If an origin sends no further messages, the follower continues alone after a few segments.
TEST_P(OriginFollowerTest, SegmentsAloneWithoutMessages) {
    const Origin origin(GetParam(), publishers(5, true), 5);
    Edge edge(GetParam());
    bool with_messages = true;
    std::size_t before = 0;
    for (std::size_t i = 0; i < origin.wire.size(); ++i) {
        if (i == origin.wire.size() / 4) {
            with_messages = false;
            before = edge.segments.size();
        }
        if (with_messages || std::holds_alternative<Packet>(origin.wire[i]))
            edge.push(origin.wire[i]);
    }
    EXPECT_FALSE(edge.follower.is_following());
    EXPECT_GT(edge.segments.size(), before);
}

TEST_P(OriginFollowerTest, LimitsTheKeptPackets) {
    Edge edge(GetParam());
    edge.push(config_packet(MediaKind::video, avc_config()));
    const Slice large = picture(false, 0, 1 << 20);
    for (int i = 0; i < 200; ++i)
        edge.push(media::tag_packet(MediaKind::video, i == 0, false, i * 10ms, large));
    EXPECT_LE(edge.follower.bytes(), OriginFollower::kBytesMax);
}

// Any state is either used or refused, and the segmenter continues.
TEST_P(OriginFollowerTest, AcceptsAnyState) {
    for (std::uint32_t seed = 1; seed <= kSeeds; ++seed) {
        std::mt19937_64 random(seed);
        const Origin origin(GetParam(), publishers(seed, true), seed);
        Edge edge(GetParam());
        for (const OnWire& item : origin.wire) {
            auto sent = item;
            if (auto* sync = std::get_if<SegmentSync>(&sent); sync != nullptr && random() % 2 == 0) {
                auto* state = std::get_if<SegmentState>(&sync->event);
                if (state == nullptr)
                    continue;
                const auto any = [&random] { return random() >> (11 + random() % 50); };
                state->number = any();
                state->covered = MediaTime(static_cast<std::int64_t>(any()));
                state->leader = any();
                for (MuxerState& muxer : state->muxers)
                    for (std::uint64_t& number : muxer)
                        number = any();
                if (random() % 2 == 0)
                    state->tracks.resize(random() % 4);
                if (random() % 2 == 0)
                    state->muxers.resize(random() % 4);
            }
            edge.segments.clear();
            edge.push(sent);
        }
    }
}

INSTANTIATE_TEST_SUITE_P(Forms, OriginFollowerTest,
                         ::testing::Values(Form::ts, Form::ts_counted, Form::cmaf, Form::cmaf_parts, Form::by_track));

}  // namespace
}  // namespace live::service::segments
