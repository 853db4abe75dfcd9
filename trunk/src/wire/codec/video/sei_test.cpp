#include "wire/codec/video/sei.hpp"

#include <gtest/gtest.h>

#include "base/bytes/hex_fixture.hpp"

namespace live::wire::codec {
namespace {

constexpr std::size_t kAvcHeader = 1;
constexpr std::size_t kHevcHeader = 2;

TEST(Sei, TimingIsRecognised) {
    const struct {
        const char* name;
        const char* nal;
        std::size_t header;
        bool is_timing;
    } cases[] = {
        {"a picture's timing, as libx264 writes it", "06 01 01 24 80", kAvcHeader, true},
        {"a buffering period", "06 00 07 8c b6 00 00 03 00 03 00 80", kAvcHeader, true},
        {"both in one unit", "06 00 02 aabb 01 01 24 80", kAvcHeader, true},
        {"fill of 256 bytes", nullptr, kAvcHeader, true},
        {"timing in front of user data", "06 01 01 24 05 02 aabb 80", kAvcHeader, false},
        {"user data", "06 05 03 010203 80", kAvcHeader, false},
        {"captions", "06 04 02 b500 80", kAvcHeader, false},
        {"a recovery point", "06 06 01 c4 80", kAvcHeader, false},
        {"a type beyond 255", "06 ff01 01 24 80", kAvcHeader, false},
        {"a picture's timing of HEVC", "4e01 01 02 1122 80", kHevcHeader, true},
        {"decoding units of HEVC", "4e01 82 01 11 80", kHevcHeader, true},
        {"a hash of HEVC", "5001 84 01 00 80", kHevcHeader, false},
    };
    for (const auto& one : cases) {
        std::vector<std::uint8_t> nal;
        if (one.nal != nullptr) {
            nal = hex(one.nal);
        } else {
            nal = hex("06 03 ff01");
            nal.insert(nal.end(), 256, 0xFF);
            nal.push_back(0x80);
        }
        const auto told = is_timing_only_sei(nal, one.header);
        ASSERT_TRUE(told.ok()) << one.name << ": " << told.error().text();
        EXPECT_EQ(*told, one.is_timing) << one.name;
    }
}

TEST(Sei, TruncationsAreErrors) {
    const auto nal = hex("06 00 02 aabb 01 01 24 80");
    for (std::size_t size = 0; size < nal.size(); ++size) {
        const auto told = is_timing_only_sei(Bytes(nal).first(size), kAvcHeader);
        EXPECT_FALSE(told.ok() && *told) << size;
    }
}

TEST(Sei, AnotherEndIsMalformed) {
    EXPECT_EQ(is_timing_only_sei(hex("06 01 01 24 81"), kAvcHeader).code(), Errc::malformed);
    EXPECT_EQ(is_timing_only_sei(hex("06 01 05 24 80"), kAvcHeader).code(), Errc::need_more);
}

}  // namespace
}  // namespace live::wire::codec
