#include "service/dash/segment_files.hpp"

#include <memory>

#include <gtest/gtest.h>

#include "io/fibers/loop.hpp"

namespace live::service::dash {
namespace {

class SegmentFilesTest : public testing::Test {
protected:
    SegmentFilesTest() {
        options_.window_size = 3;
        options_.window_bytes = 1'000'000;
    }
    void add(std::uint64_t number, std::size_t bytes = 100) {
        Segment segment;
        segment.number = number;
        const std::string path = files_.path_of("video", number);
        const Block block = std::make_shared<const std::vector<std::uint8_t>>(bytes);
        segment.tracks.push_back({files_.hold(path, {block}), {}, bytes});
        files_.add(std::move(segment));
        files_.trim();
    }
    bool is_held(std::uint64_t number) const { return store_.find(files_.path_of("video", number)) != nullptr; }

    std::unique_ptr<io::Loop> loop_ = MUST(io::Loop::create());
    DashOptions options_;
    segments::Store store_;
    const std::string url_ = "/live/cam";
    SegmentFiles files_{options_, "html/live/cam/", store_, std::make_shared<segments::StreamOfFiles>(), url_, Log()};
};

TEST_F(SegmentFilesTest, KeepsTheWindowAndAGrace) {
    for (std::uint64_t number = 0; number < 10; ++number)
        add(number);
    ASSERT_EQ(files_.listed().size(), 3U);
    EXPECT_EQ(files_.listed().front().number, 7U);
    EXPECT_FALSE(is_held(4));
    EXPECT_TRUE(is_held(5)) << "a player may have the previous MPD";
    EXPECT_EQ(files_.held_bytes(), 500U);
}

TEST_F(SegmentFilesTest, KeepsOneSegmentOfAnySize) {
    options_.window_bytes = 1'000;
    add(0, 600);
    add(1, 600);
    EXPECT_EQ(files_.listed().size(), 1U);
    EXPECT_FALSE(is_held(0));
    add(2, 5'000);
    EXPECT_EQ(files_.listed().front().number, 2U);
}

TEST_F(SegmentFilesTest, LeavesTheListWithAGrace) {
    for (std::uint64_t number = 0; number < 3; ++number)
        add(number);
    files_.leave_list();
    EXPECT_TRUE(files_.listed().empty());
    EXPECT_TRUE(is_held(0));
    add(9);
    EXPECT_FALSE(is_held(0));
    EXPECT_TRUE(is_held(1));
}

TEST_F(SegmentFilesTest, KeepsALimitedNumberOfHeaders) {
    const Block init = std::make_shared<const std::vector<std::uint8_t>>(10);
    segments::Header header;
    header.id.kind = MediaKind::video;
    header.init = init;
    for (std::uint64_t number = 0; number <= SegmentFiles::kInitsMax; ++number)
        EXPECT_EQ(files_.add_headers({header}, number), std::vector<std::string>{"video"});
    EXPECT_EQ(store_.find("html/live/cam/video-init.mp4"), nullptr);
    EXPECT_NE(store_.find("html/live/cam/video-init-1.mp4"), nullptr);
    add(0);
    EXPECT_EQ(files_.forget_all().size(), SegmentFiles::kInitsMax + 1);
    EXPECT_EQ(store_.size(), 0U);
}

}  // namespace
}  // namespace live::service::dash
