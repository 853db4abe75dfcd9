#include "service/upload/push_line.hpp"

#include <gtest/gtest.h>

namespace live::service::upload {
namespace {

std::vector<Block> pushed_bytes(std::size_t size) {
    return {std::make_shared<const std::vector<std::uint8_t>>(size, std::uint8_t{7})};
}

std::string names_in(PushLine& line) {
    std::string all;
    while (const auto item = line.take())
        all += (item->is_removal ? "-" : "+") + item->name + " ";
    EXPECT_EQ(line.bytes(), 0U);
    return all;
}

TEST(PushLine, HasSegmentsBeforeTheListThatNamesThem) {
    PushLine line("./objs/html");
    line.write("./objs/html/live/cam-1.ts", pushed_bytes(10), false);
    line.write("./objs/html/live/cam.m3u8", pushed_bytes(3), true);
    line.write("objs/html/live/cam-2.ts", pushed_bytes(10), false);
    line.write("./objs/html/live/cam.m3u8", pushed_bytes(4), true);
    line.remove("./objs/html/live/cam-0.ts");
    EXPECT_EQ(line.bytes(), 24U);
    EXPECT_EQ(names_in(line), "+live/cam-1.ts +live/cam-2.ts +live/cam.m3u8 -live/cam-0.ts ");
}

TEST(PushLine, LeavesOutWhatIsRemovedAndWhatIsElsewhere) {
    PushLine line("/srv/hls/");
    line.write("/srv/hls/a.ts", pushed_bytes(1), false);
    line.write("/srv/keys/a.key", pushed_bytes(1), false);
    line.write("/srv/hls/../keys/b.key", pushed_bytes(1), false);
    line.write("/srv/hls2/a.ts", pushed_bytes(1), false);
    line.remove("/srv/hls/a.ts");
    EXPECT_EQ(names_in(line), "-a.ts ");
}

TEST(PushLine, KnowsWhenWhatWasTakenIsObsolete) {
    PushLine line("/srv");
    line.write("/srv/a.m3u8", pushed_bytes(1), true);
    const auto item = *line.take();
    EXPECT_FALSE(line.is_obsolete(item));
    line.write("/srv/a.m3u8", pushed_bytes(1), true);
    EXPECT_TRUE(line.is_obsolete(item));
}

TEST(PushLine, IsBounded) {
    PushLine line("/srv");
    for (int i = 0; i < 5; ++i)
        line.write("/srv/" + std::to_string(i), pushed_bytes(PushLine::kBytesMax / 2), false);
    EXPECT_EQ(line.left_out(), 3U);
    EXPECT_EQ(names_in(line), "+3 +4 ");
    for (std::size_t i = 0; i < PushLine::kItemsMax + 5; ++i)
        line.remove("/srv/" + std::to_string(i));
    EXPECT_EQ(line.size(), PushLine::kItemsMax);
}

}  // namespace
}  // namespace live::service::upload
