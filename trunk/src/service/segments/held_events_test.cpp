#include "service/segments/held_events.hpp"

#include <gtest/gtest.h>

namespace live::service::segments {
namespace {

SegmenterEvent part(std::uint64_t number, std::size_t bytes) {
    PartMade made;
    made.number = number;
    made.pieces.emplace_back().bytes = bytes;
    return made;
}

SegmenterEvent segment(std::uint64_t number) {
    SegmentMade made;
    made.number = number;
    return made;
}

class HeldEventsTest : public testing::Test {
protected:
    void make(std::vector<SegmenterEvent> events) {
        for (SegmenterEvent& event : events)
            queue_.push_back(std::move(event));
        held_.collect([this](const SegmentState& state) { opened_.push_back(state.number); });
    }
    // The indexes of the events' types.
    std::vector<std::size_t> take() {
        std::vector<std::size_t> types;
        for (const SegmenterEvent& event : held_.take())
            types.push_back(event.index());
        return types;
    }

    static constexpr std::size_t kHeaders = 0;
    static constexpr std::size_t kPart = 1;
    static constexpr std::size_t kSegment = 2;
    static constexpr std::size_t kDropped = 3;

    std::vector<SegmenterEvent> queue_;
    HeldEvents held_{queue_};
    std::vector<std::uint64_t> opened_;
};

TEST_F(HeldEventsTest, HoldsSegmentsUntilTheyAreConfirmed) {
    SegmentState state;
    state.number = 7;
    make({SegmentOpened{state}, HeadersChanged{}, part(7, 10), segment(7), HeadersChanged{}, segment(8)});
    EXPECT_EQ(opened_, std::vector<std::uint64_t>{7});
    EXPECT_EQ(held_.unconfirmed(), 2U);
    EXPECT_EQ(take(), (std::vector{kHeaders, kPart})) << "parts are not held back";
    held_.confirm_below(8);
    EXPECT_EQ(take(), (std::vector{kSegment, kHeaders}));
    EXPECT_EQ(held_.unconfirmed(), 1U);
    held_.release_all();
    EXPECT_EQ(take(), std::vector{kSegment});
    EXPECT_EQ(held_.size(), 0U);
}

TEST_F(HeldEventsTest, LeavesEventsThatItHasNotCollected) {
    make({part(1, 10)});
    queue_.push_back(part(1, 20));
    held_.add(SegmentDropped{1});
    EXPECT_EQ(take(), (std::vector{kPart, kDropped}));
    make({});
    EXPECT_EQ(take(), std::vector{kPart});
}

TEST_F(HeldEventsTest, ReplacesADroppedSegmentWhosePartsWereTaken) {
    make({part(1, 10), segment(1), segment(2)});
    held_.drop_unconfirmed(true);
    EXPECT_EQ(take(), (std::vector{kPart, kDropped}));
    make({segment(3)});
    held_.drop_unconfirmed(false);
    EXPECT_TRUE(take().empty());
}

TEST_F(HeldEventsTest, ErasesASegmentWithItsHeaders) {
    make({segment(1), HeadersChanged{}, segment(2), segment(3)});
    held_.erase_segments(2);
    EXPECT_EQ(held_.size(), 1U);
    held_.release_all();
    EXPECT_EQ(take(), std::vector{kSegment});
}

TEST_F(HeldEventsTest, ErasesTheReleasedPartsOfASegmentThatIsMadeAgain) {
    make({part(5, 10), part(5, 20)});
    take();
    make({part(5, 30), segment(5)});
    EXPECT_EQ(held_.released_parts(5), (std::vector<std::size_t>{10, 20}));
    EXPECT_TRUE(held_.released_parts(6).empty());
    held_.erase_segments(5);
    make({part(5, 10), part(5, 20), part(5, 30), segment(5)});
    EXPECT_TRUE(held_.erase_parts(held_.released_parts(5), 0));
    held_.confirm_below(6);
    EXPECT_EQ(take(), (std::vector{kPart, kSegment}));
    make({part(5, 11)});
    EXPECT_FALSE(held_.erase_parts({10}, 0)) << "another size";
}

}  // namespace
}  // namespace live::service::segments
