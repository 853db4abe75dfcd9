#include "wire/rtcp/packet.hpp"

#include <string>

#include "base/bytes/byte_reader.hpp"

namespace live::wire::rtcp {

namespace {

Error bad(const char* what) { return {Errc::malformed, std::string("RTCP: ") + what}; }

}  // namespace

Result<std::optional<Packet>> PacketReader::next() {
    if (rest_.empty())
        return std::optional<Packet>();
    if (++packets_ > kPacketsMax)
        return Error(Errc::limit, "RTCP: more than " + std::to_string(kPacketsMax) + " packets");
    ByteReader in(rest_);
    const unsigned head = TRY(in.u8());
    const unsigned type = TRY(in.u8());
    const std::size_t words = TRY(in.u16be());
    if (head >> 6 != 2)
        return bad("not version 2");
    Packet packet;
    packet.type = static_cast<Type>(type);
    packet.count = head & 0x1FU;
    packet.body = TRY(in.take(words * 4));
    rest_ = in.rest();
    if ((head & 0x20U) != 0) {
        // RFC 3550, 6.4.1: only the last packet is padded, in whole 32-bit words.
        const std::size_t padding = packet.body.empty() ? 0 : packet.body.back();
        if (padding == 0 || padding % 4 != 0 || padding > packet.body.size() || !rest_.empty())
            return bad("wrong padding");
        packet.body = packet.body.first(packet.body.size() - padding);
    }
    return std::optional(packet);
}

}  // namespace live::wire::rtcp
