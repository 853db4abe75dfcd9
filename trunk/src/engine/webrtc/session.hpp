// One peer of WebRTC, dry: ICE, DTLS, SRTP, RTP and RTCP of one BUNDLE of audio and video. There are two kinds: PublishSession,
// whose peer sends media, and PlaySession, whose peer gets it. What both have in common is here. Datagrams and times go in; what
// is to be sent is appended to a batch that belongs to the owner of the socket. Not here: offers and answers (wire/sdp), sockets
// and which session a datagram is for (local_ufrag_of() in ice/agent.hpp, then the address), the RTP logs of streams.
//
// The contract: one input (handle_datagram, handle_timeout, or packets to send), then drain what is of interest (media, requests)
// and send the batch; ask next_timeout() when to come again. All times are those of the steady clock, since OpenSSL looks at its
// own clock, too. Before an address has passed a check of ICE nothing that comes from it changes anything, and not a byte goes
// there.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "base/bytes.hpp"
#include "base/result.hpp"
#include "base/time.hpp"
#include "base/transport_address.hpp"
#include "engine/dtls/transport.hpp"
#include "engine/ice/agent.hpp"
#include "engine/rtp/bandwidth_estimator.hpp"
#include "engine/webrtc/datagram_batch.hpp"
#include "engine/webrtc/peer_transport.hpp"
#include "engine/webrtc/session_figures.hpp"
#include "engine/webrtc/shared_state.hpp"
#include "wire/sdp/answer.hpp"

namespace live::engine::webrtc {

struct SessionOptions {
    // remote_ufrag and remote_pwd are taken from the agreement.
    ice::Agent::Options ice{};
    // The address of a peer that somebody else has found and checks (ClientSession does): there is no ICE here then.
    std::optional<TransportAddress> peer{};
    // The role and the fingerprint are taken from the agreement.
    dtls::Transport::Options dtls{};
    // Without DTLS there are no keys: RTP and RTCP are plain. `encrypt` off alone: a handshake, and plain media.
    bool dtls_on = true;
    bool encrypt = true;

    wire::sdp::Agreement agreement{};

    // Ours. A publisher sees the first of them that is not 0 as the sender of our RTCP, or 1.
    std::uint32_t audio_ssrc = 0;
    std::uint32_t audio_rtx_ssrc = 0;
    std::uint32_t video_ssrc = 0;
    std::uint32_t video_rtx_ssrc = 0;
    std::string cname = "live";

    // Off: lost packets are not asked for, and not sent again; arrivals are not reported.
    bool nack = true;
    bool twcc = true;

    // Of a PublishSession. Streams that the offer names, by section: helps to tell apart what comes without header extensions.
    // May be nullptr; read by create() only.
    const wire::sdp::Description* offer = nullptr;
    std::uint8_t drop_payload_type = 0;  // RTP with this type is dropped as it comes; 0 for none

    // Of a PlaySession. bandwidth.start is what a player is taken for before it reports.
    rtp::BandwidthEstimator::Options bandwidth{};
    // A player's DTLS object is let go after the handshake, see PeerTransport, unless it shall say close_notify in the end.
    bool keeps_dtls = false;

    // Outlives the session. nullptr: nothing is counted, and nothing is ever left out.
    SharedState* shared = nullptr;
};

class Session {
public:
    using State = PeerTransport::State;

    virtual ~Session() = default;

    // Any datagram from the socket, or one frame of RFC 4571; it is decrypted in place. What cannot be for this session, or not
    // be proved to be, is dropped and counted. Errors are final: Errc::denied (the certificate is not the one of the
    // description), Errc::malformed, Errc::unsupported (the handshake failed), Errc::system. What is in the output then says why.
    virtual Result<void> handle_datagram(TimePoint now, MutBytes datagram, const TransportAddress& from) = 0;
    // Errc::timed_out when the handshake took too long. That the peer has gone silent is no error: the state is closed.
    virtual Result<void> handle_timeout(TimePoint now) = 0;
    // Nothing when the session is closed, or nothing can happen without input.
    virtual std::optional<TimePoint> next_timeout() const = 0;
    // Says goodbye: BYE for what we send, close_notify while the DTLS object is there.
    virtual void close(TimePoint now) = 0;

    virtual SessionFigures figures() const = 0;
    // Of memory, nearly: without OpenSSL's and the SRTP library's.
    virtual std::size_t bytes() const = 0;
    virtual const PeerTransport& transport() const = 0;

    State state() const { return transport().state(); }
    // Of a closed session, in words for a log: "close_notify", "no check for 30000 ms", ...
    std::string_view end_reason() const { return transport().end_reason(); }
    // Where everything goes: the address that the peer nominated and that has proved to receive; before that, where the handshake
    // goes.
    std::optional<TransportAddress> selected() const { return transport().selected(); }
    bool is_checked(const TransportAddress& address) const { return transport().is_checked(address); }
    // The DTLS object is there (76 KB): see PeerTransport.
    bool holds_dtls() const { return transport().holds_dtls(); }
};

}  // namespace live::engine::webrtc
