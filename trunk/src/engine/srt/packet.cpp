#include "engine/srt/packet.hpp"

#include <algorithm>

#include "base/bytes/byte_reader.hpp"

namespace live::engine::srt {

namespace {

constexpr std::uint32_t kControlBit = 0x8000'0000;
constexpr std::uint32_t kRangeBit = 0x8000'0000;

void put_u32be(MutBytes into, std::size_t offset, std::uint32_t value) {
    for (std::size_t i = 0; i < 4; ++i)
        into[offset + i] = static_cast<std::uint8_t>(value >> (24 - 8 * i));
}

void append_u32be(std::vector<std::uint8_t>& out, std::uint32_t value) {
    out.resize(out.size() + 4);
    put_u32be(out, out.size() - 4, value);
}

void write_words(MutBytes into, std::uint32_t first, std::uint32_t second, std::uint32_t timestamp, SocketId to) {
    put_u32be(into, 0, first);
    put_u32be(into, 4, second);
    put_u32be(into, 8, timestamp);
    put_u32be(into, 12, static_cast<std::uint32_t>(to));
}

}  // namespace

Result<Packet> parse_packet(Bytes datagram) {
    ByteReader in(datagram);
    const std::uint32_t first = TRY(in.u32be());
    const std::uint32_t second = TRY(in.u32be());
    const std::uint32_t timestamp = TRY(in.u32be());
    const SocketId to{TRY(in.u32be())};
    if ((first & kControlBit) != 0)
        return Packet{ControlPacket{{.type = ControlType{static_cast<std::uint16_t>(first >> 16 & 0x7FFF)},
                                     .subtype = static_cast<std::uint16_t>(first),
                                     .information = second,
                                     .timestamp = timestamp,
                                     .to = to},
                                    in.rest()}};
    return Packet{DataPacket{{.sequence = first,
                              .position = PacketPosition{static_cast<std::uint8_t>(second >> 30)},
                              .is_ordered = (second >> 29 & 1) != 0,
                              .key = KeyFlag{static_cast<std::uint8_t>(second >> 27 & 3)},
                              .is_retransmitted = (second >> 26 & 1) != 0,
                              .message = second & 0x3FF'FFFF,
                              .timestamp = timestamp,
                              .to = to},
                             in.rest()}};
}

std::optional<SocketId> destination_of(Bytes datagram) {
    if (datagram.size() < kHeaderBytes)
        return std::nullopt;
    ByteReader in(datagram.subspan(12));
    return SocketId{MUST(in.u32be())};
}

bool is_handshake(Bytes datagram) { return datagram.size() >= kHeaderBytes && datagram[0] == 0x80 && datagram[1] == 0; }

void write_header(const DataHeader& header, MutBytes into) {
    const std::uint32_t second = static_cast<std::uint32_t>(header.position) << 30 | (header.is_ordered ? 1U << 29 : 0U) |
                                 static_cast<std::uint32_t>(header.key) << 27 | (header.is_retransmitted ? 1U << 26 : 0U) |
                                 (header.message & 0x3FF'FFFF);
    write_words(into, header.sequence & ~kControlBit, second, header.timestamp, header.to);
}

void write_header(const ControlHeader& header, MutBytes into) {
    const std::uint32_t first = kControlBit | static_cast<std::uint32_t>(header.type) << 16 | header.subtype;
    write_words(into, first, header.information, header.timestamp, header.to);
}

std::size_t write_control(const ControlHeader& header, Bytes contents, MutBytes into) {
    constexpr std::array<std::uint8_t, kNoContentsBytes> kNothing{};
    if (contents.empty())
        contents = kNothing;
    write_header(header, into);
    std::copy(contents.begin(), contents.end(), into.begin() + kHeaderBytes);
    return kHeaderBytes + contents.size();
}

std::vector<std::uint8_t> write_control(const ControlHeader& header, Bytes contents) {
    std::vector<std::uint8_t> out(kHeaderBytes + std::max(contents.size(), kNoContentsBytes));
    out.resize(write_control(header, contents, out));
    return out;
}

Result<Ack> parse_ack(Bytes contents) {
    ByteReader in(contents);
    Ack ack;
    ack.next_sequence = TRY(in.u32be());
    if (ack.next_sequence > 0x7FFF'FFFF)
        return Error(Errc::malformed, "a sequence number of more than 31 bits");
    // Light ACKs of some peers carry padding; they are recognised by their length.
    if (in.remaining() < 12)
        return ack;
    ack.path = Ack::Path{.rtt_us = TRY(in.u32be()), .rtt_variance_us = TRY(in.u32be()), .buffer_packets = TRY(in.u32be())};
    if (in.remaining() < 12)
        return ack;
    ack.rates =
        Ack::Rates{.packets_per_second = TRY(in.u32be()), .capacity = TRY(in.u32be()), .bytes_per_second = TRY(in.u32be())};
    return ack;
}

std::vector<std::uint8_t> write_ack(const Ack& ack) {
    std::vector<std::uint8_t> out;
    append_u32be(out, ack.next_sequence);
    if (ack.path) {
        append_u32be(out, ack.path->rtt_us);
        append_u32be(out, ack.path->rtt_variance_us);
        append_u32be(out, ack.path->buffer_packets);
    }
    if (ack.path && ack.rates) {
        append_u32be(out, ack.rates->packets_per_second);
        append_u32be(out, ack.rates->capacity);
        append_u32be(out, ack.rates->bytes_per_second);
    }
    return out;
}

Result<std::vector<SequenceRange>> parse_loss_list(Bytes contents) {
    ByteReader in(contents);
    std::vector<SequenceRange> ranges;
    while (!in.at_end()) {
        const std::uint32_t word = TRY(in.u32be());
        std::uint32_t last = word;
        if ((word & kRangeBit) != 0) {
            last = TRY(in.u32be());
            if ((last & kRangeBit) != 0)
                return Error(Errc::malformed, "a range of lost packets without an end");
        }
        ranges.emplace_back(word & ~kRangeBit, last);
    }
    return ranges;
}

std::vector<std::uint8_t> write_loss_list(std::span<const SequenceRange> ranges, std::size_t bytes_max) {
    std::vector<std::uint8_t> out;
    for (const auto& [first, last] : ranges) {
        if (out.size() + (first == last ? 4U : 8U) > bytes_max)
            break;
        if (first == last) {
            append_u32be(out, first);
            continue;
        }
        append_u32be(out, first | kRangeBit);
        append_u32be(out, last);
    }
    return out;
}

Result<SequenceRange> parse_drop_request(Bytes contents) {
    ByteReader in(contents);
    const std::uint32_t first = TRY(in.u32be());
    const std::uint32_t last = TRY(in.u32be());
    if (((first | last) & kRangeBit) != 0)
        return Error(Errc::malformed, "a sequence number of more than 31 bits");
    return SequenceRange{first, last};
}

std::array<std::uint8_t, 8> write_drop_request(SequenceRange range) {
    std::array<std::uint8_t, 8> out{};
    put_u32be(out, 0, range.first);
    put_u32be(out, 4, range.second);
    return out;
}

}  // namespace live::engine::srt
