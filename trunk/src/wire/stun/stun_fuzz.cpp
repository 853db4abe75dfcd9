// Arbitrary bytes as a STUN message. A parsed message written from its values must read back the same.
#include <cstddef>
#include <cstdint>

#include "base/check.hpp"
#include "wire/stun/message.hpp"

namespace {

using namespace live;
using namespace live::wire::stun;

Result<IntegrityTag> no_hash(Bytes, Bytes data) {
    IntegrityTag tag{};
    tag[0] = static_cast<std::uint8_t>(data.size());
    return tag;
}

std::vector<std::uint8_t> written(const Message& message) {
    MessageWriter out(message.kind, message.transaction, message.method);
    if (message.username)
        out.username(*message.username);
    if (message.xor_mapped_address)
        out.xor_mapped_address(*message.xor_mapped_address);
    if (message.priority)
        out.priority(*message.priority);
    if (message.use_candidate)
        out.use_candidate();
    if (message.ice_controlling)
        out.ice_controlling(*message.ice_controlling);
    if (message.ice_controlled)
        out.ice_controlled(*message.ice_controlled);
    CHECK(out.sign(as_bytes("key"), no_hash).ok());
    return out.fingerprint().release();
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
    const Bytes input(data, size);
    const auto message = parse_message(input);
    if (!message.ok())
        return 0;
    // Methods above 0x07F are valid STUN, but ambiguous beside the other protocols of WebRTC.
    CHECK(looks_like_stun(input) || data[0] > 3);
    CHECK(message->not_understood.size() <= kAttributesMax);
    static_cast<void>(has_integrity(input, *message, as_bytes("key"), no_hash).value());
    const auto bytes = written(*message);
    const auto again = parse_message(bytes);
    CHECK(again.ok() && again->has_fingerprint && has_integrity(bytes, *again, as_bytes("key"), no_hash).value());
    CHECK(again->username == message->username && again->xor_mapped_address == message->xor_mapped_address);
    CHECK(again->priority == message->priority && again->ice_controlling == message->ice_controlling);
    return 0;
}
