#include "session/http_live/mount.hpp"

#include <gtest/gtest.h>

namespace live::session::http_live {
namespace {

struct Case {
    const char* mount;
    const char* path;
    // Empty: no match.
    const char* app;
    const char* stream;
    bool same_depth = true;
};

TEST(Mount, NamesTheStreamOfAPath) {
    const Case cases[] = {
        {"[vhost]/[app]/[stream].flv", "/live/cam.flv", "live", "cam"},
        {"[vhost]/[app]/[stream].flv", "/cam.flv", "", ""},
        {"[vhost]/[app]/[stream].flv", "/live/cam.ts", "", ""},
        {"[vhost]/[app]/[stream].flv", "/live/cam", "", ""},
        {"[vhost]/[app]/[stream].flv", "/live/.flv", "", ""},
        {"[vhost]/[app]/[stream].flv", "//cam.flv", "", ""},
        {"[vhost]/[app]/[stream].flv", "live/cam.flv", "", ""},
        {"[vhost]/[app]/[stream].flv", "", "", ""},
        {"[vhost]/[app]/[stream].flv", "/a/b/cam.flv", "a/b", "cam", false},
        {"[vhost]/[app]/[stream].flv", "/live/cam.flv.flv", "live", "cam.flv"},
        {"/[app]/[stream].flv", "/live/cam.flv", "live", "cam"},
        {"/tv/[app]/[stream]-hd.flv", "/tv/live/cam-hd.flv", "live", "cam"},
        {"/tv/[app]/[stream]-hd.flv", "/tv/live/cam.flv", "", ""},
        {"/tv/[app]/[stream].flv", "/radio/live/cam.flv", "", ""},
        {"/[stream].flv", "/cam.flv", "live", "cam"},
        {"/[stream].flv", "/live/cam.flv", "", ""},
        {"/[app]-x/[stream].flv", "/live-x/cam.flv", "live", "cam"},
    };
    for (const Case& expected : cases) {
        const auto mount = Mount::parse(expected.mount);
        ASSERT_TRUE(mount.ok()) << expected.mount;
        const auto found = mount->match(expected.path);
        ASSERT_EQ(found.has_value(), *expected.stream != '\0') << expected.mount << " " << expected.path;
        if (!found)
            continue;
        EXPECT_EQ(found->app, expected.app) << expected.path;
        EXPECT_EQ(found->stream, expected.stream) << expected.path;
        EXPECT_EQ(found->same_depth, expected.same_depth) << expected.path;
    }
}

TEST(Mount, ReportsItsVirtualHostAndContentType) {
    EXPECT_TRUE(Mount::parse("[vhost]/[app]/[stream].flv")->is_of_vhost());
    EXPECT_FALSE(Mount::parse("/[app]/[stream].flv")->is_of_vhost());
    EXPECT_EQ(Mount::parse("/[app]/[stream].flv")->format().content_type, "video/x-flv");
    EXPECT_EQ(Mount::parse("/[app]/[stream].ts")->format().content_type, "video/MP2T");
    EXPECT_EQ(Mount::parse("/[app]/[stream].aac")->format().content_type, "audio/x-aac");
    EXPECT_EQ(Mount::parse("/[app]/[stream].mp3")->format().content_type, "audio/mpeg");
}

TEST(Mount, APathLeadsBackToItsStream) {
    for (const char* text : {"[vhost]/[app]/[stream].flv", "/x/[app]-y/[stream]/live.ts", "/[stream]/a[app].mp3"}) {
        const auto mount = Mount::parse(text);
        const auto path = mount->path_of("app", "cam");
        ASSERT_TRUE(path) << text;
        const auto found = mount->match(*path);
        ASSERT_TRUE(found) << *path;
        EXPECT_EQ(found->app + "/" + found->stream, "app/cam") << *path;
    }
    EXPECT_EQ(Mount::parse("[vhost]/[stream].flv")->path_of("live", "cam"), "/cam.flv");
    EXPECT_EQ(Mount::parse("[vhost]/[stream].flv")->path_of("other", "cam"), std::nullopt);
}

TEST(Mount, RefusesAmbiguousMounts) {
    for (const char* text : {"", "/", "[vhost]", "[vhost][app]/[stream].flv", "/[app]/x.flv", "/[app]/[stream].avi",
                             "/[app][stream].flv", "/[stream][stream].flv", "x/[app]/[stream].flv"})
        EXPECT_EQ(Mount::parse(text).code(), Errc::malformed) << text;
}

}  // namespace
}  // namespace live::session::http_live
