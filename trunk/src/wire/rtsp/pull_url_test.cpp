#include "wire/rtsp/pull_url.hpp"

#include <gtest/gtest.h>

#include "wire/rtsp/message.hpp"

namespace live::wire::rtsp {
namespace {

TEST(RtspPullUrl, TakesUserAndPasswordOutOfTheUrl) {
    EXPECT_EQ(*parse_pull_url("rtsp://admin:p%40ss:w@192.0.2.7:8554/ch1/main?a=b@c"),
              (PullUrl{"192.0.2.7", 8554, false, "admin", "p@ss:w", "rtsp://192.0.2.7:8554/ch1/main?a=b@c"}));
    EXPECT_EQ(*parse_pull_url("RTSP://cam.example/"), (PullUrl{"cam.example", 554, false, "", "", "rtsp://cam.example/"}));
    EXPECT_EQ(*parse_pull_url("rtsp://a@b@[2001:db8::1]"),
              (PullUrl{"2001:db8::1", 554, false, "a@b", "", "rtsp://[2001:db8::1]"}));
    EXPECT_EQ(*parse_pull_url("rtsps://h/a"), (PullUrl{"h", 322, true, "", "", "rtsps://h/a"}));
    EXPECT_EQ(parse_pull_url("rtsp://u:100%@h/")->password, "100%");
    EXPECT_EQ(parse_pull_url("rtsp://u:p@h/a?token=x")->label(), "rtsp://h/a");
}

TEST(RtspPullUrl, RefusesOtherUrls) {
    for (const std::string_view text : {"", "rtsp:/", "http://h/", "file:///etc/passwd", "rtspsx://h/", "//h"})
        EXPECT_EQ(parse_pull_url(text).code(), Errc::unsupported) << text;
    for (const std::string_view text : {"rtsp://", "rtsp:///a", "rtsp://u:p@/a", "rtsp://h:0/", "rtsp://h:99999/", "rtsp://h /a",
                                        "rtsp://h/\r\nX: y", "rtsp://h_\x80/"})
        EXPECT_EQ(parse_pull_url(text).code(), Errc::malformed) << text;
    EXPECT_EQ(parse_pull_url("rtsp://h/" + std::string(kUrlBytesMax, 'a')).code(), Errc::limit);
}

TEST(RtspPullUrl, SurvivesEveryTruncation) {
    const std::string text = "rtsp://admin:p%40ss@[2001:db8::1]:8554/ch1?x=y";
    for (std::size_t size = 0; size < text.size(); ++size) {
        const auto url = parse_pull_url(text.substr(0, size));
        EXPECT_TRUE(url.ok() || url.code() == Errc::malformed || url.code() == Errc::unsupported);
    }
}

}  // namespace
}  // namespace live::wire::rtsp
