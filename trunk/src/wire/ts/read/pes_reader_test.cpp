#include "wire/ts/read/pes_reader.hpp"

#include <gtest/gtest.h>

#include <set>

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
    EXPECT_TRUE(std::ranges::equal(whole->bytes, unit));
    EXPECT_EQ(pes.held_bytes(), 0u);
    EXPECT_FALSE(pes.push(hex("ff")).has_value()) << "stuffing behind it";
}

// A unit without a length, of a payload of 100 bytes and more of 184.
std::optional<PesAssembler::Unit> assembled(PesAssembler& pes, std::size_t payloads, std::uint8_t value) {
    pes.begin();
    EXPECT_FALSE(pes.push(built_pes(0xE0, {.pts = 1}, std::vector<std::uint8_t>(100, value), false)));
    for (std::size_t i = 1; i < payloads; ++i) {
        const std::vector<std::uint8_t> payload(184, static_cast<std::uint8_t>(value + i));
        EXPECT_TRUE(pes.push_inside(payload) || !pes.push(payload));
    }
    return pes.finish();
}

TEST(PesAssembler, UnitsShareBlocksAndLongOnesHaveTheirOwn) {
    PesAssembler pes;
    std::vector<PesAssembler::Unit> kept;
    std::vector<std::size_t> counts;
    std::size_t memory = 0;
    std::size_t bytes = 0;
    std::size_t shared = 0;
    for (int round = 0; round < 40; ++round)
        for (const std::size_t payloads : {1U, 30U, 2U, 60U, 3U, 500U, 55U}) {
            auto unit = assembled(pes, payloads, static_cast<std::uint8_t>(kept.size()));
            ASSERT_TRUE(unit);
            EXPECT_EQ(unit->bytes.data(), unit->slice.data());
            EXPECT_EQ(unit->bytes.size(), unit->slice.size());
            bytes += unit->slice.size();
            if (unit->slice.size() > PesAssembler::kBlockBytes) {
                EXPECT_EQ(unit->slice.memory_bytes(), unit->slice.size()) << "the rest is given back";
            } else {
                EXPECT_LE(unit->slice.memory_bytes(), PesAssembler::kBlockBytes);
            }
            if (kept.empty() || kept.back().slice.memory() != unit->slice.memory())
                memory += unit->slice.memory_bytes();
            else
                ++shared;
            kept.push_back(*std::move(unit));
            counts.push_back(payloads);
        }
    EXPECT_GT(shared, kept.size() / 3);
    EXPECT_LE(memory, bytes * 2);
    // None has overwritten another one.
    for (std::size_t k = 0; k < kept.size(); ++k) {
        const Bytes unit = kept[k].slice.bytes();
        for (std::size_t i = 1; i < counts[k]; ++i)
            ASSERT_EQ(unit[unit.size() - (counts[k] - i) * 184], static_cast<std::uint8_t>(k + i)) << k << " " << i;
    }
}

TEST(PesAssembler, ABlockOfWhichNothingIsKeptIsUsedAgain) {
    PesAssembler pes;
    std::set<const void*> memories;
    for (int i = 0; i < 1'000; ++i) {
        const auto unit = assembled(pes, 10, 1);
        ASSERT_TRUE(unit);
        memories.insert(unit->slice.memory());
    }
    EXPECT_LE(memories.size(), 3U);
}

TEST(PesAssembler, TakesUnitsOfUnknownLengthWithTheNextOne) {
    const auto unit = built_pes(0xE0, {.pts = 1}, std::vector<std::uint8_t>(100'000, 5), false);
    PesAssembler pes;
    EXPECT_FALSE(pes.begin().has_value());
    for (std::size_t at = 0; at < unit.size(); at += 184)
        EXPECT_FALSE(pes.push(Bytes(unit).subspan(at, std::min<std::size_t>(184, unit.size() - at))).has_value());
    const auto whole = pes.begin();
    ASSERT_TRUE(whole.has_value());
    EXPECT_TRUE(std::ranges::equal(whole->bytes, unit));
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
