// The receiving half of a session, for a publisher: which track and stream a packet of RTP belongs to, what is asked for and
// reported back, and the media that comes out. Packets are authentic when they get here.
#pragma once

#include <chrono>
#include <cstdint>
#include <memory>
#include <optional>
#include <utility>
#include <vector>

#include "base/bytes.hpp"
#include "base/result.hpp"
#include "base/time.hpp"
#include "engine/rtp/arrival_recorder.hpp"
#include "engine/rtp/incoming_track.hpp"
#include "engine/rtp/rtcp_output.hpp"
#include "engine/webrtc/agreed_tracks.hpp"
#include "engine/webrtc/session_figures.hpp"
#include "wire/rtcp/packet.hpp"

namespace live::engine::webrtc {

class MediaReceiver {
public:
    static constexpr std::chrono::milliseconds kNackInterval = 20ms;
    static constexpr std::chrono::milliseconds kReportInterval = 1s;
    static constexpr std::size_t kNackSequencesMax = 128;  // in one packet; more of them go in several
    static constexpr std::size_t kNamedMax = 64;           // SSRCs of the offer that are kept

    struct Options {
        std::uint32_t ssrc = 1;  // ours
        bool nack = true;
        bool twcc = true;
        std::uint8_t drop_payload_type = 0;
    };
    // `offer` may be nullptr.
    MediaReceiver(const Options& options, const wire::sdp::Agreement& agreement, const wire::sdp::Description* offer);

    // What a new stream begins with.
    void set_round_trip(std::chrono::microseconds round_trip) { round_trip_ = round_trip; }

    // `bytes` is the length of its datagram. False when the packet is of no stream of the agreement, or none at all.
    bool handle_rtp(TimePoint now, Bytes packet, std::size_t bytes);
    // Of the sender: reports and goodbyes.
    Result<void> handle_rtcp(TimePoint now, const wire::rtcp::Packet& packet);
    std::optional<rtp::MediaPacket> poll(TimePoint now);
    void request_key_frame();

    // Of simulcast, see PublishSession::limit_layers.
    void limit_layers(std::optional<std::uint64_t> bits_per_second);

    // What is left out of it, as if it had been sent.
    struct Skip {
        bool nack = false;
        bool arrivals = false;
    };
    // What is due.
    void handle_timeout(TimePoint now, rtp::RtcpOutput& out, Skip skip);
    std::optional<TimePoint> next_timeout() const;

    std::optional<std::chrono::microseconds> time_of(Kind kind, std::uint32_t timestamp) const;
    bool has_ended(Kind kind) const;
    void fill(SessionFigures& figures) const;
    std::size_t bytes() const;

private:
    struct Route {
        rtp::IncomingTrack* track = nullptr;
        rtp::ReceiveStream* stream = nullptr;
        rtp::ReceiveStream::Origin origin = rtp::ReceiveStream::Origin::stream;
    };
    // An SSRC that the offer names.
    struct Named {
        std::uint32_t ssrc;
        std::size_t section;    // of the agreement
        std::uint32_t repairs;  // the SSRC whose RTX it is; 0 for none
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
    std::vector<std::unique_ptr<rtp::IncomingTrack>> tracks_;  // one a section of the agreement
    std::vector<Named> named_;
    std::uint8_t transport_wide_id_ = 0;
    std::uint8_t mid_id_ = 0;
    rtp::ArrivalRecorder arrivals_;
    std::uint32_t media_ssrc_ = 0;  // of the latest packet
    std::chrono::microseconds round_trip_{100'000};
    std::optional<TimePoint> nacked_;       // when it was last looked for what is missing
    std::optional<TimePoint> next_report_;  // once something came
    std::uint64_t packets_ = 0;
    std::uint64_t bytes_ = 0;
    std::uint64_t repaired_ = 0;
    std::uint64_t key_requests_ = 0;
};

}  // namespace live::engine::webrtc
