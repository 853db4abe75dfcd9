// PlaySession: the peer plays. Sends it packets as fast as its link allows, retransmits what it lost, and evaluates its reports.
// Also used for the client end of a publishing session, where the server is the peer.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <utility>
#include <vector>

#include "engine/webrtc/media_sender.hpp"
#include "engine/webrtc/peer_link.hpp"
#include "engine/webrtc/session.hpp"

namespace live::engine::webrtc {

class PlaySession final : public Session {
    struct Private {};

public:
    // `output` and `context` outlive the session. Errc::system.
    static Result<std::unique_ptr<PlaySession>> create(const dtls::Context& context, const SessionOptions& options,
                                                       DatagramBatch& output, TimePoint now);
    PlaySession(Private, PeerLink link, const SessionOptions& options);

    Result<void> handle_datagram(TimePoint now, MutBytes datagram, const TransportAddress& from) override;
    Result<void> handle_timeout(TimePoint now) override;
    std::optional<TimePoint> next_timeout() const override { return link_.next_timeout(sender_.next_timeout()); }
    void close(TimePoint now) override;
    std::unique_ptr<dtls::HandshakeStep> take_step() override { return link_.transport().take_step(); }
    Result<void> finish_step(TimePoint now, dtls::HandshakeStep& step) override {
        return link_.transport().finish_step(link_.advance(now), step);
    }
    SessionFigures figures() const override;
    std::size_t bytes() const override { return sizeof *this - sizeof sender_ + link_.bytes() + sender_.bytes(); }
    const PeerTransport& transport() const override { return link_.transport(); }

    // Whether a packet of this kind may be sent now: audio always; video at the link's rate. Video that has waited for more than
    // about a second means that the link is too slow for the stream: continue at the newest key frame then.
    bool may_send(TimePoint now, MediaKind kind) { return link_.is_established() && sender_.may_send(now, kind); }
    // Returns when may_send() will allow video; nullopt if it does now, or if nothing can be sent.
    std::optional<TimePoint> next_send(TimePoint now) { return link_.is_established() ? sender_.next_send(now) : std::nullopt; }
    // Appends the packet to the output with the player's SSRC, type, number and key. Does nothing for a kind that was not
    // negotiated, or until the session is established. The payload is at most kPayloadBytesMax; longer ones are dropped.
    static constexpr std::size_t kPayloadBytesMax = PeerLink::kPayloadBytesMax;
    void send(TimePoint now, MediaKind kind, const rtp::RtpLogHeader& header, Bytes payload);
    // True once after the player requested a key frame (PLI, FIR).
    bool take_key_frame_request() { return sender_.take_key_request(); }
    // The packets that the player is missing, at most MediaSender::kNacksMax; find them in their RTP logs and call resend().
    std::vector<std::pair<MediaKind, rtp::LogNumber>> take_nacks() { return sender_.take_nacks(); }
    // Retransmits a packet: by RTX if negotiated, otherwise with its original number. Does nothing if the packet was not sent
    // to this player, or too long ago.
    void resend(TimePoint now, MediaKind kind, const rtp::RtpLogHeader& header, Bytes payload);
    // Estimated capacity of the link to the player in bits per second; zero until it has reported.
    std::uint64_t estimated_rate() const { return sender_.estimated_rate(); }
    // For LayerSelector, which requests padding: while may_pad() is true, pad() with packets that were sent. Has no effect for a
    // player without RTX.
    rtp::LinkState link(TimePoint now) const { return sender_.link(now); }
    void set_padding(TimePoint now, std::uint64_t bits_per_second) { sender_.set_padding(now, bits_per_second); }
    bool may_pad(TimePoint now) { return link_.is_established() && sender_.may_pad(now); }
    // False if the packet was not sent to this player, or too long ago.
    bool pad(TimePoint now, const rtp::RtpLogHeader& header, Bytes payload);
    // The memory send() uses in an established session.
    void add_hot_lines(HotLines& lines) const;

private:
    PeerLink link_;
    MediaSender sender_;
};

}  // namespace live::engine::webrtc
