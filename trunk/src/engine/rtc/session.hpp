// One peer of WebRTC, dry: ICE, DTLS, SRTP, RTP and RTCP of one BUNDLE of sound and picture. Either the peer publishes and media
// comes out of poll_media(), or it plays and media goes into send(). Datagrams and times go in; what is to be sent is appended to
// a batch that belongs to the owner of the socket. Not here: offers and answers (wire/sdp), sockets and which session a datagram
// is for (local_ufrag_of() in ice_agent.hpp, then the address), lanes.
//
// The contract: one input (handle_datagram, handle_timeout, or packets to send), then drain what is of interest (poll_media,
// take_key_frame_request, take_nacks) and send the batch; ask next_timeout() and next_send() when to come again. All times are
// those of the steady clock, since OpenSSL looks at its own clock, too. Before an address has passed a check of ICE nothing that
// comes from it changes anything, and not a byte goes there.
#pragma once

#include <chrono>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "base/bytes.hpp"
#include "base/hot_lines.hpp"
#include "base/result.hpp"
#include "base/time.hpp"
#include "base/transport_address.hpp"
#include "engine/rtc/bandwidth_estimator.hpp"
#include "engine/rtc/datagram_batch.hpp"
#include "engine/rtc/dtls_transport.hpp"
#include "engine/rtc/ice_agent.hpp"
#include "engine/rtc/session_types.hpp"
#include "engine/rtc/shared_state.hpp"
#include "wire/sdp/answer.hpp"

namespace live::engine::rtc {

class MediaReceiver;
class MediaSender;
class PeerTransport;
class RtcpOutput;

struct SessionOptions {
    // remote_ufrag and remote_pwd are taken from the agreement.
    IceAgent::Options ice{};
    // The address of a peer that somebody else has found and checks (ClientSession does): there is no ICE here then.
    std::optional<TransportAddress> peer{};
    // The role and the fingerprint are taken from the agreement.
    DtlsTransport::Options dtls{};
    // Without DTLS there are no keys: RTP and RTCP are plain, for load tests. `encrypt` off alone: a handshake, and plain media.
    bool dtls_on = true;
    bool encrypt = true;
    // A player's DTLS object is let go behind the handshake, see PeerTransport, unless it shall say close_notify in the end.
    bool keeps_dtls = false;
    // For load programs that receive: media is counted by its headers and reported on, but not decrypted, not asked for again and
    // not given out. The figures are there, poll_media() has nothing.
    bool headers_only = false;

    wire::sdp::Agreement agreement{};
    wire::sdp::Purpose purpose = wire::sdp::Purpose::publish;
    // Streams that the offer names, by section: helps to tell apart what comes without header extensions. May be empty.
    const wire::sdp::Description* offer = nullptr;  // read by create() only

    // Ours. A publisher sees the first of them that is not 0 as the sender of our RTCP, or 1.
    std::uint32_t audio_ssrc = 0;
    std::uint32_t audio_rtx_ssrc = 0;
    std::uint32_t video_ssrc = 0;
    std::uint32_t video_rtx_ssrc = 0;
    std::string cname = "live";

    // Off: lost packets are not asked for, and not sent again; arrivals are not reported.
    bool nack = true;
    bool twcc = true;
    std::uint8_t drop_payload_type = 0;       // RTP with this type is dropped as it comes; 0 for none
    BandwidthEstimator::Options bandwidth{};  // when we send; bandwidth.start is what a player is taken for before it reports

    // Outlives the session. nullptr: nothing is counted, and nothing is ever left out.
    SharedState* shared = nullptr;
};

class Session {
    struct Private {};

public:
    using Kind = engine::rtc::Kind;

    // `output` and `context` outlive the session. Errc::system.
    static Result<std::unique_ptr<Session>> create(const DtlsContext& context, SessionOptions options, DatagramBatch& output,
                                                   TimePoint now);
    Session(Private, std::unique_ptr<PeerTransport> transport, const SessionOptions& options, TimePoint now);
    ~Session();
    Session(const Session&) = delete;
    Session& operator=(const Session&) = delete;

    // Any datagram from the socket, or one frame of RFC 4571; it is decrypted in place. What cannot be for this session, or not
    // be proved to be, is dropped and counted. Errors are final: Errc::denied (the certificate is not the one of the
    // description), Errc::malformed, Errc::unsupported (the handshake failed), Errc::system. What is in the output then says why.
    Result<void> handle_datagram(TimePoint now, MutBytes datagram, const TransportAddress& from);
    // Errc::timed_out when the handshake took too long. That the peer has gone silent is no error: the state is closed.
    Result<void> handle_timeout(TimePoint now);
    // Nothing when the session is closed, or nothing can happen without input.
    std::optional<TimePoint> next_timeout() const;
    // Says goodbye: BYE for what we send, close_notify while the DTLS object is there.
    void close(TimePoint now);

    enum class State : std::uint8_t { connecting, established, closed };
    State state() const;
    // Of a closed session, in words for a log: "close_notify", "no check for 30000 ms", ...
    std::string_view end_reason() const;
    // Where everything goes: the address that the peer nominated and that has proved to receive; before that, where the handshake
    // goes.
    std::optional<TransportAddress> selected() const;
    bool is_checked(const TransportAddress& address) const;

    // ---- The peer publishes.

    using MediaPacket = engine::rtc::MediaPacket;
    // In order within a kind: a packet waits for what is missing before it, as long as asking for it can help (0.5 to 2 s with
    // NACK, 100 ms without). Call until there is none, after each input.
    std::optional<MediaPacket> poll_media();
    // The publisher's own clock at an RTP timestamp that poll_media() gave, by its last sender report: sound and picture are on
    // one clock, whose zero means nothing. Nothing before the first report of the stream in use.
    std::optional<std::chrono::microseconds> ntp_of(Kind kind, std::uint32_t timestamp) const;
    // PLI, at least KeyRequests::kInterval (500 ms) apart; one that comes too early is sent when its time has come. The session
    // itself asks when the stream begins, behind a loss, and to change the layer.
    void request_key_frame(TimePoint now);
    // Of simulcast the best layer of at most so many bits a second is forwarded, or the least one; nothing: the best there is.
    void limit_layers(std::optional<std::uint64_t> bits_per_second);
    // The publisher has said BYE for all streams of this kind and sent nothing since.
    bool has_ended(Kind kind) const;

    // ---- The peer plays.

    // May a packet of this kind go now? Sound always; picture as the link's rate allows. A picture that has waited for more than
    // a second or so shows that the link is too slow for the stream: go on at the newest key picture then.
    bool may_send(TimePoint now, Kind kind);
    // When may_send() will say so for a picture; nothing when it does now, or when nothing can be sent.
    std::optional<TimePoint> next_send(TimePoint now);
    // Appends the packet to the output under the player's SSRC, type, number and key. Of a kind that was not agreed on, or before
    // the session is established: does nothing. The payload is at most kPayloadBytesMax, longer ones are dropped.
    static constexpr std::size_t kPayloadBytesMax = 1'400;
    void send(TimePoint now, Kind kind, const LaneHeader& header, Bytes payload);
    // True once after the player asked for a key picture (PLI, FIR).
    bool take_key_frame_request();
    // The lane's numbers of packets that the player misses, at most MediaSender::kNacksMax; find them in the lane and call
    // resend().
    std::vector<std::pair<Kind, std::uint16_t>> take_nacks();
    // By RTX where it was agreed on, else under the number it had. What was not sent to this player, or too long ago, is ignored.
    void resend(TimePoint now, Kind kind, const LaneHeader& header, Bytes payload);
    // Bits a second that the link to the player carries; zero while it has not reported.
    std::uint64_t estimated_rate() const;
    // The same where the link has shown of late that it does not carry more; nothing where no limit is known.
    std::optional<std::uint64_t> link_limit(TimePoint now) const;

    SessionFigures figures() const;
    // Of memory, nearly: without OpenSSL's and the SRTP library's.
    std::size_t bytes() const;
    // What send() touches, of an established session.
    void add_hot_lines(HotLines& lines) const;
    // The DTLS object is there (76 KB): see PeerTransport.
    bool holds_dtls() const;

private:
    void handle_rtcp(TimePoint now, Bytes datagram);
    Result<void> take_rtcp(TimePoint now, const wire::rtcp::Packet& packet);
    void send_rtcp(const RtcpOutput& out);
    // A packet whose header stands at the front of `storage`, which has room for all of it and for SRTP's trailer.
    void send_packet(Bytes head, Bytes payload);

    std::unique_ptr<PeerTransport> transport_;
    std::unique_ptr<MediaReceiver> receiver_;
    std::unique_ptr<MediaSender> sender_;
    SharedState* shared_;
    TimePoint now_;
    bool is_established_ = false;
    std::uint64_t not_understood_ = 0;
};

}  // namespace live::engine::rtc
