#include "service/dvr/file_name.hpp"

#include <gtest/gtest.h>

namespace live::service::dvr {
namespace {

// 2026-11-21 14:05:09.042 UTC.
constexpr auto kNow = std::chrono::sys_days(std::chrono::year(2026) / 11 / 21) + std::chrono::milliseconds(50'709'042);
const StreamName kCam = {"__defaultVhost__", "live/studio", "cam"};

std::string name_for(const std::string& path, DvrFormat format = DvrFormat::by_name) {
    DvrOptions options;
    options.path = path;
    options.format = format;
    return file_name(options, kCam, kNow, Zone::utc);
}

TEST(DvrFileName, ReplacesVariables) {
    EXPECT_EQ(name_for("./dvr/[vhost]/[app]/[stream]-[2006][01][02]-[15][04][05].[999].flv"),
              "./dvr/__defaultVhost__/live/studio/cam-20261121-140509.042.flv");
    EXPECT_EQ(name_for("[stream].[timestamp].mp4"), "cam.1795269909042.mp4");
    EXPECT_EQ(name_for("[nothing]/x.flv"), "[nothing]/x.flv");
}

TEST(DvrFileName, TreatsAPathWithoutExtensionAsAFolder) {
    EXPECT_EQ(name_for("./dvr/[app]"), "./dvr/live/studio/cam.1795269909042.flv");
    EXPECT_EQ(name_for("./dvr/"), "./dvr/cam.1795269909042.flv");
    EXPECT_EQ(name_for("./dvr", DvrFormat::fmp4), "./dvr/cam.1795269909042.mp4");
}

TEST(DvrFileName, ChoosesTheFormatByTheName) {
    DvrOptions options;
    EXPECT_EQ(format_of(options), FileFormat::flv);
    options.path = "x.mp4";
    EXPECT_EQ(format_of(options), FileFormat::mp4);
    options.path = "x";
    EXPECT_EQ(format_of(options), FileFormat::flv);
    options.format = DvrFormat::fmp4;
    EXPECT_EQ(format_of(options), FileFormat::fmp4);
    EXPECT_EQ(name_for("a/x.flv", DvrFormat::fmp4), "a/x.mp4") << "fragments are never called FLV";
}

TEST(DvrFileName, RecordsConfiguredStreams) {
    DvrOptions options;
    EXPECT_TRUE(is_recorded(options, kCam));
    options.apply = {"live/cam", "live/studio/cam"};
    EXPECT_TRUE(is_recorded(options, kCam));
    options.apply = {"studio/cam", "live/studio"};
    EXPECT_FALSE(is_recorded(options, kCam));
    options.apply = {};
    EXPECT_FALSE(is_recorded(options, kCam));
}

}  // namespace
}  // namespace live::service::dvr
