#include "wire/ts/read/packet.hpp"

#include <string>

#include "wire/ts/packet_writer.hpp"

namespace live::wire::ts {

Result<Packet> parse_packet(Bytes bytes) {
    constexpr std::size_t kHeadBytes = 4;
    if (bytes.size() < kPacketBytes)
        return Error(Errc::need_more, "a transport packet of " + std::to_string(bytes.size()) + " bytes");
    const auto head = bytes.first<kHeadBytes>();
    if (head[0] != kSyncByte)
        return Error(Errc::malformed, "a transport packet without its sync byte");
    Packet packet;
    packet.damaged = (head[1] & 0x80) != 0;
    packet.begins = (head[1] & 0x40) != 0;
    packet.pid = static_cast<std::uint16_t>((head[1] & 0x1F) << 8 | head[2]);
    packet.scrambled = (head[3] & 0xC0) != 0;
    packet.has_payload = (head[3] & 0x10) != 0;
    packet.counter = head[3] & 0x0F;
    Bytes rest = bytes.subspan(kHeadBytes, kPacketBytes - kHeadBytes);
    if ((head[3] & 0x20) != 0) {
        const std::size_t size = rest[0];
        rest = rest.subspan(1);
        if (size > rest.size())
            return Error(Errc::malformed, "an adaptation field of " + std::to_string(size) + " bytes");
        packet.discontinuity = size > 0 && (rest[0] & 0x80) != 0;
        rest = rest.subspan(size);
    }
    if (packet.has_payload)
        packet.payload = rest;
    return packet;
}

}  // namespace live::wire::ts
