#include "wire/ts/read/packet.hpp"

#include <string>

#include "base/bytes/byte_reader.hpp"
#include "wire/ts/packet_writer.hpp"

namespace live::wire::ts {

Result<Packet> parse_packet(Bytes bytes) {
    ByteReader whole(bytes);
    ByteReader in(TRY(whole.take(kPacketBytes)));
    const unsigned head = TRY(in.u32be());
    if (head >> 24 != kSyncByte)
        return Error(Errc::malformed, "a transport packet without its sync byte");
    Packet packet;
    packet.damaged = (head >> 23 & 1) != 0;
    packet.begins = (head >> 22 & 1) != 0;
    packet.pid = static_cast<std::uint16_t>(head >> 8 & 0x1FFF);
    packet.scrambled = (head >> 6 & 3) != 0;
    packet.has_payload = (head >> 4 & 1) != 0;
    packet.counter = static_cast<std::uint8_t>(head & 0x0F);
    if ((head >> 5 & 1) != 0) {
        const std::size_t size = TRY(in.u8());
        if (size > in.remaining())
            return Error(Errc::malformed, "an adaptation field of " + std::to_string(size) + " bytes");
        const Bytes field = TRY(in.take(size));
        packet.discontinuity = !field.empty() && (field[0] & 0x80) != 0;
    }
    if (packet.has_payload)
        packet.payload = in.rest();
    return packet;
}

}  // namespace live::wire::ts
