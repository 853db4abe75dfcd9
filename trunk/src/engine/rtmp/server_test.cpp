#include "engine/rtmp/server_fixture.hpp"

namespace live::engine::rtmp {
namespace {

TEST_F(ServerTest, AnswersConnectInTheOrderClientsExpect) {
    send(RawClient::connect());
    const auto event = expect<WantsToConnect>();
    ASSERT_TRUE(event);
    EXPECT_EQ(event->request->tc_url, "rtmp://h/live");
    EXPECT_EQ(event->request->app, "live");
    EXPECT_TRUE(words().empty());
    ASSERT_TRUE(server.accept_connect().ok());
    EXPECT_EQ(words(), (Words{"window 2500000", "bandwidth 2500000 2", "chunk_size 60000",
                              "_result 1 NetConnection.Connect.Success", "onBWDone"}));
}

TEST_F(ServerTest, ConnectAnswerIdentifiesTheServer) {
    send(RawClient::call("connect", 1, {Value::object({{"tcUrl", "rtmp://h/live"}, {"objectEncoding", 3}})}));
    ASSERT_TRUE(expect<WantsToConnect>());
    ASSERT_TRUE(server.accept_connect().ok());
    const auto messages = output();
    ASSERT_EQ(messages.size(), 5U);
    const Command result = MUST(parse_command(messages[3]));
    EXPECT_EQ(result.transaction, 1);
    EXPECT_EQ(result.object, Value::object({{"fmsVer", "FMS/3,5,3,888"}, {"capabilities", 127}, {"mode", 1}}));
    const Value& information = result.argument(0);
    EXPECT_EQ(information.find("level")->string(), "status");
    EXPECT_EQ(information.find("objectEncoding")->number(), 3);
    EXPECT_EQ(*information.find("data"), Value::ecma_array({{"version", "3,5,3,888"},
                                                            {"srs_sig", "SIG"},
                                                            {"srs_server", "SERVER"},
                                                            {"srs_license", "MIT"},
                                                            {"srs_url", "URL"},
                                                            {"srs_version", "7.1.0"},
                                                            {"srs_authors", "AUTHORS"},
                                                            {"srs_server_ip", "10.0.0.5"},
                                                            {"srs_pid", 4321},
                                                            {"srs_id", "k3x9q0ab"}}));
}

TEST_F(ServerTest, ReadsAllPropertiesOfConnect) {
    send(RawClient::call("connect", 1,
                         {Value::object({{"app", "live"},
                                         {"tcUrl", "rtmp://h/live?token=1"},
                                         {"pageUrl", "http://p/"},
                                         {"swfUrl", "http://s/"},
                                         {"flashVer", "X/1"},
                                         {"objectEncoding", 3},
                                         {"fourCcList", Value::strict_array({"hvc1", 5, "av01"})},
                                         {"capsEx", 6}}),
                          Value::object({{"token", "abc"}})}));
    const auto event = expect<WantsToConnect>();
    ASSERT_TRUE(event);
    const ConnectRequest& request = *event->request;
    EXPECT_EQ(request.page_url, "http://p/");
    EXPECT_EQ(request.swf_url, "http://s/");
    EXPECT_EQ(request.flash_version, "X/1");
    EXPECT_EQ(request.object_encoding, 3);
    EXPECT_EQ(request.fourcc_list, (std::vector<std::string>{"hvc1", "av01"}));
    EXPECT_EQ(request.caps_ex, 6U);
    EXPECT_TRUE(server.knows_tracks());
    EXPECT_EQ(request.arguments.find("token")->string(), "abc");
    EXPECT_EQ(request.command_object.find("flashVer")->string(), "X/1");
}

TEST_F(ServerTest, AnnouncesFourCcsToClientsThatAnnounceAny) {
    send(
        RawClient::call("connect", 1, {Value::object({{"tcUrl", "rtmp://h/live"}, {"fourCcList", Value::strict_array({"*"})}})}));
    ASSERT_TRUE(expect<WantsToConnect>());
    ASSERT_TRUE(server.accept_connect().ok());
    const Command result = MUST(parse_command(output()[3]));
    ASSERT_NE(result.object.find("fourCcList"), nullptr);
    EXPECT_EQ(result.object.find("fourCcList")->members().size(), 11U);
    EXPECT_EQ(result.object.find("videoFourCcInfoMap")->find("hvc1")->number(), 4);
    EXPECT_EQ(result.object.find("audioFourCcInfoMap")->find("Opus")->number(), 4);
    EXPECT_EQ(result.object.find("capsEx")->number(), 15);
}

// E-RTMP v2, "Reconnect Request": onStatus of the connection.
TEST_F(ServerTest, AsksForAReconnectOnTheConnectionsOwnStream) {
    send(RawClient::call("connect", 1, {Value::object({{"tcUrl", "rtmp://h/live"}, {"capsEx", 1}})}));
    ASSERT_TRUE(expect<WantsToConnect>());
    ASSERT_TRUE(server.accept_connect().ok());
    EXPECT_FALSE(server.knows_tracks());
    output();
    server.request_reconnect("rtmp://other/live", "about to stop");
    const auto messages = output();
    ASSERT_EQ(messages.size(), 1U);
    EXPECT_EQ(messages[0].stream_id, 0U);
    const Command asked = MUST(parse_command(messages[0]));
    EXPECT_EQ(asked.name, "onStatus");
    EXPECT_EQ(asked.argument(0).find("code")->string(), "NetConnection.Connect.ReconnectRequest");
    EXPECT_EQ(asked.argument(0).find("level")->string(), "status");
    EXPECT_EQ(asked.argument(0).find("tcUrl")->string(), "rtmp://other/live");
    server.request_reconnect("", "to the same place");
    EXPECT_EQ(MUST(parse_command(output().at(0))).argument(0).find("tcUrl"), nullptr);
}

TEST_F(ServerTest, BoundsTheFourCcList) {
    Value list = Value::strict_array();
    for (std::size_t i = 0; i < kFourCcListMax + 1; ++i)
        list.append("", "abcd");
    send(RawClient::call("connect", 1, {Value::object({{"tcUrl", "rtmp://h/live"}, {"fourCcList", list}})}));
    const auto event = expect<WantsToConnect>();
    ASSERT_TRUE(event);
    EXPECT_EQ(event->request->fourcc_list.size(), kFourCcListMax);
}

TEST_F(ServerTest, AConnectWithoutTcUrlIsReportedAndRefused) {
    const auto done = feed(RawClient::call("connect", 1, {Value::object({{"app", "live"}})}));
    ASSERT_FALSE(done.ok());
    EXPECT_EQ(done.error().text(), "malformed: connect without a tcUrl");
    EXPECT_EQ(words(), (Words{"_error 1 NetConnection.Connect.Rejected"}));
}

TEST_F(ServerTest, RefusesCallsBeforeConnect) {
    const auto done = feed(RawClient::call("create\nStream", 1, {Value::null()}));
    ASSERT_FALSE(done.ok());
    EXPECT_EQ(done.error().text(), "malformed: the first call is create?Stream, not connect");
}

TEST_F(ServerTest, RefusesASecondConnect) {
    connect();
    EXPECT_EQ(feed(RawClient::connect()).code(), Errc::malformed);
}

TEST_F(ServerTest, ARejectedConnectGetsTheReason) {
    send(RawClient::connect());
    ASSERT_TRUE(expect<WantsToConnect>());
    server.reject_connect("no such vhost");
    const auto messages = output();
    ASSERT_EQ(messages.size(), 1U);
    const Command error = MUST(parse_command(messages[0]));
    EXPECT_EQ(error.name, "_error");
    EXPECT_EQ(error.transaction, 1);
    EXPECT_EQ(error.argument(0).find("level")->string(), "error");
    EXPECT_EQ(error.argument(0).find("code")->string(), "NetConnection.Connect.Rejected");
    EXPECT_EQ(error.argument(0).find("description")->string(), "no such vhost");
    send(RawClient::call("createStream", 2, {Value::null()}));
    expect_none();
    EXPECT_TRUE(words().empty());
}

TEST_F(ServerTest, ARedirectedConnectGetsTheAddressAndItsNextCallIsReported) {
    send(RawClient::connect());
    ASSERT_TRUE(expect<WantsToConnect>());
    server.redirect_connect("rtmp://other/live", "rtmp://other/live/cam");
    const auto messages = output();
    ASSERT_EQ(messages.size(), 1U);
    const Command error = MUST(parse_command(messages[0]));
    EXPECT_EQ(*error.argument(0).find("ex"),
              Value::object({{"code", 302}, {"redirect", "rtmp://other/live"}, {"redirect2", "rtmp://other/live/cam"}}));
    expect_none();
    send(RawClient::call("anything", 2, {Value::null()}));
    EXPECT_TRUE(expect<RedirectAnswered>());
}

TEST_F(ServerTest, WithoutAnOutAckSizeNoWindowIsAnnounced) {
    send(RawClient::connect());
    ASSERT_TRUE(expect<WantsToConnect>());
    ASSERT_TRUE(server.accept_connect({.chunk_size = 4096, .out_ack_size = 0}).ok());
    const Words said = words();
    ASSERT_EQ(said.size(), 4U);
    EXPECT_EQ(said[0], "bandwidth 2500000 2");
    EXPECT_EQ(said[1], "chunk_size 4096");
    EXPECT_EQ(server.chunk_size(), 4096U);
}

TEST_F(ServerTest, UnknownCallsAreAnsweredWhenTheyAskFor) {
    connect();
    send(RawClient::call("_checkbw", 9, {Value::null()}));
    send(RawClient::call("nonsense", 0, {Value::null()}));
    const auto messages = output();
    ASSERT_EQ(messages.size(), 1U);
    const Command result = MUST(parse_command(messages[0]));
    EXPECT_EQ(result.name, "_result");
    EXPECT_EQ(result.transaction, 9);
    EXPECT_TRUE(result.object.is(wire::amf::Kind::null));
    EXPECT_TRUE(result.argument(0).is(wire::amf::Kind::null));
}

TEST_F(ServerTest, Amf3CallsAreUnderstood) {
    Octets body{0};
    const Octets call = write_command("connect", 1, {Value::object({{"tcUrl", "rtmp://h/live"}, {"objectEncoding", 3}})});
    body.insert(body.end(), call.begin(), call.end());
    send(RawClient::message(MessageType::amf3_command, body));
    const auto event = expect<WantsToConnect>();
    ASSERT_TRUE(event);
    EXPECT_EQ(event->request->object_encoding, 3);
}

TEST_F(ServerTest, APingIsAnswered) {
    connect();
    send(RawClient::control(UserControl{UserControl::Event::ping_request, 1234, 0}));
    EXPECT_EQ(words(), (Words{"user 7 1234"}));
}

}  // namespace
}  // namespace live::engine::rtmp
