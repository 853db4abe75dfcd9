#include "api/streams/dvrs_handler.hpp"

#include <gtest/gtest.h>
#include <nlohmann/json.hpp>

#include "api/common/handler_fixture.hpp"
#include "base/files/scratch_folder_fixture.hpp"
#include "base/log/log_fixture.hpp"
#include "base/options_of_fixture.hpp"
#include "io/fibers/wait_fixture.hpp"
#include "media/ring/packet_fixture.hpp"
#include "media/source/publication.hpp"

namespace live::api {
namespace {

struct DvrsHandlerTest : HandlerFixtureOf<nlohmann::ordered_json> {
    DvrsHandlerTest() {
        source = MUST(streams.find_or_create("/live/cam", {}, 60'000));
        publication = MUST(media::Publication::start(source, media::Takeover::refuse));
        options.enabled = true;
        endpoints.serve(DvrsHandler::kPath, handler);
    }
    ~DvrsHandlerTest() override { MUST(recordings.stop(io::Deadline::after(io::kSoon))); }
    void publish(const std::string& path) {
        session::ClientRequest client;
        client.app = "live";
        client.stream = "cam";
        session::StreamPlan plan;
        plan.url = "/live/cam";
        options.path = path;
        recordings.on_published(client, plan);
    }

    ScratchFolder folder;
    NoLog no_log;
    media::SlabPool pool;
    media::StreamTable streams{pool};
    Ref<media::Source> source;
    std::unique_ptr<media::Publication> publication;
    service::dvr::DvrOptions options;
    SameOptions<service::dvr::DvrOptions> same_options{options};
    service::dvr::DvrService recordings{streams, same_options, {}, Log(no_log, "test")};
    DvrsHandler handler{info, recordings};
};

TEST_F(DvrsHandlerTest, ListsRecordingsWithEveryField) {
    EXPECT_TRUE(ask_json("/api/v1/dvrs")["dvrs"].empty());
    publish(folder.file("x.flv"));
    const Json shown = ask_json("/api/v1/dvrs")["dvrs"];
    ASSERT_EQ(shown.size(), 1U);
    expect_fields(shown[0], {{"stream_url", kText},
                             {"active", kBool},
                             {"file", kText},
                             {"duration", kReal},
                             {"bytes", kWhole},
                             {"files", kWhole},
                             {"error", kNull}});
    EXPECT_EQ(shown[0]["stream_url"], "/live/cam");
    EXPECT_EQ(shown[0]["active"], true);
    EXPECT_TRUE(ask_json("/api/v1/dvrs?start=1")["dvrs"].empty());
    EXPECT_EQ(ask_json("/api/v1/dvrs")["total"], 1);
    EXPECT_EQ(ask("/api/v1/dvrs?count=0").status, 400);
    EXPECT_EQ(ask("/api/v1/dvrs", "POST").status, 405);
}

TEST_F(DvrsHandlerTest, HasTheReasonOfAnEndedRecording) {
    folder.write("x.flv", "");
    publish(folder.file("x.flv"));
    MUST(io::yield(io::Deadline::never()));
    source->append(media::tag_packet(MediaKind::audio, false, false, 0ms, Slice::copy_of(as_bytes("\xAF\x01x"))));
    source->flush();
    io::wait_until([&] { return ask_json("/api/v1/dvrs")["dvrs"][0]["active"] == false; });
    const Json shown = ask_json("/api/v1/dvrs")["dvrs"][0];
    EXPECT_NE(shown["error"].get<std::string>().find("(3082)"), std::string::npos);
}

}  // namespace
}  // namespace live::api
