#include "engine/http2/frame_walker.hpp"

#include <algorithm>
#include <string>
#include <vector>

#include <gtest/gtest.h>

#include "engine/http2/frames_fixture.hpp"

namespace live::engine::http2 {
namespace {

std::vector<FrameWalker::Head> heads_of(std::string_view text, std::size_t portion) {
    FrameWalker walker;
    std::vector<FrameWalker::Head> heads;
    for (Bytes bytes = as_bytes(text); !bytes.empty();) {
        Bytes part = bytes.first(std::min(portion, bytes.size()));
        bytes = bytes.subspan(part.size());
        while (const auto head = walker.next(part))
            heads.push_back(*head);
        EXPECT_TRUE(part.empty());
    }
    return heads;
}

TEST(Http2FrameWalker, FindsTheSameHeadersInAnyPortions) {
    const std::string text = greeting() + frame(FrameType::data, kEndStream, 1, std::string(1'000, 'x')) +
                             frame(FrameType::data, 0, 1) + frame(FrameType::ping, 1, 0, "12345678");
    const std::vector<FrameWalker::Head> expected{{0, 4, 0, 0}, {1'000, 0, kEndStream, 1}, {0, 0, 0, 1}, {8, 6, 1, 0}};
    for (std::size_t portion = 1; portion <= text.size(); ++portion)
        EXPECT_EQ(heads_of(text, portion), expected) << portion;
}

TEST(Http2FrameWalker, FindsNoHeaderInAnyTruncation) {
    const std::string text = greeting();
    for (std::size_t size = 0; size < text.size(); ++size)
        EXPECT_TRUE(heads_of(std::string_view(text).substr(0, size), 1 << 20).empty());
}

TEST(Http2FrameWalker, SkipsTheLongestPayload) {
    std::string text = greeting() + "\xff\xff\xff" + std::string(6, '\0');
    text += std::string(0xff'ffff, 'x') + frame(FrameType::reset, 0, 1, "1234");
    const auto heads = heads_of(text, 4'096);
    ASSERT_EQ(heads.size(), 3u);
    EXPECT_EQ(heads[1].length, 0xff'ffffu);
    EXPECT_EQ(heads[2].type, 3);
}

}  // namespace
}  // namespace live::engine::http2
