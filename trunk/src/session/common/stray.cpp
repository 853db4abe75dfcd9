#include "session/common/stray.hpp"

#include <algorithm>

#include "base/bytes/byte_reader.hpp"

namespace live::session {

void write_stray(const Stray& stray, Bytes datagram, std::vector<std::uint8_t>& out) {
    out.clear();
    const auto u16 = [&out](std::uint16_t value) {
        out.push_back(static_cast<std::uint8_t>(value >> 8));
        out.push_back(static_cast<std::uint8_t>(value & 0xFF));
    };
    out.push_back(static_cast<std::uint8_t>(stray.protocol));
    out.push_back(stray.is_ipv6 ? 1 : 0);
    u16(stray.port);
    out.insert(out.end(), stray.from.ip.bytes.begin(), stray.from.ip.bytes.end());
    u16(stray.from.port);
    out.insert(out.end(), stray.to.bytes.begin(), stray.to.bytes.end());
    out.insert(out.end(), datagram.begin(), datagram.end());
}

Result<Stray> parse_stray(Bytes message) {
    const Error malformed(Errc::malformed, "a stray datagram makes no sense");
    if (message.size() <= Stray::kHeadBytes || message.size() > Stray::kHeadBytes + Stray::kDatagramBytesMax)
        return Error(malformed);
    ByteReader in(message);
    const auto protocol = MUST(in.u8());
    const auto family = MUST(in.u8());
    if (protocol > static_cast<std::uint8_t>(Stray::Protocol::srt) || family > 1)
        return Error(malformed);
    Stray stray;
    stray.protocol = static_cast<Stray::Protocol>(protocol);
    stray.is_ipv6 = family == 1;
    stray.port = MUST(in.u16be());
    std::ranges::copy(MUST(in.take(stray.from.ip.bytes.size())), stray.from.ip.bytes.begin());
    stray.from.port = MUST(in.u16be());
    std::ranges::copy(MUST(in.take(stray.to.bytes.size())), stray.to.bytes.begin());
    return stray;
}

}  // namespace live::session
