#include "engine/rtmp/server_fixture.hpp"

namespace live::engine::rtmp {
namespace {

class ServerLimitsTest : public ServerTest {};

TEST_F(ServerLimitsTest, AChunkSizeBelow128IsRefused) {
    send(RawClient::control(SetChunkSize{128}));
    EXPECT_EQ(server.peer_chunk_size(), 128U);
    const auto done = feed(RawClient::control(SetChunkSize{127}));
    ASSERT_FALSE(done.ok());
    EXPECT_EQ(done.error().text(), "malformed: the peer wants chunks of 127 bytes, the least is 128");
}

TEST_F(ServerLimitsTest, AChunkSizeOf1IsRefused) { EXPECT_EQ(feed(RawClient::control(SetChunkSize{1})).code(), Errc::malformed); }

TEST_F(ServerLimitsTest, WarnsOnceOfAHugeChunkSize) {
    send(RawClient::control(SetChunkSize{65'536}));
    expect_none();
    send(RawClient::control(SetChunkSize{65'537}));
    EXPECT_TRUE(expect<PeerWarning>());
    send(RawClient::control(SetChunkSize{1 << 24}));
    expect_none();
    EXPECT_EQ(server.peer_chunk_size(), 1U << 24);
}

TEST_F(ServerLimitsTest, AcknowledgesAtHalfOfTheAnnouncedWindow) {
    connect();
    send(RawClient::control(wire::rtmp::WindowAckSize{20'000}));
    const auto first = words();
    const std::uint64_t before = server.bytes_received();
    Octets quiet;
    while (quiet.size() < 20'000) {
        const Octets ping = RawClient::control(UserControl{UserControl::Event::ping_response, 1, 0});
        quiet.insert(quiet.end(), ping.begin(), ping.end());
    }
    std::size_t acknowledgements = 0;
    for (Bytes rest(quiet); !rest.empty();) {
        const std::size_t count = std::min<std::size_t>(rest.size(), 1000);
        send(rest.first(count));
        rest = rest.subspan(count);
        for (const std::string& word : words()) {
            EXPECT_EQ(word, "acknowledgement " + std::to_string(server.bytes_received()));
            ++acknowledgements;
        }
    }
    EXPECT_GE(server.bytes_received(), before + 20'000);
    EXPECT_EQ(acknowledgements + first.size(), 2U);
}

TEST_F(ServerLimitsTest, ATinyWindowCostsOneAcknowledgementAnInput) {
    connect();
    Octets flood = RawClient::control(wire::rtmp::WindowAckSize{1});
    for (int i = 0; i < 100; ++i) {
        const Octets ping = RawClient::control(UserControl{UserControl::Event::ping_response, 1, 0});
        flood.insert(flood.end(), ping.begin(), ping.end());
    }
    send(flood);
    EXPECT_EQ(words().size(), 1U);
}

TEST_F(ServerLimitsTest, InAckSizeAcknowledgesWithoutBeingAsked) {
    send(RawClient::connect());
    ASSERT_TRUE(expect<WantsToConnect>());
    ASSERT_TRUE(server.accept_connect({.in_ack_size = 3000}).ok());
    const Words said = words();
    ASSERT_EQ(said.size(), 6U);
    EXPECT_EQ(said.back(), "acknowledgement " + std::to_string(server.bytes_received()));
}

TEST_F(ServerLimitsTest, AWindowOfThePeerBeatsOurInAckSize) {
    send(RawClient::control(wire::rtmp::WindowAckSize{1 << 20}));
    send(RawClient::connect());
    ASSERT_TRUE(expect<WantsToConnect>());
    ASSERT_TRUE(server.accept_connect({.in_ack_size = 3000}).ok());
    EXPECT_EQ(words().size(), 5U);
}

TEST_F(ServerLimitsTest, APeerBandwidthIsAnsweredWithOurWindowWhenItDiffers) {
    connect();
    using wire::rtmp::SetPeerBandwidth;
    send(RawClient::control(SetPeerBandwidth{2'500'000, SetPeerBandwidth::Limit::dynamic}));
    EXPECT_TRUE(words().empty());
    send(RawClient::control(SetPeerBandwidth{5'000, SetPeerBandwidth::Limit::hard}));
    EXPECT_EQ(words(), (Words{"window 5000"}));
}

TEST_F(ServerLimitsTest, LimitsMessagesOfNonPublishersToCallSize) {
    for (const bool playing : {false, true}) {
        SCOPED_TRACE(playing);
        Server other(test_options(), 1);
        ASSERT_TRUE(other.handle_bytes(TimePoint{}, RawClient::handshake()).ok());
        if (playing) {
            ASSERT_TRUE(other.handle_bytes(TimePoint{}, RawClient::connect()).ok());
            ASSERT_TRUE(other.accept_connect().ok());
            ASSERT_TRUE(other.handle_bytes(TimePoint{}, RawClient::call("play", 0, {Value::null(), "cam"})).ok());
            ASSERT_TRUE(other.accept_play().ok());
        }
        const Octets fits(Server::kCommandBytesMax);
        EXPECT_TRUE(other.handle_bytes(TimePoint{}, RawClient::message(MessageType::video, fits, 0, 6)).ok());
        const Octets over(Server::kCommandBytesMax + 1);
        const auto done = other.handle_bytes(TimePoint{}, RawClient::message(MessageType::video, over, 0, 6));
        ASSERT_FALSE(done.ok());
        EXPECT_EQ(done.code(), Errc::limit);
    }
}

TEST_F(ServerLimitsTest, APublisherSendsUpToTheMessageLimit) {
    ServerOptions with = test_options();
    with.message_bytes_max = 100'000;
    Server other(std::move(with), 1);
    ASSERT_TRUE(other.handle_bytes(TimePoint{}, RawClient::handshake()).ok());
    ASSERT_TRUE(other.handle_bytes(TimePoint{}, RawClient::connect()).ok());
    ASSERT_TRUE(other.accept_connect().ok());
    ASSERT_TRUE(other.handle_bytes(TimePoint{}, RawClient::call("publish", 5, {Value::null(), "cam"})).ok());
    ASSERT_TRUE(other.accept_publish().ok());
    EXPECT_TRUE(other.handle_bytes(TimePoint{}, RawClient::message(MessageType::video, Octets(100'000), 0, 6)).ok());
    EXPECT_EQ(other.handle_bytes(TimePoint{}, RawClient::message(MessageType::video, Octets(100'001), 0, 6)).code(), Errc::limit);
}

TEST_F(ServerLimitsTest, AMessageOf16MegabytesIsRefusedByItsHeader) {
    publish();
    const Octets header{0x06, 0, 0, 0, 0xFF, 0xFF, 0xFF, 9, 1, 0, 0, 0};
    EXPECT_EQ(feed(header).code(), Errc::limit);
}

TEST_F(ServerLimitsTest, APublisherMayNotSendAHugeCall) {
    publish();
    Octets body = write_command("x", 1, {});
    body.resize(Server::kCommandBytesMax + 1, 5);
    EXPECT_EQ(feed(RawClient::message(MessageType::amf0_command, body)).code(), Errc::limit);
}

TEST_F(ServerLimitsTest, RefusesAPeerThatNeverReadsResponses) {
    connect();
    const Octets ping = RawClient::control(UserControl{UserControl::Event::ping_request, 1, 0});
    Octets pings;
    for (int i = 0; i < 1000; ++i)
        pings.insert(pings.end(), ping.begin(), ping.end());
    // An answer is as long as its question.
    std::size_t asked = 0;
    for (; asked + pings.size() <= Link::kOutputBytesMax; asked += pings.size())
        ASSERT_TRUE(feed(pings).ok());
    EXPECT_EQ(feed(pings).code(), Errc::limit);
}

TEST_F(ServerLimitsTest, RefusesCallsWhoseAnswersAreNotRead) {
    connect();
    const Octets call = RawClient::call("x", 1, {Value::null()});
    bool good = true;
    for (std::size_t fed = 0; good && fed < 4 * Link::kOutputBytesMax; fed += 1000 * call.size()) {
        Octets calls;
        for (int i = 0; i < 1000; ++i)
            calls.insert(calls.end(), call.begin(), call.end());
        good = feed(calls).ok();
    }
    EXPECT_FALSE(good);
}

TEST_F(ServerLimitsTest, LimitsTheArgumentsOfACall) {
    connect();
    Octets body = write_command("x", 1, {Value::null()});
    body.insert(body.end(), kCommandArgumentsMax, 5);
    EXPECT_TRUE(feed(RawClient::message(MessageType::amf0_command, body)).ok());
    body.push_back(5);
    EXPECT_EQ(feed(RawClient::message(MessageType::amf0_command, body)).code(), Errc::limit);
}

TEST_F(ServerLimitsTest, ACallNested10000DeepIsRefused) {
    Octets body = write_command("connect", 1, {});
    const Octets level{3, 0, 1, 'a'};
    for (int i = 0; i < 10'000; ++i)
        body.insert(body.end(), level.begin(), level.end());
    EXPECT_EQ(feed(RawClient::message(MessageType::amf0_command, body)).code(), Errc::limit);
}

TEST_F(ServerLimitsTest, ACallWithoutANameIsRefused) {
    EXPECT_EQ(feed(RawClient::message(MessageType::amf0_command, Octets{5})).code(), Errc::malformed);
    EXPECT_FALSE(feed(RawClient::message(MessageType::amf0_command, {})).ok());
}

TEST_F(ServerLimitsTest, BytesBehindAQuestionWaitUpToTheirBound) {
    send(RawClient::connect());
    ASSERT_TRUE(expect<WantsToConnect>());
    const Octets ping = RawClient::control(UserControl{UserControl::Event::ping_request, 1, 0});
    Octets bytes;
    while (bytes.size() + ping.size() <= Server::kWaitingBytesMax)
        bytes.insert(bytes.end(), ping.begin(), ping.end());
    send(bytes);
    EXPECT_TRUE(words().empty());
    EXPECT_EQ(feed(Octets(Server::kWaitingBytesMax)).code(), Errc::limit);
}

TEST_F(ServerLimitsTest, ThreeQuestionsInOneInputAreAskedOneByOne) {
    Octets all = RawClient::connect();
    for (const Octets& more :
         {RawClient::call("createStream", 2, {Value::null()}), RawClient::call("publish", 3, {Value::null(), "cam", "live"}),
          RawClient::message(MessageType::audio, Octets{0xAF, 1}, 9, 4)})
        all.insert(all.end(), more.begin(), more.end());
    send(all);
    ASSERT_TRUE(expect<WantsToConnect>());
    expect_none();
    ASSERT_TRUE(server.accept_connect().ok());
    ASSERT_TRUE(expect<WantsToPublish>());
    expect_none();
    ASSERT_TRUE(server.accept_publish().ok());
    EXPECT_TRUE(expect_media());
    expect_none();
}

TEST_F(ServerLimitsTest, AParkedPlayerIsSmall) {
    play();
    server.release_buffers();
    // The object itself; besides it only the chunk reader's table remains, one 64-byte entry per chunk stream of the client.
    EXPECT_LE(sizeof(Server), 512U);
}

}  // namespace
}  // namespace live::engine::rtmp
