#include "service/dash/dash_handler.hpp"

#include "service/files/site_fixture.hpp"

namespace live::service::dash {
namespace {

io::Block block_of(std::string_view text) { return std::make_shared<const std::vector<std::uint8_t>>(text.begin(), text.end()); }

class DashHandlerTest : public files::SiteFixture {
protected:
    void SetUp() override {
        SiteFixture::SetUp();
        roots_.folder = "html";
        router_.add_fallback(handler_);
    }
    HeldFileRef add(const std::string& name) { return held_.add("html/live/" + name); }

    HeldFiles held_;
    files::OneFolder roots_;
    DashHandler handler_{held_, roots_};
};

TEST_F(DashHandlerTest, GivesWhatIsHeld) {
    const auto mpd = add("cam.mpd");
    mpd->add(block_of("<MPD>"));
    mpd->end();
    const auto answer = ask("/live//./cam.mpd?x=1");
    EXPECT_EQ(answer.status, 200);
    EXPECT_EQ(answer.body, "<MPD>");
    EXPECT_EQ(answer.headers.find("Content-Type"), "application/dash+xml");
    EXPECT_EQ(answer.headers.find("Cache-Control"), "no-cache");
    EXPECT_TRUE(mpd->was_asked());
    EXPECT_EQ(ask("/live/cam.mpd", "POST").status, 405);
    EXPECT_EQ(ask("/live/other.mpd").status, 404) << "nobody's";
    held_.remove("html/live/cam.mpd", mpd);
    EXPECT_EQ(ask("/live/cam.mpd").status, 404);
}

TEST_F(DashHandlerTest, ASegmentThatIsBeingMadeGoesOutAsItIsMade) {
    const auto segment = add("cam/video-3.m4s");
    const auto stream = open("GET", "/live/cam/video-3.m4s");
    static_cast<void>(io::sleep(io::Deadline::after(1ms)));
    segment->add(block_of("one"));
    static_cast<void>(io::sleep(io::Deadline::after(1ms)));
    segment->add(block_of("two"));
    segment->add(block_of("three"));
    held_.remove("html/live/cam/video-3.m4s", segment);
    segment->end();
    const auto answer = receive(*stream);
    EXPECT_EQ(answer.status, 200);
    EXPECT_EQ(answer.body, "onetwothree");
    EXPECT_EQ(answer.headers.find("Transfer-Encoding"), "chunked");
    EXPECT_EQ(answer.headers.find("Content-Type"), "video/iso.segment");
}

TEST_F(DashHandlerTest, ASegmentThatNeverCameIsNotFound) {
    const auto segment = add("cam/video-4.m4s");
    const auto stream = open("GET", "/live/cam/video-4.m4s");
    static_cast<void>(io::sleep(io::Deadline::after(1ms)));
    segment->end();
    EXPECT_EQ(receive(*stream).status, 404);
}

}  // namespace
}  // namespace live::service::dash
