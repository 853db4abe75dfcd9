#include "engine/websocket/frame_reader.hpp"

#include <vector>

#include <gtest/gtest.h>

#include "engine/websocket/frame_vectors.hpp"

namespace live::engine::websocket {
namespace {

Result<std::vector<Message>> read_all(FrameReader& reader, Bytes input, std::size_t portion = SIZE_MAX) {
    std::vector<Message> messages;
    while (!input.empty()) {
        Bytes part = input.first(std::min(portion, input.size()));
        input = input.subspan(part.size());
        while (!part.empty()) {
            part = part.subspan(TRY(reader.feed(part)));
            if (auto message = reader.next())
                messages.push_back(std::move(*message));
        }
    }
    return messages;
}

TEST(WebSocketReader, ReadsEveryVectorInEveryPortionSize) {
    for (const FrameVector& vector : frame_vectors())
        for (std::size_t portion = 1; portion <= vector.bytes.size(); ++portion) {
            FrameReader reader;
            const auto messages = read_all(reader, vector.bytes, portion);
            ASSERT_TRUE(messages.ok()) << vector.name << ": " << messages.error().text();
            ASSERT_EQ(*messages, vector.messages) << vector.name << " in portions of " << portion;
        }
}

TEST(WebSocketReader, ATruncatedFrameIsNoMessage) {
    for (const FrameVector& vector : frame_vectors()) {
        if (vector.messages.size() != 1 || vector.messages.front().kind == Opcode::close)
            continue;
        for (std::size_t size = 0; size < vector.bytes.size(); ++size) {
            FrameReader reader;
            const auto messages = read_all(reader, Bytes(vector.bytes).first(size));
            ASSERT_TRUE(messages.ok()) << vector.name << " cut at " << size;
            EXPECT_TRUE(messages->empty()) << vector.name << " cut at " << size;
        }
    }
}

TEST(WebSocketReader, StopsAtTheEndOfEachMessage) {
    const auto first = client_frame(0x82, "one");
    const auto both = together({first, client_frame(0x82, "two")});
    FrameReader reader;
    EXPECT_EQ(reader.feed(both).value(), first.size());
    EXPECT_EQ(reader.next()->payload, "one");
    EXPECT_FALSE(reader.next().has_value());
}

TEST(WebSocketReader, DropsInputAfterAClose) {
    FrameReader reader;
    ASSERT_TRUE(read_all(reader, client_frame(0x88, "")).ok());
    EXPECT_TRUE(reader.is_closed());
    EXPECT_EQ(reader.feed(client_frame(0x82, "x")).value(), 7u);
    EXPECT_FALSE(reader.next().has_value());
}

TEST(WebSocketReader, RefusesWithTheCodeThatSaysWhy) {
    using enum CloseCode;
    struct Case {
        const char* name;
        std::vector<std::uint8_t> bytes;
        CloseCode code;
    };
    const Case cases[] = {
        {"not masked", hex("81 05 48656c6c6f"), protocol_error},
        {"reserved bit 1", hex("c1 80 00000000"), protocol_error},
        {"reserved bit 2", hex("a1 80 00000000"), protocol_error},
        {"reserved bit 3", hex("91 80 00000000"), protocol_error},
        {"frame type 3", hex("83 80 00000000"), protocol_error},
        {"frame type 11", hex("8b 80 00000000"), protocol_error},
        {"frame type 15", hex("8f 80 00000000"), protocol_error},
        {"a ping in pieces", hex("09 80 00000000"), protocol_error},
        {"a ping of 126 bytes", client_frame(0x89, std::string(126, 'x')), protocol_error},
        {"a close of 64 bits of length", hex("88 ff 0000000000000001 00000000"), protocol_error},
        {"16 bits for 125", hex("82 fe 007d 00000000"), protocol_error},
        {"64 bits for 65,535", hex("82 ff 000000000000ffff 00000000"), protocol_error},
        {"the top bit of 64", hex("82 ff 8000000000010000 00000000"), protocol_error},
        {"a continuation of nothing", client_frame(0x80, "x"), protocol_error},
        {"a message inside a message", together({client_frame(0x01, "x"), client_frame(0x81, "y")}), protocol_error},
        {"a close of one byte", client_frame(0x88, "x"), protocol_error},
        {"close 999", client_frame(0x88, "\x03\xE7"), protocol_error},
        {"close 1004", client_frame(0x88, "\x03\xEC"), protocol_error},
        {"close 1005", client_frame(0x88, "\x03\xED"), protocol_error},
        {"close 1006", client_frame(0x88, "\x03\xEE"), protocol_error},
        {"close 1015", client_frame(0x88, "\x03\xF7"), protocol_error},
        {"close 2999", client_frame(0x88, "\x0B\xB7"), protocol_error},
        {"close 5000", client_frame(0x88, "\x13\x88"), protocol_error},
        {"a close whose reason is no text", client_frame(0x88, "\x03\xE8\xFF"), invalid_text},
        {"a text that is none", client_frame(0x81, "\xFF"), invalid_text},
        {"a text that ends inside a character", together({client_frame(0x01, "\xE2\x82"), client_frame(0x80, "")}), invalid_text},
        {"2^62 bytes", hex("82 ff 4000000000000000 00000000"), too_big},
    };
    for (const Case& wanted : cases)
        for (const std::size_t portion : {std::size_t{1}, SIZE_MAX}) {
            FrameReader reader;
            const auto messages = read_all(reader, wanted.bytes, portion);
            ASSERT_FALSE(messages.ok()) << wanted.name;
            EXPECT_EQ(reader.close_code(), wanted.code) << wanted.name;
            EXPECT_EQ(messages.code(), wanted.code == too_big ? Errc::limit : Errc::malformed) << wanted.name;
            EXPECT_FALSE(reader.feed(client_frame(0x82, "x")).ok()) << wanted.name << ": broken stays broken";
        }
}

TEST(WebSocketReader, BoundsMessagesAlsoInPieces) {
    const auto read = [](const std::vector<std::uint8_t>& bytes) {
        FrameReader reader({.message_bytes = 8});
        return read_all(reader, bytes);
    };
    EXPECT_TRUE(read(client_frame(0x82, "12345678")).ok());
    EXPECT_EQ(read(client_frame(0x82, "123456789")).code(), Errc::limit);
    EXPECT_TRUE(read(together({client_frame(0x02, "1234"), client_frame(0x89, "123456789"), client_frame(0x80, "5678")})).ok())
        << "control frames have a bound of their own";
    EXPECT_EQ(read(together({client_frame(0x02, "1234"), client_frame(0x00, "5678"), client_frame(0x80, "9")})).code(),
              Errc::limit);
}

}  // namespace
}  // namespace live::engine::websocket
