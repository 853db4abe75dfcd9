#include "wire/codec/audio/latm.hpp"

#include <gtest/gtest.h>

#include "base/bytes/hex_fixture.hpp"
#include "wire/codec/audio/latm_fixture.hpp"

namespace live::wire::codec {
namespace {

using latm_test::element;
using latm_test::Mux;

std::vector<std::uint8_t> counted(std::size_t size) {
    std::vector<std::uint8_t> bytes(size);
    for (std::size_t i = 0; i < size; ++i)
        bytes[i] = static_cast<std::uint8_t>(i * 7);
    return bytes;
}

TEST(Latm, ReadsFramesAsWritten) {
    for (const unsigned version : {0U, 1U}) {
        LatmReader reader;
        std::vector<Slice> frames;
        for (const std::size_t size : {1U, 254U, 255U, 300U, 510U, 1'000U}) {
            const auto bytes = element(counted(size), frames.empty() ? std::optional(Mux{.version = version}) : std::nullopt);
            ByteReader in(bytes);
            ASSERT_TRUE(reader.read(in, frames).ok());
            EXPECT_TRUE(in.at_end());
            EXPECT_TRUE(std::ranges::equal(frames.back().bytes(), counted(size)));
        }
        EXPECT_EQ(frames.size(), 6u);
        EXPECT_EQ(reader.config(), hex("1210"));
        EXPECT_EQ(reader.parsed().sample_rate, 44'100u);
        EXPECT_EQ(reader.parsed().channels, 2);
    }
}

TEST(Latm, BeforeAConfigurationNothingIsKnown) {
    LatmReader reader;
    std::vector<Slice> frames;
    const auto bytes = element(counted(10), {});
    ByteReader in(bytes);
    EXPECT_EQ(reader.read(in, frames).code(), Errc::not_found);
    EXPECT_TRUE(in.at_end()) << "it is skipped";
    EXPECT_TRUE(frames.empty());
}

TEST(Latm, EveryPrefixIsTooShort) {
    const auto bytes = element(counted(300), Mux{});
    for (std::size_t size = 0; size < bytes.size(); ++size) {
        LatmReader reader;
        std::vector<Slice> frames;
        ByteReader in(Bytes(bytes).first(size));
        EXPECT_EQ(reader.read(in, frames).code(), Errc::need_more);
        EXPECT_EQ(in.position(), 0u);
    }
    // Cut inside, with a length field that matches the cut.
    for (std::size_t size = 1; size + 3 < bytes.size(); ++size) {
        auto cut = bytes;
        cut.resize(3 + size);
        cut[1] = static_cast<std::uint8_t>(0xE0 | size >> 8);
        cut[2] = static_cast<std::uint8_t>(size);
        LatmReader reader;
        std::vector<Slice> frames;
        ByteReader in(cut);
        EXPECT_FALSE(reader.read(in, frames).ok()) << size;
    }
    LatmReader reader;
    std::vector<Slice> frames;
    ByteReader in(Bytes(bytes).subspan(1));
    EXPECT_EQ(reader.read(in, frames).code(), Errc::malformed);
}

TEST(Latm, SkipsOptionalFields) {
    struct Case {
        const char* what;
        Mux mux;
        std::uint32_t rate = 44'100;
    };
    for (const Case& one : {
             Case{"a core coder's delay", {.audio = {{0x1210 >> 3, 13}, {0b01, 2}, {77, 14}, {0, 1}}}},
             Case{"an extension", {.audio = {{0x1210 >> 3, 13}, {0b001, 3}, {0, 1}}}},
             Case{"a rate of its own", {.audio = {{2, 5}, {15, 4}, {43'000, 24}, {2, 4}, {0, 3}}}, 43'000},
             Case{"SBR", {.audio = {{5, 5}, {7, 4}, {2, 4}, {4, 4}, {2, 5}, {0, 3}}}, 22'050},
             Case{"parametric stereo", {.audio = {{29, 5}, {7, 4}, {1, 4}, {15, 4}, {44'100, 24}, {2, 5}, {0, 3}}}, 22'050},
             Case{"other data", {.other = {{1, 1}, {1, 1}, {2, 8}, {0, 1}, {9, 8}}}},
             Case{"other data of version 1", {.version = 1, .other = {{1, 1}, {1, 2}, {300, 16}}}},
             Case{"a checksum", {.checksum = {{1, 1}, {0xAB, 8}}}},
         }) {
        SCOPED_TRACE(one.what);
        LatmReader reader;
        std::vector<Slice> frames;
        const auto bytes = element(counted(100), one.mux);
        ByteReader in(bytes);
        const auto read = reader.read(in, frames);
        ASSERT_TRUE(read.ok()) << read.error().text();
        ASSERT_EQ(frames.size(), 1u);
        EXPECT_TRUE(std::ranges::equal(frames[0].bytes(), counted(100)));
        EXPECT_EQ(reader.parsed().sample_rate, one.rate);
    }
}

TEST(Latm, AnElementMayHoldSeveralFrames) {
    LatmReader reader;
    std::vector<Slice> frames;
    const auto bytes = element(counted(30), Mux{.more_subframes = 2});
    ByteReader in(bytes);
    ASSERT_TRUE(reader.read(in, frames).ok());
    ASSERT_EQ(frames.size(), 3u);
    for (const Slice& frame : frames)
        EXPECT_TRUE(std::ranges::equal(frame.bytes(), counted(30)));
}

TEST(Latm, ForgetsTheConfigurationAfterAnInvalidOne) {
    struct Case {
        const char* what;
        Mux mux;
    };
    for (const Case& one : {
             Case{"audioMuxVersionA", {.version = 1, .version_a = true}},
             Case{"streams that differ in time", {.same_time = false}},
             Case{"two programs", {.more_programs = 1}},
             Case{"two layers", {.more_layers = 1}},
             Case{"frames of one length", {.frame_length_type = 1}},
             Case{"AAC scalable", {.audio = {{6, 5}, {4, 4}, {2, 4}, {0, 3}}}},
             Case{"an object type above 31", {.audio = {{31, 5}, {10, 6}, {4, 4}, {2, 4}, {0, 3}}}},
             Case{"channels in the configuration", {.audio = {{2, 5}, {4, 4}, {0, 4}, {0, 3}}}},
         }) {
        SCOPED_TRACE(one.what);
        LatmReader reader;
        std::vector<Slice> frames;
        const auto read = [&](const std::optional<Mux>& mux) {
            const auto bytes = element(counted(20), mux);
            ByteReader in(bytes);
            auto result = reader.read(in, frames);
            EXPECT_TRUE(in.at_end()) << "it is skipped";
            return result.ok() ? Errc{} : result.code();
        };
        EXPECT_EQ(read(Mux{}), Errc{});
        EXPECT_EQ(read(one.mux), Errc::unsupported);
        EXPECT_EQ(read({}), Errc::not_found) << "it refers to the configuration that was refused";
        EXPECT_EQ(frames.size(), 1u);
        EXPECT_EQ(read(Mux{}), Errc{});
        EXPECT_EQ(frames.size(), 2u);
    }
}

}  // namespace
}  // namespace live::wire::codec
