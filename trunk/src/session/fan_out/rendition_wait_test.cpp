#include "session/fan_out/rendition_wait.hpp"

#include <memory>
#include <optional>
#include <string>

#include <gtest/gtest.h>

#include "io/fibers/scope.hpp"
#include "io/fibers/wait_fixture.hpp"
#include "media/ingest/rendition.hpp"
#include "media/ring/packet_fixture.hpp"
#include "media/source/publication.hpp"

namespace live::session {
namespace {

class Maker final : public media::RenditionMaker {
public:
    void want_renditions() override { ++wanted; }
    std::size_t due_renditions() const override { return 1; }

    int wanted = 0;
};

class RenditionWaitTest : public testing::Test {
protected:
    RenditionWaitTest() {
        append(media::avc_config_body(), true);
        name({"240p", "120p"});
    }
    ~RenditionWaitTest() override { MUST(players_.stop(io::Deadline::after(io::kSoon))); }

    void name(std::vector<std::string> names) {
        source_->publications().name_renditions(media::Publications::NamedBy::maker, std::move(names));
    }
    void append(Slice body, bool config) {
        source_->append(media::tag_packet(MediaKind::video, true, config, at_, std::move(body)));
        source_->flush();
        at_ += 40ms;
    }
    void start_wait(const std::string& name) {
        MUST(players_.start("player", [this, name](io::Deadline deadline) {
            is_over_ = false;
            static_cast<void>(wait_for_rendition(source_, name, deadline));
            is_over_ = true;
        }));
        io::wait_until([this] { return is_over_.has_value(); });
    }
    std::unique_ptr<media::Rendition> start_rendition(const std::string& name) {
        auto made = MUST(media::Rendition::start(source_, {{MediaKind::video, {}, "", name}}));
        auto frame = frame_of(media::tag_packet(MediaKind::video, true, true, at_, media::avc_config_body()));
        made->push_frame(MediaKind::video, std::move(frame));
        source_->flush();
        return made;
    }

    std::unique_ptr<io::Loop> loop_ = MUST(io::Loop::create());
    media::SlabPool pool_;
    Ref<media::Source> source_ = make_ref<media::Source>("/live/cam", media::PlayOptions(), 60'000U, pool_);
    std::unique_ptr<media::Publication> publication_ = MUST(media::Publication::start(source_, media::Takeover::refuse));
    MediaTime at_ = 5s;
    std::optional<bool> is_over_;
    io::Scope players_{"players"};
};

TEST_F(RenditionWaitTest, RequestsARenditionOnDemandUntilItArrives) {
    Maker maker;
    source_->publications().set_rendition_maker(&maker);
    start_wait("240p");
    EXPECT_EQ(is_over_, false);
    EXPECT_EQ(maker.wanted, 1);
    append(media::tag_body(hex("27 01 000000"), hex("00000002 6501")), false);
    io::wait_until([&] { return maker.wanted == 2; });
    EXPECT_EQ(is_over_, false);
    const auto rendition = start_rendition("240p");
    io::wait_until([&] { return is_over_ == true; });
    EXPECT_EQ(source_->readers().count(), 0U);
    source_->publications().set_rendition_maker(nullptr);
}

TEST_F(RenditionWaitTest, EndsWhenTheRenditionCannotBeMade) {
    Maker maker;
    source_->publications().set_rendition_maker(&maker);
    start_wait("240p");
    EXPECT_EQ(is_over_, false);
    name({});
    append(media::tag_body(hex("27 01 000000"), hex("00000002 6501")), false);
    io::wait_until([&] { return is_over_ == true; });
    source_->publications().set_rendition_maker(nullptr);
}

TEST_F(RenditionWaitTest, DoesNotStartALadderForOtherNames) {
    Maker maker;
    source_->publications().set_rendition_maker(&maker);
    EXPECT_FALSE(request_rendition(*source_, "1080p"));
    EXPECT_FALSE(request_rendition(*source_, "source"));
    EXPECT_EQ(maker.wanted, 0);
    EXPECT_TRUE(request_rendition(*source_, "240p"));
    publication_.reset();
    EXPECT_FALSE(request_rendition(*source_, "240p")) << "the stream has ended";
    source_->publications().set_rendition_maker(nullptr);
}

TEST_F(RenditionWaitTest, WaitsForALadderThatHasBegun) {
    EXPECT_TRUE(request_rendition(*source_, "240p"));
    const auto other = start_rendition("120p");
    EXPECT_FALSE(request_rendition(*source_, "120p")) << "it is there";
    EXPECT_TRUE(request_rendition(*source_, "240p"));
    EXPECT_FALSE(request_rendition(*source_, "1080p"));
}

}  // namespace
}  // namespace live::session
