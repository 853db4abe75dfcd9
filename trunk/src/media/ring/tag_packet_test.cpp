#include "media/ring/tag_packet.hpp"

#include <algorithm>
#include <limits>
#include <utility>
#include <vector>

#include <gtest/gtest.h>

#include "wire/codec/frame_fixture.hpp"
#include "wire/flv/tag_vectors.hpp"

namespace live::media {
namespace {

namespace flv = wire::flv;
namespace frames = wire::codec::frames;

Content content_of(flv::PacketKind kind) {
    if (kind == flv::PacketKind::sequence_header)
        return Content::config;
    return kind == flv::PacketKind::frames ? Content::frame : Content::other;
}

Result<TagPacket> read(MediaKind kind, std::string_view body) { return read_tag(kind, Slice::copy_of(hex(body))); }

template <class Vector>
void expect_as_said(MediaKind kind, const Vector& vector) {
    SCOPED_TRACE(vector.name);
    const Slice body = Slice::copy_of(vector.bytes);
    const auto tagged = read_tag(kind, body);
    ASSERT_TRUE(tagged.ok());
    const Packet& packet = tagged->packet;
    EXPECT_EQ(packet.kind, kind);
    EXPECT_EQ(packet.head, vector.header_bytes);
    EXPECT_EQ(tagged->has_more, std::string_view(vector.name).starts_with("many tracks"));
    if (!tagged->has_more) {
        EXPECT_EQ(packet.frame_bytes(), vector.body_bytes);
    }
    EXPECT_EQ(packet.payload.data(), body.data()) << "nothing is copied";
    EXPECT_EQ(packet.codec, vector.codec);
    EXPECT_EQ(packet.content, content_of(vector.kind));
    EXPECT_EQ(static_cast<int>(packet.track), vector.track_id);
    EXPECT_EQ(packet.dts, std::chrono::floor<MediaTime>(std::chrono::nanoseconds(vector.offset_ns)));
}

TEST(TagPacket, FindsHeaderOfEveryForm) {
    for (const flv::VideoVector& vector : flv::video_vectors()) {
        expect_as_said(MediaKind::video, vector);
        const Packet packet = read_tag(MediaKind::video, Slice::copy_of(vector.bytes))->packet;
        EXPECT_EQ(packet.key, vector.key) << vector.name;
        if (std::abs(vector.composition_ms) < 1'000'000) {
            EXPECT_EQ(packet.cts, std::chrono::milliseconds(vector.composition_ms)) << vector.name;
        }
    }
    for (const flv::AudioVector& vector : flv::audio_vectors()) {
        expect_as_said(MediaKind::audio, vector);
        const AudioFormat audio = read_tag(MediaKind::audio, Slice::copy_of(vector.bytes))->audio;
        EXPECT_EQ(audio, (AudioFormat{vector.sample_rate, static_cast<std::uint8_t>(vector.channels)})) << vector.name;
    }
}

struct HeadForm {
    const char* name;
    MediaKind kind;
    const char* body;
    std::size_t head;
};

TEST(TagPacket, HeadsInAWord) {
    const HeadForm forms[] = {
        {"classic AVC", MediaKind::video, "17 01 000000 aa", 5},
        {"classic AAC", MediaKind::audio, "af 01 aa", 2},
        {"classic MP3", MediaKind::audio, "2f aa", 1},
        {"FourCC with a composition time", MediaKind::video, "91 61766331 000001 aa", 8},
        {"FourCC without", MediaKind::video, "93 61766331 aa", 5},
        {"FourCC that has none", MediaKind::video, "91 61763031 aa", 5},
        {"ModEx", MediaKind::video, "97 02 000001 01 68766331 000000 aa", 13},
        {"ModEx twice, of audio", MediaKind::audio, "97 00 ff 17 02 000001 01 4f707573 aa", 13},
        {"one track of several", MediaKind::video, "96 01 68766331 05 000000 aa", 10},
    };
    for (const HeadForm& form : forms) {
        SCOPED_TRACE(form.name);
        const auto tagged = read(form.kind, form.body);
        ASSERT_TRUE(tagged.ok());
        EXPECT_EQ(tagged->packet.head, form.head);
        EXPECT_EQ(tagged->packet.content, Content::frame);
        EXPECT_TRUE(std::ranges::equal(tagged->packet.frame(), hex("aa")));
        EXPECT_TRUE(std::ranges::equal(tagged->packet.frame_slice().bytes(), hex("aa")));
    }
}

template <class Vector>
void expect_cuts_survived(MediaKind kind, const Vector& vector) {
    for (std::size_t size = 0; size < vector.bytes.size(); ++size) {
        const auto tagged = read_tag(kind, Slice::copy_of(Bytes(vector.bytes).first(size)));
        if (tagged.ok())
            EXPECT_EQ(tagged->packet.head + tagged->packet.frame().size(), size) << vector.name;
        else
            EXPECT_LT(size, vector.bytes.size()) << vector.name;
    }
}

TEST(TagPacket, EveryTruncationIsAnErrorOrAShorterFrame) {
    for (const flv::VideoVector& vector : flv::video_vectors())
        expect_cuts_survived(MediaKind::video, vector);
    for (const flv::AudioVector& vector : flv::audio_vectors())
        expect_cuts_survived(MediaKind::audio, vector);
}

struct Split {
    const char* name;
    MediaKind kind;
    const char* body;
    std::vector<const char*> parts;
};

TEST(TagPacket, SeveralTracksBecomeABodyEach) {
    const Split splits[] = {
        {"audio of one codec",
         MediaKind::audio,
         "95 11 6d703461 00 000001 aa 01 000002 bbbb",
         {"91 6d703461 aa", "95 01 6d703461 01 bbbb"}},
        {"configurations of two codecs",
         MediaKind::audio,
         "95 20 4f707573 03 000001 aa 6d703461 00 000001 bb",
         {"90 6d703461 bb", "95 00 4f707573 03 aa"}},
        {"pictures keep their composition times",
         MediaKind::video,
         "96 11 68766331 00 000004 000042 aa 02 000004 000001 bb",
         {"91 68766331 000042 aa", "96 01 68766331 02 000001 bb"}},
        {"and extensions",
         MediaKind::video,
         "a7 02 0007a1 06 21 61766331 01 000004 000003 aa 61763031 00 000001 bb",
         {"a7 02 0007a1 01 61763031 bb", "a7 02 0007a1 06 01 61766331 01 000003 aa"}},
        {"a codec that nobody knows", MediaKind::video, "96 13 78787878 07 000001 aa", {"96 03 78787878 07 aa"}},
        {"none of a track", MediaKind::audio, "95 11 6d703461 00 000000", {"91 6d703461"}},
    };
    for (const Split& split : splits) {
        SCOPED_TRACE(split.name);
        const auto body = hex(split.body);
        const auto parts = split_tag(split.kind, body);
        ASSERT_TRUE(parts.ok());
        ASSERT_EQ(parts->size(), split.parts.size());
        for (std::size_t i = 0; i < parts->size(); ++i) {
            EXPECT_TRUE(std::ranges::equal((*parts)[i].bytes(), hex(split.parts[i]))) << i;
            const auto tagged = read_tag(split.kind, (*parts)[i]);
            ASSERT_TRUE(tagged.ok());
            EXPECT_FALSE(tagged->has_more);
        }
    }
}

TEST(TagPacket, TheEmptyAudioMessageHoldsNothing) {
    const auto tagged = read_tag(MediaKind::audio, Slice());
    ASSERT_TRUE(tagged.ok());
    EXPECT_EQ(tagged->packet.content, Content::other);
    EXPECT_EQ(tagged->packet.codec, Codec::none);
    EXPECT_TRUE(tagged->packet.frame().empty());
}

// An extension of maximum length, before a frame of one byte.
TEST(TagPacket, LimitsTheSizeOfAHeader) {
    constexpr std::size_t kMax = std::numeric_limits<std::uint16_t>::max();
    const auto with_head = [](std::size_t head) {
        constexpr std::size_t kAround = 1 + 3 + 1 + 4;
        const auto size = static_cast<std::uint16_t>(head - kAround - 1);
        std::vector<std::uint8_t> body = {0x97, 0xFF, static_cast<std::uint8_t>(size >> 8), static_cast<std::uint8_t>(size)};
        body.resize(head - 5, 0);
        for (const std::uint8_t byte : hex("13 68766331 aa"))
            body.push_back(byte);
        return Slice::copy_of(body);
    };
    const auto longest = read_tag(MediaKind::video, with_head(kMax));
    ASSERT_TRUE(longest.ok());
    EXPECT_EQ(longest->packet.head, kMax);
    EXPECT_TRUE(std::ranges::equal(longest->packet.frame(), hex("aa")));
    EXPECT_EQ(read_tag(MediaKind::video, with_head(kMax + 1)).code(), Errc::limit);
}

TEST(TagPacket, UnknownFourCcIsOpaque) {
    const auto tagged = read(MediaKind::video, "91 76766331 000001");
    ASSERT_TRUE(tagged.ok());
    EXPECT_EQ(tagged->packet.codec, Codec::unknown);
    EXPECT_EQ(tagged->packet.content, Content::frame);
    EXPECT_TRUE(tagged->packet.key);
    EXPECT_EQ(tagged->fourcc, flv::fourcc('v', 'v', 'c', '1'));
}

TEST(TagPacket, ReadsBackTheHeaderOfAFrame) {
    const auto data = hex("00000002 65aa");
    const std::pair<MediaKind, wire::codec::Frame> all[] = {
        {MediaKind::video, frames::config(Codec::avc, data)},       {MediaKind::video, frames::key(Codec::avc, data, 40ms)},
        {MediaKind::video, frames::inter(Codec::avc, data)},        {MediaKind::video, frames::key(Codec::hevc, data, 40ms)},
        {MediaKind::video, frames::inter(Codec::hevc, data)},       {MediaKind::video, frames::key(Codec::av1, data)},
        {MediaKind::video, frames::config(Codec::vp9, data)},       {MediaKind::video, frames::inter(Codec::vp8, data)},
        {MediaKind::audio, frames::config(Codec::aac, data)},       {MediaKind::audio, frames::audio(Codec::aac, data)},
        {MediaKind::audio, frames::config(Codec::opus, data)},      {MediaKind::audio, frames::audio(Codec::opus, data)},
        {MediaKind::audio, frames::audio(Codec::mp3, data)},        {MediaKind::audio, frames::audio(Codec::g711a, data)},
        {MediaKind::video, frames::key(Codec::avc, data, 40ms, 3)}, {MediaKind::audio, frames::config(Codec::aac, data, 255)},
    };
    for (const auto& [kind, frame] : all) {
        SCOPED_TRACE(name_of(frame.codec));
        const Packet written = make_packet(kind, frame);
        EXPECT_TRUE(written.needs_body_header());
        EXPECT_TRUE(std::ranges::equal(written.payload.bytes(), data));
        const auto header = body_header_of(written);
        ByteWriter body;
        body.bytes(header.view()).bytes(written.payload.bytes());
        const auto read = read_tag(kind, Slice::copy_of(body.written()));
        ASSERT_TRUE(read.ok());
        EXPECT_EQ(read->packet.head, header.size());
        EXPECT_EQ(body_header_of(read->packet).size(), 0U) << "its payload begins with one";
        EXPECT_EQ(read->packet.codec, frame.codec);
        EXPECT_EQ(read->packet.track, frame.track);
        EXPECT_EQ(read->packet.content, frame.content);
        EXPECT_EQ(read->packet.key, frame.key);
        EXPECT_EQ(read->packet.cts, written.cts);
        EXPECT_EQ(MediaTime(written.cts), frame.cts);
        EXPECT_TRUE(std::ranges::equal(read->packet.frame(), data));
        const bool is_classic = frame.codec == Codec::avc || kind == MediaKind::audio;
        if (is_classic && frame.codec != Codec::opus && frame.track == TrackId()) {
            EXPECT_EQ(read->fourcc, 0U) << "players know no other";
        }
    }
}

TEST(TagPacket, KeepsTheMemoryOfAFrame) {
    constexpr std::size_t kHeader = 12;  // of the protocol it arrived in
    for (const std::size_t size : {std::size_t{100}, std::size_t{5'000}, Slice::kOwnPagesMin}) {
        const Slice unit = Slice::allocate(kHeader + size);
        auto frame = frames::key(Codec::avc, {});
        frame.data = unit.sub(kHeader);
        EXPECT_EQ(make_packet(MediaKind::video, std::move(frame)).frame().data(), unit.data() + kHeader) << size;
    }
}

TEST(TagPacket, KeepsAFrameThatSharesItsMemory) {
    const Slice block = Slice::copy_of(std::vector<std::uint8_t>(20'000, 7));
    auto frame = frames::key(Codec::avc, {});
    frame.data = block.sub(1'000, 1'000);
    frame.shares_memory = true;
    EXPECT_EQ(make_packet(MediaKind::video, std::move(frame)).frame().data(), block.data() + 1'000);
}

TEST(TagPacket, CopiesAFrameThatIsASmallPartOfItsMemory) {
    const Slice unit = Slice::copy_of(std::vector<std::uint8_t>(20'000, 7));
    auto frame = frames::key(Codec::avc, {});
    frame.data = unit.sub(0, 1'000);
    const Packet packet = make_packet(MediaKind::video, std::move(frame));
    EXPECT_EQ(packet.payload.memory_bytes(), 1'000U);
    EXPECT_TRUE(std::ranges::equal(packet.frame(), unit.bytes().first(1'000)));
    // Pages without other owners are kept: copying them would block the loop.
    auto large = frames::key(Codec::avc, {});
    large.data = Slice::allocate(2 * Slice::kOwnPagesMin).sub(0, Slice::kOwnPagesMin);
    const std::uint8_t* const first = large.data.data();
    EXPECT_EQ(make_packet(MediaKind::video, std::move(large)).frame().data(), first);
}

TEST(TagPacket, KeepsTheBodyOfAnRtmpPublisher) {
    const Slice body = Slice::copy_of(hex("17 01 000028 00000002 65aa"));
    const auto tagged = read_tag(MediaKind::video, body);
    ASSERT_TRUE(tagged.ok());
    EXPECT_EQ(tagged->packet.payload.memory(), body.memory());
    EXPECT_FALSE(tagged->packet.needs_body_header());
    // An empty message has no header either, and neither has a body that cannot be parsed.
    EXPECT_FALSE(read_tag(MediaKind::audio, {})->packet.needs_body_header());
    EXPECT_FALSE(Packet().needs_body_header());
}

// Every packet of every stream costs this much.
static_assert(sizeof(Packet) <= 48);

}  // namespace
}  // namespace live::media
