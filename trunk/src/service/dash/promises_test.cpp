#include "service/dash/promises.hpp"

#include <gtest/gtest.h>

namespace live::service::dash {
namespace {

class PromisesTest : public testing::Test {
protected:
    PromisesTest() { promises_.set_tracks({"audio", "video"}); }
    segments::FileRef held(const std::string& name) const { return store_.find("html/live/cam/" + name); }

    segments::Store store_;
    Promises promises_{store_, std::make_shared<segments::StreamOfFiles>(), "html/live/cam/"};
};

TEST_F(PromisesTest, HoldsTheNextSegmentBeforeItBegins) {
    EXPECT_TRUE(promises_.is_empty());
    promises_.make(3);
    const auto next = held("video-4.m4s");
    ASSERT_NE(held("audio-3.m4s"), nullptr);
    ASSERT_NE(next, nullptr);
    EXPECT_EQ(held("video-5.m4s"), nullptr);
    const auto made = promises_.take(3);
    ASSERT_TRUE(made);
    EXPECT_EQ(made->tracks.at(1).held.file, held("video-3.m4s"));
    promises_.make(4);
    EXPECT_EQ(held("video-4.m4s"), next) << "requests wait for it";
    EXPECT_EQ(promises_.current().number, 4U);
    EXPECT_NE(held("audio-5.m4s"), nullptr);
    EXPECT_FALSE(promises_.take(5)) << "not the segment in progress";
}

TEST_F(PromisesTest, AbandonsSegmentsThatAreNotMade) {
    promises_.make(3);
    const auto waited_for = held("video-4.m4s");
    promises_.make(7);
    EXPECT_TRUE(waited_for->is_whole()) << "its requests end";
    EXPECT_EQ(held("video-4.m4s"), nullptr);
    EXPECT_NE(held("video-7.m4s"), nullptr);
    promises_.make(6);
    EXPECT_EQ(promises_.current().number, 6U) << "numbers that start again";
    const auto audio = held("audio-6.m4s");
    const auto video = held("video-6.m4s");
    promises_.set_tracks({"video", "video-1"});
    EXPECT_TRUE(audio->is_whole());
    EXPECT_EQ(held("video-6.m4s"), video);
    EXPECT_NE(held("video-1-7.m4s"), nullptr);
    promises_.abandon_all();
    EXPECT_TRUE(video->is_whole());
    EXPECT_EQ(store_.size(), 0U);
}

}  // namespace
}  // namespace live::service::dash
