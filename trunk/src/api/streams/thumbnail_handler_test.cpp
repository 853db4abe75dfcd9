#include "api/streams/thumbnail_handler.hpp"

#include <gtest/gtest.h>
#include <nlohmann/json.hpp>

#include "api/common/handler_fixture.hpp"
#include "base/bytes/hex_fixture.hpp"
#include "media/ring/packet_fixture.hpp"
#include "media/source/publication.hpp"
#include "service/workers/no_events_fixture.hpp"
#include "service/workers/worker_fixture.hpp"

namespace live::api {
namespace {

// A virtual host of this name is hidden.
struct Rules final : StreamListSettings {
    struct View final : StreamListView {
        bool shows(std::string_view vhost) const override { return vhost != "hidden"; }
        bool hides_some() const override { return false; }
        std::vector<StreamAddress> play_addresses(const ListedStream&) const override { return {}; }
        std::vector<StreamAddress> publish_addresses() const override { return {}; }
        ApiPlace api() const override { return {}; }
    };
    bool is_enabled() const override { return enabled; }
    std::string_view hls_format(const ListedStream&) const override { return {}; }
    std::unique_ptr<StreamListView> view(const session::http::Request&) const override { return std::make_unique<View>(); }
    bool enabled = true;
};

// A picture that no decoder has: its answer is another one than that of a stream that is hidden or missing.
std::unique_ptr<media::Publication> publish(media::StreamTable& streams, const std::string& url) {
    const auto source = MUST(streams.find_or_create(url, {}, 60'000));
    auto publication = MUST(media::Publication::start(source, media::Takeover::refuse));
    source->append(media::tag_packet(MediaKind::video, true, false, 1s, Slice::copy_of(hex("13 00112233"))));
    return publication;
}

struct ThumbnailTest : HandlerFixtureOf<nlohmann::ordered_json> {
    ThumbnailTest() { endpoints.serve(ThumbnailHandler::kPath, handler); }

    media::SlabPool pool;
    media::StreamTable streams{pool};
    service::snapshot::SnapshotService snapshots{streams, service::snapshot::SnapshotService::thumbnails()};
    Rules rules;
    ThumbnailHandler handler{snapshots, rules, nullptr};
};

TEST_F(ThumbnailTest, FollowsTheRulesOfTheStreamList) {
    const auto shown = publish(streams, "/live/cam");
    const auto hidden = publish(streams, "hidden/live/cam");
    EXPECT_EQ(ask("/api/v1/thumbnail/live/cam.jpg").status, 415);
    EXPECT_EQ(ask("/api/v1/thumbnail/live/cam.jpg?vhost=hidden").status, 404);
    EXPECT_EQ(ask("/api/v1/thumbnail/live/other.jpg").status, 404);
    EXPECT_EQ(ask("/api/v1/thumbnail/live/cam.png").status, 404);
    EXPECT_EQ(ask("/api/v1/thumbnail/cam.jpg").status, 404);
    EXPECT_EQ(ask("/api/v1/thumbnail/live/cam.jpg", "POST").status, 405);
    rules.enabled = false;
    EXPECT_EQ(ask("/api/v1/thumbnail/live/cam.jpg").status, 404);
    const auto for_worker = report_request_of("/api/v1/thumbnail/live/cam.jpg?vhost=hidden");
    EXPECT_EQ(handler.handle(for_worker, io::Deadline::after(io::kSoon)).status, 415) << "the other worker checks the rules";
}

// This is worker 2 of three, and the test is the two others.
class ThumbnailOfWorkersTest : public service::workers::WorkerFixture {
protected:
    ThumbnailOfWorkersTest() : WorkerFixture({2, 3}) { MUST(workers_.start(fibers_, io::Deadline::never())); }
    ~ThumbnailOfWorkersTest() override { MUST(fibers_.stop(io::Deadline::after(io::kSoon))); }

    Rules rules_;
    service::snapshot::SnapshotService snapshots_{streams_};
    service::workers::NoEvents events_;
    service::workers::WorkerService workers_{{line_.get(), streams_, http_, {}, {}}, events_, log_};
    ThumbnailHandler handler_{snapshots_, rules_, &workers_};
};

TEST_F(ThumbnailOfWorkersTest, TheWorkerThatHasTheStreamAnswers) {
    std::vector<std::string> asked;
    answer_as_others([&](engine::workers::Worker worker, const std::string& request) -> std::optional<std::string> {
        asked.push_back(std::to_string(worker) + request.substr(3, request.find(" HTTP") - 3));
        return worker == 1 ? std::optional<std::string>("JPEG") : std::nullopt;
    });
    const auto reply = handler_.handle(request_of("/api/v1/thumbnail/live/cam.jpg"), io::Deadline::after(io::kSoon));
    EXPECT_EQ(reply.status, 200);
    EXPECT_EQ(reply.body, "JPEG");
    EXPECT_EQ(reply.content_type, "image/jpeg");
    EXPECT_EQ(asked, (std::vector<std::string>{"3 /api/v1/thumbnail/live/cam.jpg", "1 /api/v1/thumbnail/live/cam.jpg"}));
    const auto own = publish(streams_, "/live/cam");
    EXPECT_EQ(handler_.handle(request_of("/api/v1/thumbnail/live/cam.jpg"), io::Deadline::after(io::kSoon)).status, 415);
    EXPECT_EQ(asked.size(), 2U) << "its own stream";
}

}  // namespace
}  // namespace live::api
