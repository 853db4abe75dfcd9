#include "wire/rtp/stream_framing.hpp"

#include <algorithm>

#include <gtest/gtest.h>

namespace live::wire::rtp {
namespace {

using Datagram = std::vector<std::uint8_t>;

std::vector<Datagram> take_all(StreamUnframer& unframer) {
    std::vector<Datagram> all;
    while (const auto datagram = unframer.next())
        all.emplace_back(datagram->begin(), datagram->end());
    return all;
}

const std::vector<Datagram> kDatagrams = {{1, 2, 3}, {4}, Datagram(kFrameBytesMax, 0xAA), {5, 6}};

TEST(StreamFraming, ReadsFramesForEverySplit) {
    Datagram stream;
    for (const Datagram& datagram : kDatagrams)
        write_frame(stream, datagram);
    EXPECT_EQ(stream.size(), 3U + 1 + kFrameBytesMax + 2 + 4 * kFrameHeadBytes);
    for (const std::size_t piece : {std::size_t{1}, std::size_t{2}, std::size_t{7}, std::size_t{1000}, stream.size()}) {
        StreamUnframer unframer;
        std::vector<Datagram> all;
        for (std::size_t at = 0; at < stream.size(); at += piece) {
            ASSERT_TRUE(unframer.feed(Bytes(stream).subspan(at, std::min(piece, stream.size() - at))).ok());
            for (Datagram& datagram : take_all(unframer))
                all.push_back(std::move(datagram));
        }
        EXPECT_EQ(all, kDatagrams) << piece;
        EXPECT_EQ(unframer.waiting_bytes(), 0U);
    }
}

TEST(StreamFraming, ACutFrameWaits) {
    StreamUnframer unframer;
    const Datagram stream = {0, 3, 1, 2};
    ASSERT_TRUE(unframer.feed(stream).ok());
    EXPECT_FALSE(unframer.next());
    ASSERT_TRUE(unframer.feed(Datagram{3}).ok());
    EXPECT_EQ(take_all(unframer), (std::vector<Datagram>{{1, 2, 3}}));
}

TEST(StreamFraming, EmptyFramesAreLeftOut) {
    StreamUnframer unframer;
    ASSERT_TRUE(unframer.feed(Datagram{0, 0, 0, 1, 9, 0, 0}).ok());
    EXPECT_EQ(take_all(unframer), (std::vector<Datagram>{{9}}));
}

TEST(StreamFraming, ALongerFrameIsAnErrorBeforeItsBytesCome) {
    StreamUnframer unframer;
    const auto fed = unframer.feed(
        Datagram{static_cast<std::uint8_t>((kFrameBytesMax + 1) >> 8), static_cast<std::uint8_t>(kFrameBytesMax + 1)});
    ASSERT_FALSE(fed.ok());
    EXPECT_EQ(fed.code(), Errc::limit);
}

}  // namespace
}  // namespace live::wire::rtp
