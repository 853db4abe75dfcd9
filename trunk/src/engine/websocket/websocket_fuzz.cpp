// Arbitrary bytes as the frames of a client and of a server, once whole and once in portions whose size is the first byte: both
// must give the same result. Also as an upgrade request, and as the reason of a close.
#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <vector>

#include "base/check.hpp"
#include "engine/http1/parser.hpp"
#include "engine/websocket/frame_reader.hpp"
#include "engine/websocket/frame_writer.hpp"
#include "engine/websocket/handshake.hpp"
#include "engine/websocket/utf8.hpp"

namespace {

using namespace live;
using namespace live::engine::websocket;

constexpr std::size_t kMessageBytesMax = 300;

struct Outcome {
    std::vector<Message> messages;
    bool ok = true;
    CloseCode code{};
};

Outcome read(Bytes input, std::size_t portion, FrameReader::Sender sender) {
    Outcome outcome;
    FrameReader reader({.message_bytes = kMessageBytesMax, .sender = sender});
    while (!input.empty()) {
        Bytes part = input.first(std::min(portion, input.size()));
        input = input.subspan(part.size());
        while (!part.empty()) {
            const auto used = reader.feed(part);
            if (!used.ok()) {
                outcome.ok = false;
                outcome.code = reader.close_code();
                return outcome;
            }
            CHECK(*used > 0 && *used <= part.size());
            part = part.subspan(*used);
            auto message = reader.next();
            if (!message)
                continue;
            CHECK(message->payload.size() <= (is_control(message->kind) ? kControlBytesMax : kMessageBytesMax));
            CHECK(message->kind != Opcode::continuation);
            CHECK(message->kind != Opcode::text || is_utf8(message->payload));
            static_cast<void>(answer_to(*message));
            outcome.messages.push_back(std::move(*message));
        }
    }
    return outcome;
}

void check_handshake(Bytes input) {
    live::engine::http1::RequestParser parser;
    if (!parser.feed(input).ok())
        return;
    const auto request = parser.next();
    if (!request)
        return;
    const auto accept = accept_value(*request);
    CHECK(!accept.ok() || (accept->size() == 28 && asks_for_websocket(*request)));
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
    if (size == 0)
        return 0;
    const Bytes input(data + 1, size - 1);
    for (const auto sender : {FrameReader::Sender::client, FrameReader::Sender::server}) {
        const Outcome whole = read(input, size, sender);
        const Outcome parts = read(input, std::size_t{data[0]} + 1, sender);
        CHECK(whole.ok == parts.ok && whole.code == parts.code && whole.messages == parts.messages);
    }
    check_handshake(input);
    const auto frame = close_frame(CloseCode::normal, as_text(input));
    CHECK(frame.size() <= 2 + kControlBytesMax);
    if (is_utf8(as_text(input)))
        CHECK(is_utf8(as_text(Bytes(frame).subspan(4))));
    return 0;
}
