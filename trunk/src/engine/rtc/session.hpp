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
#include "base/result.hpp"
#include "base/time.hpp"
#include "base/transport_address.hpp"
#include "engine/rtc/bandwidth_estimator.hpp"
#include "engine/rtc/datagram_batch.hpp"
#include "engine/rtc/dtls_transport.hpp"
#include "engine/rtc/ice_agent.hpp"
#include "wire/sdp/answer.hpp"

namespace live::engine::rtc {

class MediaReceiver;
class MediaSender;
class PeerTransport;

struct SessionOptions {
    // remote_ufrag is taken from the agreement.
    IceAgent::Options ice;
    // The address of a peer that somebody else has found and checks (ClientSession does): there is no ICE here then.
    std::optional<TransportAddress> peer;
    // The role and the fingerprint are taken from the agreement.
    DtlsTransport::Options dtls;
    // Without DTLS there are no keys: RTP and RTCP are plain, for load tests. `encrypt` off alone: a handshake, and plain media.
    bool dtls_on = true;
    bool encrypt = true;

    wire::sdp::Agreement agreement;
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
    std::uint8_t drop_payload_type = 0;     // RTP with this type is dropped as it comes; 0 for none
    BandwidthEstimator::Options bandwidth;  // when we send; bandwidth.start is what a player is taken for before it reports
};

// Counted since the session began, except where it says "now".
struct SessionFigures {
    std::uint64_t packets_in = 0;  // RTP, authentic, with those sent again
    std::uint64_t bytes_in = 0;    // of their datagrams
    std::uint64_t packets_out = 0;
    std::uint64_t bytes_out = 0;
    std::uint64_t lost = 0;      // of the media streams, as RTCP counts: expected and not come (publish), or told by the player
    std::uint64_t given_up = 0;  // publish: packets that never came in time
    std::uint64_t nacked = 0;    // packets that were asked for: by us (publish) or by the player
    std::uint64_t repaired = 0;  // that came again, or were sent again
    std::uint64_t key_requests = 0;           // PLI or FIR: sent (publish), or received
    std::uint64_t layer_switches = 0;         // publish with simulcast
    std::uint64_t unknown_address = 0;        // datagrams from an address without a check: dropped unread
    std::uint64_t not_authentic = 0;          // failed SRTP, replays with them
    std::uint64_t not_understood = 0;         // RTP of no stream of the agreement, RTCP that breaks its form
    std::chrono::microseconds round_trip{0};  // now; zero before it is known
    std::chrono::microseconds jitter{0};      // now, of the picture if there is one, of what arrives here or at the player
    double loss = 0;                          // now, 0 to 1, as last reported
    std::uint64_t estimated_rate = 0;         // now, bits a second; zero without feedback
};

// A packet of a lane, as far as its header is concerned.
struct LaneHeader {
    std::uint16_t sequence = 0;  // the lane's own number, of this kind; what is left out was left out on purpose
    std::uint32_t timestamp = 0;
    bool marker = false;
    MediaTime time{0};  // of the frame, on the timeline that sound and picture share: what sender reports are made of
};

class Session {
    struct Private {};

public:
    using Kind = wire::sdp::Kind;  // audio or video

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
    // Never empty before the session is closed.
    std::optional<TimePoint> next_timeout() const;
    // Says goodbye: BYE for what we send, close_notify while the DTLS object is there.
    void close(TimePoint now);

    enum class State : std::uint8_t { connecting, established, closed };
    State state() const;
    // Of a closed session, in words for a log: "close_notify", "no check for 30000 ms", ...
    std::string_view end_reason() const;
    // Where everything goes: the pair that the peer nominated, or before that the first that passed a check.
    std::optional<TransportAddress> selected() const;
    bool is_checked(const TransportAddress& address) const;

    // ---- The peer publishes.

    struct MediaPacket {
        Kind kind{};
        std::uint64_t sequence = 0;   // of the kind: one line, whatever layer or SSRC it comes from; a hole is a lost packet
        std::uint32_t timestamp = 0;  // one line, too
        bool marker = false;
        bool follows_loss = false;  // packets in front of it were given up
        bool begins_key = false;    // video: the first packet of a key picture; audio: always false
        Slice payload;              // of RTP; never empty
        TimePoint arrived;
    };
    // In order within a kind: a packet waits for what is missing before it, as long as asking for it can help (0.5 to 2 s with
    // NACK, 100 ms without). Call until there is none, after each input.
    std::optional<MediaPacket> poll_media();
    // The publisher's own clock at an RTP timestamp that poll_media() gave, by its last sender report: sound and picture are on
    // one clock, whose zero means nothing. Nothing before the first report of the stream in use.
    std::optional<std::chrono::microseconds> ntp_of(Kind kind, std::uint32_t timestamp) const;
    // PLI, at least kKeyRequestInterval apart; one that comes too early is sent when its time has come. The session itself asks
    // when the stream begins, behind a loss, and to change the layer.
    static constexpr std::chrono::milliseconds kKeyRequestInterval{500};
    void request_key_frame(TimePoint now);
    // The publisher has said BYE for all streams of this kind and sent nothing since.
    bool has_ended(Kind kind) const;

    // ---- The peer plays.

    // May a packet of this kind go now? Sound always; picture as the link's rate allows.
    bool may_send(TimePoint now, Kind kind);
    // When may_send() will say so for a picture; nothing when it does now, or when nothing can be sent.
    std::optional<TimePoint> next_send(TimePoint now);
    // Appends the packet to the output under the player's SSRC, type, number and key. Of a kind that was not agreed on, or before
    // the session is established: does nothing. The payload is at most kPayloadBytesMax, longer ones are dropped.
    static constexpr std::size_t kPayloadBytesMax = 1'400;
    void send(TimePoint now, Kind kind, const LaneHeader& header, Bytes payload);
    // True once after the player asked for a key picture (PLI, FIR).
    bool take_key_frame_request();
    // The lane's numbers of packets that the player misses, at most kNacksMax; find them in the lane and call resend().
    static constexpr std::size_t kNacksMax = 512;
    std::vector<std::pair<Kind, std::uint16_t>> take_nacks();
    // By RTX where it was agreed on, else under the number it had. What was not sent to this player, or too long ago, is ignored.
    void resend(TimePoint now, Kind kind, const LaneHeader& header, Bytes payload);
    // Bits a second that the link to the player carries; zero while it has not reported.
    std::uint64_t estimated_rate() const;

    SessionFigures figures() const;
    // The DTLS object is there (76 KB): see PeerTransport.
    bool holds_dtls() const;

private:
    void take_incoming(TimePoint now, MutBytes datagram, const TransportAddress& from);
    void handle_rtp(TimePoint now, Bytes packet, std::size_t datagram_bytes);
    void handle_rtcp(TimePoint now, Bytes datagram);
    void run_timers(TimePoint now);

    std::unique_ptr<PeerTransport> transport_;
    std::unique_ptr<MediaReceiver> receiver_;
    std::unique_ptr<MediaSender> sender_;
    TimePoint now_;
    std::uint64_t not_understood_ = 0;
};

}  // namespace live::engine::rtc
