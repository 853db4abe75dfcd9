#include "wire/ts/read/audio_frames.hpp"

#include <gtest/gtest.h>

#include "base/bytes/hex_fixture.hpp"
#include "wire/codec/audio/adts.hpp"
#include "wire/codec/audio/latm_fixture.hpp"

namespace live::wire::ts {
namespace {

using codec::Codec;
using codec::Content;
using codec::Frame;
using Buffer = std::vector<std::uint8_t>;

void append(Buffer& out, Bytes bytes) { out.insert(out.end(), bytes.begin(), bytes.end()); }

Buffer adts(const Buffer& frame, std::uint32_t rate = 48'000) {
    const auto header = codec::adts_header({.sample_rate = rate, .channels = 2}, frame.size()).value();
    Buffer out(header.begin(), header.end());
    append(out, frame);
    return out;
}

Buffer ac3(std::uint8_t fill) {
    Buffer frame(768, fill);
    std::ranges::copy(hex("0b77 1234 14 40"), frame.begin());
    return frame;
}

std::vector<Frame> only_frames(std::vector<Frame> all) {
    std::erase_if(all, [](const Frame& frame) { return frame.content != Content::frame; });
    return all;
}

TEST(AudioFrames, SplitsAdtsWithContinuousTimes) {
    AudioFrames audio(StreamFormat::aac, 0);
    Buffer payload;
    for (std::uint8_t i = 0; i < 5; ++i)
        append(payload, adts(Buffer(20U + i, i)));
    std::vector<Frame> out;
    EXPECT_EQ(audio.push(payload, 1s, out), 0u);
    ASSERT_EQ(out.size(), 6u);
    EXPECT_EQ(out[0].content, Content::config);
    EXPECT_TRUE(std::ranges::equal(out[0].data.bytes(), hex("1190"))) << "AAC-LC, 48,000 Hz, stereo";
    for (std::size_t i = 0; i < 5; ++i) {
        EXPECT_EQ(out[i + 1].dts, 1s + MediaTime(i * 1'024 * 1'000'000 / 48'000)) << "no error that adds up";
        EXPECT_EQ(out[i + 1].data.size(), 20 + i);
        EXPECT_EQ(out[i + 1].codec, Codec::aac);
    }
    audio.push(adts(Buffer(9, 1)), std::nullopt, out);
    EXPECT_EQ(out.back().dts, 1s + MediaTime(5 * 1'024 * 1'000'000ULL / 48'000)) << "a packet without a time";
    EXPECT_EQ(only_frames(out).size(), 6u) << "and the configuration is not repeated";
}

TEST(AudioFrames, ReassemblesAdtsFrameCutAnywhere) {
    Buffer stream;
    for (std::uint8_t i = 0; i < 4; ++i)
        append(stream, adts(Buffer(50, i)));
    for (std::size_t at = 1; at < stream.size(); ++at) {
        AudioFrames audio(StreamFormat::aac, 0);
        std::vector<Frame> out;
        EXPECT_EQ(audio.push(Bytes(stream).first(at), 1s, out), 0u);
        EXPECT_LE(audio.held_bytes(), 57u);
        EXPECT_EQ(audio.push(Bytes(stream).subspan(at), 2s, out), 0u);
        const auto frames = only_frames(out);
        ASSERT_EQ(frames.size(), 4u) << at;
        const std::size_t first_begun_later = (at + 56) / 57;
        for (std::size_t i = 0; i < 4; ++i) {
            EXPECT_TRUE(std::ranges::equal(frames[i].data.bytes(), Buffer(50, static_cast<std::uint8_t>(i))));
            EXPECT_EQ(frames[i].dts < 2s, i < first_begun_later) << "it began in the first packet";
        }
        if (first_begun_later < 4) {
            EXPECT_EQ(frames[first_begun_later].dts, 2s);
        }
    }
}

TEST(AudioFrames, FindsTheNextFrameAfterGarbage) {
    AudioFrames audio(StreamFormat::aac, 0);
    Buffer payload = hex("0102ff03");
    append(payload, adts(Buffer(30, 1)));
    append(payload, hex("fff0"));
    append(payload, Buffer(5, 0));
    append(payload, adts(Buffer(30, 2)));
    std::vector<Frame> out;
    EXPECT_EQ(audio.push(payload, 1s, out), 11u);
    EXPECT_EQ(only_frames(out).size(), 2u);
}

TEST(AudioFrames, DropsFramesBeforeTheFirstTimestamp) {
    AudioFrames audio(StreamFormat::aac, 0);
    std::vector<Frame> out;
    audio.push(adts(Buffer(30, 1)), std::nullopt, out);
    EXPECT_TRUE(out.empty());
}

TEST(AudioFrames, NewSampleRateEmitsNewConfiguration) {
    AudioFrames audio(StreamFormat::aac, 0);
    std::vector<Frame> out;
    audio.push(adts(Buffer(30, 1)), 1s, out);
    audio.push(adts(Buffer(30, 1), 32'000), std::nullopt, out);
    audio.push(adts(Buffer(30, 1), 32'000), std::nullopt, out);
    ASSERT_EQ(out.size(), 5u);
    EXPECT_EQ(out[2].content, Content::config);
    EXPECT_EQ(out[3].dts, 1s + 21'333us);
    EXPECT_EQ(out[4].dts, 1s + 21'333us + 32ms);
}

TEST(AudioFrames, SplitsAc3AndKeepsSubstreamsTogether) {
    AudioFrames audio(StreamFormat::ac3, 0);
    Buffer payload = ac3(1);
    append(payload, ac3(2));
    std::vector<Frame> out;
    EXPECT_EQ(audio.push(payload, 1s, out), 0u);
    ASSERT_EQ(out.size(), 2u);
    EXPECT_EQ(out[1].dts, 1s + 32ms);
    EXPECT_EQ(out[1].codec, Codec::ac3);
    EXPECT_EQ(out[1].data.size(), 768u);

    Buffer first(64, 3);
    std::ranges::copy(hex("0b77 001f 3f 80"), first.begin());
    Buffer second(32, 4);
    std::ranges::copy(hex("0b77 400f 3f 80"), second.begin());
    Buffer both = first;
    append(both, second);
    append(both, first);
    AudioFrames enhanced(StreamFormat::eac3, 0);
    out.clear();
    EXPECT_EQ(enhanced.push(both, 1s, out), 0u);
    ASSERT_EQ(out.size(), 2u);
    EXPECT_EQ(out[0].data.size(), 96u);
    EXPECT_EQ(out[0].codec, Codec::eac3);
}

TEST(AudioFrames, SplitsBothLayersOfMpegAudio) {
    // Layer II, 192 kbit/s, 48,000 Hz: 576 bytes and 24 ms. Layer III, 128 kbit/s, 48,000 Hz: 384 bytes and 24 ms.
    Buffer payload(576 + 384, 0);
    std::ranges::copy(hex("fffda404"), payload.begin());
    std::ranges::copy(hex("fffb9404"), payload.begin() + 576);
    AudioFrames audio(StreamFormat::mpeg_audio, 0);
    std::vector<Frame> out;
    EXPECT_EQ(audio.push(payload, 1s, out), 0u);
    ASSERT_EQ(out.size(), 2u);
    EXPECT_EQ(out[0].data.size(), 576u);
    EXPECT_EQ(out[1].dts, 1s + 24ms);
    EXPECT_EQ(out[1].codec, Codec::mp3);
}

TEST(AudioFrames, RemovesControlHeadersFromOpus) {
    // Two packets of 20 ms. The first has 300 bytes, both trims and an extension.
    Buffer payload = hex("7ffc ff2d 0138 0000 02aabb");
    Buffer packet(300, 9);
    packet[0] = 0xFC;
    append(payload, packet);
    append(payload, hex("7fe0 03 fc0102"));
    AudioFrames audio(StreamFormat::opus, 2);
    std::vector<Frame> out;
    EXPECT_EQ(audio.push(payload, 1s, out), 0u);
    ASSERT_EQ(out.size(), 3u);
    EXPECT_EQ(out[0].content, Content::config);
    EXPECT_TRUE(as_text(out[0].data.bytes()).starts_with("OpusHead"));
    EXPECT_TRUE(std::ranges::equal(out[1].data.bytes(), packet));
    EXPECT_EQ(out[2].dts, 1s + 20ms);
    for (std::size_t size = 0; size < payload.size(); ++size) {
        AudioFrames cut(StreamFormat::opus, 2);
        out.clear();
        cut.push(Bytes(payload).first(size), 1s, out);
        EXPECT_EQ(only_frames(out).size(), size < 311U ? 0u : 1u) << size;
        EXPECT_EQ(cut.held_bytes(), 0u);
    }
}

TEST(AudioFrames, HoldsAtMostOneFrame) {
    AudioFrames audio(StreamFormat::aac, 0);
    Buffer longest = adts(Buffer(8'184, 1));
    longest.pop_back();
    std::vector<Frame> out;
    audio.push(longest, 1s, out);
    EXPECT_EQ(audio.held_bytes(), longest.size());
    EXPECT_LE(audio.held_bytes(), AudioFrames::kHeldBytesMax);
    audio.drop();
    EXPECT_EQ(audio.held_bytes(), 0u);
}

TEST(AudioFrames, ReadsLatmAndSkipsErrors) {
    const auto first = codec::latm_test::element(Buffer(300, 7), codec::latm_test::Mux{});
    const auto second = codec::latm_test::element(Buffer(20, 8), {});
    AudioFrames early(StreamFormat::latm, 0);
    std::vector<Frame> out;
    EXPECT_EQ(early.push(second, 1s, out), 0u);
    EXPECT_TRUE(out.empty()) << "an element before its configuration is skipped as a whole";

    Buffer payload = first;
    append(payload, hex("00 56 00"));
    append(payload, second);
    for (std::size_t at = 1; at < payload.size(); ++at) {
        AudioFrames audio(StreamFormat::latm, 0);
        out.clear();
        std::size_t skipped = audio.push(Bytes(payload).first(at), 1s, out);
        skipped += audio.push(Bytes(payload).subspan(at), std::nullopt, out);
        EXPECT_EQ(skipped, 3u) << at;
        ASSERT_EQ(out.size(), 3u) << at;
        EXPECT_TRUE(std::ranges::equal(out[0].data.bytes(), hex("1210")));
        EXPECT_TRUE(std::ranges::equal(out[1].data.bytes(), Buffer(300, 7)));
        EXPECT_EQ(out[2].dts, 1s + MediaTime(1'024 * 1'000'000LL / 44'100));
    }
}

TEST(AudioFrames, ReassemblesAc3AndMpegAudioFramesCutAnywhere) {
    Buffer mpeg(576, 0);
    std::ranges::copy(hex("fffda404"), mpeg.begin());
    for (const auto& [format, frame] : {std::pair(StreamFormat::ac3, ac3(1)), std::pair(StreamFormat::mpeg_audio, mpeg)})
        for (std::size_t at = 1; at < frame.size(); ++at) {
            AudioFrames audio(format, 0);
            std::vector<Frame> out;
            EXPECT_EQ(audio.push(Bytes(frame).first(at), 1s, out), 0u);
            EXPECT_EQ(audio.held_bytes(), at);
            EXPECT_EQ(audio.push(Bytes(frame).subspan(at), 2s, out), 0u);
            ASSERT_EQ(out.size(), 1u) << at;
            EXPECT_EQ(out[0].dts, 1s);
            EXPECT_TRUE(std::ranges::equal(out[0].data.bytes(), frame));
        }
}

TEST(AudioFrames, SkipsDependentSubstreamWithoutIndependentOne) {
    Buffer payload(32, 4);
    std::ranges::copy(hex("0b77 400f 3f 80"), payload.begin());
    Buffer whole(64, 3);
    std::ranges::copy(hex("0b77 001f 3f 80"), whole.begin());
    append(payload, whole);
    AudioFrames audio(StreamFormat::eac3, 0);
    std::vector<Frame> out;
    EXPECT_EQ(audio.push(payload, 1s, out), 32u);
    ASSERT_EQ(out.size(), 1u);
    EXPECT_EQ(out[0].data.size(), 64u);
}

TEST(AudioFrames, SkipsOpusWithoutControlHeader) {
    AudioFrames audio(StreamFormat::opus, 2);
    std::vector<Frame> out;
    EXPECT_EQ(audio.push(hex("7fc0 03 fc0102 7fe0 03 fc0102"), 1s, out), 6u);
    EXPECT_EQ(only_frames(out).size(), 1u);
}

}  // namespace
}  // namespace live::wire::ts
