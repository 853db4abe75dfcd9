#include "engine/rtmp/server_fixture.hpp"

namespace live::engine::rtmp {
namespace {

class ServerPublishTest : public ServerTest {};

TEST_F(ServerPublishTest, AnFmlePublisherIsAnsweredStepByStep) {
    connect();
    send(RawClient::call("releaseStream", 2, {Value::null(), "cam"}));
    send(RawClient::call("FCPublish", 3, {Value::null(), "cam"}));
    send(RawClient::call("createStream", 4, {Value::null()}));
    const auto messages = output();
    ASSERT_EQ(messages.size(), 3U);
    EXPECT_EQ(in_words(messages[0]), "_result 2");
    EXPECT_EQ(in_words(messages[1]), "_result 3");
    EXPECT_EQ(MUST(parse_command(messages[2])).argument(0).number(), 1);
    send(RawClient::call("publish", 5, {Value::null(), "cam?token=x", "live"}));
    const auto event = expect<WantsToPublish>();
    ASSERT_TRUE(event);
    EXPECT_EQ(event->stream, "cam?token=x");
    EXPECT_EQ(event->style, PublishStyle::fmle);
    EXPECT_TRUE(words().empty());
    ASSERT_TRUE(server.accept_publish().ok());
    EXPECT_TRUE(server.is_identified());
    const auto answers = output();
    ASSERT_EQ(answers.size(), 2U);
    EXPECT_EQ(in_words(answers[0]), "onFCPublish NetStream.Publish.Start");
    EXPECT_EQ(in_words(answers[1]), "onStatus NetStream.Publish.Start");
    EXPECT_EQ(answers[1].stream_id, 1U);
}

TEST_F(ServerPublishTest, AHaivisionPublisherCreatesTheStreamFirst) {
    connect();
    send(RawClient::call("createStream", 2, {Value::null()}));
    send(RawClient::call("FCPublish", 3, {Value::null(), "cam"}));
    send(RawClient::call("publish", 4, {Value::null(), "cam", "live"}));
    const auto event = expect<WantsToPublish>();
    ASSERT_TRUE(event);
    EXPECT_EQ(event->style, PublishStyle::haivision);
    ASSERT_TRUE(server.accept_publish().ok());
    EXPECT_EQ(words(),
              (Words{"_result 2", "_result 3", "onFCPublish NetStream.Publish.Start", "onStatus NetStream.Publish.Start"}));
}

TEST_F(ServerPublishTest, AFlashPublisherGetsOnlyTheStatus) {
    connect();
    send(RawClient::call("createStream", 2, {Value::null()}));
    send(RawClient::call("publish", 3, {Value::null(), "cam", "record"}));
    const auto event = expect<WantsToPublish>();
    ASSERT_TRUE(event);
    EXPECT_EQ(event->style, PublishStyle::flash);
    ASSERT_TRUE(server.accept_publish().ok());
    EXPECT_EQ(words(), (Words{"_result 2", "onStatus NetStream.Publish.Start"}));
}

TEST_F(ServerPublishTest, ARejectedPublisherGetsTheReasonAndMayTryAgain) {
    connect();
    send(RawClient::call("publish", 3, {Value::null(), "cam", "live"}));
    ASSERT_TRUE(expect<WantsToPublish>());
    ASSERT_TRUE(server.reject_publish("NetStream.Publish.BadName", "stream is busy").ok());
    const auto messages = output();
    ASSERT_EQ(messages.size(), 1U);
    const Command status = MUST(parse_command(messages[0]));
    EXPECT_EQ(status.name, "onStatus");
    EXPECT_EQ(status.argument(0).find("level")->string(), "error");
    EXPECT_EQ(status.argument(0).find("description")->string(), "stream is busy");
    send(RawClient::message(MessageType::audio, Octets{0xAF, 1}, 0, 4));
    expect_none();
    send(RawClient::call("publish", 4, {Value::null(), "cam2", "live"}));
    EXPECT_TRUE(expect<WantsToPublish>());
}

TEST_F(ServerPublishTest, PublishWithoutANameIsAskedFor) {
    connect();
    // The name may be in tcUrl, which the engine does not evaluate.
    for (const Octets& call :
         {RawClient::call("publish", 3, {Value::null()}), RawClient::call("publish", 3, {Value::null(), "", "live"})}) {
        send(call);
        const auto asked = expect<WantsToPublish>();
        ASSERT_TRUE(asked);
        EXPECT_EQ(asked->stream, "");
        ASSERT_TRUE(server.reject_publish("NetStream.Publish.BadName", "a stream name is required").ok());
        EXPECT_EQ(words(), (Words{"onStatus NetStream.Publish.BadName"}));
    }
}

TEST_F(ServerPublishTest, PublishOnTopOfAPublishIsRefused) {
    publish();
    EXPECT_EQ(feed(RawClient::call("publish", 6, {Value::null(), "other"})).code(), Errc::malformed);
    EXPECT_EQ(words(), (Words{"onStatus NetStream.Publish.BadName"}));
}

TEST_F(ServerPublishTest, GivesMediaOnlyOfAnAdmittedPublisher) {
    connect();
    send(RawClient::message(MessageType::video, Octets{0x17, 0}, 5, 6));
    expect_none();
    send(RawClient::call("publish", 5, {Value::null(), "cam", "live"}));
    ASSERT_TRUE(expect<WantsToPublish>());
    // Sent before our answer, as some encoders do: processed once the publish is accepted.
    send(RawClient::message(MessageType::video, Octets{0x17, 1}, 7, 6));
    expect_none();
    ASSERT_TRUE(server.accept_publish().ok());
    const auto media = expect_media();
    ASSERT_TRUE(media);
    EXPECT_EQ(media->type, MessageType::video);
    EXPECT_EQ(media->timestamp_ms, 7U);
    EXPECT_EQ(media->payload.size(), 2U);
}

TEST_F(ServerPublishTest, KeepsTheSetDataFrameWrapper) {
    publish();
    ByteWriter body;
    wire::amf::write_amf0(body, "@setDataFrame");
    wire::amf::write_amf0(body, "onMetaData");
    send(RawClient::message(MessageType::amf0_data, body.written(), 0, 5));
    const auto media = expect_media();
    ASSERT_TRUE(media);
    EXPECT_EQ(media->type, MessageType::amf0_data);
    EXPECT_TRUE(std::equal(body.written().begin(), body.written().end(), media->payload.bytes().begin()));
}

TEST_F(ServerPublishTest, Amf3DataBecomesAmf0) {
    publish();
    // A format byte, an AMF0 string, then AMF3 (marker 0x11): the integer 7.
    send(RawClient::message(MessageType::amf3_data, Octets{0, 2, 0, 1, 'x', 0x11, 4, 7}, 0, 5));
    const auto media = expect_media();
    ASSERT_TRUE(media);
    EXPECT_EQ(media->type, MessageType::amf0_data);
    ByteReader in(media->payload.bytes());
    EXPECT_EQ(MUST(wire::amf::read_amf0(in)).string(), "x");
    EXPECT_EQ(MUST(wire::amf::read_amf0(in)).number(), 7);
    EXPECT_TRUE(in.at_end());
}

TEST_F(ServerPublishTest, EmptyMediaMessagesAreNoEvents) {
    publish();
    send(RawClient::message(MessageType::audio, {}, 0, 4));
    expect_none();
}

TEST_F(ServerPublishTest, AggregatesAreTakenApart) {
    publish();
    const Octets parts{8, 0, 0, 1, 0, 0, 10, 0, 0, 0, 0, 0xAF, 0, 0, 0, 12,  //
                       9, 0, 0, 1, 0, 0, 15, 0, 0, 0, 0, 0x17, 0, 0, 0, 12};
    send(RawClient::message(MessageType::aggregate, parts, 100, 6));
    const auto media = server.take_media();
    ASSERT_EQ(media.size(), 2U);
    EXPECT_EQ(media[0].type, MessageType::audio);
    EXPECT_EQ(media[0].timestamp_ms, 100U);
    EXPECT_EQ(media[1].type, MessageType::video);
    EXPECT_EQ(media[1].timestamp_ms, 105U);
}

TEST_F(ServerPublishTest, ABrokenAggregateIsRefused) {
    publish();
    EXPECT_EQ(feed(RawClient::message(MessageType::aggregate, Octets{8, 0, 0}, 0, 6)).code(), Errc::malformed);
}

TEST_F(ServerPublishTest, FcUnpublishIsAnsweredAndMayBeFollowedByAPublish) {
    publish();
    send(RawClient::call("FCUnpublish", 6, {Value::null(), "cam"}));
    EXPECT_TRUE(expect<StoppedPublishing>());
    EXPECT_EQ(words(), (Words{"onFCUnpublish NetStream.Unpublish.Success", "_result 6", "onStatus NetStream.Unpublish.Success"}));
    EXPECT_FALSE(server.is_identified());
    send(RawClient::message(MessageType::audio, Octets{0xAF, 1}, 0, 4));
    expect_none();
    send(RawClient::call("FCPublish", 7, {Value::null(), "cam"}));
    send(RawClient::call("publish", 8, {Value::null(), "cam", "live"}));
    const auto again = expect<WantsToPublish>();
    ASSERT_TRUE(again);
    EXPECT_EQ(again->style, PublishStyle::fmle);
    ASSERT_TRUE(server.accept_publish().ok());
    send(RawClient::message(MessageType::audio, Octets{0xAF, 1}, 0, 4));
    EXPECT_TRUE(expect_media());
}

TEST_F(ServerPublishTest, CloseStreamAndPublishFalseEndAPublish) {
    publish();
    send(RawClient::call("closeStream", 0, {Value::null()}));
    EXPECT_TRUE(expect<StoppedPublishing>());
    EXPECT_EQ(words(), (Words{"onStatus NetStream.Unpublish.Success"}));
    send(RawClient::call("publish", 8, {Value::null(), "cam", "live"}));
    ASSERT_TRUE(expect<WantsToPublish>());
    ASSERT_TRUE(server.accept_publish().ok());
    send(RawClient::call("publish", 9, {Value::null(), false}));
    EXPECT_TRUE(expect<StoppedPublishing>());
}

TEST_F(ServerPublishTest, DeleteStreamEndsTheSession) {
    publish();
    send(RawClient::call("deleteStream", 0, {Value::null(), 1}));
    EXPECT_TRUE(expect<StreamDeleted>());
    expect_none();
}

}  // namespace
}  // namespace live::engine::rtmp
