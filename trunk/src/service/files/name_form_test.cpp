#include "service/files/name_form.hpp"

#include <gtest/gtest.h>

#include <string>

namespace live::service::files {
namespace {

TEST(NameForm, MatchesNamesMadeFromTemplates) {
    const struct {
        const char* form;
        const char* path;
        bool fits;
    } cases[] = {
        {"html/[app]/[stream].m3u8", "html/live/cam.m3u8", true},
        {"html/[app]/[stream].m3u8", "html/a/b/cam.hd.m3u8", true},
        {"html/[app]/[stream].m3u8", "html/live/cam.audio-1.m3u8", true},
        {"html/[app]/[stream].m3u8", "html/cam.m3u8", false},
        {"html/[app]/[stream].m3u8", "html/live/cam.m3u8.txt", false},
        {"html/[app]/[stream].m3u8", "other/live/cam.m3u8", false},
        {"[app]/[stream]-[seq].ts", "live/cam-12.ts", true},
        {"[app]/[stream]-[seq].ts", "live/cam-12.3.ts", true},
        {"[app]/[stream]-[seq].ts", "live/a-b-12.ts", true},
        {"[app]/[stream]-[seq].ts", "live/cam.ts", false},
        {"[app]/[stream]-[seq].ts", "live/cam-x.ts", false},
        {"[app]/[stream]-[seq].m4s", "live/cam-12.audio-1.m4s", true},
        {"[app]/[stream]/init.mp4", "live/cam/init.mp4", true},
        {"[app]/[stream]/init.mp4", "live/cam/init.audio-1-2.mp4", true},
        {"[app]/[stream]/init.mp4", "live/cam/intro.mp4", false},
        {"[app]/[stream]/init.mp4", "live/cam/init-1/a.mp4", false},
        {"[app]/[2006]-[01]-[02]/[stream].[timestamp].ts", "live/2026-11-26/cam.1732000000000.ts", true},
        {"[app]/[2006]-[01]-[02]/[stream].[timestamp].ts", "live/2026-11/cam.1732000000000.ts", false},
        {"[app]/[nothing].ts", "live/[nothing].ts", true},
        {"[app]/[nothing].ts", "live/cam.ts", false},
        {"[app]/[stream", "live/[stream", true},
        {"plain", "plain", true},
        {"plain", "plain-x", true},
        {"", "", true},
        {"", "x", false},
    };
    for (const auto& one : cases)
        EXPECT_EQ(fits_form(one.form, one.path), one.fits) << one.form << " " << one.path;
}

TEST(NameForm, TakesTimeInProportionToThePath) {
    const std::string dots(4080, '-');
    EXPECT_TRUE(fits_form("[app]/[stream]-[seq].ts", dots + "/a-1.ts"));
    EXPECT_FALSE(fits_form("[app]/[stream]-[seq].ts", dots + dots + "/a-1.ts")) << "no file has such a path";
}

}  // namespace
}  // namespace live::service::files
