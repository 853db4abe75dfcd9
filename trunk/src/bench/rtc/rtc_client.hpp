// One WebRTC client of a load over its whole life: offer over HTTP (WHIP, WHEP), ICE and DTLS with the engine's client end, media
// until the load is stopped or an error, DELETE. Derived classes handle the media.
#pragma once

#include <memory>
#include <optional>
#include <string>

#include "base/net/transport_address.hpp"
#include "base/signal.hpp"
#include "bench/clips/rtp_clip.hpp"
#include "bench/load/load_client.hpp"
#include "bench/rtc/rtc_hub.hpp"
#include "bench/rtc/rtc_offer.hpp"
#include "engine/dtls/certificate.hpp"
#include "engine/dtls/transport.hpp"
#include "engine/webrtc/client_session.hpp"

namespace live::bench {

// Shared by all clients, including one certificate: the fingerprint only identifies an offer as ours.
struct RtcShared {
    RtcHub hub;
    std::unique_ptr<engine::dtls::Certificate> certificate;
    std::unique_ptr<engine::dtls::Context> dtls;
    std::string fingerprint;
    RtpClip clip;  // for publishers

    // Errc::system.
    Result<void> make_certificate();
};

class RtcClient : public RtcMember {
public:
    // The references outlive this.
    RtcClient(LoadClient& client, RtcShared& shared) : client_(client), shared_(shared) {}
    RtcClient(const RtcClient&) = delete;
    RtcClient& operator=(const RtcClient&) = delete;

    // Errc::cancelled when the load is stopped. Errors of HttpFetch, read_answer, io::resolve, ClientSession; Errc::timed_out
    // when there is no session within LoadTask::kStartLimit, or no media for LoadTask::kIdleLimit; Errc::closed when the server
    // ends it.
    Result<void> run(io::Deadline deadline);

    void on_datagram(TimePoint arrived, MutBytes datagram) final;
    void on_turn(TimePoint now) final;
    TimePoint next_due() const final;
    void on_sent(std::size_t bytes) final { client_.count_out(bytes); }
    void on_refused() final;

protected:
    ~RtcClient() = default;

    virtual RtcOffer offer() const = 0;
    virtual engine::webrtc::SessionOptions session_options() const = 0;
    // Makes the matching kind of session, and keeps the pointers it needs to it.
    virtual engine::webrtc::ClientSession::Maker session_maker() = 0;
    // Keys are established, and media may flow both ways.
    virtual void begin(TimePoint now) = 0;
    virtual void look_at(TimePoint arrived, Bytes datagram) = 0;  // before it is decrypted
    virtual void serve(TimePoint now) = 0;
    virtual TimePoint next_serve() const = 0;
    // Before the session is destroyed.
    virtual void finish() = 0;

    LoadClient& client() { return client_; }
    RtcShared& shared() { return shared_; }
    const RtcShared& shared() const { return shared_; }
    engine::webrtc::Session& session() { return *session_->session(); }
    const wire::sdp::Agreement& agreement() const { return agreement_; }
    // Media was sent or received: the client is not idle.
    void note_received(TimePoint now) { received_at_ = now; }
    // The load is over for this client; the server is being notified.
    bool is_leaving() const { return is_leaving_; }

private:
    Result<void> open(io::Deadline deadline);
    Result<RtcAnswer> request_answer(io::Deadline deadline);
    void send_goodbye();
    void fail(Error error);
    void check_life(TimePoint now);

    LoadClient& client_;
    RtcShared& shared_;
    std::string ufrag_;
    std::string pwd_;
    std::string location_;  // URL for ending the session; empty if missing
    wire::sdp::Agreement agreement_;
    TransportAddress remote_;
    std::unique_ptr<engine::webrtc::ClientSession> session_;
    std::optional<RtcHub::Id> id_;
    Signal ended_;
    std::optional<Error> failure_;
    TimePoint opened_{};
    TimePoint received_at_{};
    bool has_begun_ = false;
    bool is_leaving_ = false;
};

}  // namespace live::bench
