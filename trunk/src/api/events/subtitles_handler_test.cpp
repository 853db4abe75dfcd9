#include "api/events/subtitles_handler.hpp"

#include <gtest/gtest.h>

namespace live::api {
namespace {

TEST(SubtitlesHandler, ReadsCues) {
    const auto events = read_posted_cues("WEBVTT\n\n00:01.000 --> 00:03.500\n<b>Hello</b>\nyou\n", "en", 2s);
    ASSERT_TRUE(events.ok());
    ASSERT_EQ(events->size(), 1u);
    media::Packet packet;
    packet.dts = 10s;
    packet.payload = media::write_timed_event(events->front(), {});
    const auto read = media::read_timed_event(packet);
    ASSERT_TRUE(read);
    EXPECT_EQ(read->kind, media::TimedEvent::Kind::text);
    EXPECT_EQ(read->at, 13s);
    EXPECT_EQ(read->duration, 2'500ms);
    EXPECT_EQ(read->language, "en");
    EXPECT_EQ(as_text(read->data.bytes()), "Hello\nyou");
}

TEST(SubtitlesHandler, RejectsOtherBodies) {
    EXPECT_EQ(read_posted_cues("{}", "en", {}).code(), Errc::malformed);
    EXPECT_EQ(read_posted_cues("WEBVTT\n", std::string(36, 'x'), {}).code(), Errc::malformed);
    EXPECT_EQ(read_posted_cues("WEBVTT\n\n10:00.001 --> 10:01.000\nx", "", {}).code(), Errc::malformed);
    EXPECT_TRUE(read_posted_cues("WEBVTT\n\n10:00.000 --> 10:01.000\nx", "", {}).ok());
    EXPECT_EQ(read_posted_cues("WEBVTT\n\n00:00.000 --> 00:01.000\n" + std::string(13'000, 'x'), "", {}).code(), Errc::limit);
}

}  // namespace
}  // namespace live::api
