#include "service/files/sessions.hpp"

#include <gtest/gtest.h>

#include "io/fibers/loop.hpp"
#include "io/fibers/wait_fixture.hpp"
#include "service/files/session_fixture.hpp"

namespace live::service::files {
namespace {

struct SessionsTest : testing::Test {
    Result<void> open(const std::string& name, const std::string& stream = "cam") {
        session::ClientRequest request;
        request.id = name;
        request.app = "live";
        request.stream = stream;
        const auto opened = sessions.open(std::move(request), 10s, io::Deadline::after(io::kSoon));
        if (!opened.ok())
            return opened.error();
        EXPECT_FALSE(*opened);
        return {};
    }

    static constexpr std::size_t kMost = 20;

    std::unique_ptr<io::Loop> loop = MUST(io::Loop::create());
    Door door;
    RecordedEvents stream_events;
    session::ClientTable clients;
    Log log;
    session::ConnectionLimits places{10, log};
    Sessions sessions{door, stream_events, clients, places, kMost};
};

TEST_F(SessionsTest, BeginsOnceAndEndsWhenIdle) {
    ASSERT_TRUE(open("a").ok());
    ASSERT_TRUE(open("a").ok()) << "two requests at once: the second is the first's";
    EXPECT_EQ(stream_events.ended, std::vector<std::string>{"a"}) << "and its own admission is over";
    stream_events.ended.clear();
    ASSERT_NE(sessions.find("a"), nullptr);
    EXPECT_EQ(sessions.find("a")->url(), "/live/cam");
    EXPECT_EQ(sessions.find("b"), nullptr);
    EXPECT_EQ(clients.size(), 1u);
    const auto now = io::now();
    sessions.expire(now + 9s);
    EXPECT_NE(sessions.find("a"), nullptr);
    sessions.find("a")->touch(now + 9s);
    sessions.expire(now + 18s);
    EXPECT_NE(sessions.find("a"), nullptr);
    sessions.expire(now + 19s);
    EXPECT_EQ(sessions.find("a"), nullptr);
    EXPECT_EQ(stream_events.ended, std::vector<std::string>{"a"});
    EXPECT_EQ(clients.size(), 0u);
}

TEST_F(SessionsTest, RefusedPlayerHasNoSession) {
    door.refused = "secret";
    EXPECT_EQ(open("a", "secret").code(), Errc::denied);
    EXPECT_EQ(sessions.size(), 0u);
    EXPECT_EQ(clients.size(), 0u);
    EXPECT_TRUE(stream_events.ended.empty());
}

TEST_F(SessionsTest, KickEndsTheSessionAndRemembersItsName) {
    ASSERT_TRUE(open("a").ok());
    sessions.find("a")->add_sent(1'000);
    clients.for_each([](session::ClientEntry& entry) {
        EXPECT_EQ(entry.figures().sent_bytes, 1'000u);
        entry.kick("by a test");
    });
    EXPECT_TRUE(sessions.find("a")->is_kicked());
    const auto now = io::now();
    sessions.expire(now);
    ASSERT_NE(sessions.find("a"), nullptr) << "or it would begin anew";
    EXPECT_TRUE(sessions.find("a")->has_left());
    EXPECT_EQ(stream_events.ended.size(), 1u);
    sessions.expire(now + 11s);
    EXPECT_EQ(sessions.find("a"), nullptr);
    EXPECT_EQ(stream_events.ended.size(), 1u);
}

TEST_F(SessionsTest, EvictsTheOldestSessionUsedOnce) {
    for (std::size_t i = 0; i < kMost; ++i)
        ASSERT_TRUE(open(std::to_string(i)).ok());
    sessions.find("0")->touch(io::now());
    sessions.expire(io::now());
    sessions.find("2")->touch(io::now());
    for (const char* name : {"a", "b", "c"})
        ASSERT_TRUE(open(name).ok());
    EXPECT_EQ(stream_events.ended, (std::vector<std::string>{"1", "3", "4"}));
    EXPECT_EQ(sessions.size(), kMost);
    EXPECT_EQ(clients.size(), kMost);
    for (const char* name : {"0", "2", "a", "b", "c"})
        EXPECT_NE(sessions.find(name), nullptr) << name;
}

TEST_F(SessionsTest, AreBounded) {
    for (std::size_t i = 0; i < kMost; ++i) {
        ASSERT_TRUE(open(std::to_string(i)).ok());
        sessions.find(std::to_string(i))->touch(io::now());
    }
    EXPECT_EQ(open("one more").code(), Errc::limit);
    EXPECT_TRUE(open("7").ok());
    EXPECT_EQ(stream_events.ended, (std::vector<std::string>{"one more", "7"}));
    sessions.clear();
    EXPECT_EQ(clients.size(), 0u);
}

TEST_F(SessionsTest, LimitsSessionsPerAddress) {
    places.set_limits(1, {.hls_sessions_per_ip = 2});
    ASSERT_TRUE(open("a").ok());
    ASSERT_TRUE(open("b").ok());
    EXPECT_EQ(open("c").code(), Errc::limit);
    EXPECT_EQ(sessions.size(), 2U);
    EXPECT_EQ(places.refused(session::ConnectionLimits::Reason::hls_sessions_per_ip), 1U);
    sessions.expire(io::now() + 11s);
    EXPECT_TRUE(open("c").ok());
}

// Sessions whose names begin with "other" belong to another worker, which is `home`.
struct GuestsTest : SessionsTest, Homes {
    bool is_elsewhere(std::string_view name) const override { return name.starts_with("other"); }
    std::string name_for(std::string_view key) const override { return "other" + std::string(key); }
    Result<bool> open(const session::ClientRequest& request, Duration idle_limit, io::Deadline deadline) override {
        if (is_away)
            return Error(Errc::closed, "away");
        const bool was_there = home.find(request.id) != nullptr;
        if (!was_there)
            TRY(home.open_for_guest(request, idle_limit, deadline));
        return was_there;
    }
    // As workers do every second.
    void tell(TimePoint now) {
        for (const Sessions::SessionUpdate& update : sessions.take_updates())
            sessions.settle(update.name, home.note(update, now));
    }

    GuestsTest() { sessions.set_homes(*this); }
    using SessionsTest::open;

    Door home_door;
    RecordedEvents home_events;
    session::ClientTable home_clients;
    session::ConnectionLimits home_places{10, log};
    Sessions home{home_door, home_events, home_clients, home_places, kMost};
    bool is_away = false;
};

TEST_F(GuestsTest, AdmitsListsAndCountsAPlayerAtItsHome) {
    ASSERT_TRUE(open("other1").ok());
    EXPECT_EQ(home_clients.size(), 1u);
    EXPECT_EQ(clients.size(), 0u);
    EXPECT_TRUE(sessions.find("other1")->is_guest());
    const auto now = io::now();
    sessions.find("other1")->add_sent(1'000);
    tell(now + 5s);
    sessions.find("other1")->add_sent(500);
    sessions.find("other1")->touch(now + 8s);
    tell(now + 8s);
    home_clients.for_each([](session::ClientEntry& entry) { EXPECT_EQ(entry.figures().sent_bytes, 1'500u); });
    EXPECT_TRUE(sessions.take_updates().empty()) << "all is told";
    home.expire(now + 17s);
    EXPECT_NE(home.find("other1"), nullptr) << "it was seen elsewhere";
    home.expire(now + 18s);
    EXPECT_EQ(home.find("other1"), nullptr);
    EXPECT_EQ(home_events.ended, std::vector<std::string>{"other1"});
    sessions.find("other1")->touch(now + 18s);
    tell(now + 18s);
    EXPECT_EQ(sessions.find("other1"), nullptr) << "whose session is over is no guest";
    ASSERT_TRUE(open("own").ok());
    EXPECT_FALSE(sessions.find("own")->is_guest());
    EXPECT_EQ(clients.size(), 1u);
}

TEST_F(GuestsTest, ReportsBytesOfClientsWithoutALocalSession) {
    ASSERT_TRUE(open("other1").ok());
    sessions.settle("other1", Sessions::State::unknown);
    sessions.note_passing("other1", 300);
    sessions.note_passing("other1", 400);
    sessions.note_passing("own", 1);
    for (std::size_t i = 0; i < 2 * kMost; ++i)
        sessions.note_passing("other_made_up" + std::to_string(i), 1);
    tell(io::now());
    home_clients.for_each([](session::ClientEntry& entry) { EXPECT_EQ(entry.figures().sent_bytes, 700u); });
    EXPECT_EQ(home.size(), 1u);
    EXPECT_TRUE(sessions.take_updates().empty());
}

TEST_F(GuestsTest, RefusalAtTheHomeCreatesNoGuest) {
    home_door.refused = "secret";
    EXPECT_EQ(open("other1", "secret").code(), Errc::denied);
    EXPECT_EQ(sessions.size() + home.size() + clients.size() + home_clients.size(), 0u);
}

TEST_F(GuestsTest, KickAtTheHomeEndsTheGuest) {
    ASSERT_TRUE(open("other1").ok());
    home_clients.for_each([](session::ClientEntry& entry) { entry.kick("by a test"); });
    sessions.find("other1")->touch(io::now());
    tell(io::now());
    EXPECT_TRUE(sessions.find("other1")->is_kicked());
    EXPECT_EQ(stream_events.ended.size(), 1u) << "its stream was asked for, and nothing else is reported here";
}

// A player of another worker has that worker's master playlist.
TEST_F(GuestsTest, JoinsAnExistingSession) {
    ASSERT_TRUE(open("other1").ok());
    EXPECT_FALSE(sessions.find("other1")->has_returned());
    sessions.settle("other1", Sessions::State::unknown);
    EXPECT_EQ(sessions.find("other1"), nullptr);
    ASSERT_TRUE(open("other1").ok());
    EXPECT_TRUE(sessions.find("other1")->has_returned());
    EXPECT_EQ(home.size(), 1u);
}

TEST_F(GuestsTest, ServesPlayersWhileTheirHomeIsDown) {
    is_away = true;
    ASSERT_TRUE(open("other1").ok());
    EXPECT_FALSE(sessions.find("other1")->is_guest());
    EXPECT_EQ(clients.size(), 1u);
}

TEST_F(GuestsTest, LimitsGuestsLikeSessions) {
    for (std::size_t i = 0; i < kMost + 5; ++i)
        ASSERT_TRUE(open("other" + std::to_string(i)).ok());
    EXPECT_EQ(sessions.size(), kMost);
    EXPECT_EQ(home.size(), kMost);
}

}  // namespace
}  // namespace live::service::files
