#include "wire/ts/read/pes_reader.hpp"

#include <gtest/gtest.h>

#include "base/bytes/hex_fixture.hpp"
#include "wire/ts/clock.hpp"
#include "wire/ts/read/ts_builder_fixture.hpp"
#include "wire/ts/write/pes.hpp"

namespace live::wire::ts {
namespace {

TEST(PesReader, ReadsMuxedStreams) {
    const PesHeader both = pes_header(PesStream::video, {.pts = 3s, .dts = 2s}, 100'000);
    const auto read = parse_pes(both.view()).value();
    EXPECT_EQ(read.stream_id, 0xE0);
    EXPECT_EQ(read.pts, ticks_of(3s));
    EXPECT_EQ(read.dts, ticks_of(2s));
    EXPECT_EQ(read.header_bytes, both.size);
    const PesHeader one = pes_header(PesStream::audio, {.pts = -1s, .dts = {}}, 10);
    EXPECT_EQ(parse_pes(one.view())->pts, ticks_of(-1s)) << "all 33 bits";
    EXPECT_FALSE(parse_pes(one.view())->dts);
}

TEST(PesReader, EveryPrefixIsTooShort) {
    const auto unit = built_pes(0xE0, {.pts = 90'000, .dts = 80'000}, {});
    for (std::size_t size = 0; size < unit.size(); ++size)
        EXPECT_EQ(parse_pes(Bytes(unit).first(size)).code(), Errc::need_more) << size;
    EXPECT_TRUE(parse_pes(unit).ok());
}

TEST(PesReader, RefusesOtherBytes) {
    EXPECT_EQ(parse_pes(hex("000002 e0 0000 80 00 00")).code(), Errc::malformed);
    EXPECT_EQ(parse_pes(hex("000001 e0 0000 40 00 00")).code(), Errc::malformed) << "MPEG-1";
    EXPECT_EQ(parse_pes(hex("000001 e0 0000 80 80 02 21 00")).code(), Errc::need_more) << "a time that does not fit";
    EXPECT_EQ(parse_pes(hex("000001 be 0000"))->header_bytes, 6u) << "padding";
}

TEST(PesAssembler, TakesUnitsByTheirLength) {
    const auto unit = built_pes(0xC0, {.pts = 1}, std::vector<std::uint8_t>(300, 5));
    PesAssembler pes;
    EXPECT_FALSE(pes.push(Bytes(unit)).has_value()) << "no unit has begun";
    EXPECT_FALSE(pes.begin().has_value());
    EXPECT_FALSE(pes.push(Bytes(unit).first(150)).has_value());
    EXPECT_GT(pes.held_bytes(), 0u);
    const auto whole = pes.push(Bytes(unit).subspan(150));
    ASSERT_TRUE(whole.has_value());
    EXPECT_TRUE(std::ranges::equal(whole->bytes(), unit));
    EXPECT_EQ(pes.held_bytes(), 0u);
    EXPECT_FALSE(pes.push(hex("ff")).has_value()) << "stuffing behind it";
}

TEST(PesAssembler, UnitsKeepNoMemoryBesidesTheirOwn) {
    PesAssembler pes;
    for (const std::size_t payloads : {1U, 100U, 2U, 500U, 3U}) {
        pes.begin();
        const auto start = built_pes(0xE0, {.pts = 1}, std::vector<std::uint8_t>(100, 1), false);
        EXPECT_FALSE(pes.push(start));
        for (std::size_t i = 1; i < payloads; ++i) {
            const std::vector<std::uint8_t> payload(184, static_cast<std::uint8_t>(i));
            EXPECT_TRUE(pes.push_inside(payload) || !pes.push(payload));
        }
        const auto unit = pes.finish();
        ASSERT_TRUE(unit);
        ASSERT_EQ(unit->size(), start.size() + (payloads - 1) * 184);
        EXPECT_EQ(unit->memory_bytes(), unit->size());
        for (std::size_t i = 1; i < payloads; ++i)
            EXPECT_EQ(unit->bytes()[start.size() + i * 184 - 1], static_cast<std::uint8_t>(i));
    }
}

TEST(PesAssembler, TakesUnitsOfUnknownLengthWithTheNextOne) {
    const auto unit = built_pes(0xE0, {.pts = 1}, std::vector<std::uint8_t>(100'000, 5), false);
    PesAssembler pes;
    EXPECT_FALSE(pes.begin().has_value());
    for (std::size_t at = 0; at < unit.size(); at += 184)
        EXPECT_FALSE(pes.push(Bytes(unit).subspan(at, std::min<std::size_t>(184, unit.size() - at))).has_value());
    const auto whole = pes.begin();
    ASSERT_TRUE(whole.has_value());
    EXPECT_TRUE(std::ranges::equal(whole->bytes(), unit));
    EXPECT_FALSE(pes.push(unit).has_value());
    EXPECT_TRUE(pes.finish().has_value());
}

TEST(PesAssembler, DropsTruncatedUnits) {
    const auto unit = built_pes(0xC0, {.pts = 1}, std::vector<std::uint8_t>(300, 5));
    PesAssembler pes;
    EXPECT_FALSE(pes.begin().has_value());
    EXPECT_FALSE(pes.push(Bytes(unit).first(150)).has_value());
    EXPECT_FALSE(pes.begin().has_value());
    EXPECT_EQ(pes.dropped(), 1u);
    EXPECT_TRUE(pes.push(unit).has_value());
}

TEST(PesAssembler, HoldsUnitsUpToItsLimit) {
    const auto head = built_pes(0xE0, {}, {}, false);
    for (const std::size_t more : {0U, 1U}) {
        PesAssembler pes;
        EXPECT_FALSE(pes.begin().has_value());
        EXPECT_FALSE(pes.push(head).has_value());
        for (std::size_t left = PesAssembler::kUnitBytesMax - head.size() + more; left > 0;) {
            const std::size_t size = std::min<std::size_t>(left, 50'000);
            EXPECT_FALSE(pes.push(std::vector<std::uint8_t>(size, 1)).has_value());
            EXPECT_LE(pes.held_bytes(), PesAssembler::kUnitBytesMax);
            left -= size;
        }
        EXPECT_EQ(pes.finish().has_value(), more == 0);
        EXPECT_EQ(pes.dropped(), more);
    }
}

}  // namespace
}  // namespace live::wire::ts
