#include "service/forward/destination.hpp"

#include <vector>

#include <gtest/gtest.h>

namespace live::service::forward {
namespace {

const StreamName kCamera{"", "live", "cam", "?token=t"};

struct Case {
    const char* name;
    const char* text;
    StreamName stream;
    bool is_secure;
    const char* host;
    std::uint16_t port;
    const char* tc_url;
    const char* app;
    const char* sent_stream;
    const char* label;
};

const std::vector<Case> kCases = {
    {"host", "origin", kCamera, false, "origin", 1935, "rtmp://origin:1935/live", "live", "cam?token=t",
     "rtmp://origin:1935/live/cam"},
    {"host_port", "127.0.0.1:19350", kCamera, false, "127.0.0.1", 19350, "rtmp://127.0.0.1:19350/live", "live", "cam?token=t",
     "rtmp://127.0.0.1:19350/live/cam"},
    {"ipv6", "[::1]:19350", kCamera, false, "::1", 19350, "rtmp://[::1]:19350/live", "live", "cam?token=t",
     "rtmp://[::1]:19350/live/cam"},
    {"vhost",
     "a:1",
     {"v.example", "live", "cam", ""},
     false,
     "a",
     1,
     "rtmp://a:1/live?vhost=v.example",
     "live",
     "cam",
     "rtmp://a:1/live/cam"},
    {"query_with_vhosts",
     "a:1",
     {"open", "live", "cam", "?vhost=open&domain=w&token=t&x?v%68ost=w"},
     false,
     "a",
     1,
     "rtmp://a:1/live?vhost=open",
     "live",
     "cam?token=t&x",
     "rtmp://a:1/live/cam"},
    {"query_without_question_mark",
     "a:1",
     {"", "live", "cam", "app=live&stream=cam"},
     false,
     "a",
     1,
     "rtmp://a:1/live",
     "live",
     "cam?app=live&stream=cam",
     "rtmp://a:1/live/cam"},
    {"other_app_query_with_vhosts",
     "rtmp://a:5/in",
     {"", "live", "cam", "?domain=w&a=1"},
     false,
     "a",
     5,
     "rtmp://a:5/in",
     "in",
     "cam?a=1",
     "rtmp://a:5/in/cam"},
    {"url_without_path", "rtmps://a", kCamera, true, "a", 443, "rtmps://a:443/live", "live", "cam?token=t",
     "rtmps://a:443/live/cam"},
    {"url_with_slash", "rtmp://a/", kCamera, false, "a", 1935, "rtmp://a:1935/live", "live", "cam?token=t",
     "rtmp://a:1935/live/cam"},
    {"other_app",
     "rtmp://a:5/in?vhost=b",
     {"v", "live", "cam", ""},
     false,
     "a",
     5,
     "rtmp://a:5/in?vhost=b",
     "in",
     "cam",
     "rtmp://a:5/in/cam"},
    {"other_app_empty_query", "rtmps://a:5/in?", kCamera, true, "a", 5, "rtmps://a:5/in", "in", "cam?token=t",
     "rtmps://a:5/in/cam"},
    {"whole_url", "rtmps://a/x/y/secret-key?k=v", kCamera, true, "a", 443, "rtmps://a:443/x/y", "x/y", "secret-key?k=v",
     "rtmps://a:443/x/y/***"},
};

TEST(ForwardDestination, ParsesEveryForm) {
    for (const Case& each : kCases) {
        SCOPED_TRACE(each.name);
        const auto made = make_destination(each.text, each.stream);
        ASSERT_TRUE(made.ok()) << made.error().text();
        EXPECT_EQ(made->is_secure, each.is_secure);
        EXPECT_EQ(made->host, each.host);
        EXPECT_EQ(made->port, each.port);
        EXPECT_EQ(made->tc_url, each.tc_url);
        EXPECT_EQ(made->app, each.app);
        EXPECT_EQ(made->stream, each.sent_stream);
        EXPECT_EQ(made->label, each.label);
    }
}

TEST(ForwardDestination, RejectsUnreachableText) {
    for (const char* text :
         {"", ":1935", "a:0", "a:65536", "a:x", "a:", "http://a/live", "rtmp://", "rtmp:///live", "[::1", "[::1]x", "[]",
          "rtmp://u:secret@a:1935/live/secret?token=secret", "http://a/live/secret", "[/secret", "a:x?token=secret"}) {
        SCOPED_TRACE(text);
        const auto made = make_destination(text, kCamera);
        ASSERT_FALSE(made.ok());
        EXPECT_EQ(made.code(), Errc::malformed);
        EXPECT_EQ(made.error().text().find("secret"), std::string::npos) << made.error().text();
    }
}

TEST(ForwardDestination, BoundsLength) {
    EXPECT_TRUE(make_destination(std::string(kDestinationBytesMax, 'a'), kCamera).ok());
    EXPECT_EQ(make_destination(std::string(kDestinationBytesMax + 1, 'a'), kCamera).code(), Errc::limit);
}

TEST(ForwardDestination, FollowsReconnectRequest) {
    const auto from = MUST(make_destination("rtmp://a.example/app?k=v", kCamera));
    EXPECT_EQ(MUST(moved_destination(from, "")).tc_url, from.tc_url);
    const auto moved = MUST(moved_destination(from, "rtmp://192.0.2.1:1936/live/deep?token=x"));
    EXPECT_EQ(moved.tc_url, "rtmp://192.0.2.1:1936/live/deep?token=x");
    EXPECT_EQ(moved.app, "live/deep");
    EXPECT_EQ(moved.stream, from.stream);
    EXPECT_EQ(moved.label.find("token"), std::string::npos);
    EXPECT_EQ(MUST(moved_destination(from, "//b.example")).tc_url, "rtmp://b.example:1935/app") << "the same app";
    EXPECT_EQ(MUST(moved_destination(from, "/other")).tc_url, "rtmp://a.example:1935/other");
    EXPECT_TRUE(MUST(moved_destination(from, "rtmps://b.example/app")).is_secure);
}

TEST(ForwardDestination, ReportsWhetherOperatorListedIt) {
    const Destination from = MUST(make_destination("rtmp://192.0.2.1/live", {"", "live", "cam", ""}));
    EXPECT_TRUE(from.is_named);
    EXPECT_TRUE(MUST(moved_destination(from, "")).is_named);
    EXPECT_TRUE(MUST(moved_destination(from, "/other")).is_named);
    EXPECT_TRUE(MUST(moved_destination(from, "rtmp://192.0.2.1:1935/live")).is_named);
    const Destination to = MUST(moved_destination(from, "rtmp://127.0.0.1/live"));
    EXPECT_FALSE(to.is_named);
    EXPECT_FALSE(MUST(moved_destination(to, "")).is_named);
    EXPECT_FALSE(MUST(moved_destination(from, "rtmp://192.0.2.1:1936/live")).is_named);
}

TEST(ForwardDestination, RejectsUnsafeReconnectRequest) {
    const auto from = MUST(make_destination("rtmps://a.example/app", kCamera));
    EXPECT_EQ(moved_destination(from, "rtmp://a.example/app").code(), Errc::denied) << "TLS is kept";
    EXPECT_TRUE(MUST(moved_destination(from, "//b.example/app")).is_secure);
    for (const char* text : {"rtmps", "rtmps:", "rtmps://", "rtmps:///app", "http://a/live", "live", "rtmps://a:0/x",
                             "rtmps://a y/x", "rtmps://\xC3\xA9/x", "rtmps://a/\xFF", "rtmps://a/\n", "//", "//:1/x"})
        EXPECT_EQ(moved_destination(from, text).code(), Errc::malformed) << text;
    EXPECT_EQ(MUST(moved_destination(from, "rtmps://a/le \xC3\xA9t\xC3\xA9")).app, "le \xC3\xA9t\xC3\xA9");
    EXPECT_EQ(moved_destination(from, "rtmps://" + std::string(kDestinationBytesMax, 'a')).code(), Errc::limit);
}

TEST(SrtDestination, KeepsNamesOfStream) {
    const StreamName name{"", "live", "cam", "?token=x"};
    EXPECT_EQ(MUST(make_srt_destination("srt://h.example:9000", name)).stream_id, "#!::r=live/cam,m=publish");
    EXPECT_EQ(MUST(make_srt_destination("srt://h.example:9000", {"v.example", "live", "cam", ""})).stream_id,
              "#!::h=v.example,r=live/cam,m=publish");
    EXPECT_EQ(
        MUST(make_srt_destination("srt://h.example:9000?streamid=publish:[app]/[stream]:[param]&latency=200", name)).stream_id,
        "publish:live/cam:token=x");
    EXPECT_EQ(MUST(make_srt_destination("srt://h.example:9000", name, session::srt::Mode::request)).stream_id,
              "#!::r=live/cam,m=request");
    EXPECT_EQ(make_srt_destination("srt://h.example:9000", {"", "live", "cam,r=live/other", ""}).code(), Errc::unsupported);
    const StreamName odd{"", "le caf\xC3\xA9", R"(a "b" & c's)", ""};
    EXPECT_EQ(MUST(make_srt_destination("srt://h.example:1", odd)).stream_id, "#!::r=le caf\xC3\xA9/a \"b\" & c's,m=publish");
    EXPECT_EQ(MUST(make_srt_destination("srt://h.example:1?streamid=publish:[app]/[stream]&latency=200", odd)).stream_id,
              "publish:le caf\xC3\xA9/a \"b\" & c's");
    EXPECT_EQ(make_srt_destination("srt://h.example", name).code(), Errc::malformed);
    EXPECT_EQ(make_srt_destination("srt://h.example:1", {"", "live", std::string(510, 'x'), ""}).code(), Errc::limit);
}

}  // namespace
}  // namespace live::service::forward
