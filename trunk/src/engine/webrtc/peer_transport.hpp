// The layer between a session's media and the network: ICE, DTLS and SRTP of one peer. Drops packets that are not authentic or
// come from an unchecked address, and passes on decrypted RTP and RTCP; encrypts packets to send and appends them to the batch,
// to the peer's proved address.
#pragma once

#include <chrono>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/bytes/bytes.hpp"
#include "base/bytes/hot_lines.hpp"
#include "base/net/transport_address.hpp"
#include "base/result.hpp"
#include "base/time.hpp"
#include "engine/dtls/goodbye_watch.hpp"
#include "engine/dtls/handshake_step.hpp"
#include "engine/dtls/last_flight.hpp"
#include "engine/dtls/transport.hpp"
#include "engine/ice/agent.hpp"
#include "engine/srtp/session.hpp"
#include "engine/webrtc/datagram_batch.hpp"
#include "engine/webrtc/handshake_flights.hpp"

namespace live::engine::webrtc {

class PeerTransport {
    struct Private {};

public:
    // An established DTLS object takes 40 to 60 KiB. `free_dtls` releases it after the handshake. Then the last flight is
    // retransmitted while it may have been lost; the peer's close_notify cannot be decrypted, and ends the session after some
    // seconds of silence (dtls::GoodbyeWatch); ours is written beforehand, some 40 bytes.
    enum class AfterHandshake : std::uint8_t { keep_dtls, free_dtls };
    enum class State : std::uint8_t { connecting, established, closed };
    // Datagrams of a handshake that wait for its next step; the peer repeats those dropped above this. Its longest flight, with
    // an RSA certificate, takes six.
    static constexpr std::size_t kWaitingMax = 16;
    static constexpr std::size_t kWaitingBytesMax = 16 << 10;

    struct Options {
        std::optional<ice::Agent::Options> ice;
        std::optional<TransportAddress> peer;  // without ICE
        dtls::Transport::Options dtls;
        bool dtls_on = true;
        bool encrypt = true;
        // For a server: the handshake is done in steps that the caller runs (take_step()). No effect for a client, whose peer
        // may send media right after its last flight; the client must be able to read it at once.
        bool lends_handshake = false;
        // Off: RTP is dropped unread.
        bool takes_rtp = true;
        AfterHandshake after_handshake = AfterHandshake::keep_dtls;
        unsigned long replay_window = srtp::Session::kReplayWindow;
    };
    // A received packet, decrypted in place.
    struct Incoming {
        enum class Kind : std::uint8_t { nothing, rtp, rtcp };
        Kind kind = Kind::nothing;
        Bytes packet;
    };
    struct Counters {
        std::uint64_t packets_out = 0;
        std::uint64_t bytes_out = 0;
        std::uint64_t unknown_address = 0;
        std::uint64_t not_authentic = 0;
        std::uint64_t unwanted = 0;
    };

    // Errc::system.
    static Result<std::unique_ptr<PeerTransport>> create(const dtls::Context& context, Options options, DatagramBatch& output,
                                                         TimePoint now);
    PeerTransport(Private, const dtls::Context& context, Options options, DatagramBatch& output, TimePoint now);

    // As in Session.
    Result<Incoming> handle_datagram(TimePoint now, MutBytes datagram, const TransportAddress& from);
    Result<void> handle_timeout(TimePoint now);
    std::optional<TimePoint> next_timeout() const;
    void close(TimePoint now);

    // With `lends_handshake`, call this after inputs and after finish_step(). Returns the next step of the handshake, to be run
    // in any thread; nullptr if nothing waits, or if a step has not been finished. The step owns the DTLS object
    // (HandshakeStep) while it runs, so the timers are stopped; this may be closed or destroyed meanwhile.
    std::unique_ptr<dtls::HandshakeStep> take_step();
    // Call this after the step has run. Errors as in handle_datagram().
    Result<void> finish_step(TimePoint now, dtls::HandshakeStep& step);

    // Both do nothing until the session is established. The packet is `head`, the whole RTP header and possibly part of the
    // payload, followed by `payload`, which is written only once: encrypted, directly into the output.
    void send_rtp(Bytes head, Bytes payload);
    // The packet is the first `bytes` of `storage`, which has srtp::Session::kTrailerBytesMax more.
    void send_rtcp(MutBytes storage, std::size_t bytes);

    State state() const { return state_; }
    std::string_view end_reason() const { return end_reason_; }
    std::optional<TransportAddress> selected() const { return to_; }
    bool is_checked(const TransportAddress& address) const;
    // Returns the time from our first flight to its answer; nullopt before the answer.
    std::optional<std::chrono::microseconds> round_trip() const { return flights_.round_trip(); }
    bool holds_dtls() const { return dtls_ != nullptr || is_lent_; }
    const Counters& counters() const { return counters_; }
    // The memory send_rtp() uses.
    void add_hot_lines(HotLines& lines) const;

private:
    Result<void> handle_stun(TimePoint now, Bytes datagram, const TransportAddress& from);
    Result<void> handle_dtls(TimePoint now, Bytes datagram);
    Incoming handle_media(TimePoint now, MutBytes datagram, Incoming::Kind kind);
    // Starts the work that requires a checked address.
    Result<void> begin(TimePoint now);
    bool lends_handshake() const;
    void keep_for_step(TimePoint now, Bytes datagram);
    // An input of this time has led to this state.
    void measure_round_trip(TimePoint arrived, dtls::Transport::State state);
    Result<void> after_dtls(TimePoint now, Result<void> outcome);
    Result<void> after_progress(TimePoint now, dtls::Transport::Progress progress);
    // A handshake whose flights all went to one address has proved that address.
    Result<void> take_keys(TimePoint now, const std::optional<Result<srtp::Keys>>& keys);
    // Sends our own check if one is due; becomes established if nothing is missing.
    Result<void> look_at_ice(TimePoint now);
    using Flight = std::vector<std::vector<std::uint8_t>>;
    void send_flight(TimePoint now, const Flight& datagrams);
    // The handshake is over.
    void release_dtls(TimePoint now, dtls::Transport::Progress progress);
    void send(Bytes datagram);
    void end(std::string reason);

    // Members used for each packet are adjacent.
    std::unique_ptr<srtp::Session> srtp_;
    State state_ = State::connecting;
    bool has_begun_ = false;
    bool has_keys_ = false;  // or needs none
    std::optional<TransportAddress> to_;
    Counters counters_;
    DatagramBatch& output_;

    const dtls::Context& context_;
    Options options_;
    std::optional<ice::Agent> ice_;
    std::unique_ptr<dtls::Transport> dtls_;  // from the first valid check on, except while it is lent
    bool is_lent_ = false;                   // a step is out
    Flight waiting_;                         // for the next step
    std::size_t waiting_bytes_ = 0;
    TimePoint waiting_since_;                      // the last of them
    dtls::GoodbyeWatch goodbye_;                   // active once dtls_ is gone
    std::optional<dtls::LastFlight> last_flight_;  // until the peer has shown that it has the keys
    std::vector<std::uint8_t> goodbye_datagram_;   // our close_notify, once dtls_ is gone
    HandshakeFlights flights_;
    std::string end_reason_;
};

}  // namespace live::engine::webrtc
