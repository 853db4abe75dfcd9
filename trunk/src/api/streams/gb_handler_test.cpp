#include "api/streams/gb_handler.hpp"

#include <gtest/gtest.h>
#include <nlohmann/json.hpp>

#include "api/common/handler_fixture.hpp"
#include "api/streams/fake_directory_fixture.hpp"

namespace live::api {
namespace {

using session::gb28181::Transport;

class GbHandlers : public HandlerFixtureOf<nlohmann::ordered_json> {
protected:
    GbHandlers() {
        endpoints.add<GbPublishHandler>("/gb/v1/publish/", info, directory);
        endpoints.add<GbSessionsHandler>("/gb/v1/sessions", info, directory);
    }
    Json post(const std::string& body) {
        session::http::Request request = request_of("/gb/v1/publish/", "POST");
        request.message.body = body;
        const auto reply = router.find(request).handler->handle(request, io::Deadline::after(io::kSoon));
        EXPECT_EQ(reply.status, 200);
        return Json::parse(reply.body);
    }

    FakeDirectory directory;
};

TEST_F(GbHandlers, OpensASession) {
    EXPECT_EQ(post(R"({"id":"34020000001320000001","ssrc":"47190001"})").dump(), R"({"code":0,"port":9000,"is_tcp":true})");
    ASSERT_EQ(directory.asked.size(), 1u);
    EXPECT_EQ(directory.asked[0].id, "34020000001320000001");
    EXPECT_EQ(directory.asked[0].ssrc, 47'190'001u);
    EXPECT_EQ(directory.asked[0].transport, Transport::tcp);
    EXPECT_FALSE(directory.asked[0].port);
    EXPECT_EQ(post(R"({"id":"a","ssrc":"0100000001","transport":"udp"})")["is_tcp"], false);
    EXPECT_EQ(post(R"({"id":"a","ssrc":"1","transport":"tcp_active","address":"192.0.2.7:15060"})")["code"], 0);
    EXPECT_EQ(directory.asked[2].device->text(), "192.0.2.7:15060");
}

TEST_F(GbHandlers, HasACodeForEachError) {
    for (const char* body :
         {"", "{}", "[]", R"({"id":"a"})", R"({"id":"a","ssrc":1})", R"({"id":7,"ssrc":"1"})", R"({"id":"a","ssrc":"x"})",
          R"({"id":"a","ssrc":"4294967296"})", R"({"id":"a","ssrc":"1","transport":"sctp"})",
          R"({"id":"a","ssrc":"1","transport":"tcp_active"})", R"({"id":"a","ssrc":"1","address":"9000"})",
          R"({"id":"a","ssrc":"1","address":"camera.example.com:9000"})"})
        EXPECT_EQ(post(body)["code"], GbPublishHandler::kRequestInvalid) << body;
    EXPECT_TRUE(directory.asked.empty());
    directory.fails = Errc::conflict;
    EXPECT_EQ(post(R"({"id":"a","ssrc":"1"})")["code"], 1028);
    directory.fails = Errc::limit;
    EXPECT_EQ(post(R"({"id":"a","ssrc":"1"})")["code"], GbPublishHandler::kNoSession);
}

TEST_F(GbHandlers, ClosesAndListsSessions) {
    EXPECT_EQ(ask("/gb/v1/publish/?id=cam", "DELETE").status, 200);
    EXPECT_EQ(ask("/gb/v1/publish/?id=other", "DELETE").status, 404);
    EXPECT_EQ(ask("/gb/v1/publish/", "GET").status, 405);
    const Json sessions = Json::parse(ask("/gb/v1/sessions").body)["sessions"];
    ASSERT_EQ(sessions.size(), 2u);
    EXPECT_EQ(sessions[0].dump(),
              R"({"id":"cam","ssrc":"47190001","transport":"tcp","state":"publishing","device":"192.0.2.7:5000","port":9000,)"
              R"("age_ms":0,"recv_bytes":77,"codecs":"H264 AAC"})");
    EXPECT_EQ(sessions[1]["state"], "waiting");
    EXPECT_TRUE(sessions[1]["ssrc"].is_null());
}

}  // namespace
}  // namespace live::api
