#include "wire/ts/write/ts_converter.hpp"

#include <utility>

#include <gtest/gtest.h>

#include "base/bytes/byte_writer.hpp"
#include "base/bytes/hex_fixture.hpp"
#include "wire/codec/codec_vectors.hpp"
#include "wire/codec/frame_fixture.hpp"
#include "wire/ts/clock.hpp"
#include "wire/ts/read/demuxer_fixture.hpp"

namespace live::wire::ts {
namespace {

using Body = std::vector<std::uint8_t>;

Body joined(const Body& head, Bytes rest) {
    ByteWriter out;
    out.bytes(head).bytes(rest);
    return out.release();
}

namespace frames = codec::frames;
using codec::Codec;
using codec::Frame;

Frame avc_config() { return frames::config(Codec::avc, codec::avc_vectors().front().record); }
Frame hevc_config() { return frames::config(Codec::hevc, codec::hevc_vectors().front().record); }
Frame aac_config() { return frames::config(Codec::aac, hex("1210")); }
Frame avc_key() { return frames::key(Codec::avc, hex("00000002 65aa"), 80ms); }
Frame avc_inter() { return frames::inter(Codec::avc, hex("00000002 41bb")); }
Frame aac_frame() { return frames::audio(Codec::aac, hex("210a")); }
Frame at(MediaTime dts, Frame frame) {
    frame.dts = dts;
    return frame;
}

// A converter and its output.
struct Output {
    TsConverter converter;
    Body bytes;

    Result<void> video(MediaTime dts, Frame frame) { return converter.push_video(at(dts, std::move(frame)), bytes); }
    Result<void> audio(MediaTime dts, Frame frame) { return converter.push_audio(at(dts, std::move(frame)), bytes); }
    void configure() {
        EXPECT_TRUE(video(0ms, avc_config()).ok());
        EXPECT_TRUE(audio(0ms, aac_config()).ok());
    }
    std::vector<TestUnit> units(int pid) const {
        std::vector<TestUnit> of_pid = demuxed(bytes).units;
        std::erase_if(of_pid, [pid](const TestUnit& unit) { return unit.pid != pid; });
        return of_pid;
    }
};

TEST(TsConverter, CarriesH264AndAac) {
    Output out;
    out.configure();
    EXPECT_TRUE(out.bytes.empty()) << "configurations are no packets";
    EXPECT_EQ(out.converter.tracks(), (Tracks{StreamType::avc, StreamType::aac}));
    ASSERT_TRUE(out.video(1s, avc_key()).ok());
    ASSERT_TRUE(out.audio(1s + 5ms, aac_frame()).ok());
    ASSERT_TRUE(out.video(1s + 40ms, avc_inter()).ok());
    EXPECT_EQ(demuxed(out.bytes).packets.front().first, 0) << "tables first";
    const auto pictures = out.units(0x100);
    ASSERT_EQ(pictures.size(), 2u);
    const auto format = avc_video_format(codec::avc_vectors().front().record).value();
    EXPECT_EQ(pictures[0].payload, joined(joined(hex("00000001 09f0"), format.parameter_sets), hex("00000001 65aa")));
    EXPECT_TRUE(pictures[0].random_access);
    EXPECT_EQ(pictures[0].pts - pictures[0].dts, 80u * 90) << "the composition time";
    EXPECT_EQ(pictures[1].payload, hex("00000001 09f0 00000001 41bb"));
    EXPECT_FALSE(pictures[1].random_access);
    const auto audio_frames = out.units(0x101);
    ASSERT_EQ(audio_frames.size(), 1u);
    EXPECT_EQ(audio_frames[0].payload, hex("fff15080013ffc 210a"));
    EXPECT_EQ(audio_frames[0].pts, ticks_of(1s + 5ms + Muxer::kDecodeDelay));
}

TEST(TsConverter, WritesTheSizeBeforeOpusFrames) {
    Output out;
    const Body head = hex("4f70757348656164 01 02 3801 80bb0000 0000 00");
    ASSERT_TRUE(out.audio(0ms, frames::config(Codec::opus, head)).ok());
    EXPECT_EQ(out.converter.tracks(), (Tracks{{}, StreamType::opus, 2}));
    ASSERT_TRUE(out.audio(0ms, frames::audio(Codec::opus, hex("fc1122"))).ok());
    ASSERT_TRUE(out.audio(20ms, frames::audio(Codec::opus, Body(255, 0xAA))).ok());
    const auto audio_frames = out.units(0x101);
    ASSERT_EQ(audio_frames.size(), 2u);
    EXPECT_EQ(audio_frames[0].payload, hex("7fe0 03 fc1122"));
    EXPECT_EQ(audio_frames[0].stream_id, 0xBD);
    EXPECT_EQ(audio_frames[1].payload, joined(hex("7fe0 ff 00"), Body(255, 0xAA)));
    EXPECT_EQ(out.audio(40ms, frames::audio(Codec::opus, Body(65'001))).code(), Errc::limit);
    EXPECT_TRUE(out.audio(40ms, frames::audio(Codec::opus, Body(65'000))).ok());
    auto six = head;
    six[9] = 6;
    six.back() = 2;
    six.insert(six.end(), {6, 0, 0, 1, 2, 3, 4, 5});
    EXPECT_EQ(out.audio(60ms, frames::config(Codec::opus, six)).code(), Errc::unsupported)
        << "channels of a family that the map cannot say";
}

TEST(TsConverter, CarriesAc3) {
    Output out;
    ASSERT_TRUE(out.audio(0ms, frames::audio(Codec::ac3, hex("0b77 1122"))).ok()) << "AC-3 has no configuration";
    EXPECT_EQ(demuxed(out.bytes).streams, (std::map<int, int>{{0x101, 0x81}}));
    EXPECT_EQ(out.units(0x101).at(0).payload, hex("0b77 1122"));
    EXPECT_EQ(out.units(0x101).at(0).stream_id, 0xBD);
}

TEST(TsConverter, CarriesHevcAndMp3) {
    Output out;
    ASSERT_TRUE(out.video(0ms, hevc_config()).ok());
    ASSERT_TRUE(out.audio(0ms, frames::audio(Codec::mp3, hex("fffb9064 00"))).ok()) << "MP3 has no configuration";
    ASSERT_TRUE(out.video(1ms, frames::key(Codec::hevc, hex("00000003 260111"), 16ms)).ok());
    EXPECT_EQ(demuxed(out.bytes).streams, (std::map<int, int>{{0x100, 0x24}, {0x101, 0x03}}));
    EXPECT_EQ(out.units(0x101).at(0).payload, hex("fffb9064 00"));
    const auto picture = out.units(0x100).at(0);
    EXPECT_EQ(picture.pts - picture.dts, 16u * 90);
    EXPECT_EQ(Body(picture.payload.end() - 7, picture.payload.end()), hex("00000001 260111"));
}

TEST(TsConverter, ContinuesWithoutAnUnsupportedTrack) {
    Output av1;
    EXPECT_EQ(av1.video(0ms, frames::config(Codec::av1, hex("81000c00"))).code(), Errc::unsupported);
    EXPECT_EQ(av1.video(0ms, frames::inter(Codec::av1, hex("0a0b"))).code(), Errc::unsupported);
    ASSERT_TRUE(av1.audio(0ms, aac_config()).ok());
    ASSERT_TRUE(av1.audio(0ms, aac_frame()).ok());
    EXPECT_EQ(demuxed(av1.bytes).streams, (std::map<int, int>{{0x101, 0x0F}}));
    Output flac;
    ASSERT_TRUE(flac.video(0ms, avc_config()).ok());
    EXPECT_EQ(flac.audio(0ms, frames::config(Codec::flac, hex("4f"))).code(), Errc::unsupported);
    EXPECT_EQ(flac.audio(0ms, frames::audio(Codec::flac, hex("fc"))).code(), Errc::unsupported);
    EXPECT_EQ(flac.audio(0ms, frames::config(Codec::aac, hex("f956e0"))).code(), Errc::unsupported)
        << "AAC of a kind that ADTS cannot carry";
    EXPECT_TRUE(flac.audio(0ms, aac_frame()).ok()) << "and so its frames are left out";
    ASSERT_TRUE(flac.video(0ms, avc_key()).ok());
    EXPECT_EQ(demuxed(flac.bytes).streams, (std::map<int, int>{{0x100, 0x1B}}));
}

TEST(TsConverter, RemovesUnsupportedTracksFromTheTables) {
    Output out;
    out.configure();
    ASSERT_TRUE(out.video(0ms, avc_key()).ok());
    EXPECT_EQ(demuxed(out.bytes).streams.size(), 2u);
    EXPECT_EQ(out.audio(1ms, frames::config(Codec::flac, hex("4f"))).code(), Errc::unsupported);
    ASSERT_TRUE(out.video(1ms, avc_inter()).ok());
    EXPECT_EQ(demuxed(out.bytes).streams, (std::map<int, int>{{0x100, 0x1B}}));
    ASSERT_TRUE(out.audio(2ms, aac_config()).ok());
    EXPECT_EQ(out.audio(2ms, frames::config(Codec::aac, hex("f956e0"))).code(), Errc::unsupported);
    EXPECT_FALSE(out.converter.tracks().audio.has_value());
    EXPECT_EQ(out.video(2ms, frames::config(Codec::av1, hex("81000c00"))).code(), Errc::unsupported);
    EXPECT_EQ(out.converter.tracks(), Tracks());
}

TEST(TsConverter, SkipsNonMediaUnits) {
    Output out;
    EXPECT_TRUE(out.video(0ms, avc_key()).ok()) << "no configuration yet";
    EXPECT_TRUE(out.audio(0ms, aac_frame()).ok());
    out.configure();
    for (const Frame& frame : {frames::other(Codec::avc), frames::other(Codec::none), frames::other(Codec::hevc, hex("0200")),
                               frames::key(Codec::avc, {}), frames::key(Codec::avc, hex("00000002 09f0"))})
        EXPECT_TRUE(out.video(0ms, frame).ok());
    for (const Frame& frame : {Frame(), frames::audio(Codec::aac, {}), frames::other(Codec::aac, hex("21"))})
        EXPECT_TRUE(out.audio(0ms, frame).ok());
    EXPECT_TRUE(out.bytes.empty());
}

TEST(TsConverter, DropsOnlyTheInvalidFrame) {
    Output out;
    out.configure();
    ASSERT_TRUE(out.video(0ms, avc_key()).ok());
    ASSERT_TRUE(out.audio(0ms, aac_frame()).ok());
    const Body before = out.bytes;
    EXPECT_EQ(out.video(1ms, frames::key(Codec::avc, hex("000000ff 65"))).code(), Errc::malformed);
    EXPECT_EQ(out.video(1ms, frames::config(Codec::avc, hex("01"))).code(), Errc::need_more) << "the old configuration stays";
    EXPECT_EQ(out.audio(1ms, frames::config(Codec::aac, {})).code(), Errc::need_more);
    EXPECT_EQ(out.audio(1ms, frames::audio(Codec::aac, Body(8'185))).code(), Errc::limit);
    EXPECT_EQ(out.bytes, before);
    EXPECT_TRUE(out.video(2ms, avc_inter()).ok());
    EXPECT_TRUE(out.audio(2ms, frames::audio(Codec::aac, Body(8'184))).ok());
    EXPECT_EQ(out.units(0x100).size(), 2u);
    EXPECT_EQ(out.units(0x101).size(), 2u);
    Output mp3;
    EXPECT_TRUE(mp3.audio(0ms, frames::audio(Codec::mp3, Body(kPesPayloadBytesMax))).ok());
    EXPECT_EQ(mp3.audio(0ms, frames::audio(Codec::mp3, Body(kPesPayloadBytesMax + 1))).code(), Errc::limit);
}

TEST(TsConverter, TablesComeWithEveryKeyFrameAndOftenEnough) {
    Output out;
    out.configure();
    ASSERT_TRUE(out.video(0ms, avc_key()).ok());
    ASSERT_TRUE(out.video(499ms, avc_inter()).ok());
    EXPECT_EQ(demuxed(out.bytes).tables, 1u);
    ASSERT_TRUE(out.video(500ms, avc_inter()).ok());
    EXPECT_EQ(demuxed(out.bytes).tables, 2u);
    ASSERT_TRUE(out.video(540ms, avc_key()).ok());
    EXPECT_EQ(demuxed(out.bytes).tables, 3u);
    out.converter.write_tables(out.bytes);
    ASSERT_TRUE(out.video(580ms, avc_key()).ok());
    EXPECT_EQ(demuxed(out.bytes).tables, 4u) << "just written by hand";
    ASSERT_TRUE(out.audio(1'079ms, aac_frame()).ok());
    EXPECT_EQ(demuxed(out.bytes).tables, 4u);
    ASSERT_TRUE(out.audio(1'080ms, aac_frame()).ok());
    EXPECT_EQ(demuxed(out.bytes).tables, 5u);
}

TEST(TsConverter, ANewTrackAndANewCodecComeWithNewTables) {
    Output out;
    ASSERT_TRUE(out.audio(0ms, aac_config()).ok());
    ASSERT_TRUE(out.audio(0ms, aac_frame()).ok());
    EXPECT_EQ(demuxed(out.bytes).version, 0);
    ASSERT_TRUE(out.video(1ms, avc_config()).ok());
    ASSERT_TRUE(out.audio(1ms, aac_frame()).ok());
    EXPECT_EQ(demuxed(out.bytes).version, 1);
    ASSERT_TRUE(out.video(2ms, hevc_config()).ok());
    EXPECT_TRUE(out.video(2ms, avc_key()).ok());
    EXPECT_EQ(demuxed(out.bytes).version, 1) << "a picture of the old codec is left out";
    ASSERT_TRUE(out.video(3ms, frames::key(Codec::hevc, hex("00000003 260111"))).ok());
    EXPECT_EQ(demuxed(out.bytes).version, 2);
    ASSERT_TRUE(out.video(4ms, hevc_config()).ok());
    ASSERT_TRUE(out.video(4ms, frames::inter(Codec::hevc, hex("00000003 020111"))).ok());
    EXPECT_EQ(demuxed(out.bytes).tables, 3u) << "the same configuration again changes nothing";
}

TEST(TsConverter, ALateReaderGetsTheNewestTables) {
    Output out;
    Body late;
    out.converter.repeat_tables(late);
    EXPECT_TRUE(late.empty());
    out.configure();
    ASSERT_TRUE(out.video(0ms, avc_key()).ok());
    out.converter.repeat_tables(late);
    ASSERT_TRUE(out.converter.push_video(at(40ms, avc_inter()), late).ok());
    const TestDemuxer in = demuxed(late);
    EXPECT_EQ(in.streams.size(), 2u);
    EXPECT_EQ(in.units.size(), 1u);
}

TEST(TsConverter, EveryTruncationIsSurvived) {
    for (const Frame& frame : {avc_config(), hevc_config(), avc_key(), avc_inter()})
        for (std::size_t size = 0; size < frame.data.size(); ++size) {
            Output out;
            out.configure();
            Frame cut = frame;
            cut.data = frame.data.sub(0, size);
            static_cast<void>(out.video(0ms, cut).ok());
            EXPECT_TRUE(out.video(1ms, avc_config()).ok());
            EXPECT_TRUE(out.video(1ms, avc_key()).ok());
            EXPECT_FALSE(out.units(0x100).empty()) << size;
        }
    for (const Frame& frame : {aac_config(), aac_frame(), frames::audio(Codec::mp3, hex("fffb9064 00"))})
        for (std::size_t size = 0; size < frame.data.size(); ++size) {
            Output out;
            out.configure();
            Frame cut = frame;
            cut.data = frame.data.sub(0, size);
            static_cast<void>(out.audio(0ms, cut).ok());
            EXPECT_TRUE(out.audio(1ms, aac_config()).ok());
            EXPECT_TRUE(out.audio(1ms, aac_frame()).ok());
            EXPECT_FALSE(out.units(0x101).empty()) << size;
        }
}

}  // namespace
}  // namespace live::wire::ts
