#include "session/rtsp/stream_request.hpp"

#include <gtest/gtest.h>

namespace live::session::rtsp {
namespace {

std::string text_of(std::string_view url) {
    const auto stream = stream_of(url);
    if (!stream.ok())
        return std::string(name_of(stream.code()));
    return stream->vhost + " " + stream->app + " " + stream->stream + " " + stream->param;
}

TEST(RtspStreamRequest, ReadsTheStreamOfAUrl) {
    EXPECT_EQ(text_of("rtsp://example.com/live/cam"), "example.com live cam ");
    EXPECT_EQ(text_of("rtsp://example.com:8554/live/cam/"), "example.com live cam ");
    EXPECT_EQ(text_of("rtsp://example.com/a/b/cam?token=x"), "example.com a/b cam ?token=x");
    EXPECT_EQ(text_of("rtsp://127.0.0.1/live/cam?vhost=v.example&token=a/b"), "v.example live cam ?vhost=v.example&token=a/b");
}

TEST(RtspStreamRequest, RefusesUrlsWithoutAStreamAndBadNames) {
    for (const std::string_view url : {"", "*", "rtsp://h", "rtsp://h/", "rtsp://h/cam", "rtsp://h/live/", "rtsp://h?a=/b/c/d/e"})
        EXPECT_EQ(text_of(url), "denied") << url;
    EXPECT_EQ(text_of("rtsp://h/live/.."), "denied");
    EXPECT_EQ(text_of("rtsp://h/live/a;b"), "denied");
    EXPECT_EQ(text_of("rtsp://h:99999/live/cam"), "malformed");
}

TEST(RtspStreamRequest, ReadsTheRenditionOfAQuery) {
    EXPECT_EQ(*rendition_of(""), "");
    EXPECT_EQ(*rendition_of("?token=a&rendition=360p"), "360p");
    EXPECT_EQ(*rendition_of("?rendition=low%20light&rendition=b"), "low light");
    std::string long_query = "?";
    for (int i = 0; i < 200; ++i)
        long_query += "a&";
    EXPECT_EQ(rendition_of(long_query).code(), Errc::limit);
}

TEST(RtspStreamRequest, GivesEachRefusalAStatus) {
    EXPECT_EQ(status_for(Errc::not_found), 404);
    EXPECT_EQ(status_for(Errc::denied), 403);
    EXPECT_EQ(status_for(Errc::unauthenticated), 401);
    EXPECT_EQ(status_for(Errc::malformed), 400);
    EXPECT_EQ(status_for(Errc::unsupported), 415);
    EXPECT_EQ(status_for(Errc::limit), 503);
    EXPECT_EQ(status_for(Errc::system), 500);
}

}  // namespace
}  // namespace live::session::rtsp
