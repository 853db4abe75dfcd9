#include "api/streams/rtp_server_handler.hpp"

#include <gtest/gtest.h>
#include <nlohmann/json.hpp>

#include "api/common/handler_fixture.hpp"
#include "api/streams/fake_directory_fixture.hpp"

namespace live::api {
namespace {

using session::gb28181::Transport;

class RtpServerCalls : public HandlerFixtureOf<nlohmann::ordered_json> {
protected:
    RtpServerCalls() {
        for (const char* call : {"open", "connect", "close", "list"})
            endpoints.add<RtpServerHandler>("/index/api/" + std::string(call) + "RtpServer", directory, "s3cret");
    }
    // With the secret.
    Json call(const std::string& target, const std::string& body = {}) {
        const std::string query = (target.find('?') == std::string::npos ? "?" : "&") + std::string("secret=s3cret");
        session::http::Request request = request_of("/index/api/" + target + query, body.empty() ? "GET" : "POST");
        request.message.body = body;
        const auto reply = router.find(request).handler->handle(request, io::Deadline::after(io::kSoon));
        EXPECT_EQ(reply.status, 200);
        return Json::parse(reply.body);
    }

    FakeDirectory directory;
};

TEST_F(RtpServerCalls, NeedTheSecret) {
    for (const char* target :
         {"openRtpServer?stream_id=a", "closeRtpServer?stream_id=cam", "listRtpServer", "listRtpServer?secret=s3cre",
          "listRtpServer?secret=", "connectRtpServer?stream_id=a&secret=s3cret1"}) {
        const Json answer = Json::parse(ask("/index/api/" + std::string(target)).body);
        EXPECT_EQ(answer["code"], RtpServerHandler::kDenied) << target;
        EXPECT_FALSE(answer.contains("data")) << target;
    }
    EXPECT_TRUE(directory.asked.empty());
    RtpServerHandler closed(directory, "");
    EXPECT_NE(closed.handle(request_of("/index/api/listRtpServer?secret="), io::Deadline::never()).body.find("-100"),
              std::string::npos);
}

TEST_F(RtpServerCalls, OpenASessionOfEachKind) {
    EXPECT_EQ(call("openRtpServer?port=0&tcp_mode=1&stream_id=34020000001320000001").dump(), R"({"code":0,"port":9000})");
    EXPECT_EQ(directory.asked[0].id, "34020000001320000001");
    EXPECT_EQ(directory.asked[0].transport, Transport::tcp);
    EXPECT_EQ(directory.asked[0].port, 0) << "a port of its own for any SSRC";
    EXPECT_FALSE(directory.asked[0].ssrc);
    EXPECT_EQ(call("openRtpServer", R"({"port":0,"tcp_mode":0,"stream_id":"b","ssrc":47190001})")["code"], 0);
    EXPECT_EQ(directory.asked[1].transport, Transport::udp);
    EXPECT_EQ(directory.asked[1].ssrc, 47'190'001u);
    EXPECT_FALSE(directory.asked[1].port) << "the port of all devices";
    EXPECT_EQ(call("openRtpServer", "port=30000&tcp_mode=2&stream_id=c&ssrc=0")["code"], 0);
    EXPECT_EQ(directory.asked[2].transport, Transport::tcp_active);
    EXPECT_EQ(directory.asked[2].port, 30'000);
    EXPECT_EQ(call("openRtpServer?enable_tcp=1&stream_id=d")["code"], 0);
    EXPECT_EQ(directory.asked[3].transport, Transport::tcp);
}

TEST_F(RtpServerCalls, ConnectCloseAndList) {
    EXPECT_EQ(call("connectRtpServer?stream_id=cam&dst_url=192.0.2.7&dst_port=15060")["code"], 0);
    EXPECT_EQ(directory.connected, "cam 192.0.2.7:15060");
    EXPECT_EQ(call("closeRtpServer?stream_id=cam").dump(), R"({"code":0,"hit":1})");
    EXPECT_EQ(call("closeRtpServer?stream_id=other").dump(), R"({"code":0,"hit":0})");
    EXPECT_EQ(call("listRtpServer").dump(),
              R"({"code":0,"data":[{"port":9000,"stream_id":"cam"},{"port":0,"stream_id":"later"}]})");
}

TEST_F(RtpServerCalls, HaveACodeForEachError) {
    for (const char* target : {"openRtpServer", "openRtpServer?stream_id=a&port=x", "openRtpServer?stream_id=a&port=65536",
                               "openRtpServer?stream_id=a&tcp_mode=3", "openRtpServer?stream_id=a&ssrc=1x", "closeRtpServer",
                               "connectRtpServer?stream_id=a", "connectRtpServer?stream_id=a&dst_url=camera&dst_port=1"})
        EXPECT_EQ(call(target)["code"], RtpServerHandler::kInvalid) << target;
    EXPECT_EQ(call("openRtpServer", R"({"stream_id":["a"]})")["code"], RtpServerHandler::kInvalid);
    directory.fails = Errc::conflict;
    EXPECT_EQ(call("openRtpServer?stream_id=a")["code"], RtpServerHandler::kFailed);
}

}  // namespace
}  // namespace live::api
