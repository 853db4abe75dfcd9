#include "media/wire_log/framing.hpp"

#include <string>
#include <vector>

#include <gtest/gtest.h>

namespace live::media {
namespace {

std::vector<std::uint8_t> head(Framing framing, std::size_t bytes) {
    const FrameHead made = frame_head(framing, bytes);
    return {made.view().begin(), made.view().end()};
}

std::vector<std::uint8_t> text(std::string_view letters) { return {letters.begin(), letters.end()}; }

TEST(Framing, NoneAddsNoBytes) {
    EXPECT_TRUE(head(Framing::none, 5).empty());
    EXPECT_TRUE(frame_end(Framing::none).empty());
    EXPECT_TRUE(frame_end(Framing::websocket).empty());
}

TEST(Framing, WritesChunkSizeInHex) {
    EXPECT_EQ(head(Framing::http_chunk, 1), text("1\r\n"));
    EXPECT_EQ(head(Framing::http_chunk, 0x1F4), text("1f4\r\n"));
    EXPECT_EQ(head(Framing::http_chunk, ~std::size_t{0}), text("ffffffffffffffff\r\n"));
    EXPECT_EQ(frame_end(Framing::http_chunk).size(), 2U);
}

TEST(Framing, FramesEveryNonEmptyMessage) {
    std::vector<std::uint8_t> out = {'>'};
    append_framed(Framing::http_chunk, text("abc"), out);
    append_framed(Framing::http_chunk, {}, out);
    EXPECT_EQ(out, text(">3\r\nabc\r\n"));
}

TEST(Framing, AWebSocketMessageIsOneBinaryFrame) {
    using Expected = std::vector<std::uint8_t>;
    EXPECT_EQ(head(Framing::websocket, 1), (Expected{0x82, 1}));
    EXPECT_EQ(head(Framing::websocket, 65536), (Expected{0x82, 127, 0, 0, 0, 0, 0, 1, 0, 0}));
}

}  // namespace
}  // namespace live::media
