// The audio or video for one player as a separate RTP stream: the RTP log's packets with this player's SSRC, payload type and
// sequence numbers (OutgoingNumbers), sender reports, and the player's receiver reports.
#pragma once

#include <array>
#include <chrono>
#include <cstdint>
#include <optional>
#include <vector>

#include "base/bytes/bytes.hpp"
#include "base/bytes/hot_lines.hpp"
#include "base/time.hpp"
#include "engine/rtp/media_types.hpp"
#include "engine/rtp/send/outgoing_numbers.hpp"
#include "wire/rtcp/report.hpp"

namespace live::engine::rtp {

class OutgoingTrack {
public:
    static constexpr std::size_t kHeaderBytesMax = 22;   // header, one extension, the RTX sequence number
    static constexpr std::size_t kNumbersMax = 512;      // transport-wide numbers remembered if there is no RTX
    static constexpr std::uint64_t kResendBack = 4'096;  // as far back as an RTP log goes

    struct Ssrcs {
        std::uint32_t media = 0;
        std::uint32_t rtx = 0;
    };
    // Without an extension id, packets get no transport-wide number.
    OutgoingTrack(const TrackFormat& format, Ssrcs ssrcs);

    MediaKind kind() const { return kind_; }
    std::uint32_t ssrc() const { return ssrcs_.media; }
    bool is(std::uint32_t ssrc) const { return ssrc == ssrcs_.media; }
    bool has_rtx() const { return rtx_payload_type_.has_value(); }
    bool has_transport_wide() const { return transport_wide_id_ != 0; }

    // Each writes a header to the front of `storage`, which has room for kHeaderBytesMax, and returns its length; the payload
    // follows. `transport_number` is used if packets get one.
    std::size_t write_first(MutBytes storage, TimePoint now, const RtpLogHeader& header, std::uint16_t transport_number,
                            std::size_t payload_bytes);
    // Nothing if the player did not get that packet, or too long ago. `uses_number`: the transport number was used. Without RTX,
    // a retransmission must be identical to the byte, as its key demands (RFC 7714, 8.4), and does not use it.
    struct Again {
        std::size_t header_bytes = 0;
        bool uses_number = false;
    };
    std::optional<Again> write_again(MutBytes storage, const RtpLogHeader& header, std::uint16_t transport_number);

    // The packet that the player received as `sequence`. Nothing if it cannot be retransmitted.
    std::optional<LogNumber> log_number(std::uint16_t sequence) const;

    // A sender report; nothing before the first packet.
    std::optional<wire::rtcp::SenderReport> report(TimePoint now);
    // When the report with the middle_of_ntp() quoted by a player was made; nothing if it is too old.
    std::optional<TimePoint> report_sent(std::uint32_t middle_of_ntp) const;
    bool has_sent() const { return packets_ != 0; }
    std::uint64_t packets() const { return packets_; }
    std::uint64_t payload_bytes() const { return payload_bytes_; }

    // The player's report block for this track.
    void reported(const wire::rtcp::ReportBlock& block);
    double loss() const { return loss_; }
    std::int64_t lost() const { return lost_; }
    std::chrono::microseconds jitter() const;
    // Memory besides the object itself.
    std::size_t held_bytes() const { return numbering_.held_bytes() + numbers_.capacity() * sizeof numbers_.front(); }

    // The memory write_first() uses.
    void add_hot_lines(HotLines& lines) const { lines.add_range(kind_, payload_bytes_); }

    // The offset from media time to our clock in reports, which all tracks of a session share.
    void set_clock(std::chrono::microseconds clock) { clock_ = clock; }

private:
    std::size_t write_header(MutBytes storage, std::uint8_t payload_type, std::uint16_t sequence, std::uint32_t ssrc,
                             const RtpLogHeader& header, std::uint16_t transport_number) const;
    bool remembers_numbers() const { return has_nack_ && !has_rtx() && has_transport_wide(); }

    struct Reported {
        std::uint32_t middle_of_ntp = 0;  // 0 for none
        TimePoint at{};
    };
    struct Sent {
        TimePoint at;
        std::uint32_t timestamp = 0;
        std::chrono::microseconds time{0};
    };

    // Members used for each packet are adjacent.
    MediaKind kind_;
    Ssrcs ssrcs_;
    std::uint8_t payload_type_;
    std::optional<std::uint8_t> rtx_payload_type_;
    std::uint8_t transport_wide_id_ = 0;
    bool has_nack_ = false;
    std::uint32_t clock_rate_;

    OutgoingNumbers numbering_;
    std::vector<std::uint16_t> numbers_;  // of the last packets, indexed by sequence number modulo kNumbersMax
    std::optional<Sent> last_;
    std::uint64_t packets_ = 0;
    std::uint64_t payload_bytes_ = 0;

    std::uint16_t next_rtx_ = 1;
    std::array<Reported, 4> reported_{};
    std::size_t next_reported_ = 0;
    std::chrono::microseconds clock_{0};
    double loss_ = 0;
    std::int64_t lost_ = 0;
    std::uint32_t jitter_ = 0;
};

}  // namespace live::engine::rtp
