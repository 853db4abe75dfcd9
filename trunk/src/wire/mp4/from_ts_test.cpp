// From a transport stream, written and read, to fragmented MP4: containers meet in codec::Frame and need no FLV between them.
#include <algorithm>
#include <array>
#include <cstdint>
#include <vector>

#include <gtest/gtest.h>

#include "base/bytes/byte_writer.hpp"
#include "base/bytes/hex_fixture.hpp"
#include "wire/codec/codec_vectors.hpp"
#include "wire/codec/frame_fixture.hpp"
#include "wire/mp4/box_reader_fixture.hpp"
#include "wire/mp4/fragment_writer.hpp"
#include "wire/mp4/sample_reader.hpp"
#include "wire/ts/clock.hpp"
#include "wire/ts/read/ts_reader.hpp"
#include "wire/ts/write/muxer.hpp"
#include "wire/ts/write/ts_converter.hpp"

namespace live::wire::mp4 {
namespace {

constexpr MediaTime kStart = 1s;
constexpr MediaTime kVideoFrame = 40ms;

struct Elementary {
    codec::Frame config;
    std::vector<codec::Frame> frames;
};

codec::Frame video_config(codec::Codec of) {
    const bool is_avc = of == codec::Codec::avc;
    return codec::frames::config(of, is_avc ? codec::avc_vectors().front().record : codec::hevc_vectors().front().record);
}

// Two slices, the second one with emulation prevention.
std::vector<std::uint8_t> two_slices(const std::vector<std::uint8_t>& head, std::uint8_t fill) {
    ByteWriter out;
    for (const auto& tail : {std::vector<std::uint8_t>(200U + fill, fill), hex("0000030100000380")}) {
        out.u32be(static_cast<std::uint32_t>(head.size() + tail.size()));
        out.bytes(head).bytes(tail);
    }
    return out.release();
}

// Eight frames in two GOPs whose frames are shown in another order than they are decoded.
Elementary video_of(codec::Codec of) {
    constexpr std::array<int, 4> kHeldBack = {1, 3, 0, 1};  // frames
    const bool is_avc = of == codec::Codec::avc;
    Elementary video{video_config(of), {}};
    for (std::uint8_t i = 0; i < 8; ++i) {
        const bool is_key = i % kHeldBack.size() == 0;
        const auto head = is_avc ? hex(is_key ? "65" : "41") : hex(is_key ? "2601" : "0201");
        const auto data = two_slices(head, 0x20 + i);
        auto frame = is_key ? codec::frames::key(of, data) : codec::frames::inter(of, data);
        frame.dts = kStart + i * kVideoFrame;
        frame.cts = kHeldBack[i % kHeldBack.size()] * kVideoFrame;
        video.frames.push_back(std::move(frame));
    }
    return video;
}

Elementary audio_of() {
    Elementary audio{codec::frames::config(codec::Codec::aac, hex("1210")), {}};
    for (std::uint8_t i = 0; i < 14; ++i) {
        audio.frames.push_back(codec::frames::audio(codec::Codec::aac, std::vector<std::uint8_t>(30U + i, 0x40 + i)));
        audio.frames.back().dts = kStart + MediaTime(i * 1'024 * 1'000'000LL / 44'100);
    }
    return audio;
}

std::vector<std::uint8_t> as_transport_stream(const Elementary& video, const Elementary& audio) {
    ts::TsConverter converter;
    std::vector<std::uint8_t> out;
    EXPECT_TRUE(converter.push_video(video.config, out).ok());
    EXPECT_TRUE(converter.push_audio(audio.config, out).ok());
    auto next = audio.frames.begin();
    for (const auto& frame : video.frames) {
        for (; next != audio.frames.end() && next->dts < frame.dts; ++next)
            EXPECT_TRUE(converter.push_audio(*next, out).ok());
        EXPECT_TRUE(converter.push_video(frame, out).ok());
    }
    for (; next != audio.frames.end(); ++next)
        EXPECT_TRUE(converter.push_audio(*next, out).ok());
    return out;
}

std::vector<ts::TsReader::Unit> read_back(Bytes stream) {
    ts::TsReader reader;
    std::vector<ts::TsReader::Unit> units;
    reader.feed(stream);
    reader.finish();
    while (auto unit = reader.next())
        units.push_back(*std::move(unit));
    return units;
}

struct Movie {
    SampleReader reader;
    std::vector<std::uint8_t> file;
};

// The units become the samples of one fragment.
Movie movie_of(const std::vector<ts::TsReader::Unit>& units) {
    Movie movie;
    std::vector<std::pair<std::size_t, Sample>> samples;
    for (const auto& unit : units) {
        const bool is_video = unit.kind == MediaKind::video;
        auto sample = is_video ? movie.reader.push_video(unit.frame) : movie.reader.push_audio(unit.frame);
        EXPECT_TRUE(sample.ok()) << sample.error().text();
        if (sample.ok() && *sample)
            samples.emplace_back(is_video ? 0U : 1U, **std::move(sample));
    }
    FragmentWriter writer({movie.reader.video().value(), movie.reader.audio().value()});
    ByteWriter out;
    writer.write_init(out);
    for (auto& [track, sample] : samples)
        EXPECT_TRUE(writer.push(track, std::move(sample)).ok());
    writer.cut(out);
    movie.file = out.release();
    return movie;
}

struct FromTs : ::testing::TestWithParam<codec::Codec> {};

TEST_P(FromTs, SamplesAndTimesAreThoseOfTheTransportStream) {
    const Elementary video = video_of(GetParam());
    const Elementary audio = audio_of();
    const Movie movie = movie_of(read_back(as_transport_stream(video, audio)));
    EXPECT_EQ(movie.reader.version(), 2U) << "one configuration each, although every key frame repeats them";
    const auto samples = fragment_samples(movie.file);

    const std::vector<TestSample>& video_samples = samples.at(1);
    ASSERT_EQ(video_samples.size(), video.frames.size());
    const std::uint64_t first = ts::ticks_of(kStart + ts::Muxer::kDecodeDelay);
    const std::uint64_t frame_ticks = ts::ticks_of(kVideoFrame);
    for (std::size_t i = 0; i < video_samples.size(); ++i) {
        const codec::Frame& sent = video.frames[i];
        EXPECT_TRUE(std::ranges::equal(video_samples[i].data, sent.data.bytes())) << "frame " << i;
        EXPECT_EQ(video_samples[i].key, sent.key) << "frame " << i;
        EXPECT_EQ(video_samples[i].tick, first + i * frame_ticks) << "frame " << i;
        EXPECT_EQ(video_samples[i].ticks, frame_ticks) << "frame " << i;
        EXPECT_EQ(video_samples[i].composition, static_cast<std::int64_t>(ts::ticks_of(sent.cts))) << "frame " << i;
    }

    const std::vector<TestSample>& audio_samples = samples.at(2);
    ASSERT_EQ(audio_samples.size(), audio.frames.size());
    for (std::size_t i = 0; i < audio_samples.size(); ++i) {
        EXPECT_TRUE(std::ranges::equal(audio_samples[i].data, audio.frames[i].data.bytes())) << "frame " << i;
        EXPECT_EQ(audio_samples[i].tick, 1'100U * 44'100 / 1'000 + i * 1'024) << "frame " << i;
    }
}

TEST_P(FromTs, TheHeaderHasTheConfigurationOfTheStream) {
    const Elementary video = video_of(GetParam());
    const Movie movie = movie_of(read_back(as_transport_stream(video, audio_of())));
    SampleReader direct;
    ASSERT_TRUE(direct.push_video(video.config).ok());
    EXPECT_EQ(movie.reader.video()->codecs, direct.video()->codecs);
    EXPECT_EQ(movie.reader.audio()->codecs, "mp4a.40.2");
    const TestBox file = read_file(movie.file);
    EXPECT_EQ(file.child("moov").all("trak").size(), 2U);
    if (GetParam() == codec::Codec::avc) {
        EXPECT_EQ(*movie.reader.video(), *direct.video()) << "the record is the encoder's own, byte for byte";
    }
}

INSTANTIATE_TEST_SUITE_P(Codecs, FromTs, ::testing::Values(codec::Codec::avc, codec::Codec::hevc),
                         [](const auto& one) { return one.param == codec::Codec::avc ? "Avc" : "Hevc"; });

}  // namespace
}  // namespace live::wire::mp4
