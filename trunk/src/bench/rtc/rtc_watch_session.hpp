// A player's session of a load that does not decrypt (--skip-decryption), so that thousands of players fit on one core: RTP is
// counted by its headers, which are in the clear (RFC 3711, 3.1), and reported on like by any player; it requests no
// retransmission and outputs no media. It does not authenticate packets.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <utility>
#include <vector>

#include "engine/rtp/receive/arrival_recorder.hpp"
#include "engine/rtp/receive/track_streams.hpp"
#include "engine/webrtc/peer_link.hpp"
#include "engine/webrtc/session.hpp"
#include "wire/rtp/packet.hpp"

namespace live::bench {

class RtcWatchSession final : public engine::webrtc::Session {
    struct Private {};

public:
    static constexpr std::chrono::milliseconds kReportInterval{1'000};

    // As ClientSession::Maker: `output` and `context` outlive the session. Errc::system.
    static Result<std::unique_ptr<RtcWatchSession>> create(const engine::dtls::Context& context,
                                                           const engine::webrtc::SessionOptions& options,
                                                           engine::webrtc::DatagramBatch& output, TimePoint now);
    RtcWatchSession(Private, engine::webrtc::PeerLink link, const engine::webrtc::SessionOptions& options);

    Result<void> handle_datagram(TimePoint now, MutBytes datagram, const TransportAddress& from) override;
    Result<void> handle_timeout(TimePoint now) override;
    std::optional<TimePoint> next_timeout() const override;
    void close(TimePoint now) override { link_.transport().close(link_.advance(now)); }
    engine::webrtc::SessionFigures figures() const override;
    std::size_t bytes() const override { return sizeof *this + link_.bytes() + tracks_.size() * sizeof(Track); }
    const engine::webrtc::PeerTransport& transport() const override { return link_.transport(); }

private:
    // From the agreement.
    struct Track {
        std::uint8_t payload_type = 0;
        engine::rtp::TrackStreams streams;
    };
    using Stream = engine::rtp::ReceiveStream;

    void take_rtp(TimePoint now, Bytes datagram);
    Result<void> take_rtcp(TimePoint now, const wire::rtcp::Packet& packet);
    Stream* find(std::uint32_t ssrc) const;
    Stream* stream_of(TimePoint now, const wire::rtp::Packet& packet);

    engine::webrtc::PeerLink link_;
    std::vector<Track> tracks_;
    std::uint8_t transport_wide_id_ = 0;
    engine::rtp::ArrivalRecorder arrivals_;
    std::uint32_t media_ssrc_ = 0;  // of the latest packet
    std::optional<TimePoint> next_report_;
    std::uint64_t packets_ = 0;
    std::uint64_t bytes_ = 0;
};

}  // namespace live::bench
