#include "base/bytes/ref.hpp"

#include <utility>

#include <gtest/gtest.h>

namespace live {
namespace {

struct Thing : RefCounted {
    explicit Thing(int& alive) : alive_(alive) { ++alive_; }
    ~Thing() { --alive_; }
    int value = 7;

private:
    int& alive_;
};

TEST(Ref, TheLastOneFreesTheObject) {
    int alive = 0;
    {
        const Ref<Thing> first = make_ref<Thing>(alive);
        EXPECT_EQ(first->ref_count(), 1u);
        {
            const Ref<Thing> second = first;
            EXPECT_EQ(first->ref_count(), 2u);
            EXPECT_EQ(alive, 1);
        }
        EXPECT_EQ(first->ref_count(), 1u);
    }
    EXPECT_EQ(alive, 0);
}

TEST(Ref, MovingDoesNotCount) {
    int alive = 0;
    Ref<Thing> first = make_ref<Thing>(alive);
    const Ref<Thing> second = std::move(first);
    EXPECT_FALSE(first);  // NOLINT: what is left behind is what is tested
    EXPECT_EQ(second->ref_count(), 1u);
}

TEST(Ref, AssignmentReleasesThePreviousObject) {
    int alive = 0;
    Ref<Thing> first = make_ref<Thing>(alive);
    first = make_ref<Thing>(alive);
    EXPECT_EQ(alive, 1);
    const Ref<Thing>& same = first;
    first = same;
    EXPECT_EQ(alive, 1);
    first = Ref<Thing>();
    EXPECT_EQ(alive, 0);
}

TEST(Ref, ToConstSharesTheCount) {
    int alive = 0;
    const Ref<Thing> thing = make_ref<Thing>(alive);
    const Ref<const Thing> reader = thing;
    EXPECT_EQ(thing->ref_count(), 2u);
    EXPECT_EQ(reader->value, 7);
}

TEST(Ref, ComparesObjectsNotContents) {
    int alive = 0;
    const Ref<Thing> first = make_ref<Thing>(alive);
    const Ref<Thing> second = make_ref<Thing>(alive);
    const Ref<Thing> same = first;
    EXPECT_TRUE(first == same);
    EXPECT_FALSE(first == second);
}

}  // namespace
}  // namespace live
