#include "media/source/publications.hpp"

#include <string>
#include <utility>
#include <vector>

#include <gtest/gtest.h>

namespace live::media {
namespace {

struct TestPublisher final : Publisher {
    using Publisher::fill;
    using Publisher::fills_rtp_log;
    using Publisher::stop_filling;
};

struct PublisherWatch final : StreamWatch {
    void on_publisher_began() override { events.emplace_back("began"); }
    void on_publisher_left() override { events.emplace_back("left"); }
    void on_publisher_confirmed() override { events.emplace_back("confirmed"); }

    std::vector<std::string> events;
};

struct CountingKeyFrames final : KeyFrameSource {
    void on_key_frame_wanted() override { ++wanted; }
    int wanted = 0;
};

using PublisherEvents = std::vector<std::string>;

struct PublicationsTest : ::testing::Test {
    PublicationsTest() { watches.add(watch); }
    PublisherEvents take() { return std::exchange(watch.events, {}); }

    StreamWatches watches;
    PublisherWatch watch;
    Publications publications{watches};
    TestPublisher first;
    TestPublisher second;
};

TEST_F(PublicationsTest, SuccessorEvictsThePublisher) {
    EXPECT_FALSE(publications.is_published());
    publications.start(first);
    EXPECT_TRUE(first.is_current());
    publications.start(second);
    EXPECT_EQ(take(), (PublisherEvents{"began", "began"}));
    EXPECT_FALSE(first.is_current());
    EXPECT_TRUE(first.evicted().is_raised());
    EXPECT_TRUE(second.is_current());
    EXPECT_FALSE(second.evicted().is_raised());
    publications.end(second);
    EXPECT_FALSE(publications.is_published());
    EXPECT_EQ(take(), PublisherEvents()) << "the source reports the end when the last frames are encoded";
}

TEST_F(PublicationsTest, AsksOnlyPublishersThatCanConfirm) {
    EXPECT_FALSE(publications.ask());
    publications.start(first);
    EXPECT_FALSE(publications.ask());
    first.set_can_confirm();
    publications.confirm(first);
    EXPECT_EQ(take(), PublisherEvents{"began"}) << "it was not asked";
    EXPECT_TRUE(publications.ask());
    EXPECT_TRUE(first.is_asked());
    EXPECT_TRUE(first.evicted().consume());
    EXPECT_TRUE(first.is_current());
    publications.confirm(first);
    publications.confirm(first);
    EXPECT_EQ(take(), PublisherEvents{"confirmed"});
    EXPECT_TRUE(publications.ask());
    publications.evict();
    publications.confirm(first);
    EXPECT_EQ(take(), PublisherEvents()) << "it is evicted";
}

TEST_F(PublicationsTest, EvictedPublisherNoLongerReceivesKeyFrameRequests) {
    RtpLog rtp_log;
    CountingKeyFrames key_frames;
    publications.start(first);
    EXPECT_FALSE(publications.brings_rtp());
    first.fill(rtp_log, key_frames);
    EXPECT_TRUE(publications.brings_rtp());
    rtp_log.want_key_frame();
    EXPECT_EQ(key_frames.wanted, 1);
    publications.evict();
    EXPECT_FALSE(publications.brings_rtp());
    rtp_log.want_key_frame();
    EXPECT_EQ(key_frames.wanted, 1);
    EXPECT_TRUE(first.fills_rtp_log()) << "it still holds the log";
}

TEST_F(PublicationsTest, StreamThatMayReturnEndsWhenItMayNotReturn) {
    publications.start(first);
    publications.set_may_return(true);
    publications.end(first);
    EXPECT_EQ(take(), PublisherEvents{"began"});
    EXPECT_TRUE(publications.may_return());
    publications.set_may_return(false);
    publications.set_may_return(false);
    EXPECT_EQ(take(), PublisherEvents{"left"});
    publications.start(second);
    publications.set_may_return(true);
    publications.set_may_return(false);
    EXPECT_EQ(take(), PublisherEvents{"began"}) << "it has returned";
}

}  // namespace
}  // namespace live::media
