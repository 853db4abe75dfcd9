#include "service/slate/prepared_slate.hpp"

#include <string>
#include <utility>
#include <vector>

#include <gtest/gtest.h>

namespace live::service::slate {
namespace {

SlateFrame slate_frame(MediaKind kind, int at_ms) {
    SlateFrame made{kind, {}};
    made.frame.dts = std::chrono::milliseconds(at_ms);
    return made;
}

TEST(SlateReader, RefusesOutputWithoutFrames) {
    SlateReader reader;
    EXPECT_TRUE(reader.feed({}));
    EXPECT_TRUE(reader.feed(std::vector<std::uint8_t>(1'000, 0x47)));
    EXPECT_EQ(reader.finish().code(), Errc::malformed);
}

TEST(SlateClock, RoundsFollowEachOther) {
    PreparedSlate slate;
    slate.frames = {slate_frame(MediaKind::video, 0), slate_frame(MediaKind::audio, 5), slate_frame(MediaKind::video, 40)};
    slate.length = std::chrono::milliseconds(80);
    SlateClock clock(slate);
    std::string times;
    for (int i = 0; i < 7; ++i) {
        times += std::to_string(std::chrono::duration_cast<std::chrono::milliseconds>(clock.due()).count()) + " ";
        clock.advance();
    }
    EXPECT_EQ(times, "0 5 40 80 85 120 160 ");
}

}  // namespace
}  // namespace live::service::slate
