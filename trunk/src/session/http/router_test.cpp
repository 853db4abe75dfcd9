#include "session/http/router.hpp"

#include <gtest/gtest.h>

#include "session/common/admission.hpp"

namespace live::session::http {
namespace {

class Nobody final : public Handler {
public:
    Reply handle(const Request&, io::Deadline) override { return {}; }
};

// Accepts one path.
class Only final : public Handler {
public:
    explicit Only(std::string path) : path_(std::move(path)) {}
    bool takes(const Request& request) const override { return request.path() == path_; }

private:
    std::string path_;
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

TEST_F(RouterTest, IdInAPatternIsAnyPart) {
    Nobody clip;
    router_.add("/api/v1/streams/{id}/clip", clip);
    EXPECT_EQ(router_.find("/api/v1/streams/vid-1/clip").handler, &clip);
    EXPECT_EQ(router_.find("/api/v1/streams/vid-1").handler, &streams_);
    EXPECT_EQ(router_.find("/api/v1/streams/clip").handler, &streams_);
    EXPECT_EQ(router_.find("/api/v1/streams/a/b/clip").handler, &streams_);
    for (const char* path : {"", "/", "clip", "/clip", "//"})
        EXPECT_NE(router_.find(path).handler, &clip) << path;
}

TEST_F(RouterTest, TheLongestPatternWins) {
    EXPECT_EQ(router_.find("/").handler, &root_);
    EXPECT_EQ(router_.find("/index.html").handler, &root_);
    EXPECT_EQ(router_.find("/api/").handler, &api_);
    EXPECT_EQ(router_.find("/api/v1/versions").handler, &versions_);
    EXPECT_EQ(router_.find("/api/v1/streams/").handler, &streams_);
    EXPECT_EQ(router_.find("/api/v1/streams/vid-1/x").handler, &streams_);
}

TEST_F(RouterTest, AnExactPatternTakesItselfAndASlash) {
    EXPECT_EQ(router_.find("/api/v1/versions/").handler, &versions_);
    EXPECT_EQ(router_.find("/api/v1/versions//").handler, &api_);
    EXPECT_EQ(router_.find("/api/v1/versions/x").handler, &api_);
    EXPECT_EQ(router_.find("/api/v1/versionsx").handler, &api_);
}

TEST_F(RouterTest, AFolderWithoutItsSlashIsSentThere) {
    const auto match = router_.find("/api/v1/streams");
    EXPECT_EQ(match.handler, nullptr);
    EXPECT_EQ(match.redirect, "/api/v1/streams/");
}

TEST_F(RouterTest, TriesFallbacksInOrderBeforeTheRoot) {
    Only first("/live/cam.flv"), second("/live/cam.flv"), api("/api/");
    router_.add_fallback(first);
    router_.add_fallback(second);
    router_.add_fallback(api);
    const auto find = [this](std::string path) {
        Request request;
        request.target.path = std::move(path);
        return router_.find(request);
    };
    EXPECT_EQ(find("/live/cam.flv").handler, &first);
    EXPECT_EQ(find("/live/other.flv").handler, &root_);
    EXPECT_EQ(find("/api/").handler, &api_);
    EXPECT_EQ(find("/api/v1/streams").redirect, "/api/v1/streams/");
    Router bare;
    bare.add_fallback(second);
    Request request;
    request.target.path = "/live/cam.flv";
    EXPECT_EQ(bare.find(request).handler, &second);
    request.target.path = "/x";
    EXPECT_EQ(bare.find(request).handler, nullptr);
}

TEST(HttpRequest, NamesItsVirtualHost) {
    const auto vhost = [](std::string_view target, const char* host) {
        Request request;
        request.target = MUST(wire::http::parse_target(target));
        if (host != nullptr)
            request.message.headers.add("Host", host);
        return request.vhost();
    };
    EXPECT_EQ(vhost("/", "a.example:8080"), "a.example");
    EXPECT_EQ(vhost("/", "[::1]:8080"), "::1");
    EXPECT_EQ(vhost("/?vhost=b.example", "a.example"), "b.example");
    EXPECT_EQ(vhost("/?domain=c.example", "a.example"), "c.example");
    EXPECT_EQ(vhost("/?vhost=", "a.example"), "a.example");
    EXPECT_EQ(vhost("/?vhost=b.example&v%68ost=c&domain=d", "a.example"), "b.example");
    EXPECT_EQ(vhost("/?token=x?vhost=b.example", "a.example"), "b.example") << "as in RTMP";
    EXPECT_EQ(vhost("/", nullptr), "");
    EXPECT_EQ(vhost("/", "["), "");
}

TEST_F(RouterTest, ARelayStatesTheVirtualHostOfALiveStream) {
    Request request;
    request.target = wire::http::parse_target("/live/cam.flv?vhost=b.example").value();
    request.message.headers.add(std::string(kRelayVhostField), "a.example");
    EXPECT_EQ(request.stream_vhost(), "b.example") << "it is no relay";
    request.message.headers.add(std::string(kRelayPathField), "vid-1");
    EXPECT_EQ(request.stream_vhost(), "a.example");
    EXPECT_EQ(request.vhost(), "b.example");
}

TEST_F(RouterTest, WithoutARootNothingAnswers) {
    Router router;
    router.add("/api/", api_);
    EXPECT_EQ(router.find("/x").handler, nullptr);
    EXPECT_EQ(router.find("").handler, nullptr);
    EXPECT_EQ(router.find("*").handler, nullptr);
    EXPECT_EQ(router.find("/x").redirect, "");
}

TEST_F(RouterTest, TriesTheFrontFirst) {
    Only front("/api/v1/streams/");
    router_.set_front(front);
    Request request;
    request.target.path = "/api/v1/streams/";
    EXPECT_EQ(router_.find(request).handler, &front);
    request.target.path = "/api/v1/versions";
    EXPECT_EQ(router_.find(request).handler, &versions_);
}

}  // namespace
}  // namespace live::session::http
