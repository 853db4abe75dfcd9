// Transport-wide feedback, both directions (draft-holmer-rmcat-transport-wide-cc-extensions-01, 3): which packets of a connection
// arrived, and when. The sender's bandwidth estimation is in engine/rtp/send/bandwidth_estimator.hpp.
#pragma once

#include <chrono>
#include <cstdint>
#include <optional>
#include <vector>

#include "base/bytes/byte_writer.hpp"
#include "base/bytes/bytes.hpp"
#include "base/result.hpp"
#include "wire/rtcp/packet.hpp"

namespace live::wire::rtcp {

// Arrival times are in units of kDeltaTick from the reference time, which is in units of kReferenceTick.
inline constexpr std::chrono::microseconds kDeltaTick{250};
inline constexpr std::chrono::microseconds kReferenceTick{64'000};
inline constexpr std::size_t kFeedbackPacketsMax = 4'096;  // statuses in one feedback packet

struct PacketStatus {
    bool received = false;
    std::optional<std::int16_t> ticks;  // since the previous received packet; may be absent for a received packet

    bool operator==(const PacketStatus&) const = default;
};

struct TransportFeedback {
    std::uint32_t sender_ssrc = 0;
    std::uint32_t media_ssrc = 0;
    std::uint16_t base_sequence = 0;    // of the first status
    std::int32_t reference_time = 0;    // in kReferenceTick, 24 bits, arbitrary origin
    std::uint8_t feedback_count = 0;    // counts feedback packets; wraps
    std::vector<PacketStatus> packets;  // at least one

    bool operator==(const TransportFeedback&) const = default;
};

// The statuses of a feedback packet, read where they are.
class PacketStatuses {
public:
    // Returns false after the last one.
    bool next(PacketStatus& status);

private:
    friend struct ArrivalReport;

    Bytes chunks_;
    Bytes deltas_;
    std::size_t left_ = 0;      // statuses
    unsigned chunk_ = 0;        // the current one
    std::size_t in_chunk_ = 0;  // statuses left in it
};

// A feedback packet in place: nothing is allocated. Borrows the packet's body.
struct ArrivalReport {
    std::uint32_t sender_ssrc = 0;
    std::uint32_t media_ssrc = 0;
    std::uint16_t base_sequence = 0;
    std::int32_t reference_time = 0;
    std::uint8_t feedback_count = 0;
    PacketStatuses statuses;

    // As parse_transport_feedback().
    static Result<ArrivalReport> parse(const Packet& packet);
};

// Errc::need_more, Errc::malformed (no packets; chunks may contain more statuses than announced, but not fewer), Errc::limit
// above kFeedbackPacketsMax.
Result<TransportFeedback> parse_transport_feedback(const Packet& packet);

// One to kFeedbackPacketsMax packets; each received one must have ticks.
void write(ByteWriter& out, const TransportFeedback& feedback);

}  // namespace live::wire::rtcp
