#include "wire/codec/video/captions.hpp"

#include <algorithm>

#include "base/bytes/byte_reader.hpp"
#include "wire/codec/bit_reader.hpp"

namespace live::wire::codec {

namespace {

enum class UnitUse : std::uint8_t { slice, sei, other };

// H.264, table 7-1; H.265, table 7-1.
UnitUse use_of(Codec codec, std::uint8_t header) {
    constexpr unsigned kAvcSei = 6;
    constexpr unsigned kHevcSei = 39;  // in front of the image
    constexpr unsigned kHevcSlicesEnd = 32;
    if (codec == Codec::avc) {
        const unsigned type = header & 0x1FU;
        return type == kAvcSei ? UnitUse::sei : type >= 1 && type < kAvcSei ? UnitUse::slice : UnitUse::other;
    }
    const unsigned type = header >> 1U & 0x3FU;
    return type == kHevcSei ? UnitUse::sei : type < kHevcSlicesEnd ? UnitUse::slice : UnitUse::other;
}

// Calls `on_sei` for each SEI in front of the first slice until it returns false.
template <typename OnSei>
void walk_front(Codec codec, std::uint8_t length_size, Bytes frame, OnSei&& on_sei) {
    for (std::size_t units = 0; units < CaptionFinder::kFrontUnitsMax; ++units) {
        if (frame.size() <= length_size)
            return;
        std::size_t length = 0;
        for (std::size_t i = 0; i < length_size; ++i)
            length = length << 8U | frame[i];
        frame = frame.subspan(length_size);
        if (length > frame.size())
            return;
        if (length == 0)
            continue;
        const UnitUse use = use_of(codec, frame[0]);
        if (use == UnitUse::slice || (use == UnitUse::sei && !on_sei(frame.first(length))))
            return;
        frame = frame.subspan(length);
    }
}

// Any number of 255 bytes and one final byte. False: the message is cut.
bool read_sum(Bytes& in, std::size_t& sum) {
    sum = 0;
    for (;;) {
        if (in.empty())
            return false;
        const std::uint8_t byte = in[0];
        in = in.subspan(1);
        sum += byte;
        if (byte != 0xFF)
            return true;
    }
}

}  // namespace

std::vector<std::string> CaptionServices::names() const {
    std::vector<std::string> names;
    for (std::size_t i = 0; i < kChannels; ++i)
        if (channels.test(i))
            names.push_back("CC" + std::to_string(i + 1));
    for (std::size_t i = 1; i <= kServices; ++i)
        if (services.test(i))
            names.push_back("SERVICE" + std::to_string(i));
    return names;
}

bool has_front_sei(Codec codec, std::uint8_t length_size, Bytes frame) {
    bool found = false;
    walk_front(codec, length_size, frame, [&found](Bytes) {
        found = true;
        return false;
    });
    return found;
}

void CaptionFinder::read(Codec codec, std::uint8_t length_size, Bytes frame) {
    const std::size_t header_bytes = codec == Codec::avc ? 1 : 2;
    walk_front(codec, length_size, frame, [&](Bytes nal) {
        read_sei(nal, header_bytes);
        return true;
    });
}

void CaptionFinder::read_sei(Bytes nal, std::size_t header_bytes) {
    constexpr std::size_t kRegisteredUserData = 4;
    const auto plain = without_emulation_prevention(nal.first(std::min(nal.size(), kUnitBytesMax)));
    if (plain.size() <= header_bytes)
        return;
    Bytes rest = Bytes(plain).subspan(header_bytes);
    while (rest.size() > 1) {  // the last byte is rbsp_trailing_bits
        std::size_t type = 0;
        std::size_t size = 0;
        if (!read_sum(rest, type) || !read_sum(rest, size) || size > rest.size())
            return;
        if (type == kRegisteredUserData)
            read_user_data(rest.first(size));
        rest = rest.subspan(size);
    }
}

// ATSC A/53 part 4, tables 6.7 to 6.10.
void CaptionFinder::read_user_data(Bytes payload) {
    // United States; ATSC; "GA94"; cc_data().
    constexpr std::array<std::uint8_t, 8> kHead = {0xB5, 0x00, 0x31, 'G', 'A', '9', '4', 0x03};
    constexpr std::size_t kConstructBytes = 3;
    constexpr std::uint8_t kProcessCcData = 0x40;
    if (payload.size() < kHead.size() + 2 || !std::ranges::equal(payload.first(kHead.size()), kHead))
        return;
    const std::uint8_t flags = payload[kHead.size()];
    if ((flags & kProcessCcData) == 0)
        return;
    Bytes rest = payload.subspan(kHead.size() + 2);  // em_data
    for (std::size_t left = flags & 0x1FU; left > 0 && rest.size() >= kConstructBytes; --left) {
        constexpr std::uint8_t kValid = 0x04;
        if ((rest[0] & kValid) != 0)
            read_construct(rest[0] & 3U, rest[1], rest[2]);
        rest = rest.subspan(kConstructBytes);
    }
}

void CaptionFinder::read_construct(std::uint8_t type, std::uint8_t first, std::uint8_t second) {
    constexpr std::uint8_t kPacketStart = 3;
    if (type < 2) {
        // CTA-608-E, 8.4: control codes select the first or the second channel of a field. Field 2 has XDS, too.
        const std::uint8_t code = first & 0x7FU;
        const bool is_control = code >= 0x10 && code < 0x20;
        const std::size_t second_channel = is_control && (code & 0x08U) != 0 ? 1 : 0;
        if (is_control || type == 0)
            found_.channels.set(2U * type + second_channel);
        return;
    }
    if (type == kPacketStart) {
        // CTA-708-E, 5: the size is in pairs of bytes, and 0 means the longest packet.
        const auto pairs = static_cast<std::uint8_t>(first & 0x3FU);
        packet_size_ = static_cast<std::uint8_t>(pairs == 0 ? packet_.size() : 2U * pairs);
        packet_bytes_ = 0;
    }
    if (packet_size_ == 0)
        return;
    packet_[packet_bytes_++] = first;
    packet_[packet_bytes_++] = second;
    if (packet_bytes_ < packet_size_)
        return;
    read_packet();
    packet_size_ = 0;
}

// CTA-708-E, 6.2: service blocks after the header of the packet.
void CaptionFinder::read_packet() {
    constexpr std::uint8_t kExtended = 7;
    Bytes rest = Bytes(packet_).first(packet_size_).subspan(1);
    while (!rest.empty()) {
        std::size_t service = rest[0] >> 5U;
        const std::size_t size = rest[0] & 0x1FU;
        rest = rest.subspan(1);
        if (service == 0 || size == 0)
            return;
        if (service == kExtended && !rest.empty()) {
            service = rest[0] & 0x3FU;
            rest = rest.subspan(1);
        }
        if (size > rest.size())
            return;
        if (service != 0)
            found_.services.set(service);
        rest = rest.subspan(size);
    }
}

}  // namespace live::wire::codec
