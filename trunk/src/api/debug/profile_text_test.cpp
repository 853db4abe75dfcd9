#include "api/debug/profile_text.hpp"

#include <cstring>
#include <vector>

#include <gtest/gtest.h>

namespace live::api {
namespace {

TEST(ProfileText, PprofHasHeaderSamplesTrailerAndMappings) {
    io::CpuProfile profile;
    profile.words = {1, 2, 0x1000, 0x2001};
    profile.samples = 1;
    const std::string text = pprof_text(profile, "00-10 r-xp 0 0:0 0 /srs\n");
    const std::vector<std::uintptr_t> expected = {0, 3, 0, 10'000, 0, 1, 2, 0x1000, 0x2001, 0, 1, 0};
    const std::size_t bytes = expected.size() * sizeof expected[0];
    ASSERT_GT(text.size(), bytes);
    EXPECT_EQ(std::memcmp(text.data(), expected.data(), bytes), 0);
    EXPECT_EQ(text.substr(bytes), "00-10 r-xp 0 0:0 0 /srs\n");
    EXPECT_EQ(pprof_text({}, "").size(), 8 * sizeof(std::uintptr_t));
}

TEST(ProfileText, FoldsEqualStacksOutermostFirst) {
    io::CpuProfile profile;
    profile.words = {1, 3, 0x10, 0x21, 0x31, 2, 3, 0x10, 0x21, 0x31, 5, 1, 0x30};
    const auto name_of = [](std::uintptr_t address) { return "f" + std::to_string(address); };
    EXPECT_EQ(folded_text(profile, name_of), "f48 5\nf48;f32;f16 3\n") << "callers are looked up before their return address";
    EXPECT_EQ(folded_text({}, name_of), "");
}

}  // namespace
}  // namespace live::api
