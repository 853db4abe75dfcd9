#include "media/source/readers.hpp"

#include <string>
#include <utility>
#include <vector>

#include <gtest/gtest.h>

namespace live::media {
namespace {

struct CountingReader final : PacketReader {
    void on_packets() override {
        ++batches;
        if (leaves != nullptr)
            leaves->remove(*this);
    }
    Sequence sequence() const override { return 0; }
    void jump(Sequence /*to*/) override {}
    bool is_watched() const override { return watched; }

    int batches = 0;
    bool watched = true;
    Readers* leaves = nullptr;
};

struct ViewerWatch final : StreamWatch {
    void on_watched(bool watched) override { events.push_back(watched); }
    std::vector<bool> events;
};

using ViewerEvents = std::vector<bool>;

struct ReadersTest : ::testing::Test {
    ReadersTest() { watches.add(watch); }
    ~ReadersTest() override { watches.remove(watch); }
    ViewerEvents take() { return std::exchange(watch.events, {}); }

    StreamWatches watches;
    ViewerWatch watch;
    Readers readers{watches};
};

TEST_F(ReadersTest, ReportsTheFirstViewerAndTheLast) {
    CountingReader first;
    readers.add(first, WakeMode::at_once);
    EXPECT_EQ(take(), ViewerEvents{true});
    readers.add_log();
    readers.add_log_reader(Audience::some);
    readers.remove(first);
    EXPECT_EQ(take(), ViewerEvents()) << "the log has a viewer";
    EXPECT_TRUE(readers.is_watched());
    readers.remove_log();
    readers.remove_log_reader(Audience::some);
    EXPECT_EQ(take(), ViewerEvents{false});
    EXPECT_EQ(readers.count(), 0U);
    EXPECT_FALSE(readers.any());
}

TEST_F(ReadersTest, ReaderWithoutAudienceIsNoViewer) {
    CountingReader recording;
    recording.watched = false;
    readers.add(recording, WakeMode::batched);
    readers.add_log();
    readers.add_log_reader(Audience::none);
    EXPECT_EQ(readers.count(), 2U);
    EXPECT_EQ(take(), ViewerEvents());
    recording.watched = true;
    readers.note_viewers();
    readers.note_viewers();
    EXPECT_EQ(take(), ViewerEvents{true});
    readers.remove(recording);
    EXPECT_EQ(take(), ViewerEvents{false});
    EXPECT_TRUE(readers.has_logs());
    readers.remove_log();
    readers.remove_log_reader(Audience::none);
    EXPECT_EQ(take(), ViewerEvents());
}

TEST_F(ReadersTest, ListenerMayLeaveWhileItIsNotified) {
    CountingReader hurried;
    CountingReader batched;
    CountingReader leaving;
    leaving.leaves = &readers;
    readers.add(batched, WakeMode::batched);
    EXPECT_FALSE(readers.has_listeners_at_once());
    readers.add(hurried, WakeMode::at_once);
    readers.add(leaving, WakeMode::at_once);
    EXPECT_TRUE(readers.has_listeners_at_once());
    readers.notify();
    readers.notify();
    EXPECT_EQ(leaving.batches, 1);
    EXPECT_EQ(hurried.batches, 2);
    EXPECT_EQ(batched.batches, 2);
    readers.remove(hurried);
    readers.remove(batched);
    EXPECT_FALSE(readers.any());
}

TEST_F(ReadersTest, RemovedWatchGetsNoEvents) {
    ViewerWatch gone;
    ViewerWatch stays;
    watches.add(gone);
    watches.add(stays);
    watches.remove(gone);
    CountingReader reader;
    readers.add(reader, WakeMode::at_once);
    readers.remove(reader);
    EXPECT_EQ(gone.events, ViewerEvents());
    EXPECT_EQ(stays.events, (ViewerEvents{true, false}));
    EXPECT_EQ(take(), (ViewerEvents{true, false}));
    watches.remove(stays);
}

}  // namespace
}  // namespace live::media
