#include "service/dvr/track_headers.hpp"

#include <gtest/gtest.h>

#include "media/ring/packet_fixture.hpp"

namespace live::service::dvr {
namespace {

media::Packet header_of(MediaKind kind, std::uint8_t track, bool extra, std::size_t bytes) {
    media::Packet packet = media::plain_packet(kind, false, true, {}, Slice::allocate(bytes));
    packet.track = media::TrackId(track);
    packet.extra = extra;
    return packet;
}

TEST(TrackHeaders, KeepsTheNewestOfEachTrack) {
    TrackHeaders headers;
    EXPECT_FALSE(headers.has(MediaKind::video));
    EXPECT_TRUE(headers.metadata().empty());
    headers.keep(header_of(MediaKind::data, 0, false, 5));
    headers.keep(header_of(MediaKind::video, 1, true, 10));
    headers.keep(header_of(MediaKind::video, 0, false, 20));
    headers.keep(header_of(MediaKind::audio, 0, false, 30));
    headers.keep(header_of(MediaKind::video, 1, true, 11));
    headers.keep(header_of(MediaKind::video, 0, false, 21));
    EXPECT_EQ(headers.metadata().size(), 5U);
    EXPECT_TRUE(headers.has(MediaKind::video));
    std::vector<std::size_t> sizes;
    headers.for_each([&sizes](const media::Packet& header) { sizes.push_back(header.payload.size()); });
    EXPECT_EQ(sizes, (std::vector<std::size_t>{30, 21, 11}));
}

}  // namespace
}  // namespace live::service::dvr
