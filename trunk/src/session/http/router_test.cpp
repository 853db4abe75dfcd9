#include "session/http/router.hpp"

#include <gtest/gtest.h>

namespace live::session::http {
namespace {

class Nobody final : public Handler {
public:
    Reply handle(const Request&, io::Deadline) override { return {}; }
};

class RouterTest : public testing::Test {
protected:
    RouterTest() {
        router_.add("/", root_);
        router_.add("/api/", api_);
        router_.add("/api/v1/versions", versions_);
        router_.add("/api/v1/streams/", streams_);
    }
    Nobody root_, api_, versions_, streams_;
    Router router_;
};

TEST_F(RouterTest, TheLongestPatternWins) {
    EXPECT_EQ(router_.find("/").handler, &root_);
    EXPECT_EQ(router_.find("/index.html").handler, &root_);
    EXPECT_EQ(router_.find("/api/").handler, &api_);
    EXPECT_EQ(router_.find("/api/v1/versions").handler, &versions_);
    EXPECT_EQ(router_.find("/api/v1/streams/").handler, &streams_);
    EXPECT_EQ(router_.find("/api/v1/streams/vid-1/x").handler, &streams_);
}

TEST_F(RouterTest, AnExactPatternTakesOnlyItself) {
    EXPECT_EQ(router_.find("/api/v1/versions/").handler, &api_);
    EXPECT_EQ(router_.find("/api/v1/versionsx").handler, &api_);
}

TEST_F(RouterTest, AFolderWithoutItsSlashIsSentThere) {
    const auto match = router_.find("/api/v1/streams");
    EXPECT_EQ(match.handler, nullptr);
    EXPECT_EQ(match.redirect, "/api/v1/streams/");
}

TEST_F(RouterTest, WithoutARootNobodyAnswers) {
    Router router;
    router.add("/api/", api_);
    EXPECT_EQ(router.find("/x").handler, nullptr);
    EXPECT_EQ(router.find("").handler, nullptr);
    EXPECT_EQ(router.find("*").handler, nullptr);
    EXPECT_EQ(router.find("/x").redirect, "");
}

}  // namespace
}  // namespace live::session::http
