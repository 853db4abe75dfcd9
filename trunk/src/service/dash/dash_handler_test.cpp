#include "service/dash/dash_handler.hpp"

#include "base/options_of_fixture.hpp"
#include "base/text/utc_text.hpp"
#include "io/fibers/wait_fixture.hpp"
#include "service/dash/mpd.hpp"
#include "service/dash/mpd_fixture.hpp"
#include "service/files/session_fixture.hpp"
#include "service/files/site_fixture.hpp"

namespace live::service::dash {
namespace {

Block block_of(std::string_view text) { return std::make_shared<const std::vector<std::uint8_t>>(text.begin(), text.end()); }

class DashHandlerTest : public files::SiteFixture {
protected:
    void SetUp() override {
        SiteFixture::SetUp();
        roots_.folder = "html";
        router_.add_fallback(handler_);
    }
    segments::FileRef add(const std::string& name, const segments::StreamOfFilesRef& stream) {
        return store_.add("html/live/" + name, stream);
    }
    segments::FileRef add(const std::string& name) { return add(name, cam_); }
    segments::FileRef add_whole(const std::string& name, const segments::StreamOfFilesRef& stream) {
        const auto file = add(name, stream);
        file->add(block_of("<MPD>"));
        file->end();
        return file;
    }

    // "dash_ctx=NAME" of an MPD's segments.
    static std::string session_in(const std::string& mpd) {
        const std::size_t at = mpd.find("dash_ctx=");
        return at == std::string::npos ? std::string() : mpd.substr(at, mpd.find('"', at) - at);
    }

    segments::Store store_;
    files::OneFolder roots_;
    const segments::StreamOfFilesRef cam_ =
        std::make_shared<segments::StreamOfFiles>(segments::StreamOfFiles{"__defaultVhost__", "live", "cam", 10s});
    files::Door door_;
    files::RecordedEvents stream_events_;
    session::ClientTable clients_;
    files::Sessions sessions_{door_, stream_events_, clients_, places_};
    DashOptions options_values_;
    SameOptions<DashOptions> options_{options_values_};
    DashHandler handler_{store_, options_, roots_, sessions_};
};

TEST_F(DashHandlerTest, ServesFilesInMemory) {
    const auto mpd = add("cam.mpd");
    mpd->add(block_of("<MPD>"));
    mpd->end();
    const auto answer = ask("/live//./cam.mpd?x=1");
    EXPECT_EQ(answer.status, 200);
    EXPECT_EQ(answer.body, "<MPD>");
    EXPECT_EQ(answer.headers.find("Content-Type"), "application/dash+xml");
    EXPECT_EQ(answer.headers.find("Cache-Control"), "no-cache");
    EXPECT_NE(cam_->requested_at, TimePoint());
    EXPECT_EQ(ask("/live/cam.mpd", "POST").status, 405);
    EXPECT_EQ(ask("/live/other.mpd").status, 404) << "an unknown stream";
    store_.remove("html/live/cam.mpd", mpd);
    EXPECT_EQ(ask("/live/cam.mpd").status, 404);
}

TEST_F(DashHandlerTest, SendsASegmentInProgress) {
    const auto segment = add("cam/video-3.m4s");
    const auto stream = open("GET", "/live/cam/video-3.m4s");
    static_cast<void>(io::sleep(io::Deadline::after(1ms)));
    segment->add(block_of("one"));
    static_cast<void>(io::sleep(io::Deadline::after(1ms)));
    segment->add(block_of("two"));
    segment->add(block_of("three"));
    store_.remove("html/live/cam/video-3.m4s", segment);
    segment->end();
    const auto answer = receive(*stream);
    EXPECT_EQ(answer.status, 200);
    EXPECT_EQ(answer.body, "onetwothree");
    EXPECT_EQ(answer.headers.find("Transfer-Encoding"), "chunked");
    EXPECT_EQ(answer.headers.find("Content-Type"), "video/iso.segment");
}

TEST_F(DashHandlerTest, SendsOneSegmentInProgressToMany) {
    const auto segment = add("cam/video-3.m4s");
    const std::string piece(20'000, 'x');
    std::vector<std::unique_ptr<io::TcpStream>> streams;
    for (std::size_t i = 0; i <= files::SentCopy::kAskedBefore; ++i)
        streams.push_back(open("GET", "/live/cam/video-3.m4s"));
    std::string whole;
    for (const char* end : {"one", "two", "three"}) {
        static_cast<void>(io::sleep(io::Deadline::after(1ms)));
        segment->add(block_of(piece + end));
        whole += piece + end;
    }
    static_cast<void>(io::sleep(io::Deadline::after(1ms)));
    EXPECT_NE(segment->copy_for_request().file, nullptr);
    segment->end();
    for (const auto& stream : streams)
        EXPECT_TRUE(receive(*stream).body == whole);
}

TEST_F(DashHandlerTest, AnswersNotFoundForAnAbandonedSegment) {
    const auto segment = add("cam/video-4.m4s");
    const auto stream = open("GET", "/live/cam/video-4.m4s");
    static_cast<void>(io::sleep(io::Deadline::after(1ms)));
    segment->end();
    EXPECT_EQ(receive(*stream).status, 404);
}

TEST_F(DashHandlerTest, OpensASessionForTheFirstMpd) {
    add_whole("cam.mpd", cam_);
    add_whole("cam/video-1.m4s", cam_);
    ask("/live/cam.mpd", "HEAD");
    ask("/live/cam/video-1.m4s");
    EXPECT_EQ(sessions_.size(), 0u) << "there is no player yet";
    ask("/live/cam.mpd?token=1");
    ask("/live/cam.mpd");
    ask("/live/cam/video-1.m4s");
    ASSERT_EQ(clients_.size(), 1u) << "the same program at the same address";
    clients_.for_each([](session::ClientEntry& entry) {
        const session::ClientRequest& request = entry.client().request();
        EXPECT_EQ(request.protocol, "http-dash");
        EXPECT_EQ(request.kind, session::ClientKind::hls_play);
        EXPECT_EQ(request.stream + request.extension, "cam.mpd");
        EXPECT_EQ(request.param, "?token=1");
        EXPECT_EQ(entry.figures().sent_bytes, 15u);
        entry.kick("an operator");
    });
    EXPECT_EQ(ask("/live/cam.mpd").status, 404);
    EXPECT_EQ(ask("/live/cam/video-1.m4s").status, 404);
    sessions_.expire(io::now() + 10s);
    EXPECT_EQ(stream_events_.ended.size(), 1u);
    EXPECT_EQ(ask("/live/cam.mpd").status, 200) << "it may return later, as an HLS player may";
}

TEST_F(DashHandlerTest, HidesStreamsFromOtherVirtualHosts) {
    roots_.vhosts = true;
    add_whole("cam.mpd", cam_);
    add_whole("cam/video-1.m4s", cam_);
    EXPECT_EQ(ask("/live/cam.mpd").status, 404);
    EXPECT_EQ(ask("/live/cam/video-1.m4s").status, 404);
    EXPECT_EQ(sessions_.size(), 0U);
    EXPECT_EQ(ask("/live/cam/video-1.m4s?vhost=__defaultVhost__").status, 200);
    EXPECT_EQ(ask("/live/cam.mpd?vhost=__defaultVhost__").status, 200);
    EXPECT_EQ(ask("/live/cam/video-1.m4s").status, 404) << "the session belongs to another virtual host";
    EXPECT_EQ(ask("/live/cam.mpd").status, 404);
}

// Players drop the MPD's query, and each request may reach another worker.
TEST_F(DashHandlerTest, NamesTheVirtualHostInTheUrlsOfTheMpd) {
    const auto mpd = add("cam.mpd");
    mpd->add(block_of(text_of(example_mpd())));
    mpd->end();
    EXPECT_EQ(ask("/live/cam.mpd").body, text_of(example_mpd()));
    const std::string named = ask("/live/cam.mpd?vhost=a%22%26b").body;
    EXPECT_EQ(named, with_query(text_of(example_mpd()), "vhost=a%22%26b"));
    EXPECT_NE(named.find("media=\"$RepresentationID$-$Number$.m4s?vhost=a%22%26b\""), std::string::npos) << named;
    EXPECT_EQ(sessions_.size(), 1U);
}

TEST_F(DashHandlerTest, RefusesAnMpd) {
    door_.refused = "cam";
    add_whole("cam.mpd", cam_);
    EXPECT_EQ(ask("/live/cam.mpd", "HEAD").status, 403) << "HEAD has the status of GET";
    EXPECT_EQ(ask("/live/cam.mpd").status, 403);
    EXPECT_EQ(sessions_.size(), 0u);
}

TEST_F(DashHandlerTest, RedirectsPlayers) {
    options_values_.enabled = true;
    door_.elsewhere = "cam";
    const auto answer = ask("/live/cam.mpd?token=1");
    EXPECT_EQ(answer.status, 302);
    EXPECT_TRUE(answer.headers.find("Location")->starts_with("http://other.example:8080/live/cam.mpd?token=1"));
    EXPECT_EQ(ask("/live/other.mpd").status, 404) << "no node has it";
    EXPECT_EQ(ask("/live/cam/video-1.m4s").status, 404) << "only an MPD opens a session";
    EXPECT_EQ(sessions_.size(), 0u);
}

TEST_F(DashHandlerTest, ChecksRulesOfSegments) {
    add_whole("cam.mpd", cam_);
    add_whole("cam/video-1.m4s", cam_);
    EXPECT_EQ(ask("/live/cam/video-1.m4s").status, 200);
    door_.refused = "cam";
    EXPECT_EQ(ask("/live/cam/video-1.m4s").status, 403);
    EXPECT_EQ(ask("/live/cam/video-1.m4s", "HEAD").status, 403);
    door_.refused = "";
    ask("/live/cam.mpd");
    door_.refused = "cam";
    EXPECT_EQ(ask("/live/cam/video-1.m4s").status, 200) << "the player has been admitted";
}

TEST_F(DashHandlerTest, ServesGuardedSegmentsToAdmittedPlayers) {
    door_.is_guarded = true;
    const auto mpd = add("cam.mpd");
    mpd->add(block_of(text_of(example_mpd())));
    mpd->end();
    add_whole("cam/video-1.m4s", cam_);
    add_whole("cam/video-init.mp4", cam_);
    const auto other =
        std::make_shared<segments::StreamOfFiles>(segments::StreamOfFiles{"__defaultVhost__", "live", "cam2", 10s});
    add_whole("cam2/video-1.m4s", other);
    for (const char* method : {"GET", "HEAD"}) {
        EXPECT_EQ(ask("/live/cam/video-1.m4s", method).status, 403);
        EXPECT_EQ(ask("/live/cam/video-init.mp4", method).status, 403);
    }
    const std::string text = ask("/live/cam.mpd?token=1").body;
    const std::string query = "?" + session_in(text);
    EXPECT_EQ(text, with_query(text_of(example_mpd()), session_in(text)));
    EXPECT_EQ(ask("/live/cam/video-1.m4s").status, 403) << "the address and the program are no proof";
    EXPECT_EQ(ask("/live/cam/video-1.m4s?dash_ctx=madeup00").status, 403);
    EXPECT_EQ(ask("/live/cam/video-1.m4s?dash_ctx=" + std::string(100, 'a')).status, 403);
    const auto answer = ask("/live/cam/video-1.m4s" + query);
    EXPECT_EQ(answer.status, 200);
    EXPECT_EQ(answer.headers.find("Cache-Control"), "private");
    EXPECT_EQ(ask("/live/cam/video-init.mp4" + query, "HEAD").status, 200);
    EXPECT_EQ(ask("/live/cam2/video-1.m4s" + query).status, 403) << "a session is the permission for one stream";
    sessions_.expire(io::now() + 1'000s);
    EXPECT_EQ(ask("/live/cam/video-1.m4s" + query).status, 403) << "its session has ended";
    door_.is_guarded = false;
    EXPECT_FALSE(ask("/live/cam/video-1.m4s").headers.find("Cache-Control")) << "for every cache";
}

TEST_F(DashHandlerTest, TakesNoCredentialsOfAnotherPlayerForAGuardedMpd) {
    door_.is_guarded = true;
    const auto mpd = add("cam.mpd");
    mpd->add(block_of(text_of(example_mpd())));
    mpd->end();
    const std::string first = session_in(ask("/live/cam.mpd?token=1").body);
    EXPECT_EQ(session_in(ask("/live/cam.mpd?token=1").body), first);
    EXPECT_EQ(session_in(ask("/live/cam.mpd?token=1&CMCD=bl%3D100").body), first) << "the same player";
    EXPECT_EQ(sessions_.size(), 1U);
    EXPECT_NE(session_in(ask("/live/cam.mpd?token=2").body), first) << "admitted by its own";
    EXPECT_EQ(sessions_.size(), 2U);
    door_.refused = "cam";
    EXPECT_EQ(ask("/live/cam.mpd?token=1").status, 200);
    EXPECT_EQ(ask("/live/cam.mpd?token=3").status, 403) << "a session of its address and program is there";
    EXPECT_EQ(ask("/live/cam.mpd").status, 403);
}

TEST_F(DashHandlerTest, ServesTheTime) {
    EXPECT_EQ(ask("/live/cam/utc-time.txt").status, 404) << "there is no DASH";
    options_values_.enabled = true;
    const auto answer = ask("/live/cam/utc-time.txt?vhost=any");
    EXPECT_EQ(answer.status, 200);
    EXPECT_EQ(answer.headers.find("Cache-Control"), "no-store");
    const auto time = parse_utc_text(answer.body);
    ASSERT_TRUE(time.ok()) << answer.body;
    EXPECT_LE(std::chrono::abs(std::chrono::system_clock::now() - *time), 30s);
}

TEST_F(DashHandlerTest, LimitsTheRememberedPlayers) {
    Viewers viewers(sessions_);
    session::http::Request request;
    for (int i = 0; i < 500; ++i) {
        request.peer_ip = std::to_string(i);
        ASSERT_TRUE(viewers.admit(request, *cam_, io::Deadline::after(io::kSoon)).ok());
        sessions_.expire(io::now() + 10s);
    }
    EXPECT_LE(viewers.size(), 65u);
}

}  // namespace
}  // namespace live::service::dash
