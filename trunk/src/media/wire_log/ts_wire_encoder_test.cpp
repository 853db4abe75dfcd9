#include "media/wire_log/ts_wire_encoder.hpp"

#include <algorithm>
#include <array>
#include <map>
#include <memory>
#include <random>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include <gtest/gtest.h>

#include "base/rounds_fixture.hpp"
#include "media/ring/packet_fixture.hpp"
#include "media/source/wire_cursor.hpp"
#include "media/source/wire_log_fixture.hpp"
#include "media/wire_log/audio_wire_encoder.hpp"
#include "wire/codec/audio/adts.hpp"

namespace live::media {
namespace {

constexpr std::size_t kTsPacketBytes = 188;

Slice slice_of(std::initializer_list<std::uint8_t> bytes) {
    Slice slice = Slice::allocate(bytes.size());
    std::ranges::copy(bytes, slice.mutable_bytes().begin());
    return slice;
}

// AAC-LC, 44,100 Hz, stereo; H.264 baseline 16x16 with one parameter set each.
Slice aac_setup() { return slice_of({0xAF, 0x00, 0x12, 0x10}); }
Slice aac_frame(std::uint8_t mark) { return slice_of({0xAF, 0x01, mark, 0x22, 0x33}); }
Slice mp3_frame(std::uint8_t mark) { return slice_of({0x2F, mark, 0x22}); }
Slice avc_setup() {
    return slice_of({0x17, 0x00, 0,    0,    0,    1,    0x42, 0xC0, 0x0A, 0xFF, 0xE1, 0,    8,    0x67,
                     0x42, 0xC0, 0x0A, 0xDA, 0x1F, 0x90, 0x20, 1,    0,    4,    0x68, 0xCE, 0x3C, 0x80});
}
Slice avc_frame(bool key) {
    return slice_of({static_cast<std::uint8_t>(key ? 0x17 : 0x27), 1, 0, 0, 0, 0, 0, 0, 4,
                     static_cast<std::uint8_t>(key ? 0x65 : 0x41), 0x88, 0x80, 0x10});
}

struct Show {
    void begin() {
        source->append(tag_packet(MediaKind::video, false, true, 0ms, avc_setup()));
        source->append(tag_packet(MediaKind::audio, false, true, 0ms, aac_setup()));
    }
    void second() {
        for (int i = 0; i < 25; ++i, ++count) {
            const MediaTime at = std::chrono::milliseconds(40 * count);
            source->append(tag_packet(MediaKind::video, count % 25 == 0, false, at, avc_frame(count % 25 == 0)));
            source->append(tag_packet(MediaKind::audio, false, false, at + 10ms, aac_frame(static_cast<std::uint8_t>(count))));
        }
    }
    SlabPool pool;
    Ref<Source> source = make_ref<Source>("/live/ts", PlayOptions(), 4096U, pool);
    int count = 0;
};

std::vector<std::uint8_t> read_all(WireCursor& cursor) {
    std::vector<std::uint8_t> bytes;
    std::array<::iovec, 8> spans;
    for (;;) {
        const auto batch = cursor.take(spans);
        if (batch.bytes == 0)
            return bytes;
        for (const ::iovec& span : std::span(spans).first(batch.spans)) {
            const auto* data = static_cast<const std::uint8_t*>(span.iov_base);
            bytes.insert(bytes.end(), data, data + span.iov_len);
        }
        cursor.advance(batch.bytes);
    }
}

int pid_of(Bytes packet) { return (packet[1] & 0x1F) << 8 | packet[2]; }

// Whole packets, tables first, and counters without gaps.
void expect_transport_stream(Bytes bytes) {
    ASSERT_GT(bytes.size(), 2 * kTsPacketBytes);
    ASSERT_EQ(bytes.size() % kTsPacketBytes, 0U);
    EXPECT_EQ(pid_of(bytes), 0);
    EXPECT_EQ(pid_of(bytes.subspan(kTsPacketBytes)), 0x1001);
    std::map<int, int> counters;
    for (std::size_t at = 0; at < bytes.size(); at += kTsPacketBytes) {
        const Bytes packet = bytes.subspan(at, kTsPacketBytes);
        ASSERT_EQ(packet[0], 0x47);
        if ((packet[3] & 0x10) == 0)
            continue;
        const int counter = packet[3] & 0x0F;
        if (const auto last = counters.find(pid_of(packet)); last != counters.end()) {
            const bool is_table = pid_of(packet) == 0 || pid_of(packet) == 0x1001;  // which may come twice
            if (!is_table || counter != last->second) {
                EXPECT_EQ(counter, (last->second + 1) & 0x0F) << "PID " << pid_of(packet) << " at " << at;
            }
        }
        counters[pid_of(packet)] = counter;
    }
}

TEST(TsWireEncoder, PlayerThatJoinsAtAnyTimeGetsCompleteTransportStream) {
    Show show;
    show.begin();
    show.second();
    WireCursor first(show.source, {Container::ts, Framing::none, MediaKindSet::all()});
    expect_transport_stream(read_all(first));
    for (int i = 0; i < 3; ++i)
        show.second();
    WireCursor late(show.source, {Container::ts, Framing::none, MediaKindSet::all()});
    show.second();
    read_all(first);
    expect_transport_stream(read_all(late));
    EXPECT_TRUE(first.is_in_sync());
    EXPECT_EQ(first.position(), late.position());
}

TEST(TsWireEncoder, TablesComeFirstEvenBetweenTwoKeyFrames) {
    PlayOptions options;
    options.gop_cache = false;
    Show show;
    show.source->set_options(options);
    show.begin();
    show.second();
    WireCursor player(show.source, {Container::ts, Framing::none, MediaKindSet::all()});
    show.source->append(tag_packet(MediaKind::video, false, false, 1010ms, avc_frame(false)));
    expect_transport_stream(read_all(player));
}

TEST(TsWireEncoder, UsesConfigurationsThatHaveLeftTheRing) {
    Show show;
    show.begin();
    for (int i = 0; i < 20; ++i)
        show.second();
    ASSERT_GT(show.source->ring().first(), 2U);
    WireCursor player(show.source, {Container::ts, Framing::none, MediaKindSet::all()});
    expect_transport_stream(read_all(player));
}

// A frame of a single unit whose bytes follow from its number.
Slice large_frame(std::uint32_t number, std::size_t size) {
    Slice slice = Slice::allocate(size);
    const MutBytes bytes = slice.mutable_bytes();
    for (std::size_t i = 0; i < size; ++i)
        bytes[i] = static_cast<std::uint8_t>(number * 31 + i * 7 + (i >> 12));
    const auto length = static_cast<std::uint32_t>(size - 9);
    const std::array head{std::uint8_t{0x17}, std::uint8_t{1}, std::uint8_t{0}, std::uint8_t{0}, std::uint8_t{0}};
    std::ranges::copy(head, bytes.begin());
    for (std::size_t i = 0; i < 4; ++i)
        bytes[5 + i] = static_cast<std::uint8_t>(length >> (24 - 8 * i));
    bytes[9] = 0x65;
    for (std::size_t i = 0; i < 4; ++i)
        bytes[10 + i] = static_cast<std::uint8_t>(number >> (8 * i));
    return slice;
}

// Each format with readers would hold the loop for milliseconds.
TEST(TsWireEncoder, AppendLeavesALargeFrameAndItIsPackedInPieces) {
    constexpr std::size_t kFrameBytes = 5U << 20;
    Show show;
    Show other;
    for (Show* one : {&show, &other}) {
        one->begin();
        one->second();
    }
    const WireFormat format{Container::ts, Framing::none, MediaKindSet::all()};
    WireCursor player(show.source, format);
    WireCursor chunked(show.source, {Container::ts, Framing::http_chunk, MediaKindSet::all()});
    WireCursor reference(other.source, format);
    read_all(player);
    read_all(reference);
    const auto before = player.wire_log().head();
    show.source->append(tag_packet(MediaKind::video, true, false, 1100ms, large_frame(7, kFrameBytes)));
    show.source->append(tag_packet(MediaKind::audio, false, false, 1110ms, aac_frame(1)));
    EXPECT_EQ(player.wire_log().head(), before) << "nothing is encoded yet, not even what follows";
    ASSERT_FALSE(show.source->backlog().empty());
    std::size_t turns = 0;
    for (; !show.source->backlog().empty(); ++turns) {
        EXPECT_TRUE(read_all(player).empty() || player.position() == player.wire_log().head());
        show.source->backlog().encode_some();
    }
    EXPECT_GE(turns, kFrameBytes / WireLogs::kCatchUpBytes) << "two formats, in pieces";
    EXPECT_EQ(player.wire_log().next(), show.source->ring().next());
    EXPECT_EQ(chunked.wire_log().next(), show.source->ring().next());
    EXPECT_GE(show.source->held_bytes(), 3 * kFrameBytes) << "what is packed counts";

    other.source->append(tag_packet(MediaKind::video, true, false, 1100ms, large_frame(7, kFrameBytes)));
    other.source->append(tag_packet(MediaKind::audio, false, false, 1110ms, aac_frame(1)));
    other.source->flush();
    EXPECT_TRUE(other.source->backlog().empty());
    WireCursor late(show.source, format);
    EXPECT_EQ(player.wire_log().head() - before, reference.wire_log().head() - before);
    EXPECT_EQ(read_all(late).size() % kTsPacketBytes, 0U);
}

// A player of a transport stream that checks what it gets: whole frames, in order.
struct Viewer {
    Viewer(const Ref<Source>& source, unsigned reads)
        : cursor(source, {Container::ts, Framing::none, MediaKindSet::all()}), habit(reads) {}

    void take(std::size_t room) {
        std::array<::iovec, 4> spans;
        while (room > 0) {
            const auto batch = cursor.take(spans);
            if (batch.bytes == 0)
                return;
            const std::size_t count = std::min(room, batch.bytes);
            room -= count;
            std::size_t left = count;
            for (std::size_t i = 0; left > 0; ++i) {
                const std::size_t part = std::min(left, spans[i].iov_len);
                const auto* data = static_cast<const std::uint8_t*>(spans[i].iov_base);
                got.insert(got.end(), data, data + part);
                left -= part;
            }
            cursor.advance(count);
        }
    }
    // Returns the number of the last frame.
    std::int64_t check(const std::vector<Slice>& sent) const {
        EXPECT_EQ(got.size() % kTsPacketBytes, 0U);
        std::int64_t last = -1;
        std::vector<std::uint8_t> unit;
        for (std::size_t i = 0; i < got.size(); i += kTsPacketBytes) {
            const Bytes packet = Bytes(got).subspan(i, kTsPacketBytes);
            if (pid_of(packet) != 0x100)
                continue;
            if ((packet[1] & 0x40) != 0)
                check_unit(std::exchange(unit, {}), sent, last);
            const std::size_t field = (packet[3] & 0x20) != 0 ? 1U + packet[4] : 0;
            unit.insert(unit.end(), packet.begin() + 4 + static_cast<std::ptrdiff_t>(field), packet.end());
        }
        check_unit(unit, sent, last);
        return last;
    }

    WireCursor cursor;
    std::vector<std::uint8_t> got;
    unsigned habit;

private:
    // A start code and the slice's first byte precede its number.
    static void check_unit(const std::vector<std::uint8_t>& unit, const std::vector<Slice>& sent, std::int64_t& last) {
        if (unit.empty())
            return;
        constexpr std::array<std::uint8_t, 5> kBegin{0, 0, 0, 1, 0x65};
        auto at = std::search(unit.begin(), unit.end(), kBegin.begin(), kBegin.end());
        ASSERT_GE(unit.end() - at, 9);
        at += 5;
        std::uint32_t number = 0;
        for (std::ptrdiff_t i = 4; i-- > 0;)
            number = number << 8U | at[i];
        ASSERT_LT(number, sent.size());
        ASSERT_GT(number, last);
        last = number;
        ASSERT_TRUE(std::ranges::equal(sent[number].bytes().subspan(10), std::span(at, unit.end()))) << "frame " << number;
    }
};

// Frames of all sizes, encoded now and then, for readers of all speeds: each gets whole frames in order, and the newest.
TEST(TsWireEncoder, ReadersOfLaggingLogGetWholeFramesInOrder) {
    for (std::uint32_t seed = 0; seed < rounds(2U, 6U); ++seed) {
        SCOPED_TRACE("seed " + std::to_string(seed));
        std::mt19937 random(seed);
        PlayOptions options;
        options.gop_cache = seed % 2 == 0;
        options.queue_length = std::chrono::seconds(1 + random() % 20);
        Show show;
        show.source->set_options(options);
        show.begin();
        std::vector<std::unique_ptr<Viewer>> viewers;
        std::vector<Slice> sent;
        for (std::uint32_t number = 0; number < 60; ++number) {
            for (unsigned habit = 0; number % 30 == 0 && habit < 3; ++habit)
                viewers.push_back(std::make_unique<Viewer>(show.source, habit));
            const bool is_large = random() % 5 == 0;
            sent.push_back(large_frame(number, is_large ? (512U << 10) + random() % (1U << 20) : 14 + random() % 50'000));
            show.source->append(
                tag_packet(MediaKind::video, random() % 5 == 0, false, std::chrono::milliseconds(200 * number), sent.back()));
            for (auto i = random() % 12; i > 0 && !show.source->backlog().empty(); --i)
                show.source->backlog().encode_some();
            if (random() % 3 == 0)
                show.source->flush();
            if (random() % 25 == 0)
                show.source->retention().release_oldest(random() % (4U << 20));
            const std::array<std::size_t, 3> rooms{std::size_t{1} << 30, random() % 900'000, random() % 9'000};
            for (const auto& viewer : viewers)
                viewer->take(rooms[viewer->habit]);
        }
        show.source->flush();
        for (const auto& viewer : viewers) {
            viewer->take(std::size_t{1} << 30);
            EXPECT_EQ(viewer->cursor.position(), viewer->cursor.wire_log().head());
            const std::int64_t last = viewer->check(sent);
            EXPECT_TRUE(last == 59 || viewer->cursor.dropped() > 0) << "the newest frame";
        }
    }
}

TEST(AudioWireEncoder, AacIsAdtsFrames) {
    Show show;
    show.begin();
    show.second();
    WireCursor player(show.source, {Container::aac, Framing::none, MediaKindSet::all()});
    const auto bytes = read_all(player);
    std::size_t frames = 0;
    for (std::size_t at = 0; at < bytes.size(); ++frames) {
        const auto header = wire::codec::parse_adts_header(Bytes(bytes).subspan(at));
        ASSERT_TRUE(header.ok());
        EXPECT_EQ(header->config.sample_rate, 44'100U);
        EXPECT_EQ(bytes.at(at + header->header_bytes), frames);
        at += header->header_bytes + header->frame_bytes;
    }
    EXPECT_EQ(frames, 25U);
}

TEST(AudioWireEncoder, StartsAtRequestedAge) {
    Show show;
    PlayOptions options;
    options.history_min = 2s;
    show.source->set_options(options);
    show.begin();
    for (int i = 0; i < 5; ++i)
        show.second();
    const auto newest = show.source->ring().newest().dts;
    WireCursor player(show.source, {Container::aac, Framing::none, MediaKindSet::all()}, {},
                      show.source->ring().find_time(newest - 2s));
    const std::size_t frame_bytes = wire::codec::kAdtsHeaderBytes + 3;
    EXPECT_EQ(read_all(player).size() / frame_bytes, 51U);
}

TEST(AudioWireEncoder, Mp3IsTheTagsContent) {
    SlabPool pool;
    const auto source = make_ref<Source>("/live/mp3", PlayOptions(), 4096U, pool);
    WireCursor player(source, {Container::mp3, Framing::http_chunk, MediaKindSet::all()});
    source->append(tag_packet(MediaKind::audio, false, false, 0ms, mp3_frame(7)));
    source->append(tag_packet(MediaKind::audio, false, false, 10ms, aac_frame(7)));
    source->append(tag_packet(MediaKind::video, true, false, 20ms, avc_frame(true)));
    const std::vector<std::uint8_t> expected = {'2', '\r', '\n', 7, 0x22, '\r', '\n'};
    EXPECT_EQ(read_all(player), expected);
}

}  // namespace
}  // namespace live::media
