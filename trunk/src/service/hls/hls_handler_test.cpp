#include "service/hls/hls_handler.hpp"

#include <algorithm>
#include <filesystem>
#include <optional>
#include <string>
#include <vector>

#include "base/files/scratch_folder_fixture.hpp"
#include "base/options_of_fixture.hpp"
#include "io/fibers/wait_fixture.hpp"
#include "service/files/session_fixture.hpp"
#include "service/files/site_fixture.hpp"
#include "service/hls/hls_service.hpp"
#include "service/segments/segmenter_fixture.hpp"

namespace live::service::hls {
namespace {

using files::Door;
using files::RecordedEvents;
using segments::avc_config;
using segments::config_packet;
using segments::video_packet;

class Nobody final : public HlsEvents {
public:
    void on_fragment(const FragmentEvent&) override {}
};

class HlsHandlerTest : public files::SiteFixture {
protected:
    void SetUp() override {
        SiteFixture::SetUp();
        roots_.folder = options_.path = folder_.file("");
        options_.enabled = true;
        options_.fragment = 1s;
        router_.add_fallback(handler_);
    }
    void TearDown() override {
        MUST(service_.stop(io::Deadline::after(kSoon)));
        SiteFixture::TearDown();
    }
    // Publishes seconds of video with a key frame each second, as /live/cam.
    void publish(int seconds) {
        publish_frames(seconds * 25 + 1);
        io::wait_until([&] { return service_.index().size() > static_cast<std::size_t>(seconds); });
    }
    void publish_frames(int count) {
        source_ = MUST(streams_.find_or_create("/live/cam", {}, 60'000));
        session::ClientRequest request;
        request.app = "live";
        request.stream = "cam";
        session::StreamPlan plan;
        plan.url = "/live/cam";
        plan.vhost = vhost_name_;
        service_.on_published(request, plan);
        source_->append(config_packet(MediaKind::video, avc_config()));
        for (int i = 0; i < count; ++i)
            source_->append(video_packet(i * 40ms, i % 25 == 0));
        source_->flush();
    }
    // The URI in the first (master) playlist.
    std::string variant(const std::string& target) {
        const auto master = ask(target);
        EXPECT_EQ(master.status, 200);
        EXPECT_TRUE(master.body.starts_with("#EXTM3U\n#EXT-X-STREAM-INF:BANDWIDTH=")) << master.body;
        const std::size_t end = master.body.rfind('\n');
        const std::size_t begin = master.body.rfind('\n', end - 1) + 1;
        return master.body.substr(begin, end - begin);
    }
    std::size_t coalesced_after_playlist() {
        const auto stream = open("GET", "/live/cam.m3u8", "keep-alive");
        EXPECT_EQ(receive(*stream).status, 200);
        return io::Loop::counters().coalesced;
    }

    ScratchFolder folder_;
    HlsOptions options_;
    const SameOptions<HlsOptions> same_options_{options_};
    std::string vhost_name_;
    files::OneFolder roots_;
    Door door_;
    RecordedEvents stream_events_;
    Nobody nobody_;
    session::ClientTable clients_;
    Sessions sessions_{door_, stream_events_, clients_, places_};
    media::SlabPool pool_;
    media::StreamTable streams_{pool_};
    Ref<media::Source> source_;
    files::PathClaims claims_;
    HlsService service_{{streams_, same_options_, sessions_, nobody_, claims_, Zone::utc}, log_};
    HlsHandler handler_{service_.index(), same_options_, roots_, sessions_};
};

TEST_F(HlsHandlerTest, StatesTheRateOfTheFirstFrames) {
    publish_frames(11);
    const auto master = ask("/live/cam.m3u8");
    EXPECT_EQ(master.status, 200);
    const std::uint64_t bytes = source_->counters().bytes[index_of(MediaKind::video)];
    EXPECT_NE(master.body.find(":BANDWIDTH=" + std::to_string(bytes * 8 * 10 / 4) + ","), std::string::npos)
        << bytes << " bytes in 0.4 s: " << master.body;
}

TEST_F(HlsHandlerTest, ServesGuardedFragmentsToAdmittedSessions) {
    door_.is_guarded = true;
    options_.ts_ctx = false;
    publish(3);
    for (const char* method : {"GET", "HEAD"})
        EXPECT_EQ(ask("/live/cam-0.ts", method).status, 403);
    EXPECT_EQ(ask("/live/cam-0.ts?hls_ctx=madeup00").status, 403);
    const std::string address = variant("/live/cam.m3u8");
    const std::string ctx = address.substr(23, 8);
    const auto list = ask(address);
    EXPECT_NE(list.body.find("cam-0.ts?hls_ctx=" + ctx + "\n"), std::string::npos) << "whatever hls_ts_ctx is: " << list.body;
    const auto fragment = ask("/live/cam-0.ts?hls_ctx=" + ctx);
    EXPECT_EQ(fragment.status, 200);
    EXPECT_EQ(fragment.headers.find("Cache-Control"), "private");
    sessions_.expire(io::now() + 1'000s);
    EXPECT_EQ(ask("/live/cam-0.ts?hls_ctx=" + ctx).status, 403) << "its session has ended";
    door_.is_guarded = false;
    const auto open = ask("/live/cam-0.ts");
    EXPECT_EQ(open.status, 200);
    EXPECT_FALSE(open.headers.find("Cache-Control")) << "for every cache";
}

TEST_F(HlsHandlerTest, RefusesDirectivesThatAreNotNumbers) {
    publish(3);
    for (const char* query : {"_HLS_msn=abc", "_HLS_msn=-1", "_HLS_msn=", "_HLS_msn=1x", "_HLS_msn=1&_HLS_part=a", "_HLS_part=0",
                              "_HLS_msn=99999999999999999999"})
        EXPECT_EQ(ask(std::string("/live/cam.m3u8?") + query).status, 400) << query;
    EXPECT_EQ(clients_.size(), 0u) << "before a player is admitted";
    EXPECT_EQ(ask("/live/cam.m3u8?_HLS_msn=1&_HLS_part=0").status, 200);
}

TEST_F(HlsHandlerTest, NamesASessionInItsPlaylists) {
    publish(3);
    const std::string address = variant("/live/cam.m3u8?token=1&_HLS_msn=3");
    ASSERT_TRUE(address.starts_with("/live/cam.m3u8?hls_ctx=") && address.ends_with("&token=1")) << address;
    const std::string ctx = address.substr(23, 8);
    const auto list = ask(address);
    EXPECT_EQ(list.status, 200);
    EXPECT_EQ(list.headers.find("Content-Type"), "application/vnd.apple.mpegurl");
    EXPECT_NE(list.body.find("cam-0.ts?hls_ctx=" + ctx + "\n"), std::string::npos) << list.body;
    const auto fragment = ask("/live/cam-0.ts?hls_ctx=" + ctx);
    EXPECT_EQ(fragment.status, 200);
    EXPECT_EQ(fragment.body.size() % 188, 0u);
    ASSERT_NE(sessions_.find(ctx), nullptr);
    clients_.for_each([&](session::ClientEntry& entry) {
        EXPECT_GT(entry.figures().sent_bytes, fragment.body.size());
        EXPECT_EQ(entry.client().request().protocol, "http-hls");
        entry.kick("by a test");
    });
    EXPECT_EQ(ask(address).status, 404) << "the player has been disconnected";
}

TEST_F(HlsHandlerTest, RedirectsPlayers) {
    door_.elsewhere = "cam";
    for (const bool with_sessions : {true, false}) {
        options_.ctx = with_sessions;
        const auto answer = ask("/live/cam.m3u8?token=1");
        EXPECT_EQ(answer.status, 302);
        EXPECT_TRUE(answer.headers.find("Location")->starts_with("http://other.example:8080/live/cam.m3u8?token=1"));
    }
    EXPECT_EQ(sessions_.size(), 0u);
}

TEST_F(HlsHandlerTest, ContinuesASessionOfAnotherNode) {
    publish(3);
    const std::string address = variant("/live/cam.m3u8");
    sessions_.clear();
    const auto list = ask(address);
    EXPECT_EQ(list.status, 200);
    EXPECT_NE(list.body.find("#EXTINF"), std::string::npos) << list.body;
    EXPECT_NE(sessions_.find(address.substr(address.size() - 8)), nullptr);
    // A name without a valid check letter opens a session.
    EXPECT_TRUE(variant("/live/cam.m3u8?hls_ctx=me").ends_with("hls_ctx=me"));
}

// Another worker has the streams of these names and their playlists.
class Coworker final : public files::RemoteFileSource {
public:
    bool shares(const session::ClientRequest&) const override { return true; }
    Result<bool> publishes(const session::ClientRequest& player, io::Deadline) override {
        return std::ranges::find(streams, player.stream) != streams.end();
    }
    Result<std::optional<std::size_t>> answer(session::http::Exchange&, const std::string&, const Edit&, io::Deadline) override {
        return std::optional<std::size_t>();
    }
    Result<std::optional<std::size_t>> answer(session::http::Exchange& exchange, const Edit&, io::Deadline deadline) override {
        TRY(exchange.send({.content_type = "x", .body = "a coworker's", .headers = {}}, deadline));
        return std::optional<std::size_t>(12);
    }
    std::vector<std::string> streams;
};

// This worker does not have the stream yet. The player has its session name and the master playlist from another worker.
TEST_F(HlsHandlerTest, FindsTheStreamOfATrackPlaylistOnEachWorker) {
    Coworker coworker;
    coworker.streams = {"cam", "cam.audio"};
    door_.refused = "another";  // a worker receives a path without a stream name
    handler_.set_remote_files(coworker);
    const auto plays = [this](std::string_view ctx) { return sessions_.find(ctx)->request().stream; };
    publish(1);
    const std::string ctx = variant("/live/cam.m3u8").substr(23, 8);
    sessions_.clear();
    service_.on_unpublished("/live/cam");
    const auto list = ask("/live/cam.video-1.m3u8?hls_ctx=" + ctx);
    EXPECT_EQ(list.body, "a coworker's");
    ASSERT_NE(sessions_.find(ctx), nullptr);
    EXPECT_EQ(plays(ctx), "cam");
    EXPECT_EQ(ask("/live/cam.audio-1.m3u8?hls_ctx=" + ctx).body, "a coworker's") << "of the same session";
    EXPECT_EQ(plays(ctx), "cam");
    EXPECT_EQ(sessions_.size(), 1U);
    EXPECT_EQ(ask("/live/cam.audio.m3u8?hls_ctx=other").status, 200);
    EXPECT_EQ(plays("other"), "cam.audio") << "a stream of that name is published";
    EXPECT_EQ(ask("/live/x.audio.m3u8?hls_ctx=" + ctx).status, 404);
    options_.ctx = false;
    EXPECT_EQ(ask("/live/cam.video-1.m3u8").body, "a coworker's");
    door_.refused = "cam";
    EXPECT_EQ(ask("/live/cam.video-1.m3u8").status, 403) << "the rules of the stream apply";
}

TEST_F(HlsHandlerTest, FindsTheStreamOfATrackPlaylistOnEachEdge) {
    publish(1);
    const std::string ctx = variant("/live/cam.m3u8").substr(23, 8);
    sessions_.clear();
    door_.elsewhere = "cam";
    const auto sent_on = ask("/live/cam.audio-1.m3u8?hls_ctx=" + ctx);
    EXPECT_EQ(sent_on.status, 302) << "the name is reserved for the stream";
    door_.elsewhere.clear();
    door_.absent = "cam";
    static_cast<void>(ask("/live/cam.audio.m3u8?hls_ctx=" + ctx));
    ASSERT_NE(sessions_.find(ctx), nullptr);
    EXPECT_EQ(sessions_.find(ctx)->request().stream, "cam.audio") << "the origin has no stream cam";
}

std::size_t memory_files() {
    std::size_t count = 0;
    for (const auto& entry : std::filesystem::directory_iterator("/proc/self/fd")) {
        std::error_code gone;  // the directory's own descriptor
        count += std::filesystem::read_symlink(entry, gone).native().starts_with("/memfd:live-sent") ? 1 : 0;
    }
    return count;
}

TEST_F(HlsHandlerTest, SendsPopularFragmentsFromACopy) {
    options_.ctx = false;
    publish(3);
    const auto first = ask("/live/cam-0.ts");
    ASSERT_EQ(first.status, 200);
    for (std::size_t i = 1; i < files::SentCopy::kAskedBefore; ++i)
        EXPECT_EQ(ask("/live/cam-0.ts").body, first.body);
    EXPECT_EQ(memory_files(), 0U);
    for (int i = 0; i < 3; ++i)
        EXPECT_EQ(ask("/live/cam-0.ts").body, first.body);
    EXPECT_EQ(memory_files(), 1U);
    EXPECT_EQ(ask("/live/cam-1.ts").status, 200);
    EXPECT_EQ(memory_files(), 1U) << "the copy of the popular fragment";
    MUST(service_.stop(io::Deadline::after(kSoon)));
    EXPECT_EQ(memory_files(), 0U);
}

TEST_F(HlsHandlerTest, OpensNoSessionForMissingStreams) {
    EXPECT_EQ(ask("/live/cam.m3u8").status, 404);
    EXPECT_EQ(ask("/live/cam.m3u8?hls_ctx=mine").status, 404);
    EXPECT_EQ(ask("/live/cam.m3u8", "HEAD").status, 404);
    door_.refused = "cam";
    EXPECT_EQ(ask("/live/cam.m3u8").status, 403) << "rules come first";
    EXPECT_EQ(sessions_.size(), 0U);
    EXPECT_TRUE(stream_events_.ended.empty()) << "no callback was called";
}

TEST_F(HlsHandlerTest, CountsAFirstPlaylistAsOneUse) {
    publish(2);
    const std::string address = variant("/live/cam.m3u8?hls_ctx=mine");
    EXPECT_FALSE(sessions_.find("mine")->has_returned());
    EXPECT_EQ(ask(address).status, 200);
    EXPECT_TRUE(sessions_.find("mine")->has_returned());
}

TEST_F(HlsHandlerTest, AcceptsFreeSessionNames) {
    std::filesystem::create_directory(folder_.file("live"));
    for (const char* name : {"live/cam.m3u8", "live/other.m3u8"})
        folder_.write(name, "#EXTM3U\n#EXTINF:1,\na.ts\n");
    EXPECT_EQ(variant("/live/cam.m3u8?hls_ctx=mine"), "/live/cam.m3u8?hls_ctx=mine") << "of an earlier process";
    EXPECT_NE(variant("/live/other.m3u8?hls_ctx=mine"), "/live/other.m3u8?hls_ctx=mine") << "it plays another stream";
    EXPECT_EQ(variant("/live/cam.m3u8?hls_ctx=a%22b").find("a%22b"), std::string::npos);
    EXPECT_NE(ask("/live/cam.m3u8?hls_ctx=mine").body.find("\na.ts?hls_ctx=mine\n"), std::string::npos);
    door_.refused = "cam";
    EXPECT_EQ(ask("/live/cam.m3u8").status, 403);
    EXPECT_EQ(ask("/live/cam.m3u8", "POST").status, 405);
}

TEST_F(HlsHandlerTest, SessionPlaysTheStreamOfItsVirtualHost) {
    publish(1);
    const std::string address = variant("/live/cam.m3u8?hls_ctx=mine&vhost=open.example");
    EXPECT_EQ(ask(address).status, 200);
    door_.refused = "cam";
    EXPECT_EQ(ask("/live/cam.m3u8?hls_ctx=mine&vhost=closed.example").status, 403);
    EXPECT_EQ(ask(address).status, 200) << "an admitted player continues";
}

// The disk has a copy of everything.
TEST_F(HlsHandlerTest, HidesStreamsFromOtherVirtualHosts) {
    vhost_name_ = "own.example";
    roots_.vhosts = true;
    publish(2);
    EXPECT_EQ(ask("/live/cam.m3u8?vhost=own.example").status, 200);
    EXPECT_EQ(ask("/live/cam-0.ts?vhost=own.example").status, 200);
    for (const char* other : {"", "?vhost=other.example", "?vhost=other.example&hls_ctx=mine"})
        for (const char* path : {"/live/cam.m3u8", "/live//cam.m3u8", "/live/cam-0.ts"})
            EXPECT_EQ(ask(std::string(path) + other).status, 404) << path << other;
    EXPECT_EQ(sessions_.size(), 1U);
}

TEST_F(HlsHandlerTest, NamesTheVirtualHostInFragmentUrls) {
    vhost_name_ = "own.example";
    roots_.vhosts = true;
    options_.use_fmp4 = Fmp4::on;
    publish(2);
    const auto list = ask(variant("/live/cam.m3u8?vhost=own.example&hls_ctx=me"));
    for (const char* uri : {"\ncam-0.m4s?hls_ctx=me&vhost=own.example\n", "\"cam/init.mp4?hls_ctx=me&vhost=own.example\""})
        EXPECT_NE(list.body.find(uri), std::string::npos) << list.body;
    EXPECT_EQ(ask("/live/cam/init.mp4?hls_ctx=me&vhost=own.example").status, 200);
}

TEST_F(HlsHandlerTest, ServesPlainFilesWithoutSessions) {
    options_.ctx = false;
    options_.use_fmp4 = Fmp4::on;
    publish(3);
    const auto list = ask("/live/cam.m3u8");
    EXPECT_NE(list.body.find("#EXT-X-MAP:URI=\"cam/init.mp4\"\n"), std::string::npos) << list.body;
    EXPECT_NE(list.body.find("\ncam-0.m4s\n"), std::string::npos);
    EXPECT_EQ(ask("/live/cam/init.mp4").status, 200);
    EXPECT_EQ(ask("/live/cam-0.m4s").headers.find("Content-Type"), "video/iso.segment");
    EXPECT_EQ(ask("/live/cam-99.m4s").status, 404);
    EXPECT_EQ(sessions_.size(), 0u);
}

TEST_F(HlsHandlerTest, ChecksRulesWithoutASession) {
    publish(2);
    std::filesystem::create_directories(folder_.file("live"));
    folder_.write("live/other.m3u8", "#EXTM3U\n");
    variant("/live/cam.m3u8?hls_ctx=me");
    variant("/live/other.m3u8?hls_ctx=other");
    door_.refused = "cam";
    EXPECT_EQ(ask("/live/cam-0.ts?hls_ctx=me").status, 200) << "the player has been admitted";
    EXPECT_EQ(ask("/live/cam-0.ts").status, 403);
    EXPECT_EQ(ask("/live/cam-0.ts", "HEAD").status, 403);
    EXPECT_EQ(ask("/live/cam-0.ts?hls_ctx=other").status, 403) << "to another stream";
    EXPECT_EQ(ask("/live/cam-0.ts?hls_ctx=nobody").status, 403);
    clients_.for_each([](session::ClientEntry& entry) { entry.kick("by a test"); });
    EXPECT_EQ(ask("/live/cam-0.ts?hls_ctx=me").status, 404);
}

TEST_F(HlsHandlerTest, ChecksRulesOfPlaylistsWithoutSessions) {
    options_.ctx = false;
    publish(2);
    EXPECT_EQ(ask("/live/cam.m3u8").status, 200);
    door_.refused = "cam";
    EXPECT_EQ(ask("/live/cam.m3u8").status, 403);
    EXPECT_EQ(ask("/live/./cam.m3u8").status, 403);
    folder_.write("cam.m3u8", "#EXTM3U\n");
    options_.m3u8_file = "[stream].m3u8";
    EXPECT_EQ(ask("/cam.m3u8").status, 403) << "a file on disk";
}

TEST_F(HlsHandlerTest, CountsARequestedStreamAsWatched) {
    options_.ctx = false;
    publish(2);
    EXPECT_EQ(source_->readers().count(), 1u);
    EXPECT_FALSE(source_->readers().is_watched());
    ask("/live/cam.m3u8");
    source_->append(video_packet(2'040ms, false));
    source_->flush();
    io::wait_until([&] { return source_->readers().is_watched(); });
    EXPECT_TRUE(source_->readers().is_watched());
}

TEST_F(HlsHandlerTest, TheMasterPlaylistWaitsForRenditionsOnDemand) {
    class Maker final : public media::RenditionMaker {
    public:
        void want_renditions() override { ++wanted; }
        std::size_t due_renditions() const override { return due; }
        int wanted = 0;
        std::size_t due = 1;
    };
    options_.ctx = false;
    Maker maker;
    source_ = MUST(streams_.find_or_create("/live/cam", {}, 60'000));
    source_->publications().set_rendition_maker(&maker);
    publish(2);
    EXPECT_EQ(maker.wanted, 0);
    std::string master;
    io::Scope player("player");
    MUST(player.start("player", [&](io::Deadline) { master = ask("/live/cam.m3u8").body; }));
    int frames = 51;
    const auto publish_until = [&](const auto& condition) {
        io::wait_until([&] {
            source_->append(video_packet(frames * 40ms, frames % 25 == 0));
            source_->flush();
            ++frames;
            return condition();
        });
    };
    publish_until([&] { return maker.wanted > 0 && frames > 150; });
    EXPECT_EQ(master, "") << "it waits, for some seconds of the stream too";
    maker.due = 0;
    publish_until([&] { return !master.empty(); });
    EXPECT_NE(master.find("#EXT-X-STREAM-INF:"), std::string::npos) << master;
    EXPECT_NE(master.find("cam.video.m3u8"), std::string::npos) << master;
    source_->publications().set_rendition_maker(nullptr);
}

TEST_F(HlsHandlerTest, WakesPollingPlayersInBatches) {
    options_.ctx = false;
    publish(2);
    EXPECT_EQ(coalesced_after_playlist(), 1U);
}

TEST_F(HlsHandlerTest, WakesLowLatencyPlayersAtOnce) {
    options_.ctx = false;
    options_.ll = true;
    options_.use_fmp4 = Fmp4::on;
    publish(2);
    EXPECT_EQ(coalesced_after_playlist(), 0U);
}

TEST_F(HlsHandlerTest, AddsTheSessionNameToPlaylistsFromDisk) {
    EXPECT_EQ(with_query("#EXTM3U\n#EXTINF:1,\na.ts\n#EXTINF:1,\nb.ts?x=1\n", "hls_ctx=me"),
              "#EXTM3U\n#EXTINF:1,\na.ts?hls_ctx=me\n#EXTINF:1,\nb.ts?hls_ctx=me&x=1\n");
    EXPECT_EQ(
        with_query(
            "#EXT-X-MAP:URI=\"i.mp4\"\n#EXT-X-MEDIA:URI=\"/a.m3u8?x\",NAME=\"?\"\n#EXT-X-KEY:METHOD=AES-128,URI=\"k.key\",IV=0\n",
            "v"),
        "#EXT-X-MAP:URI=\"i.mp4?v\"\n#EXT-X-MEDIA:URI=\"/"
        "a.m3u8?v&x\",NAME=\"?\"\n#EXT-X-KEY:METHOD=AES-128,URI=\"k.key?v\",IV=0\n");
    for (const std::string operators :
         {"#EXT-X-KEY:URI=\"https://keys.example/k\"\n", "#EXT-X-KEY:URI=\"/k\"\n", "#EXT-X-MAP:URI=\"cut\n"})
        EXPECT_EQ(with_query(operators, "v"), operators);
    folder_.write("cam.m3u8", "#EXTM3U\n#EXTINF:1,\na.ts\n");
    options_.m3u8_file = "[stream].m3u8";
    options_.ctx = false;
    EXPECT_EQ(ask("/cam.m3u8").body, "#EXTM3U\n#EXTINF:1,\na.ts\n");
}

}  // namespace
}  // namespace live::service::hls
