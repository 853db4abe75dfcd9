// A session's PeerTransport plus the process-wide state: counts packets and RTCP, shows them to a tap, and skips requests while
// the CPU is overloaded. Used by both kinds of session.
#pragma once

#include <algorithm>
#include <cstdint>
#include <memory>
#include <optional>
#include <utility>

#include "base/bytes/bytes.hpp"
#include "base/bytes/hot_lines.hpp"
#include "base/result.hpp"
#include "base/time.hpp"
#include "engine/rtp/rtcp_output.hpp"
#include "engine/webrtc/peer_transport.hpp"
#include "engine/webrtc/session.hpp"
#include "engine/webrtc/shared_state.hpp"
#include "wire/rtcp/packet.hpp"

namespace live::engine::webrtc {

class PeerLink {
public:
    // For sent RTP: header and payload fit into an SRTP packet.
    static constexpr std::size_t kHeaderBytesMax = 22;
    static constexpr std::size_t kPayloadBytesMax = 1'400;

    // Differences between the two kinds of session.
    struct Wants {
        bool takes_rtp = true;
        PeerTransport::AfterHandshake after_handshake = PeerTransport::AfterHandshake::keep_dtls;
        bool replays_widely = false;  // packets may be received or sent again under their own number, long after their turn
    };
    // `output` and `context` outlive it. Errc::system.
    static Result<PeerLink> create(const dtls::Context& context, const SessionOptions& options, const Wants& wants,
                                   DatagramBatch& output, TimePoint now);

    // Time never goes back.
    TimePoint advance(TimePoint now) { return now_ = std::max(now_, now); }
    TimePoint now() const { return now_; }

    // The received packet, decrypted; its kind is `nothing` if there is none.
    Result<PeerTransport::Incoming> receive(MutBytes datagram, const TransportAddress& from);
    // Calls `take`, a Result<void>(const wire::rtcp::Packet&), for each packet of a datagram up to the first malformed one.
    template <class Take>
    void read_rtcp(Bytes datagram, Take take) {
        wire::rtcp::PacketReader reader(datagram);
        for (;;) {
            const auto packet = reader.next();
            if (packet.ok() && !*packet)
                return;
            // After a malformed packet, the start of the next one is unknown.
            if (!packet.ok() || (count_and_admit(**packet) && !take(**packet).ok())) {
                ++not_understood_;
                return;
            }
        }
    }
    void count_not_understood() { ++not_understood_; }

    // Both do nothing until the session is established.
    void send_rtcp(const rtp::RtcpOutput& out);
    void send_rtp(Bytes head, Bytes payload) {
        if (shared_ != nullptr) {
            ++shared_->rtp_out;
            if (shared_->tap != nullptr)
                show(head, payload);
        }
        transport_->send_rtp(head, payload);
    }

    bool is_established() const { return transport_->state() == PeerTransport::State::established; }
    // The earlier of the transport's timeout and `media`.
    std::optional<TimePoint> next_timeout(std::optional<TimePoint> media) const;
    void fill(SessionFigures& figures) const;
    std::size_t bytes() const { return sizeof *transport_; }
    void add_hot_lines(HotLines& lines) const { transport_->add_hot_lines(lines); }

    PeerTransport& transport() { return *transport_; }
    const PeerTransport& transport() const { return *transport_; }
    SharedState* shared() const { return shared_; }

private:
    PeerLink(std::unique_ptr<PeerTransport> transport, SharedState* shared, TimePoint now)
        : transport_(std::move(transport)), shared_(shared), now_(now) {}
    void show(Bytes head, Bytes payload) const;
    // False for a packet that is skipped due to overload.
    bool count_and_admit(const wire::rtcp::Packet& packet);

    std::unique_ptr<PeerTransport> transport_;
    SharedState* shared_;
    TimePoint now_;
    std::uint64_t not_understood_ = 0;
};

}  // namespace live::engine::webrtc
