#include "media/ts_wire_encoder.hpp"

#include <array>
#include <map>

#include <gtest/gtest.h>

#include "media/audio_wire_encoder.hpp"
#include "media/packet_fixture.hpp"
#include "media/wire_cursor.hpp"
#include "media/wire_log_fixture.hpp"
#include "wire/codec/adts.hpp"

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
        source->append(tag_packet(Kind::video, false, true, 0ms, avc_setup()));
        source->append(tag_packet(Kind::audio, false, true, 0ms, aac_setup()));
    }
    void second() {
        for (int i = 0; i < 25; ++i, ++count) {
            const MediaTime at = std::chrono::milliseconds(40 * count);
            source->append(tag_packet(Kind::video, count % 25 == 0, false, at, avc_frame(count % 25 == 0)));
            source->append(tag_packet(Kind::audio, false, false, at + 10ms, aac_frame(static_cast<std::uint8_t>(count))));
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
            // A repeated table may keep its counter.
            if (pid_of(packet) != 0 && pid_of(packet) != 0x1001) {
                EXPECT_EQ(counter, (last->second + 1) & 0x0F) << "PID " << pid_of(packet) << " at " << at;
            }
        }
        counters[pid_of(packet)] = counter;
    }
}

TEST(TsWireEncoder, APlayerThatComesAtAnyTimeGetsAWholeTransportStream) {
    Show show;
    show.begin();
    show.second();
    WireCursor first(show.source, {Container::ts, Framing::none, KindSet::all()});
    expect_transport_stream(read_all(first));
    for (int i = 0; i < 3; ++i)
        show.second();
    WireCursor late(show.source, {Container::ts, Framing::none, KindSet::all()});
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
    WireCursor player(show.source, {Container::ts, Framing::none, KindSet::all()});
    show.source->append(tag_packet(Kind::video, false, false, 1010ms, avc_frame(false)));
    expect_transport_stream(read_all(player));
}

TEST(TsWireEncoder, KnowsConfigurationsThatHaveLeftTheRing) {
    Show show;
    show.begin();
    for (int i = 0; i < 20; ++i)
        show.second();
    ASSERT_GT(show.source->ring().first(), 2U);
    WireCursor player(show.source, {Container::ts, Framing::none, KindSet::all()});
    expect_transport_stream(read_all(player));
}

TEST(AudioWireEncoder, AacIsAdtsFrames) {
    Show show;
    show.begin();
    show.second();
    WireCursor player(show.source, {Container::aac, Framing::none, KindSet::all()});
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

TEST(AudioWireEncoder, StartsAsFarBackAsAsked) {
    Show show;
    PlayOptions options;
    options.history_min = 2s;
    show.source->set_options(options);
    show.begin();
    for (int i = 0; i < 5; ++i)
        show.second();
    const auto newest = show.source->ring().newest().dts;
    WireCursor player(show.source, {Container::aac, Framing::none, KindSet::all()}, {},
                      show.source->ring().find_time(newest - 2s));
    const std::size_t frame_bytes = wire::codec::kAdtsHeaderBytes + 3;
    EXPECT_EQ(read_all(player).size() / frame_bytes, 51U);
}

TEST(AudioWireEncoder, Mp3IsWhatTheTagHolds) {
    SlabPool pool;
    const auto source = make_ref<Source>("/live/mp3", PlayOptions(), 4096U, pool);
    WireCursor player(source, {Container::mp3, Framing::http_chunk, KindSet::all()});
    source->append(tag_packet(Kind::audio, false, false, 0ms, mp3_frame(7)));
    source->append(tag_packet(Kind::audio, false, false, 10ms, aac_frame(7)));
    source->append(tag_packet(Kind::video, true, false, 20ms, avc_frame(true)));
    const std::vector<std::uint8_t> expected = {'2', '\r', '\n', 7, 0x22, '\r', '\n'};
    EXPECT_EQ(read_all(player), expected);
}

}  // namespace
}  // namespace live::media
