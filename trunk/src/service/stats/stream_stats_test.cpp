#include "service/stats/stream_stats.hpp"

#include <memory>
#include <optional>

#include <gtest/gtest.h>

#include "base/bytes/hex_fixture.hpp"
#include "io/fibers/loop.hpp"
#include "io/fibers/scope.hpp"
#include "io/fibers/wait_fixture.hpp"
#include "media/ring/packet_fixture.hpp"
#include "session/common/client_fixture.hpp"

namespace live::service::stats {
namespace {

using session::ClientKind;
using session::FakeClient;

struct StreamStatsTest : ::testing::Test {
    StreamStatsTest() { table.add_watcher(stream_stats); }
    ~StreamStatsTest() override { clients.clear(); }
    FakeClient& client(ClientKind kind, const std::string& stream = "cam") {
        clients.push_back(std::make_unique<FakeClient>(table, kind, stream, "id" + std::to_string(clients.size())));
        clients.back()->enter(begin);
        return *clients.back();
    }
    void leave_all() {
        for (const auto& each : clients)
            if (each->stay)
                each->leave();
    }
    const StreamRow& stream(const std::string& url = "/live/cam") {
        for (const auto& [number, stream] : stream_stats.streams())
            if (stream->url == url)
                return *stream;
        std::abort();
    }
    static void append(media::Source& source, MediaKind kind, std::chrono::milliseconds at, const char* text, bool key = false,
                       bool config = false) {
        const auto bytes = hex(text);
        append_tag(source, kind, key, config, MediaTime(at), Slice::copy_of(bytes));
    }

    std::unique_ptr<io::Loop> loop = *io::Loop::create();
    media::SlabPool slabs;
    media::StreamTable streams{slabs};
    StreamStats stream_stats{streams};
    session::ClientTable table;
    std::vector<std::unique_ptr<FakeClient>> clients;
    TimePoint begin = io::now();
};

TEST_F(StreamStatsTest, ClosesAndCountsStalledPlayers) {
    client(ClientKind::fmle_publish).now.queued_packets = 9;
    auto& stalled = client(ClientKind::rtmp_play);
    auto& slow = client(ClientKind::flv_play);
    auto& paused = client(ClientKind::rtmp_play);
    auto& of_hls = client(ClientKind::hls_play);
    for (FakeClient* each : {&stalled, &slow, &paused, &of_hls})
        each->now.queued_packets = 9;
    paused.now.is_paused = true;
    stream_stats.sample(begin);
    slow.now.sent_bytes = 1;
    stream_stats.sample(begin + 30s);
    EXPECT_EQ(stalled.kicked, "the player took nothing for 30 s (stall_timeout)");
    for (const auto& each : clients)
        EXPECT_TRUE(each->kicked.empty() || each.get() == &stalled) << each->asked.id;
    EXPECT_EQ(stream_stats.totals().stalled, 1U);
    EXPECT_EQ(stream_stats.totals().unpublished, 0U);
    leave_all();
}

TEST_F(StreamStatsTest, AcknowledgedBytesDecideWhereAvailable) {
    client(ClientKind::srt_publish);
    auto& mute = client(ClientKind::srt_play);
    auto& slow = client(ClientKind::srt_play);
    auto& up_to_date = client(ClientKind::srt_play);
    auto& left_alone = client(ClientKind::srt_play, "nobody publishes it");
    for (FakeClient* each : {&mute, &slow, &up_to_date, &left_alone})
        each->now.taken = {10, each == &up_to_date};
    stream_stats.sample(begin);
    for (const auto& each : clients)
        each->now.sent_bytes = 1'000'000;
    slow.now.taken->amount = 11;
    stream_stats.sample(begin + 30s);
    EXPECT_EQ(mute.kicked, "the player took nothing for 30 s (stall_timeout)");
    for (const auto& each : clients)
        EXPECT_TRUE(each->kicked.empty() || each.get() == &mute) << each->asked.stream;
    EXPECT_EQ(stream_stats.totals().stalled, 1U);
    leave_all();
}

TEST_F(StreamStatsTest, ClosesAndCountsPlayersOfUnpublishedStreams) {
    auto& waiting = client(ClientKind::rtc_play);
    auto& lucky = client(ClientKind::rtmp_play, "other");
    client(ClientKind::rtc_publish, "other");
    stream_stats.sample(begin);
    stream_stats.sample(begin + 599s);
    EXPECT_TRUE(waiting.kicked.empty());
    stream_stats.sample(begin + 600s);
    EXPECT_EQ(waiting.kicked, "the stream was not published for 600 s (unpublished_timeout)");
    EXPECT_TRUE(lucky.kicked.empty());
    EXPECT_EQ(stream_stats.totals().unpublished, 1U);
    leave_all();
}

TEST_F(StreamStatsTest, StreamsAndHostsExistWithTheirClients) {
    EXPECT_EQ(stream_stats.stream_count(), 0U);
    auto& publisher = client(ClientKind::fmle_publish);
    auto& player = client(ClientKind::rtmp_play);
    client(ClientKind::flv_play, "other");
    EXPECT_EQ(stream_stats.stream_count(), 2U);
    const StreamRow& cam = stream();
    EXPECT_TRUE(cam.id.starts_with("vid-"));
    EXPECT_EQ(cam.id.size(), 11U);
    EXPECT_EQ(cam.clients, 2U);
    EXPECT_EQ(cam.publisher, "id0");
    EXPECT_EQ(cam.tc_url, "rtmp://h/live");
    EXPECT_EQ(stream_stats.find_stream(cam.id), &cam);
    ASSERT_EQ(stream_stats.vhosts().size(), 1U);
    const VhostRow& vhost = *stream_stats.vhosts().front();
    EXPECT_EQ(vhost.clients, 3U);
    EXPECT_EQ(stream_stats.find_vhost(vhost.id), &vhost);
    ASSERT_NE(stream_stats.find_client("id1"), nullptr);
    EXPECT_EQ(stream_stats.find_client("id1")->stream, &cam);
    EXPECT_EQ(stream_stats.clients(ClientKind::rtmp_play), 1U);
    EXPECT_EQ(stream_stats.clients(ClientKind::srt_publish), 0U);

    publisher.leave();
    EXPECT_EQ(cam.publisher, "");
    EXPECT_EQ(cam.clients, 1U);
    EXPECT_EQ(stream_stats.find_client("id0"), nullptr);
    const std::string id = cam.id;
    player.leave(Error(Errc::system, "broken"));
    EXPECT_EQ(stream_stats.clients(ClientKind::rtmp_play), 0U);
    EXPECT_EQ(stream_stats.find_stream(id), nullptr);
    EXPECT_EQ(stream_stats.stream_count(), 1U);
    EXPECT_EQ(stream_stats.totals().clients, 3U);
    EXPECT_EQ(stream_stats.totals().errors, 1U);
    leave_all();
    EXPECT_EQ(vhost.clients, 0U);
    EXPECT_EQ(stream_stats.vhosts().size(), 1U);
    EXPECT_TRUE(stream_stats.clients().empty());
}

TEST_F(StreamStatsTest, StreamIdIsStable) {
    session::ClientRequest request;
    request.app = "live";
    request.stream = "cam";
    session::StreamIds& ids = stream_stats;
    EXPECT_EQ(ids.stream_id("/live/cam"), "");
    const std::string id = ids.stream_id(request, "/live/cam", "__defaultVhost__");
    EXPECT_EQ(ids.stream_id(request, "/live/cam", "__defaultVhost__"), id);
    EXPECT_EQ(stream_stats.find_stream(id), nullptr) << "nobody is there yet";
    EXPECT_EQ(stream_stats.stream_count(), 0U);
    auto& publisher = client(ClientKind::fmle_publish);
    EXPECT_EQ(stream().id, id);
    EXPECT_EQ(ids.stream_id("/live/cam"), id);
    publisher.leave();
    EXPECT_EQ(ids.stream_id("/live/cam"), id);
    stream_stats.sample(io::now() + StreamStats::kKeptFor - 1s);
    EXPECT_EQ(ids.stream_id("/live/cam"), id);
    stream_stats.sample(io::now() + StreamStats::kKeptFor + 1s);
    EXPECT_EQ(ids.stream_id("/live/cam"), "");
    EXPECT_TRUE(stream_stats.streams().empty());
}

TEST_F(StreamStatsTest, BoundsIdsOfUnusedStreams) {
    session::ClientRequest request;
    for (std::size_t i = 0; i < StreamStats::kKeptMax; ++i)
        stream_stats.stream_id(request, "/live/" + std::to_string(i), "v");
    EXPECT_EQ(stream_stats.streams().size(), StreamStats::kKeptMax);
    EXPECT_TRUE(stream_stats.stream_id(request, "/live/more", "v").starts_with("vid-"));
    EXPECT_EQ(stream_stats.streams().size(), StreamStats::kKeptMax);
    auto& player = client(ClientKind::rtmp_play);
    EXPECT_EQ(stream_stats.streams().size(), StreamStats::kKeptMax + 1);
    player.leave();
    EXPECT_EQ(stream_stats.streams().size(), StreamStats::kKeptMax);
}

TEST_F(StreamStatsTest, CountsBytesOfClientStreamAndHost) {
    auto& publisher = client(ClientKind::fmle_publish);
    auto& player = client(ClientKind::rtmp_play);
    for (int i = 1; i <= 10; ++i) {
        publisher.now.received_bytes += 375'000;
        player.now.sent_bytes += 375'000;
        stream_stats.sample(begin + i * StreamStats::kInterval);
    }
    const auto rates = stream_stats.find_client("id1")->usage.rates.per_second();
    EXPECT_EQ(kbps(rates.second), 1000);
    EXPECT_EQ(kbps(rates.first), 0);
    EXPECT_EQ(stream().usage.received_bytes, 3'750'000U);
    EXPECT_EQ(stream().usage.sent_bytes, 3'750'000U);
    EXPECT_EQ(kbps(stream().usage.rates.per_second().first), 1000);
    EXPECT_EQ(kbps(stream_stats.vhosts().front()->usage.rates.per_second().second), 1000);
    player.now.sent_bytes += 7;
    player.leave();
    EXPECT_EQ(stream().usage.sent_bytes, 3'750'007U) << "what came after the last sample";
    leave_all();
    EXPECT_EQ(stream_stats.vhosts().front()->usage.sent_bytes, 3'750'007U);
    client(ClientKind::fmle_publish);
    EXPECT_EQ(stream().usage.sent_bytes, 0U) << "another life of the stream";
    leave_all();
}

TEST_F(StreamStatsTest, ExcludesBytesBeforeTheStream) {
    clients.push_back(std::make_unique<FakeClient>(table, ClientKind::rtmp_play, "cam", "twice"));
    FakeClient& twice = *clients.back();
    twice.now.sent_bytes = 1'000;
    twice.enter(begin);
    twice.now.sent_bytes = 1'100;
    stream_stats.sample(begin + 3s);
    EXPECT_EQ(stream().usage.sent_bytes, 100U);
    EXPECT_EQ(twice.entry.figures().sent_bytes, 100U);
    leave_all();
}

TEST_F(StreamStatsTest, ReportsTheTracksOfTheSource) {
    const auto source = *streams.find_or_create("/live/cam", {}, 60'000);
    append(*source, MediaKind::video, 0ms, "27 01 000000 00");  // of an earlier publication
    client(ClientKind::fmle_publish);
    EXPECT_EQ(stream().video(), std::nullopt);
    append(*source, MediaKind::video, 0ms,
           "17 00 000000 0164001fffe1001a6764001facd9405005bb011000000300100000030320f183196001000668ebe3cb22c0fdf8f800", false,
           true);
    append(*source, MediaKind::audio, 0ms, "2f fffb");
    for (int i = 0; i < 150; ++i)
        append(*source, MediaKind::video, i * 40ms, i % 50 == 0 ? "17 01 000000 00" : "27 01 000000 00", i % 50 == 0);
    EXPECT_EQ(stream().video(), (VideoFacts{"H264", "High", "3.1", 1280, 720}));
    EXPECT_EQ(stream().audio(), (AudioFacts{"MP3", 44'100, 2, "Other"})) << "however long ago it came";
    EXPECT_EQ(stream().counters().packets[index_of(MediaKind::video)], 151U);
    EXPECT_EQ(stream().counters().key_frames, 3U);
    leave_all();
}

TEST_F(StreamStatsTest, MeasuresFramesAndGops) {
    const auto source = *streams.find_or_create("/live/cam", {}, 60'000);
    client(ClientKind::fmle_publish);
    EXPECT_EQ(stream().gop(), std::nullopt);
    EXPECT_EQ(stream().since_key_frame(begin), std::nullopt);
    int frame = 0;
    for (int tick = 1; tick <= 4; ++tick) {
        for (; frame < tick * 75; ++frame)  // 25 fps, a key frame every two seconds
            append(*source, MediaKind::video, frame * 40ms, "27 01 000000 00", frame % 50 == 0);
        stream_stats.sample(begin + tick * 3s);
    }
    EXPECT_NEAR(stream().frames_per_second(), 25, 0.01);
    EXPECT_EQ(stream().gop(), MediaTime(2s));
    const TimePoint last_tick = begin + 4 * 3s;
    EXPECT_EQ(stream().since_key_frame(last_tick), MediaTime(1960ms));
    EXPECT_EQ(stream().since_key_frame(last_tick + 5s), MediaTime(6960ms)) << "nothing comes any more";
    append(*source, MediaKind::video, 12s, "17 01 000000 00", true);
    EXPECT_EQ(stream().since_key_frame(last_tick + 5s), MediaTime(0));
    leave_all();
}

TEST_F(StreamStatsTest, AFiberSamplesInPortionsAndStops) {
    for (std::size_t i = 0; i < StreamStats::kPortion + 1; ++i)
        client(ClientKind::rtmp_play).now.sent_bytes = 1;
    io::Scope scope("stream_stats");
    ASSERT_TRUE(scope.start("stream_stats", [this](io::Deadline forever) { stream_stats.run(forever, 1ms); }).ok());
    io::wait_until([&] { return stream().usage.sent_bytes > StreamStats::kPortion; });
    EXPECT_EQ(stream().usage.sent_bytes, StreamStats::kPortion + 1);
    EXPECT_TRUE(scope.stop(io::Deadline::after(io::kSoon)).ok());
    leave_all();
}

TEST_F(StreamStatsTest, CountsViewersByKindWithoutOtherNodes) {
    client(ClientKind::fmle_publish);
    auto& player = client(ClientKind::rtmp_play);
    client(ClientKind::flv_play);
    client(ClientKind::rtmp_play, "other");
    clients.push_back(std::make_unique<FakeClient>(table, ClientKind::rtmp_play, "cam", "edge"));
    clients.back()->asked.claims = std::make_shared<const session::RelayClaims>(session::RelayClaims{"server-1", "", ""});
    clients.back()->enter(begin);
    ASSERT_EQ(stream_stats.players().kinds, (std::vector{ClientKind::rtmp_play, ClientKind::flv_play}));
    EXPECT_EQ(stream().viewers, (ViewerCounts{1, 1}));
    EXPECT_EQ(stream_stats.players().counts, (ViewerCounts{2, 1}));
    player.leave();
    EXPECT_EQ(stream().viewers, (ViewerCounts{0, 1}));
    leave_all();
    EXPECT_EQ(stream_stats.players().counts, ViewerCounts{});
}

TEST_F(StreamStatsTest, ARecordHasTheEventsOfItsStreamAndOutlivesAReconnect) {
    auto& first = client(ClientKind::fmle_publish);
    stream_stats.sample(begin + 10s);
    first.leave(Error(Errc::timed_out, "the publisher sent nothing"));
    EXPECT_EQ(stream_stats.held().size(), 1U);
    EXPECT_FALSE(stream_stats.held()[0].is_published);
    client(ClientKind::fmle_publish);
    client(ClientKind::rtmp_play).leave(Error(Errc::timed_out, "the player is gone"));
    client(ClientKind::rtmp_play).leave();
    auto& kicked = client(ClientKind::rtmp_play);
    kicked.entry.kick("an operator has ended it");
    kicked.leave();
    std::vector<std::string> names;
    for (const auto& event : stream().record->events())
        names.emplace_back(event.name);
    EXPECT_EQ(names, (std::vector<std::string>{"published", "unpublished", "published", "player_failed", "player_kicked"}));
    EXPECT_NE(stream().record->events()[1].text.find("the publisher sent nothing"), std::string::npos);
    EXPECT_EQ(stream_stats.held()[0].what, StreamHolder::Held::What::record);
    EXPECT_EQ(stream_stats.held()[0].bytes, stream().record->bytes());
    stream_stats.give_up("/live/cam");
    EXPECT_NE(stream().record, nullptr) << "it has clients";
    leave_all();
    stream_stats.give_up("/live/none");
    stream_stats.give_up("/live/cam");
    EXPECT_EQ(stream().record, nullptr);
    EXPECT_EQ(stream_stats.records().count, 0U);
    client(ClientKind::fmle_publish);
    leave_all();
    stream_stats.sample(io::now() + StreamStats::kKeptFor);
    EXPECT_EQ(stream_stats.records().count, 0U) << "disposed of with its stream";
}

TEST_F(StreamStatsTest, AFewStreamsHaveARecord) {
    for (std::size_t i = 0; i < StreamStats::kRecordsMax; ++i)
        client(ClientKind::fmle_publish, "cam" + std::to_string(i));
    client(ClientKind::fmle_publish, "one more");
    EXPECT_EQ(stream_stats.records().count, StreamStats::kRecordsMax);
    EXPECT_EQ(stream("/live/one more").record, nullptr);
    stream_stats.sample(begin + 10s);
    clients.front()->leave();
    EXPECT_EQ(stream_stats.records().count, StreamStats::kRecordsMax - 1) << "its place is free";
    client(ClientKind::fmle_publish, "another");
    EXPECT_NE(stream("/live/another").record, nullptr);
    leave_all();
    EXPECT_EQ(stream_stats.records().count, StreamStats::kRecordsMax / 2) << "these are kept for a reconnect";
}

TEST_F(StreamStatsTest, HealthComesFromTheSource) {
    client(ClientKind::fmle_publish);
    EXPECT_EQ(health_of(stream().health_facts(begin))[0].code, "no_media");
    auto options = media::PlayOptions();
    options.bridge.rtmp_to_rtc = true;
    const auto source = *streams.find_or_create("/live/cam", options, 60'000);
    source->tracks().note_b_frames();
    for (int second = 0; second <= 30; second += 10) {
        stream_stats.sample(begin + std::chrono::milliseconds(100 * second / 2));
        append(*source, MediaKind::video, std::chrono::seconds(second), "17 01 000000 00000001 65", true);
    }
    stream_stats.sample(begin + 2s);
    const auto facts = stream().health_facts(begin + 2s);
    EXPECT_TRUE(facts.is_bridged_to_rtc && facts.has_b_frames && !facts.keeps_b_frames);
    EXPECT_EQ(facts.key_frame_distance, 10);
    EXPECT_EQ(facts.without_video, 0);
    EXPECT_EQ(stream().health_facts(begin + 9s).without_video, 7);
    leave_all();
}

}  // namespace
}  // namespace live::service::stats
