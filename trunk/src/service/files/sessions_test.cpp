#include "service/files/sessions.hpp"

#include <gtest/gtest.h>

#include "io/loop.hpp"
#include "service/files/session_fixture.hpp"

namespace live::service::files {
namespace {

struct SessionsTest : testing::Test {
    Result<void> open(const std::string& name, const std::string& stream = "cam") {
        session::ClientRequest request;
        request.id = name;
        request.app = "live";
        request.stream = stream;
        const auto opened = sessions.open(std::move(request), 10s, io::Deadline::after(20s));
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
    session::Places places{10, log};
    Sessions sessions{door, stream_events, clients, places, kMost};
};

TEST_F(SessionsTest, BeginOnceAndEndWhenNothingIsAskedFor) {
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

TEST_F(SessionsTest, WhoIsRefusedHasNone) {
    door.refused = "secret";
    EXPECT_EQ(open("a", "secret").code(), Errc::denied);
    EXPECT_EQ(sessions.size(), 0u);
    EXPECT_EQ(clients.size(), 0u);
    EXPECT_TRUE(stream_events.ended.empty());
}

TEST_F(SessionsTest, WhoIsKickedHasLeftAtOnceAndIsRememberedForAWhile) {
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

TEST_F(SessionsTest, ThoseUsedOnceMakeRoomForOthersTheOldestFirst) {
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

TEST_F(SessionsTest, AnAddressHasSoManyAndThatOfOneThatEndsIsFree) {
    places.set_limits(1, {.hls_sessions_per_ip = 2});
    ASSERT_TRUE(open("a").ok());
    ASSERT_TRUE(open("b").ok());
    EXPECT_EQ(open("c").code(), Errc::limit);
    EXPECT_EQ(sessions.size(), 2U);
    EXPECT_EQ(places.refused(session::Places::Reason::hls_sessions_per_ip), 1U);
    sessions.expire(io::now() + 11s);
    EXPECT_TRUE(open("c").ok());
}

}  // namespace
}  // namespace live::service::files
