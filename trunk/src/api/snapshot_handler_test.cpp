#include "api/snapshot_handler.hpp"

#include <gtest/gtest.h>
#include <nlohmann/json.hpp>

#include "api/handler_fixture.hpp"
#include "base/hex_fixture.hpp"
#include "media/packet_fixture.hpp"

namespace live::api {
namespace {

struct SnapshotHandlerTest : HandlerFixtureOf<nlohmann::ordered_json> {
    SnapshotHandlerTest() { router.add(SnapshotHandler::kPath, handler); }
    // A stream whose key frame is the given tag body.
    std::unique_ptr<media::Publication> publish(const std::string& url, Bytes key_frame) {
        const auto source = MUST(streams.find_or_create(url, {}, 60'000));
        auto publication = MUST(source->publish(media::Source::Takeover::refuse));
        source->append(media::tag_packet(media::Kind::video, true, false, 1s, Slice::copy_of(key_frame)));
        return publication;
    }

    media::SlabPool pool;
    media::StreamTable streams{pool};
    service::snapshot::SnapshotService snapshots{streams};
    SnapshotHandler handler{snapshots};
};

TEST_F(SnapshotHandlerTest, SaysWhyThereIsNone) {
    EXPECT_EQ(ask("/api/v1/snapshot/live/cam.jpg", "POST").status, 405);
    EXPECT_EQ(ask("/api/v1/snapshot/live/cam.jpg").status, 404) << "nobody publishes";
    EXPECT_EQ(ask("/api/v1/snapshot/live/cam.png").status, 404);
    EXPECT_EQ(ask("/api/v1/snapshot/cam.jpg").status, 404);
    const auto screen = publish("/live/screen", hex("13 00112233"));
    const auto reply = ask("/api/v1/snapshot/live/screen.jpg");
    EXPECT_EQ(reply.status, 415) << reply.body;
    const auto elsewhere = publish("other/live/cam", hex("13 00112233"));
    EXPECT_EQ(ask("/api/v1/snapshot/live/cam.jpg?vhost=other").status, 415);
    EXPECT_EQ(ask("/api/v1/snapshot/live/cam.jpg?vhost=__defaultVhost__").status, 404);
    const auto broken = publish("/live/broken", hex("17 01 000000 00000002 65aa"));
    EXPECT_GE(ask("/api/v1/snapshot/live/broken.jpg").status, 415) << "nothing that can be decoded";
}

}  // namespace
}  // namespace live::api
