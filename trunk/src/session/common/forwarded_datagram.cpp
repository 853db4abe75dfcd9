#include "session/common/forwarded_datagram.hpp"

#include <algorithm>

#include "base/bytes/byte_reader.hpp"

namespace live::session {

void write_forwarded(const ForwardedDatagram& forwarded, Bytes datagram, std::vector<std::uint8_t>& out) {
    out.clear();
    const auto u16 = [&out](std::uint16_t value) {
        out.push_back(static_cast<std::uint8_t>(value >> 8));
        out.push_back(static_cast<std::uint8_t>(value & 0xFF));
    };
    out.push_back(static_cast<std::uint8_t>(forwarded.protocol));
    out.push_back(forwarded.is_ipv6 ? 1 : 0);
    u16(forwarded.port);
    out.insert(out.end(), forwarded.from.ip.bytes.begin(), forwarded.from.ip.bytes.end());
    u16(forwarded.from.port);
    out.insert(out.end(), forwarded.to.bytes.begin(), forwarded.to.bytes.end());
    out.insert(out.end(), datagram.begin(), datagram.end());
}

Result<ForwardedDatagram> parse_forwarded(Bytes message) {
    const Error malformed(Errc::malformed, "a stray datagram makes no sense");
    if (message.size() <= ForwardedDatagram::kHeadBytes ||
        message.size() > ForwardedDatagram::kHeadBytes + ForwardedDatagram::kDatagramBytesMax)
        return Error(malformed);
    ByteReader in(message);
    const auto protocol = MUST(in.u8());
    const auto family = MUST(in.u8());
    if (protocol > static_cast<std::uint8_t>(ForwardedDatagram::Protocol::srt) || family > 1)
        return Error(malformed);
    ForwardedDatagram forwarded;
    forwarded.protocol = static_cast<ForwardedDatagram::Protocol>(protocol);
    forwarded.is_ipv6 = family == 1;
    forwarded.port = MUST(in.u16be());
    copy_bytes(MUST(in.take(forwarded.from.ip.bytes.size())), forwarded.from.ip.bytes);
    forwarded.from.port = MUST(in.u16be());
    copy_bytes(MUST(in.take(forwarded.to.bytes.size())), forwarded.to.bytes);
    return forwarded;
}

}  // namespace live::session
