#include "service/hls/hls_request.hpp"

#include <gtest/gtest.h>

namespace live::service::hls {
namespace {

TEST(HlsRequest, RecognizesMediaPaths) {
    for (const char* path : {"/live/cam-7.ts", "/live/cam-7.2.ts", "/live/cam-7.m4s", "/live/cam-init.mp4", "/live/cam-0.key"})
        EXPECT_TRUE(is_media(path)) << path;
    for (const char* path : {"/live/cam.ts", "/live/cam.m3u8", "/live/7.ts", "/live/cam-.ts", "/live/cam.flv"})
        EXPECT_FALSE(is_media(path)) << path;
}

TEST(HlsRequest, SplitsAPathIntoAppAndStream) {
    const StreamName name = split_path("/a/b/cam.m3u8");
    EXPECT_EQ(name.app, "a/b");
    EXPECT_EQ(name.stream, "cam");
    EXPECT_TRUE(split_path("/cam.m3u8").stream.empty());
}

TEST(HlsRequest, RefusesInvalidSessionNames) {
    EXPECT_TRUE(is_good_ctx("aZ09-_"));
    EXPECT_TRUE(is_good_ctx(std::string(files::Sessions::kNameBytesMax, 'a')));
    EXPECT_FALSE(is_good_ctx(std::string(files::Sessions::kNameBytesMax + 1, 'a')));
    for (const char* name : {"", "a b", "a/b", "a\"", "a%20"})
        EXPECT_FALSE(is_good_ctx(name)) << name;
}

// One of 36 letters completes any seven letters.
TEST(HlsRequest, RecognizesGeneratedNamesByTheirCheckLetter) {
    int generated = 0;
    for (const char letter : std::string_view("0123456789abcdefghijklmnopqrstuvwxyz"))
        generated += is_generated(std::string("abcdefg") + letter) ? 1 : 0;
    EXPECT_EQ(generated, 1);
    EXPECT_FALSE(is_generated("abc"));
}

TEST(HlsRequest, ReadsDecimalNumbers) {
    EXPECT_EQ(number_of("17"), 17U);
    for (const char* text : {"", "-1", "1a", " 1", "99999999999999999999"})
        EXPECT_FALSE(number_of(text)) << text;
    EXPECT_FALSE(number_of({}));
}

}  // namespace
}  // namespace live::service::hls
