#include "wire/ps/codec_guess.hpp"

#include <gtest/gtest.h>

#include "base/bytes/hex_fixture.hpp"
#include "wire/ps/ps_builder_fixture.hpp"

namespace live::wire::ps {
namespace {

std::vector<std::uint8_t> twice(const std::vector<std::uint8_t>& bytes) {
    auto out = bytes;
    out.insert(out.end(), bytes.begin(), bytes.end());
    return out;
}

TEST(CodecGuess, FindsParameterSets) {
    EXPECT_EQ(guess_video(hex("00000001 09f0 00000001 67640028")), StreamFormat::avc);
    EXPECT_EQ(guess_video(hex("000001 274d001f 000001 28ee")), StreamFormat::avc);
    EXPECT_EQ(guess_video(hex("00000001 4001 0c01 00000001 4201 01")), StreamFormat::hevc);
    EXPECT_EQ(guess_video(hex("00000001 4601 50 00000001 4201 01")), StreamFormat::hevc);
}

TEST(CodecGuess, SlicesAloneSayNothing) {
    EXPECT_FALSE(guess_video(hex("00000001 65888400")).has_value());
    EXPECT_FALSE(guess_video(hex("00000001 0201d0")).has_value());
    EXPECT_FALSE(guess_video(hex("67640028")).has_value());
    EXPECT_FALSE(guess_video(hex("000001 67")).has_value()) << "cut";
    EXPECT_FALSE(guess_video({}).has_value());
}

TEST(CodecGuess, LooksAtTheFirstUnitsOnly) {
    for (const std::size_t before : {kGuessedUnitsMax - 1, kGuessedUnitsMax}) {
        std::vector<std::uint8_t> unit;
        for (std::size_t i = 0; i < before; ++i)
            for (const std::uint8_t byte : hex("000001 0610"))
                unit.push_back(byte);
        for (const std::uint8_t byte : hex("000001 67640028"))
            unit.push_back(byte);
        EXPECT_EQ(guess_video(unit).has_value(), before < kGuessedUnitsMax);
    }
}

TEST(CodecGuess, AudioFramesMustFillThePayload) {
    const auto frame = built_adts(40);
    EXPECT_EQ(guess_audio(frame), StreamFormat::aac);
    auto more = twice(frame);
    EXPECT_EQ(guess_audio(more), StreamFormat::aac);
    more.resize(more.size() - 20);
    EXPECT_EQ(guess_audio(more), StreamFormat::aac) << "the last frame is cut";
    EXPECT_FALSE(guess_audio(Bytes(frame).first(30)).has_value());
    auto followed = frame;
    followed.resize(followed.size() + 100, 0xD5);
    EXPECT_FALSE(guess_audio(followed).has_value());
    EXPECT_FALSE(guess_audio({}).has_value());
}

TEST(CodecGuess, MpegAudioByItsFrames) {
    auto frame = hex("fffb9064");  // layer III, 128 kbit/s, 44.1 kHz: 417 bytes
    frame.resize(417);
    EXPECT_EQ(guess_audio(twice(frame)), StreamFormat::mpeg_audio);
}

TEST(CodecGuess, QuietSamplesDistinguishTheLaws) {
    EXPECT_EQ(law_balance(std::vector<std::uint8_t>(320, 0xFF)), 320);
    EXPECT_EQ(law_balance(std::vector<std::uint8_t>(320, 0xD5)), -320);
    EXPECT_EQ(law_balance(hex("ff7ef97b f0")), 5) << "mu-law: 0, -2, 12, -8, 30";
    EXPECT_EQ(law_balance(hex("d555d45a d1")), -5) << "A-law: 8, -8, 24, -248, 72";
    EXPECT_EQ(law_balance(hex("80002aaa")), 0) << "loud";
}

TEST(CodecGuess, SilenceOfG711IsNeither) {
    EXPECT_FALSE(guess_audio(std::vector<std::uint8_t>(320, 0xFF)).has_value()) << "mu-law";
    EXPECT_FALSE(guess_audio(std::vector<std::uint8_t>(320, 0xD5)).has_value()) << "A-law";
}

}  // namespace
}  // namespace live::wire::ps
