// Arbitrary bytes as a datagram, and as the contents of each kind of message: what can be read is written again and read as the
// same; nothing is longer than its bound.
#include <cstddef>
#include <cstdint>
#include <vector>

#include "base/check.hpp"
#include "engine/srt/handshake/handshake_message.hpp"
#include "engine/srt/handshake/key_message.hpp"
#include "engine/srt/packet.hpp"

namespace {

using namespace live;
using namespace live::engine::srt;

void check_packet(Bytes input) {
    const auto packet = parse_packet(input);
    CHECK(packet.ok() == (input.size() >= kHeaderBytes));
    if (!packet.ok())
        return;
    std::vector<std::uint8_t> written(kHeaderBytes);
    if (const auto* const data = std::get_if<DataPacket>(&*packet)) {
        write_header(data->header, written);
        CHECK(data->payload.size() == input.size() - kHeaderBytes);
    } else {
        write_header(std::get<ControlPacket>(*packet).header, written);
    }
    CHECK(std::equal(written.begin(), written.end(), input.begin()));
}

void check_contents(Bytes input) {
    if (const auto ack = parse_ack(input); ack.ok())
        CHECK(parse_ack(write_ack(*ack)).value() == *ack);
    if (const auto ranges = parse_loss_list(input); ranges.ok()) {
        CHECK(ranges->size() <= input.size() / 4);
        CHECK(write_loss_list(*ranges).size() <= kPayloadBytesMax);
    }
    if (const auto range = parse_drop_request(input); range.ok())
        CHECK(parse_drop_request(write_drop_request(*range)).value() == *range);
    static_cast<void>(parse_key_state(input));
    if (const auto message = parse_key_message(input); message.ok()) {
        CHECK(message->wrapped.size() <= kKeyMessageBytesMax);
        CHECK(parse_key_message(write_key_message(*message)).value() == *message);
    }
}

void check_handshake(Bytes input) {
    auto handshake = parse_handshake(input);
    if (!handshake.ok())
        return;
    CHECK(handshake->stream_id.size() <= kStreamIdBytesMax);
    CHECK(handshake->key_request.size() <= kKeyMessageBytesMax && handshake->key_response.size() <= kKeyMessageBytesMax);
    const auto written = write_handshake(*handshake);
    const auto again = parse_handshake(written);
    CHECK(again.ok());
    handshake->extension_field = again->extension_field;
    handshake->has_filter = handshake->has_group = false;
    CHECK(*again == *handshake);
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
    const Bytes input(data, size);
    check_packet(input);
    check_contents(input);
    check_handshake(input);
    if (size > kHeaderBytes) {
        check_contents(input.subspan(kHeaderBytes));
        check_handshake(input.subspan(kHeaderBytes));
    }
    return 0;
}
