#include "service/workers/session_ownership.hpp"

#include <set>

#include <gtest/gtest.h>

#include "io/fibers/loop.hpp"
#include "io/fibers/wait_fixture.hpp"
#include "service/files/session_fixture.hpp"
#include "service/workers/no_events_fixture.hpp"

namespace live::service::workers {
namespace {

// One of three workers; the test is another one.
struct SessionOwnershipTest : testing::Test {
    session::http::Reply post(const std::string& body, const std::string& query = "") {
        session::http::Request request;
        request.message.method = "POST";
        request.message.target = std::string(SessionOwnership::kPath) + query;
        request.message.body = body;
        return homes.handle(request, io::Deadline::after(io::kSoon));
    }

    std::unique_ptr<io::Loop> loop = MUST(io::Loop::create());
    std::pair<io::Socket, io::Socket> ends = MUST(io::MessageSocket::pair());
    supervisor::MasterLine line{engine::workers::WorkerIdentity{2, 3}, std::move(ends.second)};
    media::SlabPool slabs;
    media::StreamTable streams{slabs};
    std::vector<std::uint8_t> scratch = std::vector<std::uint8_t>(4096);
    http_client::HttpClient http{"test/1", scratch, nullptr};
    NoEvents nobody;
    Log log;
    WorkerService workers{{&line, streams, http, {}, {}}, nobody, log};
    files::Door door;
    files::RecordedEvents events;
    session::ClientTable clients;
    session::ConnectionLimits places{10, log};
    files::Sessions sessions{door, events, clients, places};
    SessionOwnership homes{workers, sessions, "a secret of 16 B", log};
};

TEST_F(SessionOwnershipTest, DistributesNamesOverAllWorkers) {
    std::size_t elsewhere = 0;
    std::set<std::string> names;
    for (int i = 0; i < 300; ++i) {
        names.insert(homes.name_for(std::to_string(i)));
        elsewhere += homes.is_elsewhere(homes.name_for(std::to_string(i))) ? 1 : 0;
    }
    EXPECT_EQ(names.size(), 300U);
    EXPECT_NEAR(static_cast<double>(elsewhere), 200, 40);
    EXPECT_EQ(homes.name_for("a"), homes.name_for("a"));
    EXPECT_EQ(homes.name_for("a").size(), 10U);
}

TEST_F(SessionOwnershipTest, AdmitsCountsAndEndsPlayersOfAnotherWorker) {
    const std::string player = R"({"id":"abc","app":"live","stream":"cam","peer_ip":"192.0.2.1","idle_ms":10000})";
    EXPECT_EQ(post(player).body, "{}");
    EXPECT_EQ(clients.size(), 1U);
    EXPECT_EQ(places.addresses().size(), 1U);
    EXPECT_EQ(post(player).body, R"({"was_there":true})");
    const std::string other = R"({"id":"abc","app":"live","stream":"secret","peer_ip":"192.0.2.1","idle_ms":10000})";
    EXPECT_NE(post(other).body.find("another stream"), std::string::npos) << "a session is for one stream";
    EXPECT_EQ(clients.size(), 1U);
    EXPECT_EQ(post(R"([{"name":"abc","bytes":700},{"name":"nobody","bytes":1}])", "?seen").body,
              R"({"kicked":[],"unknown":["nobody"]})");
    clients.for_each([](session::ClientEntry& entry) {
        EXPECT_EQ(entry.figures().sent_bytes, 700U);
        entry.kick("by a test");
    });
    EXPECT_EQ(post(R"([{"name":"abc","bytes":0}])", "?seen").body, R"({"kicked":["abc"],"unknown":[]})");
    EXPECT_NE(post(player).body.find("disconnected"), std::string::npos);
}

TEST_F(SessionOwnershipTest, RefusalHasAReason) {
    door.refused = "secret";
    const std::string said = post(R"({"id":"abc","app":"live","stream":"secret","idle_ms":10000})").body;
    EXPECT_NE(said.find(R"("refused":"not today")"), std::string::npos) << said;
    EXPECT_EQ(sessions.size(), 0U);
}

TEST_F(SessionOwnershipTest, RefusesMalformedMessages) {
    for (const char* body : {"", "{", "[]", "7", "{}", R"({"id":7})", R"({"id":""})"})
        EXPECT_EQ(post(body).status, 400) << body;
    EXPECT_EQ(post(R"({"id":")" + std::string(files::Sessions::kNameBytesMax + 1, 'x') + R"("})").status, 400);
    for (const char* body : {"", "{", "{}", "7"})
        EXPECT_EQ(post(body, "?seen").status, 400) << body;
    EXPECT_EQ(post(R"([7,null,{"name":3},{"bytes":-1}])", "?seen").body, R"({"kicked":[],"unknown":["","","",""]})");
    EXPECT_EQ(sessions.size(), 0U);
}

}  // namespace
}  // namespace live::service::workers
