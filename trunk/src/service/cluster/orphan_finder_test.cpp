#include "service/cluster/orphan_finder.hpp"

#include <memory>
#include <optional>
#include <vector>

#include <gtest/gtest.h>

#include "io/fibers/loop.hpp"
#include "io/fibers/scope.hpp"
#include "io/fibers/wait_fixture.hpp"
#include "media/source/cursor.hpp"
#include "media/source/publication.hpp"

namespace live::service::cluster {
namespace {

constexpr auto kEveryone = media::Cursor::Audience::some;

class OrphanFinderTest : public testing::Test {
protected:
    Ref<media::Source> source(const std::string& url) { return MUST(streams_.find_or_create(url, {}, 60'000)); }
    // Adds a viewer, who keeps the stream.
    void view(const std::string& url, media::Cursor::Audience audience = kEveryone) {
        viewers_.push_back(std::make_unique<media::Cursor>(source(url), media::WakeMode::batched, media::Cursor::Start::now,
                                                           media::Cursor::Tracks::defaults, audience));
    }
    std::vector<std::string> noted() {
        std::vector<std::string> urls;
        for (auto url = finder_.next(io::Deadline::after(0ms)); url.ok(); url = finder_.next(io::Deadline::after(0ms)))
            urls.push_back(*std::move(url));
        return urls;
    }

    std::unique_ptr<io::Loop> loop_ = MUST(io::Loop::create());
    media::SlabPool pool_;
    media::StreamTable streams_{pool_};
    OrphanFinder finder_{streams_};
    std::vector<std::unique_ptr<media::Cursor>> viewers_;
};

TEST_F(OrphanFinderTest, AnOrphanHasViewersAndNoPublisher) {
    const auto stream = source("/live/cam");
    EXPECT_FALSE(finder_.is_orphan("/live/cam"));
    view("/live/cam", media::Cursor::Audience::none);
    EXPECT_FALSE(finder_.is_orphan("/live/cam")) << "a recording is no viewer";
    view("/live/cam");
    EXPECT_TRUE(finder_.is_orphan("/live/cam"));
    auto publication = MUST(media::Publication::start(stream, media::Takeover::refuse));
    EXPECT_FALSE(finder_.is_orphan("/live/cam"));
    publication.reset();
    EXPECT_TRUE(finder_.is_orphan("/live/cam"));
    EXPECT_FALSE(finder_.is_orphan("/live/unknown"));
}

TEST_F(OrphanFinderTest, ReturnsEachNotedOrphanOnce) {
    view("/live/b");
    view("/live/a");
    for (const char* url : {"/live/b", "/live/a", "/live/b", "/live/unknown"})
        finder_.note(url);
    EXPECT_EQ(noted(), (std::vector<std::string>{"/live/a", "/live/b"}));
    finder_.note("/live/a");
    EXPECT_EQ(noted(), (std::vector<std::string>{"/live/a"}));
}

TEST_F(OrphanFinderTest, NotesAllOrphansOncePerPeriod) {
    const TimePoint start = io::now() + OrphanFinder::kPeriod;
    view("/live/a");
    source("/live/unwatched");
    finder_.note_all(start);
    EXPECT_EQ(noted(), (std::vector<std::string>{"/live/a"}));
    view("/live/b");
    finder_.note_all(start + OrphanFinder::kPeriod - 1ms);
    EXPECT_TRUE(noted().empty());
    finder_.note_all(start + OrphanFinder::kPeriod);
    EXPECT_EQ(noted(), (std::vector<std::string>{"/live/a", "/live/b"}));
}

TEST_F(OrphanFinderTest, BoundsTheNotedOrphans) {
    for (std::size_t i = 0; i <= OrphanFinder::kOrphansMax; ++i) {
        view("/live/" + std::to_string(i));
        finder_.note("/live/" + std::to_string(i));
    }
    EXPECT_EQ(noted().size(), OrphanFinder::kOrphansMax);
}

TEST_F(OrphanFinderTest, WaitsForTheNextNote) {
    view("/live/a");
    io::Scope scope("test");
    std::optional<Result<std::string>> found;
    MUST(scope.start("waits", [&](io::Deadline deadline) { found = finder_.next(deadline); }));
    ASSERT_TRUE(io::yield(io::Deadline::never()).ok());
    EXPECT_FALSE(found);
    finder_.note("/live/a");
    io::wait_until([&] { return found.has_value(); });
    EXPECT_EQ(MUST(*found), "/live/a");

    found.reset();
    MUST(scope.start("is cancelled", [&](io::Deadline deadline) { found = finder_.next(deadline); }));
    ASSERT_TRUE(io::yield(io::Deadline::never()).ok());
    EXPECT_TRUE(scope.stop(io::Deadline::after(io::kSoon)).ok());
    ASSERT_TRUE(found);
    EXPECT_EQ(found->code(), Errc::cancelled);
}

}  // namespace
}  // namespace live::service::cluster
