#include "wire/rtp/packet.hpp"

#include <algorithm>

#include "base/bytes/byte_reader.hpp"

namespace live::wire::rtp {

namespace {

constexpr std::uint8_t kIdStop = 15;
constexpr std::size_t kOneByteValueMax = 16;
constexpr std::size_t kTwoByteValueMax = 255;

Error bad(const char* what) { return {Errc::malformed, std::string("RTP: ") + what}; }

bool is_two_byte(std::uint16_t profile) { return (profile & 0xFFF0U) == kTwoByteProfile; }

// ID and length of the next element; nullopt at the end of the usable elements.
struct ElementHead {
    std::uint8_t id = 0;
    std::size_t size = 0;
};
std::optional<ElementHead> one_byte_head(ByteReader& in) {
    const auto head = in.u8();
    if (!head.ok())
        return std::nullopt;
    const auto id = static_cast<std::uint8_t>(*head >> 4);
    // RFC 8285, 4.2: both end parsing; ID 0 only when the byte is not padding.
    if (id == kIdStop || (id == 0 && *head != 0))
        return std::nullopt;
    if (id == 0)
        return ElementHead{};
    return ElementHead{id, (*head & 0xFU) + std::size_t{1}};
}
std::optional<ElementHead> two_byte_head(ByteReader& in) {
    const auto id = in.u8();
    if (!id.ok())
        return std::nullopt;
    if (*id == 0)
        return ElementHead{};
    const auto size = in.u8();
    if (!size.ok())
        return std::nullopt;
    return ElementHead{*id, *size};
}

// Calls `visit` for each element until it returns that it is done.
template <class Visit>
void for_each_extension(const Packet& packet, Visit visit) {
    if (!packet.extension_profile)
        return;
    const bool two_bytes = is_two_byte(*packet.extension_profile);
    if (!two_bytes && *packet.extension_profile != kOneByteProfile)
        return;
    ByteReader in(packet.extension);
    while (!in.at_end()) {
        const auto head = two_bytes ? two_byte_head(in) : one_byte_head(in);
        if (!head)
            return;
        if (head->id == 0)
            continue;
        const std::size_t at = packet.extension_at + in.position();
        const auto value = in.take(head->size);
        if (!value.ok() || !visit(Extension{head->id, at, *value}))
            return;
    }
}

void write_extensions(ByteWriter& out, const std::vector<Extension>& extensions) {
    CHECK(extensions.size() <= kExtensionsMax);
    bool one_byte = true;
    std::size_t bytes = 0;
    for (const Extension& extension : extensions) {
        CHECK(extension.id != 0 && extension.value.size() <= kTwoByteValueMax);
        one_byte = one_byte && extension.id < kIdStop && !extension.value.empty() && extension.value.size() <= kOneByteValueMax;
        bytes += extension.value.size();
    }
    bytes += extensions.size() * (one_byte ? 1 : 2);
    out.u16be(one_byte ? kOneByteProfile : kTwoByteProfile).u16be(static_cast<std::uint16_t>((bytes + 3) / 4));
    for (const Extension& extension : extensions) {
        if (one_byte)
            out.u8(static_cast<std::uint8_t>((extension.id << 4) | static_cast<int>(extension.value.size() - 1)));
        else
            out.u8(extension.id).u8(static_cast<std::uint8_t>(extension.value.size()));
        out.bytes(extension.value);
    }
    out.zeros((4 - bytes % 4) % 4);
}

}  // namespace

bool looks_like_rtp(Bytes datagram) { return datagram.size() >= 8 && datagram[0] >> 6 == 2; }

bool looks_like_rtcp(Bytes datagram) { return looks_like_rtp(datagram) && datagram[1] >= 192 && datagram[1] <= 223; }

Result<Packet> parse_packet(Bytes datagram, std::size_t bytes_max) {
    if (datagram.size() > bytes_max)
        return Error(Errc::limit, "RTP: a packet of " + std::to_string(datagram.size()) + " bytes");
    ByteReader in(datagram);
    const unsigned flags = TRY(in.u8());
    const unsigned type = TRY(in.u8());
    Packet packet;
    packet.sequence = TRY(in.u16be());
    packet.timestamp = TRY(in.u32be());
    packet.ssrc = TRY(in.u32be());
    if (flags >> 6 != 2)
        return bad("not version 2");
    packet.marker = (type & 0x80U) != 0;
    packet.payload_type = type & 0x7FU;
    packet.csrc_count = flags & 0xFU;
    for (std::size_t i = 0; i < packet.csrc_count; ++i)
        packet.csrcs[i] = TRY(in.u32be());
    if ((flags & 0x10U) != 0) {
        packet.extension_profile = TRY(in.u16be());
        const std::size_t words = TRY(in.u16be());
        packet.extension_at = in.position();
        packet.extension = TRY(in.take(words * 4));
    }
    packet.payload = in.rest();
    if ((flags & 0x20U) != 0) {
        if (packet.payload.empty())
            return bad("padding without room for its length");
        packet.padding = packet.payload.back();
        if (packet.padding == 0 || packet.padding > packet.payload.size())
            return bad("padding longer than the payload");
        packet.payload = packet.payload.first(packet.payload.size() - packet.padding);
    }
    return packet;
}

std::vector<Extension> extensions_of(const Packet& packet) {
    std::vector<Extension> found;
    for_each_extension(packet, [&found](const Extension& extension) {
        found.push_back(extension);
        return found.size() < kExtensionsMax;
    });
    return found;
}

std::optional<Extension> find_extension(const Packet& packet, std::uint8_t id) {
    std::optional<Extension> found;
    for_each_extension(packet, [&found, id](const Extension& extension) {
        if (extension.id == id)
            found = extension;
        return !found;
    });
    return found;
}

void write_header(ByteWriter& out, const Packet& packet, const std::vector<Extension>& extensions) {
    CHECK(packet.csrc_count <= kCsrcsMax && packet.payload_type < 0x80);
    out.u8(static_cast<std::uint8_t>(0x80U | (extensions.empty() ? 0U : 0x10U) | packet.csrc_count));
    out.u8(static_cast<std::uint8_t>((packet.marker ? 0x80U : 0U) | packet.payload_type));
    out.u16be(packet.sequence).u32be(packet.timestamp).u32be(packet.ssrc);
    for (std::size_t i = 0; i < packet.csrc_count; ++i)
        out.u32be(packet.csrcs[i]);
    if (!extensions.empty())
        write_extensions(out, extensions);
}

Result<Packet> unwrap_rtx(const Packet& rtx, std::uint32_t original_ssrc, std::uint8_t original_payload_type) {
    ByteReader in(rtx.payload);
    Packet original = rtx;
    original.sequence = TRY(in.u16be());
    original.payload = in.rest();
    original.ssrc = original_ssrc;
    original.payload_type = original_payload_type;
    return original;
}

}  // namespace live::wire::rtp
