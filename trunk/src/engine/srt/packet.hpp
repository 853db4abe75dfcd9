// The datagrams of SRT (draft-sharabayko-srt-01, section 3), read and written: data packets, and all control packets but the
// contents of handshakes (handshake_message.hpp) and of key messages (key_message.hpp). Readers borrow from the datagram.
#pragma once

#include <array>
#include <cstdint>
#include <optional>
#include <span>
#include <utility>
#include <variant>
#include <vector>

#include "base/bytes/bytes.hpp"
#include "base/result.hpp"

namespace live::engine::srt {

inline constexpr std::size_t kHeaderBytes = 16;
// A UDP datagram without IPv4 and UDP headers in an MTU of 1,500.
inline constexpr std::size_t kDatagramBytesMax = 1'472;
inline constexpr std::size_t kPayloadBytesMax = kDatagramBytesMax - kHeaderBytes;

enum class SocketId : std::uint32_t {};

enum class ControlType : std::uint16_t {
    handshake = 0,
    keepalive = 1,
    ack = 2,
    nak = 3,
    congestion_warning = 4,
    shutdown = 5,
    ack_ack = 6,
    drop_request = 7,
    peer_error = 8,
    user = 0x7FFF,
};

// The types of extensions in a handshake, and the subtypes of user packets.
enum class ExtensionType : std::uint16_t {
    handshake_request = 1,
    handshake_response = 2,
    key_request = 3,
    key_response = 4,
    stream_id = 5,
    congestion = 6,
    filter = 7,
    group = 8,
};

// The place of a packet in its message. Live mode has messages of one packet.
enum class PacketPosition : std::uint8_t { middle = 0, last = 1, first = 2, only = 3 };
// Which key encrypts a payload, or which keys are in a key message.
enum class KeyFlag : std::uint8_t { none = 0, even = 1, odd = 2, both = 3 };

struct DataHeader {
    std::uint32_t sequence = 0;  // 31 bits
    PacketPosition position = PacketPosition::only;
    bool is_ordered = false;
    KeyFlag key = KeyFlag::none;
    bool is_retransmitted = false;
    std::uint32_t message = 0;  // 26 bits
    std::uint32_t timestamp = 0;
    SocketId to{};

    bool operator==(const DataHeader&) const = default;
};
struct DataPacket {
    DataHeader header;
    Bytes payload;
};

struct ControlHeader {
    ControlType type{};
    std::uint16_t subtype = 0;
    std::uint32_t information = 0;  // its meaning depends on the type: the number of an ACK, for instance
    std::uint32_t timestamp = 0;
    SocketId to{};

    bool operator==(const ControlHeader&) const = default;
};
struct ControlPacket {
    ControlHeader header;
    Bytes contents;
};

using Packet = std::variant<DataPacket, ControlPacket>;

// Errc::need_more for less than a header. Types that are not known are not an error here.
Result<Packet> parse_packet(Bytes datagram);
// The destination of a datagram, for dispatch; nothing if it is too short for a header.
std::optional<SocketId> destination_of(Bytes datagram);
bool is_handshake(Bytes datagram);

// Exactly kHeaderBytes.
void write_header(const DataHeader& header, MutBytes into);
void write_header(const ControlHeader& header, MutBytes into);
// A whole control packet; returns its size. One without contents gets four zero bytes: libsrt has always sent them, and since
// 2026 it refuses packets without.
inline constexpr std::size_t kNoContentsBytes = 4;
std::size_t write_control(const ControlHeader& header, Bytes contents, MutBytes into);
std::vector<std::uint8_t> write_control(const ControlHeader& header, Bytes contents);

// Contents of an ACK. A light one has the sequence number only, a small one ends with the buffer.
struct Ack {
    struct Path {
        std::uint32_t rtt_us = 0;
        std::uint32_t rtt_variance_us = 0;
        std::uint32_t buffer_packets = 0;

        bool operator==(const Path&) const = default;
    };
    struct Rates {
        std::uint32_t packets_per_second = 0;
        std::uint32_t capacity = 0;  // packets per second
        std::uint32_t bytes_per_second = 0;

        bool operator==(const Rates&) const = default;
    };
    std::uint32_t next_sequence = 0;  // the first that is not acknowledged
    std::optional<Path> path;
    std::optional<Rates> rates;  // only with a path

    bool operator==(const Ack&) const = default;
};
Result<Ack> parse_ack(Bytes contents);
std::vector<std::uint8_t> write_ack(const Ack& ack);

// First and last, inclusive, narrow.
using SequenceRange = std::pair<std::uint32_t, std::uint32_t>;
// Returns all ranges in the contents. Errc::malformed if a range has no end.
Result<std::vector<SequenceRange>> parse_loss_list(Bytes contents);
// Ranges of one number take four bytes, others eight. Stops before `bytes_max`.
std::vector<std::uint8_t> write_loss_list(std::span<const SequenceRange> ranges, std::size_t bytes_max = kPayloadBytesMax);

Result<SequenceRange> parse_drop_request(Bytes contents);
std::array<std::uint8_t, 8> write_drop_request(SequenceRange range);

}  // namespace live::engine::srt
