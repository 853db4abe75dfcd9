// Arbitrary bytes as an RTSP connection: whole, and in pieces of a size that the first byte gives, with the same result. The
// Transport header of each message is read and written.
#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

#include "base/bytes/bytes.hpp"
#include "base/check.hpp"
#include "wire/rtsp/message_reader.hpp"
#include "wire/rtsp/transport.hpp"

namespace {

using namespace live;
using namespace live::wire::rtsp;

void check_transports(std::string_view header) {
    const auto transports = parse_transports(header);
    if (!transports.ok())
        return;
    for (const Transport& transport : *transports) {
        if (transport.source.find_first_of(";,\"") != std::string::npos ||
            transport.destination.find_first_of(";,\"") != std::string::npos)
            continue;
        const auto again = parse_transports(write(transport));
        CHECK(again.ok() && again->size() == 1);
    }
}

// Appends a text for each item; false after an error. `channels`: garbage is skipped.
bool take_all(MessageReader& reader, std::string& items, const Channels* channels = nullptr) {
    for (;;) {
        if (channels != nullptr && !reader.skip_garbage(*channels))
            return true;
        auto item = reader.next();
        if (!item.ok()) {
            items += "error";
            return false;
        }
        if (!*item)
            return true;
        if (const auto* frame = std::get_if<InterleavedFrame>(&**item)) {
            items += std::to_string(frame->channel) + " " + std::to_string(frame->payload.size()) + "\n";
            continue;
        }
        const auto& message = std::get<Message>(**item);
        items += message.method + std::to_string(message.body.size()) + "\n";
        if (const auto transport = message.find("Transport"))
            check_transports(*transport);
    }
}

void check_pieces(Bytes input, std::size_t piece, const Channels* channels) {
    MessageReader whole;
    whole.feed(input);
    std::string items;
    take_all(whole, items, channels);
    MessageReader pieces;
    std::string again;
    bool is_open = true;
    for (std::size_t at = 0; at < input.size() && is_open; at += piece) {
        // On the heap, so that a view of it that is kept is found.
        const Bytes part = input.subspan(at, std::min(piece, input.size() - at));
        const std::vector<std::uint8_t> borrowed(part.begin(), part.end());
        pieces.borrow(borrowed);
        is_open = take_all(pieces, again, channels);
        pieces.keep_rest();
        CHECK(pieces.held_bytes() <= kHeadBytesMax + kBodyBytesMax + kInterleavedHeadBytes + piece);
    }
    CHECK(items == again);
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
    if (size == 0)
        return 0;
    const std::size_t piece = std::size_t{data[0]} + 1;
    const Bytes input = Bytes(data, size).subspan(1);
    check_pieces(input, piece, nullptr);
    Channels channels;
    channels.set(0).set(1);
    check_pieces(input, piece, &channels);
    return 0;
}
