#include "base/text/normal_path.hpp"

#include <array>
#include <filesystem>

#include <gtest/gtest.h>

namespace live {
namespace {

TEST(NormalPath, IsOneSpellingForOneFile) {
    EXPECT_EQ(normal_path("./objs/nginx/html", "/live/cam.m3u8"), "objs/nginx/html/live/cam.m3u8");
    EXPECT_EQ(normal_path("objs//nginx/html/", "live/./cam.m3u8"), "objs/nginx/html/live/cam.m3u8");
    EXPECT_EQ(normal_path("/a/b", "../c.ts"), "/a/c.ts");
    EXPECT_EQ(normal_path("", "a"), "a");
    EXPECT_EQ(normal_path("", ""), ".");
    EXPECT_EQ(normal_path("/", "//a"), "/a");
    EXPECT_EQ(normal_path("a", ""), "a/");
}

// Every path of up to five of these components, below several folders, compared with the standard library.
TEST(NormalPath, EqualsTheStandardLibrary) {
    constexpr std::array<std::string_view, 5> kNames = {"a", "..", ".", "", "b.c"};
    constexpr std::size_t kPaths = 5 * 5 * 5 * 5 * 5;
    for (const std::string folder : {"", "/", "x", "./x//y/", "..", "/x/..", "../.."}) {
        for (std::size_t number = 0; number < kPaths; ++number) {
            std::string path;
            for (std::size_t rest = number; rest > 0; rest /= kNames.size())
                path += std::string(kNames[rest % kNames.size()]) + (rest < kNames.size() ? "" : "/");
            std::string_view below = path;
            below.remove_prefix(std::min(below.find_first_not_of('/'), below.size()));
            const auto wanted =
                (std::filesystem::path(folder.empty() ? "." : folder) / below).lexically_normal().generic_string();
            ASSERT_EQ(normal_path(folder, path), wanted) << folder << " and " << path;
        }
    }
}

}  // namespace
}  // namespace live
