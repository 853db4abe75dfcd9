#include "engine/rtmp/server_fixture.hpp"

namespace live::engine::rtmp {
namespace {

class ServerPlayTest : public ServerTest {};

TEST_F(ServerPlayTest, APlayerGetsResetStartAndSampleAccessAndNoDataStart) {
    connect();
    send(RawClient::call("createStream", 2, {Value::null()}));
    send(RawClient::call("play", 0, {Value::null(), "cam?token=x", -2000, 1500, true}));
    const auto event = expect<WantsToPlay>();
    ASSERT_TRUE(event);
    EXPECT_EQ(event->stream, "cam?token=x");
    EXPECT_EQ(event->start, -2000);
    EXPECT_EQ(event->duration, 1500ms);
    words();
    ASSERT_TRUE(server.accept_play().ok());
    const auto messages = output();
    Words spoken;
    for (const Message& message : messages)
        spoken.push_back(in_words(message));
    EXPECT_EQ(spoken,
              (Words{"user 0 1", "onStatus NetStream.Play.Reset", "onStatus NetStream.Play.Start", "data |RtmpSampleAccess"}));
    ASSERT_EQ(messages.size(), 4U);
    for (const std::size_t index : {1U, 2U}) {
        const Command status = MUST(parse_command(messages[index]));
        EXPECT_EQ(status.argument(0).find("details")->string(), "stream");
        EXPECT_EQ(status.argument(0).find("clientid")->string(), "ASAICiss");
    }
    EXPECT_TRUE(server.is_identified());
}

TEST_F(ServerPlayTest, PlayArgumentsHaveDefaultsAndBounds) {
    connect();
    send(RawClient::call("play", 0, {Value::null(), "cam"}));
    auto event = expect<WantsToPlay>();
    ASSERT_TRUE(event);
    EXPECT_EQ(event->start, -2);
    EXPECT_EQ(event->duration, 0ms);
    EXPECT_TRUE(event->reset);
    ASSERT_TRUE(server.reject_play("NetStream.Play.Failed", "no").ok());
    send(RawClient::call("play", 0, {Value::null(), "cam", -2, 1e300, false}));
    event = expect<WantsToPlay>();
    ASSERT_TRUE(event);
    EXPECT_EQ(event->duration, 24h);
    EXPECT_FALSE(event->reset);
}

TEST_F(ServerPlayTest, ARejectedPlayerGetsTheReason) {
    connect();
    send(RawClient::call("play", 0, {Value::null(), "cam"}));
    ASSERT_TRUE(expect<WantsToPlay>());
    ASSERT_TRUE(server.reject_play("NetStream.Play.Failed", "denied").ok());
    EXPECT_EQ(words(), (Words{"onStatus NetStream.Play.Failed"}));
}

// ffmpeg reads a number and warns of anything else.
TEST_F(ServerPlayTest, ALiveStreamHasNoLength) {
    connect();
    output();
    send(RawClient::call("getStreamLength", 3, {Value::null(), "cam"}));
    const auto messages = output();
    ASSERT_EQ(messages.size(), 1U);
    const Command answer = MUST(parse_command(messages[0]));
    EXPECT_EQ(answer.name, "_result");
    EXPECT_EQ(answer.transaction, 3);
    EXPECT_EQ(answer.argument(0).number(), 0.0);
}

TEST_F(ServerPlayTest, NothingIsEverWrittenOnTheMediaChunkStreams) {
    play();
    send(RawClient::control(UserControl{UserControl::Event::ping_request, 7, 0}));
    send(RawClient::call("pause", 0, {Value::null(), true, 0}));
    server.accept_pause(true);
    send(RawClient::call("_checkbw", 9, {Value::null()}));
    send(RawClient::call("closeStream", 0, {Value::null()}));
    send(RawClient::call("play", 0, {Value::null(), "cam"}));
    ASSERT_TRUE(server.accept_play().ok());
    server.send_status(StatusLevel::error, "NetStream.Play.Failed", "over");
    const auto messages = output();
    EXPECT_EQ(messages.size(), 9U);
    for (const Message& message : messages)
        EXPECT_TRUE(message.chunk_stream == 2 || message.chunk_stream == 3) << in_words(message);
}

TEST_F(ServerPlayTest, PauseAndResumeAreReportedAndAnswered) {
    play();
    send(RawClient::call("pause", 0, {Value::null(), true, 1000}));
    auto event = expect<PauseChanged>();
    ASSERT_TRUE(event);
    EXPECT_TRUE(event->paused);
    server.accept_pause(true);
    EXPECT_EQ(words(), (Words{"onStatus NetStream.Pause.Notify", "user 1 1"}));
    send(RawClient::call("pause", 0, {Value::null(), false, 1000}));
    event = expect<PauseChanged>();
    ASSERT_TRUE(event);
    EXPECT_FALSE(event->paused);
    server.accept_pause(false);
    EXPECT_EQ(words(), (Words{"onStatus NetStream.Unpause.Notify", "user 0 1"}));
}

TEST_F(ServerPlayTest, CloseStreamStopsPlayingAndAnotherPlayMayFollow) {
    play();
    send(RawClient::call("closeStream", 0, {Value::null()}));
    EXPECT_TRUE(expect<StoppedPlaying>());
    send(RawClient::call("play", 0, {Value::null(), "other"}));
    EXPECT_TRUE(expect<WantsToPlay>());
}

TEST_F(ServerPlayTest, PlayOnTopOfAPlayStopsTheFirst) {
    play();
    send(RawClient::call("play", 0, {Value::null(), "other"}));
    EXPECT_TRUE(expect<StoppedPlaying>());
    const auto event = expect<WantsToPlay>();
    ASSERT_TRUE(event);
    EXPECT_EQ(event->stream, "other");
}

}  // namespace
}  // namespace live::engine::rtmp
