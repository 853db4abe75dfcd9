// RTCP packets (RFC 3550, 6; RFC 4585, 6; RFC 5104, 4.3.1), both directions: reports, source names, BYE, and requests for packets
// and frames. The common header is in packet.hpp, transport-wide feedback in transport_feedback.hpp.
#pragma once

#include <cstdint>
#include <optional>
#include <string_view>
#include <vector>

#include "base/bytes/byte_writer.hpp"
#include "base/bytes/bytes.hpp"
#include "base/result.hpp"
#include "wire/rtcp/packet.hpp"

namespace live::wire::rtcp {

inline constexpr std::size_t kNackEntriesMax = 256;  // of 17 sequence numbers each
inline constexpr std::size_t kFirEntriesMax = 64;
inline constexpr std::size_t kRembSsrcsMax = 255;

struct ReportBlock {
    std::uint32_t ssrc = 0;
    std::uint8_t fraction_lost = 0;  // in 1/256, since the last report
    std::int32_t lost = 0;           // 24 bits; negative after duplicates
    std::uint32_t highest_sequence = 0;
    std::uint32_t jitter = 0;              // in the stream's clock
    std::uint32_t last_sender_report = 0;  // middle 32 bits of its NTP time; 0: none
    std::uint32_t delay_since = 0;         // in 1/65536 s

    bool operator==(const ReportBlock&) const = default;
};

struct SenderReport {
    std::uint32_t ssrc = 0;
    std::uint64_t ntp = 0;  // seconds since 1900 and their fraction, 32 bits each
    std::uint32_t rtp_time = 0;
    std::uint32_t packets = 0;
    std::uint32_t payload_bytes = 0;
    std::vector<ReportBlock> blocks;

    // The value a receiver puts into ReportBlock::last_sender_report.
    std::uint32_t middle_of_ntp() const { return static_cast<std::uint32_t>(ntp >> 16); }
    bool operator==(const SenderReport&) const = default;
};

struct ReceiverReport {
    std::uint32_t ssrc = 0;
    std::vector<ReportBlock> blocks;

    bool operator==(const ReceiverReport&) const = default;
};

// The CNAME of each SSRC; other items are skipped.
struct SourceName {
    std::uint32_t ssrc = 0;
    std::string_view cname;

    bool operator==(const SourceName&) const = default;
};

struct Goodbye {
    std::vector<std::uint32_t> ssrcs;

    bool operator==(const Goodbye&) const = default;
};

// Packets of one stream to retransmit.
struct Nack {
    std::uint32_t sender_ssrc = 0;
    std::uint32_t media_ssrc = 0;
    std::vector<std::uint16_t> sequences;

    bool operator==(const Nack&) const = default;
};

// Requests a key frame after a loss.
struct Pli {
    std::uint32_t sender_ssrc = 0;
    std::uint32_t media_ssrc = 0;

    bool operator==(const Pli&) const = default;
};

struct FirEntry {
    std::uint32_t ssrc = 0;
    std::uint8_t sequence = 0;  // a repeated request has the same number

    bool operator==(const FirEntry&) const = default;
};
struct Fir {
    std::uint32_t sender_ssrc = 0;
    std::vector<FirEntry> entries;

    bool operator==(const Fir&) const = default;
};

// The receiver's estimate of the rate that its link carries (draft-alvestrand-rmcat-remb-03, 2.2).
struct Remb {
    std::uint32_t sender_ssrc = 0;
    std::uint64_t bits_per_second = 0;  // its 18 highest bits
    std::vector<std::uint32_t> ssrcs;   // of the streams that share the rate

    bool operator==(const Remb&) const = default;
};

// Each parses one packet whose type and format were already checked. Errc::need_more, Errc::malformed, Errc::limit.
Result<SenderReport> parse_sender_report(const Packet& packet);
Result<ReceiverReport> parse_receiver_report(const Packet& packet);
Result<std::vector<SourceName>> parse_source_names(const Packet& packet);
Result<Goodbye> parse_goodbye(const Packet& packet);
Result<Nack> parse_nack(const Packet& packet);
Result<Pli> parse_pli(const Packet& packet);
Result<Fir> parse_fir(const Packet& packet);
// Errc::unsupported for another application's message.
Result<Remb> parse_remb(const Packet& packet);

// Each appends one packet. At most kReportsMax blocks, names and BYE SSRCs; a CNAME has at most 255 bytes.
void write(ByteWriter& out, const SenderReport& report);
void write(ByteWriter& out, const ReceiverReport& report);
void write(ByteWriter& out, const SourceName& name);
void write(ByteWriter& out, const Goodbye& goodbye);
// Sequence numbers must be in ascending order, modulo wrapping, and need at most kNackEntriesMax entries.
void write(ByteWriter& out, const Nack& nack);
void write(ByteWriter& out, const Pli& pli);
void write(ByteWriter& out, const Fir& fir);
// At most kRembSsrcsMax SSRCs.
void write(ByteWriter& out, const Remb& remb);

}  // namespace live::wire::rtcp
