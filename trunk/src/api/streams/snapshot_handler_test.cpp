#include "api/streams/snapshot_handler.hpp"

#include <gtest/gtest.h>
#include <nlohmann/json.hpp>

#include "api/common/handler_fixture.hpp"
#include "base/bytes/hex_fixture.hpp"
#include "media/ring/packet_fixture.hpp"
#include "media/source/publication.hpp"

namespace live::api {
namespace {

// A node that has what it is to have, after a while.
struct Fetcher final : StreamFetcher {
    Result<void> fetch(const session::ClientRequest& request, io::Deadline) override {
        asked.push_back(request.vhost + "/" + request.app + "/" + request.stream + request.param);
        return answer;
    }
    std::vector<std::string> asked;
    Result<void> answer;
};

struct SnapshotHandlerTest : HandlerFixtureOf<nlohmann::ordered_json> {
    SnapshotHandlerTest() { endpoints.serve(SnapshotHandler::kPath, handler); }
    // A stream whose key frame is the given tag body.
    std::unique_ptr<media::Publication> publish(const std::string& url, Bytes key_frame) {
        const auto source = MUST(streams.find_or_create(url, {}, 60'000));
        auto publication = MUST(media::Publication::start(source, media::Takeover::refuse));
        source->append(media::tag_packet(MediaKind::video, true, false, 1s, Slice::copy_of(key_frame)));
        return publication;
    }

    media::SlabPool pool;
    media::StreamTable streams{pool};
    service::snapshot::SnapshotService snapshots{streams};
    Fetcher fetcher;
    SnapshotHandler handler{snapshots, fetcher};
};

TEST_F(SnapshotHandlerTest, HasTheReasonWithoutASnapshot) {
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

TEST_F(SnapshotHandlerTest, FetchesTheStream) {
    ask("/api/v1/snapshot/live/cam.jpg?token=x");
    ask("/api/v1/snapshot/live/deep/cam.jpg?vhost=other");
    EXPECT_EQ(fetcher.asked, (std::vector<std::string>{"__defaultVhost__/live/cam?token=x", "other/live/deep/cam?vhost=other"}));
    fetcher.answer = Error(Errc::not_found, "no origin has it");
    const auto reply = ask("/api/v1/snapshot/live/cam.jpg");
    EXPECT_EQ(reply.status, 404);
    EXPECT_NE(reply.body.find("no origin has it"), std::string::npos);
    for (const auto& [code, status] :
         {std::pair(Errc::limit, 503), std::pair(Errc::timed_out, 503), std::pair(Errc::cancelled, 503),
          std::pair(Errc::unsupported, 415), std::pair(Errc::denied, 403), std::pair(Errc::system, 500)}) {
        fetcher.answer = Error(code, "it is so");
        EXPECT_EQ(ask("/api/v1/snapshot/live/cam.jpg").status, status);
    }
    fetcher.asked.clear();
    for (const char* name : {"live/ca%5Em", "/cam", "live/", "live/a%7Cb"})
        EXPECT_EQ(ask(std::string("/api/v1/snapshot/") + name + ".jpg").status, 404) << name;
    EXPECT_LE(fetcher.asked.size(), 1U) << "names that none can have are asked for nowhere";
}

}  // namespace
}  // namespace live::api
