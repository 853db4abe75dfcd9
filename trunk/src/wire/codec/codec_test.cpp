#include "wire/codec/codec.hpp"

#include <set>

#include <gtest/gtest.h>

#include "wire/codec/video/avc.hpp"

namespace live::wire::codec {
namespace {

TEST(Codec, NamesAreUnique) {
    std::set<std::string_view> names;
    for (int i = 0; i <= static_cast<int>(Codec::unknown); ++i)
        names.insert(name_of(static_cast<Codec>(i)));
    EXPECT_EQ(names.size(), static_cast<std::size_t>(Codec::unknown) + 1);
    EXPECT_EQ(name_of(Codec::avc), "H264");
    EXPECT_EQ(name_of(Codec::unknown), "unknown");
}

// H.264, A.2, by profile_idc.
TEST(Codec, ProfilesOfAvcHaveTheNamesOfTheText) {
    const std::pair<std::uint8_t, std::string_view> table[] = {{66, "Baseline"}, {77, "Main"},    {88, "Extended"},
                                                               {100, "High"},    {110, "High10"}, {122, "High422"},
                                                               {244, "High444"}, {44, "Other"}};
    for (const auto& [profile, name] : table)
        EXPECT_EQ(avc_profile_name(profile), name);
}

}  // namespace
}  // namespace live::wire::codec
