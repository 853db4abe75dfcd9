#include "media/ring/splice_points.hpp"

#include <gtest/gtest.h>

#include "wire/scte35/splice_info.hpp"

namespace live::media {
namespace {

TimedEvent splice_at(MediaTime at, std::uint32_t id = 1, std::optional<std::uint64_t> break_ticks = {}) {
    wire::scte35::SpliceInsert insert{.event_id = id, .out_of_network = true, .immediate = true};
    if (break_ticks)
        insert.duration = wire::scte35::BreakDuration{true, *break_ticks};
    const auto section = wire::scte35::write_splice_info({.command = wire::scte35::Command::splice_insert, .insert = insert});
    return {.kind = TimedEvent::Kind::splice, .at = at, .data = Slice::copy_of(section)};
}

TEST(SplicePoints, CutsOnceAtASplice) {
    SplicePoints points;
    points.begin_segment(1s);
    points.add(splice_at(4s));
    EXPECT_FALSE(points.is_cut_due(3'990ms));
    EXPECT_TRUE(points.is_cut_due(3'996ms));  // whole milliseconds are earlier than exact times
    EXPECT_TRUE(points.is_cut_due(6s));
    points.begin_segment(4s, 80ms);
    EXPECT_FALSE(points.is_cut_due(100s));
    EXPECT_EQ(points.lead(), 80ms);
    points.add(splice_at(4'001ms));  // repeated
    EXPECT_FALSE(points.is_cut_due(100s));
}

TEST(SplicePoints, CutsAtTheEndOfABreakThatReturns) {
    SplicePoints points;
    points.add(splice_at(4s, 1, 180'000));
    points.begin_segment(4s);
    EXPECT_FALSE(points.is_cut_due(5'990ms));
    EXPECT_TRUE(points.is_cut_due(6s));
}

TEST(SplicePoints, AnotherNodeCutsInTheSamePlaces) {
    SplicePoints points;
    points.add(splice_at(4s, 1, 180'000));
    points.add(splice_at(8s, 2));
    points.add(splice_at(8s, 2));
    ASSERT_EQ(points.splices().size(), 2u);
    SplicePoints other;
    other.restore(points.splices());
    EXPECT_EQ(other.splices(), points.splices());
    for (const MediaTime at : {4s, 6s, 8s}) {
        EXPECT_TRUE(other.is_cut_due(at));
        other.begin_segment(at);
        EXPECT_FALSE(other.is_cut_due(at + 1s));
    }
}

TEST(SplicePoints, KeepsTheNewest) {
    SplicePoints points;
    for (std::uint32_t i = 0; i < 100; ++i)
        points.add(splice_at(std::chrono::seconds(i), i));
    EXPECT_EQ(points.splices().size(), SplicePoints::kMax);
    EXPECT_EQ(points.splices().back().at, 99s);
}

}  // namespace
}  // namespace live::media
