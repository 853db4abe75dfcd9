#include "engine/websocket/frame_reader.hpp"

#include <vector>

#include <gtest/gtest.h>

#include "engine/websocket/frame_vectors.hpp"
#include "wire/websocket/frame_head.hpp"

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

TEST(WebSocketReader, RefusesWithTheMatchingCloseCode) {
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

std::vector<std::uint8_t> server_frame(std::string_view payload) {
    const auto head = wire::websocket::frame_head(payload.size(), Opcode::binary);
    std::vector<std::uint8_t> frame(head.view().begin(), head.view().end());
    frame.insert(frame.end(), payload.begin(), payload.end());
    return frame;
}

constexpr FrameReader::Limits kFromServer = {.message_bytes = 100'000, .sender = FrameReader::Sender::server};

TEST(WebSocketReader, ReadsTheFramesOfAServerInEveryPortionSize) {
    using enum Opcode;
    std::vector<FrameVector> vectors = {
        // The unmasked examples of RFC 6455, 5.7.
        {"the text's Hello", hex("81 05 48656c6c6f"), {{text, "Hello"}}},
        {"the text's fragments", hex("01 03 48656c 80 02 6c6f"), {{text, "Hello"}}},
        {"the text's ping", hex("89 05 48656c6c6f"), {{ping, "Hello"}}},
        {"an empty ping", hex("89 00"), {{ping, ""}}},
        {"a ping between fragments", hex("02 01 41 89 01 3f 80 01 42"), {{ping, "?"}, {binary, "AB"}}},
        {"an empty message", hex("82 00"), {{binary, ""}}},
        {"close", hex("88 02 03e8"), {{close, "\x03\xE8"}}},
    };
    for (const std::size_t size : {125U, 126U, 300U, 65'535U, 65'536U}) {
        const std::string payload(size, 'x');
        vectors.push_back(
            {"a long message", together({server_frame(payload), server_frame("y")}), {{binary, payload}, {binary, "y"}}});
    }
    for (const FrameVector& vector : vectors)
        for (const std::size_t portion : {1U, 2U, 3U, 7U, 100U, 5000U, 100'000U}) {
            FrameReader reader(kFromServer);
            const auto messages = read_all(reader, vector.bytes, portion);
            ASSERT_TRUE(messages.ok()) << vector.name << ": " << messages.error().text();
            ASSERT_EQ(*messages, vector.messages) << vector.name << " in portions of " << portion;
        }
}

TEST(WebSocketReader, RefusesFramesThatAServerMustNotSend) {
    for (const auto& bytes : {hex("82 81 00000000 41"),  // masked
                              hex("c2 01 41"),           // a reserved bit
                              hex("83 01 41"),           // an undefined opcode
                              hex("09 01 41"),           // a fragmented ping
                              hex("89 7e 007e")}) {      // a ping of 126 bytes
        FrameReader reader(kFromServer);
        EXPECT_FALSE(read_all(reader, bytes).ok());
    }
}

}  // namespace
}  // namespace live::engine::websocket
