#include "base/media_kind.hpp"

#include <gtest/gtest.h>

namespace live {
namespace {

TEST(MediaKind, HasNamesAndIndexes) {
    EXPECT_EQ(name_of(MediaKind::audio), "audio");
    EXPECT_EQ(name_of(MediaKind::video), "video");
    EXPECT_EQ(name_of(MediaKind::data), "data");
    EXPECT_EQ(index_of(MediaKind::audio), 0U);
    EXPECT_EQ(index_of(MediaKind::data), kMediaKindCount - 1);
}

TEST(MediaKind, SetAddsAndRemoves) {
    MediaKindSet set;
    EXPECT_EQ(set, MediaKindSet());
    EXPECT_FALSE(set.has(MediaKind::audio));
    set.add(MediaKind::video);
    EXPECT_TRUE(set.has(MediaKind::video));
    EXPECT_FALSE(set.has(MediaKind::data));
    EXPECT_TRUE(MediaKindSet::all().has_all(set));
    EXPECT_FALSE(set.has_all(MediaKindSet::all()));
    set.add(MediaKindSet::all());
    EXPECT_EQ(set, MediaKindSet::all());
    set.remove(MediaKind::video);
    EXPECT_FALSE(set.has(MediaKind::video));
    EXPECT_TRUE(set.has(MediaKind::audio));
    set.clear();
    EXPECT_EQ(set, MediaKindSet());
}

}  // namespace
}  // namespace live
