// The receiving half of a session, for a publisher: assigns RTP packets to tracks and streams, sends requests and reports, and
// returns the media. Packets are already authenticated.
#pragma once

#include <chrono>
#include <cstdint>
#include <memory>
#include <optional>
#include <utility>
#include <vector>

#include "base/bytes/bytes.hpp"
#include "base/result.hpp"
#include "base/time.hpp"
#include "engine/rtp/receive/arrival_recorder.hpp"
#include "engine/rtp/receive/incoming_track.hpp"
#include "engine/rtp/rtcp_output.hpp"
#include "engine/webrtc/agreed_tracks.hpp"
#include "engine/webrtc/session_figures.hpp"
#include "wire/rtcp/packet.hpp"

namespace live::engine::webrtc {

class MediaReceiver {
public:
    static constexpr std::chrono::milliseconds kNackInterval = 20ms;
    static constexpr std::chrono::milliseconds kReportInterval = 1s;
    static constexpr std::size_t kNackSequencesMax = 128;  // per packet; more are split into several
    static constexpr std::size_t kNamedMax = 64;           // SSRCs of the offer that are remembered

    struct Options {
        std::uint32_t ssrc = 1;  // ours
        bool nack = true;
        bool twcc = true;
        std::uint8_t drop_payload_type = 0;
    };
    // `offer` may be nullptr.
    MediaReceiver(const Options& options, const wire::sdp::Agreement& agreement, const wire::sdp::Description* offer);

    // The initial value for a new stream.
    void set_round_trip(std::chrono::microseconds round_trip) { round_trip_ = round_trip; }

    // `bytes` is the length of the datagram. False if the packet belongs to no stream of the agreement, or is not RTP.
    bool handle_rtp(TimePoint now, Bytes packet, std::size_t bytes);
    // The sender's reports and BYEs.
    Result<void> handle_rtcp(TimePoint now, const wire::rtcp::Packet& packet);
    std::optional<rtp::MediaPacket> poll(TimePoint now);
    void request_key_frame();

    // The video with simulcast, see PublishSession; nullptr without.
    rtp::IncomingTrack* layered() const;
    std::uint64_t audio_rate(TimePoint now) const;

    // Suppressed output; state advances as if it were sent.
    struct Skip {
        bool nack = false;
        bool arrivals = false;
    };
    // Writes what is due.
    void handle_timeout(TimePoint now, rtp::RtcpOutput& out, Skip skip);
    std::optional<TimePoint> next_timeout() const;

    std::optional<std::chrono::microseconds> time_of(MediaKind kind, std::uint32_t timestamp) const;
    bool has_ended(MediaKind kind) const;
    void fill(SessionFigures& figures) const;
    std::size_t bytes() const;

private:
    struct Route {
        rtp::IncomingTrack* track = nullptr;
        rtp::ReceiveStream* stream = nullptr;
        rtp::ReceiveStream::Origin origin = rtp::ReceiveStream::Origin::stream;
    };
    // An SSRC named in the offer.
    struct Named {
        std::uint32_t ssrc;
        std::size_t section;    // of the agreement
        std::uint32_t repairs;  // the media SSRC of this RTX SSRC; 0 if it is not RTX
    };

    void read_names(const wire::sdp::Agreement& agreement, const wire::sdp::Description& offer);
    const Named* named(std::uint32_t ssrc) const;
    Route find(std::uint32_t ssrc) const;
    Route learn(TimePoint now, const wire::rtp::Packet& packet);
    rtp::IncomingTrack* track_of(const wire::rtp::Packet& packet) const;
    rtp::ReceiveStream* repaired_by(rtp::IncomingTrack& track, const wire::rtp::Packet& packet) const;
    rtp::ReceiveStream* new_stream(TimePoint now, rtp::IncomingTrack& track, const wire::rtp::Packet& packet) const;
    void record_arrival(TimePoint now, const wire::rtp::Packet& packet);

    void write_nacks(TimePoint now, rtp::RtcpOutput& out, const Skip& skip);
    void write_reports(TimePoint now, rtp::RtcpOutput& out);
    void write_key_requests(TimePoint now, rtp::RtcpOutput& out);
    void write_arrivals(TimePoint now, rtp::RtcpOutput& out, const Skip& skip);
    std::optional<TimePoint> next_nack() const;

    Options options_;
    std::vector<std::unique_ptr<rtp::IncomingTrack>> tracks_;  // one per section of the agreement
    std::vector<Named> named_;
    std::uint8_t transport_wide_id_ = 0;
    std::uint8_t mid_id_ = 0;
    rtp::ArrivalRecorder arrivals_;
    std::uint32_t media_ssrc_ = 0;  // of the latest packet
    std::chrono::microseconds round_trip_{100'000};
    std::optional<TimePoint> nacked_;       // when missing packets were last requested
    std::optional<TimePoint> next_report_;  // set once something arrived
    std::uint64_t packets_ = 0;
    std::uint64_t bytes_ = 0;
    std::uint64_t repaired_ = 0;
    std::uint64_t key_requests_ = 0;
};

}  // namespace live::engine::webrtc
