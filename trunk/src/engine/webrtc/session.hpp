// One WebRTC peer, dry: ICE, DTLS, SRTP, RTP and RTCP of one BUNDLE of audio and video. There are two kinds: PublishSession,
// whose peer sends media, and PlaySession, whose peer receives it; the common parts are here. Datagrams and times go in; output
// is appended to a batch that belongs to the owner of the socket. Not here: offers and answers (wire/sdp), sockets, the session a
// datagram is for (local_ufrag_of() in ice/agent.hpp, then the address), and the RTP logs of streams.
//
// The contract: one input (handle_datagram, handle_timeout, or packets to send), then drain what is of interest (media, requests)
// and send the batch; next_timeout() is the time of the next call. All times are of the steady clock, because OpenSSL also reads
// its own clock. Until an address has passed an ICE check, packets from it change nothing, and nothing is sent to it.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <string_view>

#include "base/bytes/bytes.hpp"
#include "base/net/transport_address.hpp"
#include "base/result.hpp"
#include "base/time.hpp"
#include "engine/dtls/handshake_step.hpp"
#include "engine/dtls/transport.hpp"
#include "engine/ice/agent.hpp"
#include "engine/rtp/send/bandwidth_estimator.hpp"
#include "engine/webrtc/datagram_batch.hpp"
#include "engine/webrtc/peer_transport.hpp"
#include "engine/webrtc/session_figures.hpp"
#include "engine/webrtc/shared_state.hpp"
#include "wire/sdp/answer.hpp"

namespace live::engine::webrtc {

struct SessionOptions {
    // remote_ufrag and remote_pwd are overwritten from the agreement.
    ice::Agent::Options ice{};
    // The address of a peer that the caller finds and checks (as ClientSession does): the session then has no ICE.
    std::optional<TransportAddress> peer{};
    // Role and fingerprint are overwritten from the agreement.
    dtls::Transport::Options dtls{};
    // Without DTLS there are no keys: RTP and RTCP are unencrypted. Only `encrypt` off: a handshake, but unencrypted media.
    bool dtls_on = true;
    bool encrypt = true;

    wire::sdp::Agreement agreement{};

    // Our SSRCs. To a publisher, the first that is not 0, or else 1, is the sender of our RTCP.
    std::uint32_t audio_ssrc = 0;
    std::uint32_t audio_rtx_ssrc = 0;
    std::uint32_t video_ssrc = 0;
    std::uint32_t video_rtx_ssrc = 0;
    std::string cname = "live";

    // Off: lost packets are neither requested nor retransmitted; arrivals are not reported.
    bool nack = true;
    bool twcc = true;

    // For a PublishSession. The streams named in the offer, by section: helps to assign packets without header extensions. May be
    // nullptr; read only by create().
    const wire::sdp::Description* offer = nullptr;
    std::uint8_t drop_payload_type = 0;  // RTP of this type is dropped on arrival; 0 for none

    // For a PlaySession. bandwidth.start is the assumed rate before a player reports.
    rtp::BandwidthEstimator::Options bandwidth{};
    // A player's DTLS object is released after the handshake (see PeerTransport), unless the peer's close_notify is to end the
    // session at once.
    bool keeps_dtls = false;

    // The owner runs the expensive steps of a server's handshake: Session::take_step().
    bool lends_handshake = false;

    // Outlives the session. nullptr: nothing is counted, and nothing is ever skipped.
    SharedState* shared = nullptr;
};

class Session {
public:
    using State = PeerTransport::State;

    virtual ~Session() = default;

    // Any datagram from the socket, or one frame of RFC 4571; it is decrypted in place. Datagrams that are not for this session,
    // or not provably so, are dropped and counted. Errors are final: Errc::denied (the certificate does not match the SDP),
    // Errc::malformed, Errc::unsupported (the handshake failed), Errc::system. The output then contains the reason.
    virtual Result<void> handle_datagram(TimePoint now, MutBytes datagram, const TransportAddress& from) = 0;
    // Errc::timed_out if the handshake took too long. A silent peer is not an error: the state becomes closed.
    virtual Result<void> handle_timeout(TimePoint now) = 0;
    // Returns the next time for handle_timeout(); nullopt if the session is closed, or if it only waits for input.
    virtual std::optional<TimePoint> next_timeout() const = 0;
    // Sends BYE for our streams, and close_notify.
    virtual void close(TimePoint now) = 0;
    // With `lends_handshake`: see PeerTransport. finish_step() is an input as handle_datagram() is. A session that is only ever a
    // client's has no steps.
    virtual std::unique_ptr<dtls::HandshakeStep> take_step() { return nullptr; }
    virtual Result<void> finish_step(TimePoint, dtls::HandshakeStep&) { return {}; }

    virtual SessionFigures figures() const = 0;
    // Approximate memory, excluding OpenSSL's and the SRTP library's.
    virtual std::size_t bytes() const = 0;
    virtual const PeerTransport& transport() const = 0;

    State state() const { return transport().state(); }
    // Why a session closed, for logs: "close_notify", "no check for 30000 ms", ...
    std::string_view end_reason() const { return transport().end_reason(); }
    // The destination of all packets: the address that the peer nominated and that was proved to receive; before that, the
    // destination of the handshake.
    std::optional<TransportAddress> selected() const { return transport().selected(); }
    bool is_checked(const TransportAddress& address) const { return transport().is_checked(address); }
    // Whether the DTLS object exists (76 KB): see PeerTransport.
    bool holds_dtls() const { return transport().holds_dtls(); }
};

}  // namespace live::engine::webrtc
