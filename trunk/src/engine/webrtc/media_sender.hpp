// The sending half of a session, for a player: sends RTP log packets with this player's headers, as fast as its link allows, and
// handles the player's reports and requests.
#pragma once

#include <chrono>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "base/bytes/bytes.hpp"
#include "base/bytes/hot_lines.hpp"
#include "base/result.hpp"
#include "base/time.hpp"
#include "engine/rtp/rtcp_output.hpp"
#include "engine/rtp/send/bandwidth_estimator.hpp"
#include "engine/rtp/send/layer_selector.hpp"
#include "engine/rtp/send/outgoing_track.hpp"
#include "engine/rtp/send/pacer.hpp"
#include "engine/rtp/send/reported_link.hpp"
#include "engine/webrtc/agreed_tracks.hpp"
#include "engine/webrtc/session_figures.hpp"
#include "wire/rtcp/packet.hpp"

namespace live::engine::webrtc {

class MediaSender {
public:
    static constexpr std::chrono::milliseconds kReportInterval = 1s;
    static constexpr std::size_t kNacksMax = 512;  // waiting to be taken
    // A player that negotiated arrival reports but sends none: after this time its link is not paced, and estimated by its other
    // reports, if it sends those.
    static constexpr std::chrono::milliseconds kSilentMax = 5s;

    struct Options {
        rtp::OutgoingTrack::Ssrcs audio;
        rtp::OutgoingTrack::Ssrcs video;
        std::string cname;
        bool nack = true;
        bool twcc = true;
        rtp::BandwidthEstimator::Options bandwidth;
    };
    MediaSender(Options options, const wire::sdp::Agreement& agreement, TimePoint now);

    bool may_send(TimePoint now, MediaKind kind);
    std::optional<TimePoint> next_send(TimePoint now);
    // Writes a packet's header to the front of `storage` (rtp::OutgoingTrack::kHeaderBytesMax) and returns its length; nothing
    // for a kind that was not negotiated, or if it must not be retransmitted.
    std::optional<std::size_t> write_first(MutBytes storage, TimePoint now, MediaKind kind, const rtp::RtpLogHeader& header,
                                           std::size_t payload_bytes);
    std::optional<std::size_t> write_again(MutBytes storage, TimePoint now, MediaKind kind, const rtp::RtpLogHeader& header,
                                           std::size_t payload_bytes);

    // Padding: video packets that were sent already, by RTX, until the link carries this rate together with the media; 0 ends it.
    void set_padding(TimePoint now, std::uint64_t bits_per_second);
    bool may_pad(TimePoint now);
    std::optional<std::size_t> write_padding(MutBytes storage, TimePoint now, const rtp::RtpLogHeader& header,
                                             std::size_t payload_bytes);

    // The player's reports, and its requests for packets and key frames.
    Result<void> handle_rtcp(TimePoint now, const wire::rtcp::Packet& packet);
    bool take_key_request() { return std::exchange(wants_key_, false); }
    std::vector<std::pair<MediaKind, rtp::LogNumber>> take_nacks() { return std::exchange(nacks_, {}); }

    // Writes what is due.
    void handle_timeout(TimePoint now, rtp::RtcpOutput& out);
    std::optional<TimePoint> next_timeout() const;
    void write_goodbye(rtp::RtcpOutput& out) const;

    // Zero while unknown.
    std::uint64_t estimated_rate() const;
    rtp::LinkState link(TimePoint now) const;
    void fill(SessionFigures& figures) const;
    std::size_t bytes() const;
    // The memory write_first() uses.
    void add_hot_lines(HotLines& lines) const;

private:
    // The pacer that delays the next video packet longest; nullptr if none does.
    rtp::Pacer* held_by(TimePoint now);
    rtp::OutgoingTrack* find(MediaKind kind);
    rtp::OutgoingTrack* find(std::uint32_t ssrc);
    void count_sent(TimePoint now, const rtp::OutgoingTrack& track, std::size_t bytes);
    void pace(TimePoint now, std::size_t bytes);
    void take_block(TimePoint now, const wire::rtcp::ReportBlock& block);
    Result<void> take_nack(const wire::rtcp::Packet& packet);
    Result<void> take_remb(TimePoint now, const wire::rtcp::Packet& packet);
    std::uint64_t sent_bytes() const;
    Result<void> take_arrivals(TimePoint now, const wire::rtcp::Packet& packet);
    Result<void> read_key_request(const wire::rtcp::Packet& packet);

    // Members used for each packet are adjacent.
    std::vector<rtp::OutgoingTrack> tracks_;  // at most one per kind
    std::uint16_t transport_number_ = 0;
    bool has_report_ = false;            // a report of arrivals was received
    std::optional<TimePoint> began_;     // when the first packet was sent
    rtp::Pacer pacer_;                   // over hundredths of a second
    std::optional<rtp::Pacer> padder_;   // while the link is padded
    std::optional<rtp::Pacer> average_;  // over seconds, once the link has shown its limit
    std::optional<rtp::BandwidthEstimator> estimator_;

    rtp::ReportedLink reported_;  // used without the estimator
    TimePoint reported_at_{};
    rtp::Pacer repairs_;
    std::string cname_;
    std::optional<TimePoint> next_report_;
    std::vector<std::pair<MediaKind, rtp::LogNumber>> nacks_;
    bool wants_key_ = false;
    std::uint64_t nacked_ = 0;
    std::uint64_t resent_ = 0;
    std::uint64_t padded_bytes_ = 0;
    std::uint64_t key_requests_ = 0;
    std::chrono::microseconds round_trip_{0};
};

}  // namespace live::engine::webrtc
