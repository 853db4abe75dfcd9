#include "wire/rtsp/message_reader.hpp"

#include <string>
#include <vector>

#include <gtest/gtest.h>

#include "base/bytes/byte_writer.hpp"
#include "wire/rtsp/rtsp_vectors.hpp"

namespace live::wire::rtsp {
namespace {

std::string frame(std::uint8_t channel, std::string_view payload) {
    ByteWriter out;
    write_frame(out, channel, as_bytes(payload));
    return std::string(as_text(out.written()));
}

std::string announce() {
    Message message;
    message.method = "ANNOUNCE";
    message.url = "rtsp://h/live/cam";
    message.headers = {{"CSeq", "2"}, {"Content-Type", "application/sdp"}};
    message.body = kAnnounceBody;
    return write(message);
}

// A text for each item: the channel and the payload of a frame, or the first line and the body of a message.
std::vector<std::string> items_of(MessageReader& reader, std::string_view input) {
    std::vector<std::string> items;
    reader.feed(as_bytes(input));
    for (;;) {
        auto item = reader.next();
        if (!item.ok()) {
            items.push_back("error " + std::string(name_of(item.code())));
            return items;
        }
        if (!*item)
            return items;
        if (const auto* got = std::get_if<InterleavedFrame>(&**item))
            items.push_back(std::to_string(got->channel) + " " + std::string(as_text(got->payload)));
        else
            items.push_back(std::get<Message>(**item).method + std::to_string(std::get<Message>(**item).status) + " " +
                            std::get<Message>(**item).body);
    }
}

TEST(RtspMessageReader, FindsMessagesAndFramesInAnyOrder) {
    const std::string input = frame(0, "abc") + std::string(kDescribe) + frame(1, "") + "\r\n" + announce() + frame(255, "$$$$") +
                              std::string(kSetupResponse);
    const std::vector<std::string> wanted = {"0 abc",    "DESCRIBE0 ", "1 ", "ANNOUNCE0 " + std::string(kAnnounceBody),
                                             "255 $$$$", "200 "};
    MessageReader whole;
    EXPECT_EQ(items_of(whole, input), wanted);
    EXPECT_EQ(whole.held_bytes(), 0U);
    for (std::size_t cut = 0; cut <= input.size(); ++cut) {
        MessageReader reader;
        auto items = items_of(reader, input.substr(0, cut));
        for (std::string& item : items_of(reader, input.substr(cut)))
            items.push_back(std::move(item));
        EXPECT_EQ(items, wanted) << cut;
    }
    MessageReader bytewise;
    std::vector<std::string> items;
    for (const char letter : input)
        for (std::string& item : items_of(bytewise, {&letter, 1}))
            items.push_back(std::move(item));
    EXPECT_EQ(items, wanted);
}

TEST(RtspMessageReader, WaitsForTheRestOfEveryTruncation) {
    for (const std::string& input : {announce(), frame(0, "abcdef"), std::string(kSetupResponse)})
        for (std::size_t size = 0; size < input.size(); ++size) {
            MessageReader reader;
            EXPECT_TRUE(items_of(reader, input.substr(0, size)).empty()) << size;
            EXPECT_EQ(reader.held_bytes(), size);
        }
}

TEST(RtspMessageReader, AcceptsLinesThatEndWithLineFeedsOnly) {
    MessageReader reader;
    EXPECT_EQ(items_of(reader, "OPTIONS * RTSP/1.0\nCSeq: 1\nContent-Length: 2\n\nabTEARDOWN * RTSP/1.0\n\n"),
              (std::vector<std::string>{"OPTIONS0 ab", "TEARDOWN0 "}));
}

TEST(RtspMessageReader, RefusesAHeadWithoutAnEnd) {
    MessageReader reader;
    std::string input = "OPTIONS * RTSP/1.0\r\n";
    while (input.size() < kHeadBytesMax - 1)
        input += "A: b\r\n";
    input.resize(kHeadBytesMax - 1);
    EXPECT_TRUE(items_of(reader, input).empty());
    EXPECT_EQ(items_of(reader, "A"), std::vector<std::string>{"error limit"});
}

TEST(RtspMessageReader, RefusesABodyBeforeItArrives) {
    MessageReader reader;
    EXPECT_EQ(items_of(reader, "ANNOUNCE * RTSP/1.0\r\nContent-Length: 1073741824\r\n\r\n"),
              std::vector<std::string>{"error limit"});
}

// A frame inside of a body, and a message inside of a frame, are not read as such.
TEST(RtspMessageReader, DoesNotConfuseContentWithBorders) {
    MessageReader reader;
    const std::string body = frame(0, "x") + std::string(kDescribe);
    EXPECT_EQ(items_of(reader, "ANNOUNCE * RTSP/1.0\r\nContent-Length: " + std::to_string(body.size()) + "\r\n\r\n" + body +
                                   frame(2, kDescribe)),
              (std::vector<std::string>{"ANNOUNCE0 " + body, "2 " + std::string(kDescribe)}));
}

TEST(RtspMessageReader, BorrowsInputAndKeepsItsRest) {
    const std::string input = frame(0, "abc") + std::string(kDescribe) + frame(1, "def");
    for (std::size_t cut = 0; cut <= input.size(); ++cut) {
        MessageReader reader;
        std::size_t frames = 0;
        std::size_t messages = 0;
        std::size_t begin = 0;
        for (const std::size_t end : {cut, input.size()}) {
            const std::string piece = input.substr(begin, end - begin);
            begin = end;
            reader.borrow(as_bytes(piece));
            const bool is_buffered = reader.held_bytes() > piece.size();
            for (auto item = reader.next(); item.ok() && *item; item = reader.next()) {
                const auto* got = std::get_if<InterleavedFrame>(&**item);
                messages += got == nullptr ? 1 : 0;
                if (got == nullptr)
                    continue;
                ++frames;
                const bool is_inside =
                    got->payload.data() >= as_bytes(piece).data() && got->payload.data() < as_bytes(piece).data() + piece.size();
                EXPECT_EQ(is_inside, !is_buffered) << cut;
            }
            reader.keep_rest();
        }
        EXPECT_EQ(frames, 2U) << cut;
        EXPECT_EQ(messages, 1U) << cut;
        EXPECT_EQ(reader.held_bytes(), 0U);
    }
}

TEST(RtspMessageReader, GivesOnlyPacketsOfKnownChannelsTheQuickWay) {
    Channels channels;
    channels.set(4);
    const auto is_quick = [&channels](const std::string& input) {
        MessageReader reader;
        reader.feed(as_bytes(input));
        const auto found = reader.next_frame(channels);
        EXPECT_EQ(reader.held_bytes(), found ? 0 : input.size());
        return found.has_value();
    };
    EXPECT_TRUE(is_quick(frame(4,
                               "\x80"
                               "b")));
    EXPECT_FALSE(is_quick(frame(5,
                                "\x80"
                                "b")));
    EXPECT_FALSE(is_quick(frame(4, "ab"))) << "neither RTP nor RTCP";
    EXPECT_FALSE(is_quick(frame(4, "")));
    EXPECT_FALSE(is_quick(std::string(kDescribe)));
    const std::string whole = frame(4,
                                    "\x80"
                                    "b");
    for (std::size_t size = 0; size < whole.size(); ++size)
        EXPECT_FALSE(is_quick(whole.substr(0, size))) << size;
}

TEST(RtspMessageReader, GivesFramesOnlyWhenTheyComeFirst) {
    MessageReader reader;
    reader.feed(as_bytes(frame(3, "ab") + std::string(kDescribe) + frame(4, "c")));
    ASSERT_TRUE(reader.next_frame());
    EXPECT_FALSE(reader.next_frame());
    ASSERT_TRUE(reader.next().ok());
    EXPECT_EQ(reader.next_frame()->channel, 4);
    reader.release_buffer();
    EXPECT_EQ(reader.held_bytes(), 0U);
}

// The same as items_of() with garbage skipped; channels 0 and 1 are known.
std::vector<std::string> lenient_items_of(MessageReader& reader, std::string_view input) {
    Channels channels;
    channels.set(0).set(1);
    std::vector<std::string> items;
    reader.feed(as_bytes(input));
    while (reader.skip_garbage(channels)) {
        auto item = reader.next();
        if (!item.ok() || !*item)
            break;
        const auto* got = std::get_if<InterleavedFrame>(&**item);
        items.push_back(got != nullptr ? std::to_string(got->channel) + " " + std::to_string(got->payload.size())
                                       : std::to_string(std::get<Message>(**item).status));
    }
    return items;
}

TEST(RtspMessageReader, SkipsGarbageBetweenFrames) {
    const std::string packet =
        "\x80"
        "1234567890a";
    const std::string input = "junk" + frame(0, packet) + std::string("\0\xff", 2) + "$\x07garbage$$\r\n" + frame(1, packet) +
                              frame(0, "") + "$" + std::string(kSetupResponse) + frame(5, "other") + frame(0, packet) + "$\x01" +
                              frame(0, packet) + "RTX" + frame(1, packet);
    const std::vector<std::string> wanted = {"0 12", "1 12", "0 0", "200", "5 5", "0 12", "0 12", "1 12"};
    MessageReader whole;
    EXPECT_EQ(lenient_items_of(whole, input), wanted);
    for (std::size_t cut = 0; cut <= input.size(); ++cut) {
        MessageReader reader;
        auto items = lenient_items_of(reader, input.substr(0, cut));
        for (std::string& item : lenient_items_of(reader, input.substr(cut)))
            items.push_back(std::move(item));
        EXPECT_EQ(items, wanted) << cut;
    }
}

TEST(RtspMessageReader, CountsGarbageUntilAnItem) {
    MessageReader reader;
    EXPECT_TRUE(lenient_items_of(reader, std::string(1000, 'x')).empty());
    EXPECT_EQ(reader.garbage_bytes(), 1000U);
    EXPECT_EQ(reader.held_bytes(), 0U);
    EXPECT_EQ(lenient_items_of(reader, frame(0, "\x80")), std::vector<std::string>{"0 1"});
    EXPECT_EQ(reader.garbage_bytes(), 0U);
}

}  // namespace
}  // namespace live::wire::rtsp
