#include "session/common/client_table.hpp"

#include <memory>
#include <set>
#include <string>
#include <vector>

#include <gtest/gtest.h>

#include "session/common/client_fixture.hpp"

namespace live::session {
namespace {

struct Watcher final : ClientWatcher {
    void on_entered(ClientEntry& entry) override { said.push_back("entered " + entry.client().request().id); }
    void on_left(ClientEntry& entry, const SessionEnd& end) override {
        said.push_back("left " + entry.client().request().id + (end.failed ? " failed: " : ": ") + end.why);
        figures = entry.figures();
    }
    void on_refused(const ClientEntry& entry, const Error& error) override {
        said.push_back("refused " + entry.client().request().id + ": " + error.sentence());
    }

    std::vector<std::string> said;
    ClientFigures figures;
};

class ClientTableTest : public testing::Test {
protected:
    void SetUp() override { table_.add_watcher(watcher_); }
    std::set<std::string> ids() const {
        std::set<std::string> ids;
        table_.for_each([&ids](const ClientEntry& entry) { ids.insert(entry.client().request().id); });
        return ids;
    }

    ClientTable table_;
    Watcher watcher_;
};

TEST_F(ClientTableTest, HoldsConnectedClientsForAnyOrderOfLeaving) {
    auto first = std::make_unique<FakeClient>(table_, ClientKind::rtmp_play, "one", "a");
    auto second = std::make_unique<FakeClient>(table_, ClientKind::rtmp_play, "one", "b");
    auto third = std::make_unique<FakeClient>(table_, ClientKind::rtmp_play, "one", "c");
    EXPECT_EQ(ids(), (std::set<std::string>{"a", "b", "c"}));
    first.reset();
    EXPECT_EQ(ids(), (std::set<std::string>{"b", "c"}));
    third.reset();
    EXPECT_EQ(ids(), (std::set<std::string>{"b"}));
    second.reset();
    EXPECT_EQ(table_.size(), 0U);
    EXPECT_TRUE(watcher_.said.empty()) << "nobody was admitted to a stream";
}

TEST_F(ClientTableTest, WatchersAreNotifiedOnceOfEachStayAndWhyItEnded) {
    const struct {
        Result<void> ended;
        std::string said;
    } cases[] = {
        {{}, "left a: the client stopped"},
        {Error(Errc::closed, "the peer has gone"), "left a: the peer has gone"},
        {Error(Errc::cancelled, "a wait was cut short"), "left a: the server stops"},
        {Error(Errc::timed_out, "nothing came for 30 s"), "left a failed: nothing came for 30 s"},
        {Error(Errc::malformed, "a chunk of no stream"), "left a failed: a chunk of no stream"},
    };
    for (const auto& one : cases) {
        watcher_.said.clear();
        FakeClient client(table_, ClientKind::rtmp_play, "one", "a");
        client.enter(TimePoint{});
        EXPECT_NE(client.entry.plan(), nullptr);
        client.leave(one.ended);
        EXPECT_EQ(client.entry.plan(), nullptr);
        EXPECT_EQ(watcher_.said, (std::vector<std::string>{"entered a", one.said}));
    }
}

TEST_F(ClientTableTest, AStayThatIsDestroyedHasEnded) {
    FakeClient client(table_, ClientKind::rtmp_play, "one", "a");
    client.enter(TimePoint{});
    client.stay.reset();
    EXPECT_EQ(watcher_.said.back(), "left a: the client stopped");
}

TEST_F(ClientTableTest, KickIsTheReasonForTheEnd) {
    FakeClient client(table_, ClientKind::flv_play, "one", "a");
    client.enter(TimePoint{});
    client.entry.kick("an operator said so");
    EXPECT_EQ(client.kicked, "an operator said so");
    client.leave(Error(Errc::system, "reading from a connection: closed"));
    EXPECT_EQ(watcher_.said.back(), "left a: an operator said so");
}

TEST_F(ClientTableTest, ClientWithoutAMessageForItIsKickedWhenAskedToLeave) {
    FakeClient client(table_, ClientKind::fmle_publish, "one", "a");
    client.enter(TimePoint{});
    client.entry.ask_to_leave("the server is about to stop");
    EXPECT_EQ(client.kicked, "the server is about to stop");
    client.leave();
    EXPECT_EQ(watcher_.said.back(), "left a: the server is about to stop");
}

TEST_F(ClientTableTest, BytesOfBeforeItEnteredAreNotTheStreams) {
    FakeClient client(table_, ClientKind::rtmp_play, "one", "a");
    client.now.received_bytes = 3'000;
    client.now.sent_bytes = 4'000;
    client.enter(TimePoint{});
    EXPECT_EQ(client.entry.figures().received_bytes, 0U);
    client.now.received_bytes = 3'010;
    client.now.sent_bytes = 4'500;
    client.now.delivered_packets = 7;
    client.leave();
    EXPECT_EQ(watcher_.figures.received_bytes, 10U);
    EXPECT_EQ(watcher_.figures.sent_bytes, 500U);
    EXPECT_EQ(watcher_.figures.delivered_packets, 7U);
}

TEST_F(ClientTableTest, RefusedClientIsNeverEntered) {
    FakeClient client(table_, ClientKind::rtmp_play, "one", "a");
    client.entry.refuse(Error(Errc::denied, "security refuses it"));
    EXPECT_EQ(watcher_.said, std::vector<std::string>{"refused a: security refuses it"});
}

TEST(ClientFigures, SumUpButForDelayWhichIsTheLongest) {
    ClientFigures sum;
    sum += {.received_bytes = 1, .sent_bytes = 2, .delivered_packets = 3, .dropped_packets = 4, .queued_packets = 5};
    ClientFigures more{.received_bytes = 10, .sent_bytes = 20, .delivered_packets = 30, .dropped_packets = 40};
    more.queue_delay = 90ms;
    sum += more;
    sum += {};
    EXPECT_EQ(sum.received_bytes, 11U);
    EXPECT_EQ(sum.sent_bytes, 22U);
    EXPECT_EQ(sum.delivered_packets, 33U);
    EXPECT_EQ(sum.dropped_packets, 44U);
    EXPECT_EQ(sum.queued_packets, 5U);
    EXPECT_EQ(sum.queue_delay, 90ms);
}

// Programs of others read these names in callbacks and in the API: they do not change.
TEST(ClientKind, NamesAreThoseThatOperatorsKnow) {
    const std::vector<std::pair<ClientKind, std::string_view>> names{{ClientKind::unknown, "Unknown"},
                                                                     {ClientKind::rtmp_play, "rtmp-play"},
                                                                     {ClientKind::flv_play, "flv-play"},
                                                                     {ClientKind::hls_play, "hls-play"},
                                                                     {ClientKind::rtc_play, "rtc-play"},
                                                                     {ClientKind::srt_play, "srt-play"},
                                                                     {ClientKind::fmle_publish, "fmle-publish"},
                                                                     {ClientKind::flash_publish, "flash-publish"},
                                                                     {ClientKind::haivision_publish, "haivision-publish"},
                                                                     {ClientKind::rtc_publish, "rtc-publish"},
                                                                     {ClientKind::srt_publish, "srt-publish"},
                                                                     {ClientKind::engine_publish, "engine-publish"},
                                                                     {ClientKind::relay_pull, "relay-pull"}};
    for (const auto& [kind, name] : names) {
        EXPECT_EQ(name_of(kind), name);
        EXPECT_EQ(is_publisher(kind), name.ends_with("-publish") || kind == ClientKind::relay_pull);
    }
}

TEST_F(ClientTableTest, AnotherWorkerIsNoClient) {
    FakeClient client(table_, ClientKind::rtmp_play, "one", "a");
    client.asked.is_sibling = true;
    client.entry.refuse(Error(Errc::not_found, "no stream"));
    client.enter(TimePoint{});
    EXPECT_NE(client.entry.plan(), nullptr);
    client.leave();
    EXPECT_TRUE(watcher_.said.empty());
    EXPECT_EQ(ids(), (std::set<std::string>{"a"})) << "but it can be closed";
}

}  // namespace
}  // namespace live::session
