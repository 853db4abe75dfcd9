#include "media/source/rtp_logs.hpp"

#include <gtest/gtest.h>

#include "base/bytes/ref.hpp"
#include "media/ring/packet_fixture.hpp"
#include "media/source/publication.hpp"

namespace live::media {
namespace {

struct DeafWriter final : KeyFrameSource {
    void on_key_frame_wanted() override {}
};

struct RtpLogsTest : ::testing::Test {
    RtpLogsTest() {
        options.bridge.rtmp_to_rtc = true;
        source = make_ref<Source>("/live/test", options, 60'000U, pool);
    }
    void frame(std::int64_t at_ms) {
        source->append(plain_packet(MediaKind::video, false, false, std::chrono::milliseconds(at_ms), Slice::allocate(100)));
    }
    RtpLogs& logs() { return source->rtp_logs(); }

    SlabPool pool;
    PlayOptions options;
    Ref<Source> source;
    DeafWriter key_frames;
};

TEST_F(RtpLogsTest, ReadersOfAChoiceShareOneLog) {
    RtpLog& log = logs().hold();
    EXPECT_EQ(&logs().hold(), &log);
    const TrackChoice other{TrackId(1), {}};
    EXPECT_NE(&logs().hold(other), &log);
    EXPECT_EQ(source->readers().count(), 3U);
    logs().release();
    EXPECT_EQ(logs().find(), &log);
    logs().release();
    EXPECT_EQ(logs().find(), nullptr);
    EXPECT_NE(logs().find(other), nullptr);
    logs().release(other);
    EXPECT_FALSE(source->readers().any());
}

TEST_F(RtpLogsTest, WriterOfTheDefaultLogIsNoReader) {
    auto publication = *Publication::start(source, Takeover::refuse);
    RtpLog& log = publication->fill_rtp_log(key_frames);
    EXPECT_EQ(logs().find(), &log);
    EXPECT_EQ(source->readers().count(), 0U);
    EXPECT_FALSE(source->readers().is_watched());
    EXPECT_TRUE(source->readers().any());
    publication.reset();
    EXPECT_EQ(logs().find(), nullptr);
    EXPECT_FALSE(source->readers().any());
}

TEST_F(RtpLogsTest, ConvertsFramesOnlyOfAPublisherThatBringsNoRtp) {
    logs().hold();
    frame(0);
    EXPECT_EQ(logs().converter(), nullptr) << "there is no publisher";
    auto first = *Publication::start(source, Takeover::refuse);
    frame(40);
    EXPECT_NE(logs().converter(), nullptr);
    first.reset();
    EXPECT_EQ(logs().converter(), nullptr);
    const auto second = *Publication::start(source, Takeover::refuse);
    second->fill_rtp_log(key_frames);
    frame(80);
    EXPECT_EQ(logs().converter(), nullptr);
    logs().release();
}

TEST_F(RtpLogsTest, NumberOfChoicesIsBounded) {
    for (std::uint8_t id = 0; id < RtpLogs::kMax; ++id) {
        EXPECT_TRUE(logs().has_room_for({TrackId(id), {}}));
        logs().hold({TrackId(id), {}});
    }
    EXPECT_FALSE(logs().has_room_for({}));
    EXPECT_TRUE(logs().has_room_for({TrackId(3), {}})) << "it exists";
    std::size_t count = 0;
    logs().for_each([&count](const RtpLog& /*log*/) { ++count; });
    EXPECT_EQ(count, RtpLogs::kMax);
    for (std::uint8_t id = 0; id < RtpLogs::kMax; ++id)
        logs().release({TrackId(id), {}});
}

}  // namespace
}  // namespace live::media
