// PlaySession: the peer plays. Packets go to it as fast as its link allows; what it lost is sent again, what it reports is taken
// in. The client's end of a session that publishes is one, too: there the server is the peer.
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
    SessionFigures figures() const override;
    std::size_t bytes() const override { return sizeof *this - sizeof sender_ + link_.bytes() + sender_.bytes(); }
    const PeerTransport& transport() const override { return link_.transport(); }

    // May a packet of this kind go now? Audio always; video as the link's rate allows. Video that has waited for more than a
    // second or so shows that the link is too slow for the stream: go on at the newest key frame then.
    bool may_send(TimePoint now, Kind kind) { return link_.is_established() && sender_.may_send(now, kind); }
    // When may_send() will say so for video; nothing when it does now, or when nothing can be sent.
    std::optional<TimePoint> next_send(TimePoint now) { return link_.is_established() ? sender_.next_send(now) : std::nullopt; }
    // Appends the packet to the output under the player's SSRC, type, number and key. Of a kind that was not agreed on, or before
    // the session is established: does nothing. The payload is at most kPayloadBytesMax, longer ones are dropped.
    static constexpr std::size_t kPayloadBytesMax = PeerLink::kPayloadBytesMax;
    void send(TimePoint now, Kind kind, const rtp::RtpLogHeader& header, Bytes payload);
    // True once after the player asked for a key frame (PLI, FIR).
    bool take_key_frame_request() { return sender_.take_key_request(); }
    // The RTP log's numbers of packets that the player misses, at most MediaSender::kNacksMax; find them in the RTP log and call
    // resend().
    std::vector<std::pair<Kind, std::uint16_t>> take_nacks() { return sender_.take_nacks(); }
    // By RTX where it was agreed on, else under the number it had. What was not sent to this player, or too long ago, is ignored.
    void resend(TimePoint now, Kind kind, const rtp::RtpLogHeader& header, Bytes payload);
    // Bits a second that the link to the player carries; zero while it has not reported.
    std::uint64_t estimated_rate() const { return sender_.estimated_rate(); }
    // The same where the link has shown of late that it does not carry more; nothing where no limit is known.
    std::optional<std::uint64_t> link_limit(TimePoint now) const { return sender_.link_limit(now); }
    // What send() touches, of an established session.
    void add_hot_lines(HotLines& lines) const;

private:
    PeerLink link_;
    MediaSender sender_;
};

}  // namespace live::engine::webrtc
