#include "bench/http/frame_skipper.hpp"

#include <string>
#include <vector>

#include <gtest/gtest.h>

#include "base/bytes/hex_fixture.hpp"
#include "engine/websocket/frame_reader.hpp"
#include "wire/websocket/frame_head.hpp"

namespace live::bench {
namespace {

using engine::websocket::Opcode;
using Octets = std::vector<std::uint8_t>;

// Data is concatenated; a control frame is one entry.
struct FrameOutcome {
    std::string data;
    std::vector<std::pair<Opcode, std::string>> controls;
    bool ok = true;

    bool operator==(const FrameOutcome&) const = default;
};

FrameOutcome skip_frames(Bytes input, std::size_t portion) {
    FrameSkipper skipper;
    FrameOutcome outcome;
    while (!input.empty()) {
        Bytes part = input.first(std::min(portion, input.size()));
        input = input.subspan(part.size());
        for (;;) {
            const auto piece = skipper.read(part);
            outcome.ok = piece.ok();
            if (!piece.ok())
                return outcome;
            if (!*piece)
                break;
            if (engine::websocket::is_control((*piece)->opcode))
                outcome.controls.emplace_back((*piece)->opcode, as_text((*piece)->payload));
            else
                outcome.data += as_text((*piece)->payload);
        }
    }
    return outcome;
}

void append(Octets& out, Opcode opcode, std::string_view payload) {
    const auto head = wire::websocket::frame_head(payload.size(), opcode);
    out.insert(out.end(), head.view().begin(), head.view().end());
    out.insert(out.end(), payload.begin(), payload.end());
}

struct FrameVector {
    const char* name;
    Octets bytes;
    FrameOutcome outcome;
};

std::vector<FrameVector> frame_vectors() {
    using enum Opcode;
    std::vector<FrameVector> table = {
        // The unmasked examples of RFC 6455, 5.7.
        {"the text's Hello", hex("81 05 48656c6c6f"), {"Hello", {}}},
        {"the text's fragments", hex("01 03 48656c 80 02 6c6f"), {"Hello", {}}},
        {"the text's ping", hex("89 05 48656c6c6f"), {"", {{ping, "Hello"}}}},
        {"an empty ping", hex("89 00"), {"", {{ping, ""}}}},
        {"a ping between fragments", hex("02 01 41 89 01 3f 80 01 42"), {"AB", {{ping, "?"}}}},
        {"an empty message", hex("82 00"), {"", {}}},
        {"close", hex("88 02 03e8"), {"", {{close, "\x03\xE8"}}}},
    };
    for (const std::size_t size : {125U, 126U, 300U, 65'535U, 65'536U}) {
        Octets bytes;
        append(bytes, binary, std::string(size, 'x'));
        append(bytes, binary, "y");
        table.push_back({"a long message", std::move(bytes), {std::string(size, 'x') + "y", {}}});
    }
    return table;
}

TEST(FrameSkipper, ReadsTheVectorsHoweverTheyAreCut) {
    for (const FrameVector& vector : frame_vectors()) {
        for (const std::size_t portion : {1U, 2U, 3U, 7U, 100U, 5000U, 100'000U})
            EXPECT_EQ(skip_frames(vector.bytes, portion), vector.outcome) << vector.name << " in portions of " << portion;
    }
}

TEST(FrameSkipper, ATruncatedInputIsNoError) {
    for (const FrameVector& vector : frame_vectors()) {
        for (std::size_t size = 0; size < std::min<std::size_t>(vector.bytes.size(), 400); ++size) {
            const auto outcome = skip_frames(Bytes(vector.bytes).first(size), 3);
            EXPECT_TRUE(outcome.ok) << vector.name;
            EXPECT_TRUE(vector.outcome.data.starts_with(outcome.data)) << vector.name;
        }
    }
}

TEST(FrameSkipper, RefusesWhatAServerDoesNotSend) {
    EXPECT_FALSE(skip_frames(hex("82 81 00000000 41"), 100).ok);  // masked
    EXPECT_FALSE(skip_frames(hex("c2 01 41"), 100).ok);           // a reserved bit
    EXPECT_FALSE(skip_frames(hex("83 01 41"), 100).ok);           // an undefined opcode
    EXPECT_FALSE(skip_frames(hex("09 01 41"), 100).ok);           // a fragmented ping
    EXPECT_FALSE(skip_frames(hex("89 7e 007e"), 100).ok);         // a ping of 126 bytes
}

TEST(FrameSkipper, ALengthOf64BitsNeedsNoMemory) { EXPECT_TRUE(skip_frames(hex("82 7f 7fffffffffffffff 41 42 43"), 4).ok); }

TEST(ClientFrame, IsWhatAServerReads) {
    const Octets frame = client_frame(Opcode::pong, as_bytes("Hello"), 0x37fa213d);
    EXPECT_EQ(frame, hex("8a 85 37fa213d 7f9f4d5158"));  // RFC 6455, 5.7
    engine::websocket::FrameReader reader;
    ASSERT_TRUE(reader.feed(frame).ok());
    EXPECT_EQ(reader.next()->payload, "Hello");
}

}  // namespace
}  // namespace live::bench
