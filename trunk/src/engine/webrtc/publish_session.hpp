// PublishSession: the peer publishes. Returns its packets in order, and requests missing packets, key frames and simulcast
// layers. Also used for the client end of a playing session, where the server is the peer.
#pragma once

#include <chrono>
#include <memory>
#include <optional>
#include <vector>

#include "engine/webrtc/media_receiver.hpp"
#include "engine/webrtc/peer_link.hpp"
#include "engine/webrtc/session.hpp"

namespace live::engine::webrtc {

class PublishSession final : public Session {
    struct Private {};

public:
    // `output` and `context` outlive the session. Errc::system.
    static Result<std::unique_ptr<PublishSession>> create(const dtls::Context& context, const SessionOptions& options,
                                                          DatagramBatch& output, TimePoint now);
    PublishSession(Private, PeerLink link, const SessionOptions& options);

    Result<void> handle_datagram(TimePoint now, MutBytes datagram, const TransportAddress& from) override;
    Result<void> handle_timeout(TimePoint now) override;
    std::optional<TimePoint> next_timeout() const override { return link_.next_timeout(receiver_.next_timeout()); }
    std::unique_ptr<dtls::HandshakeStep> take_step() override { return link_.transport().take_step(); }
    Result<void> finish_step(TimePoint now, dtls::HandshakeStep& step) override;
    void close(TimePoint now) override { link_.transport().close(link_.advance(now)); }
    SessionFigures figures() const override;
    std::size_t bytes() const override { return sizeof *this - sizeof receiver_ + link_.bytes() + receiver_.bytes(); }
    const PeerTransport& transport() const override { return link_.transport(); }

    // In order within a kind: a packet waits for missing earlier ones as long as a retransmission can help (0.5 to 2 s with NACK,
    // 100 ms without). Call until there is none, after each input.
    std::optional<rtp::MediaPacket> poll_media() { return receiver_.poll(link_.now()); }
    // The publisher's clock at an RTP timestamp returned by poll_media(), from its last sender report: audio and video share that
    // clock, whose zero is arbitrary. Nothing before the first report of the current stream.
    std::optional<std::chrono::microseconds> ntp_of(MediaKind kind, std::uint32_t timestamp) const {
        return receiver_.time_of(kind, timestamp);
    }
    // Sends PLI at intervals of at least KeyRequests::kInterval (500 ms); an earlier request is delayed. The session itself sends
    // requests when the stream begins, after a loss, and to switch layers.
    void request_key_frame(TimePoint now) {
        link_.advance(now);
        receiver_.request_key_frame();
    }
    // With simulcast: the layers of the video, by their index in the agreement. poll_media() gives the best one that is active;
    // those that are wanted are also given one by one, by poll_layer() after poll_media(), with timestamps on the same timeline.
    // Requests for key frames of a layer are limited in the same way as request_key_frame().
    std::vector<rtp::LayerState> layer_states(TimePoint now) const;
    void want_layer(std::size_t layer, bool is_wanted);
    void request_layer_key_frame(TimePoint now, std::size_t layer);
    std::optional<rtp::LayerPacket> poll_layer();
    // Bits per second over about the last second.
    std::uint64_t audio_rate(TimePoint now) const { return receiver_.audio_rate(now); }
    // The publisher has sent BYE for all streams of this kind and nothing since.
    bool has_ended(MediaKind kind) const { return receiver_.has_ended(kind); }

private:
    void look_at_state();

    PeerLink link_;
    MediaReceiver receiver_;
    bool is_established_ = false;
};

}  // namespace live::engine::webrtc
