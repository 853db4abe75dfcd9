// SessionPeer: the common part of publishing and playing sessions: the engine, the place among the clients, and how it ends. It
// lives in the port, from the answer to its offer on, without a fiber of its own.
#pragma once

#include <chrono>
#include <memory>
#include <optional>
#include <string>
#include <utility>

#include "base/log/log.hpp"
#include "engine/rtp/media_types.hpp"
#include "engine/webrtc/session.hpp"
#include "io/fibers/loop.hpp"
#include "session/common/client_table.hpp"
#include "session/rtc/context.hpp"
#include "session/rtc/transport/handshake_run.hpp"
#include "session/rtc/transport/peer.hpp"

namespace live::session::rtc {

class SessionPeer : public Peer, protected Client {
public:
    // Time limit for a client to complete the check and the handshake.
    static constexpr std::chrono::seconds kConnectLimit{30};

    // `token`: its holder may end the session. Everything referred to outlives this.
    SessionPeer(Context& context, ClientRequest request, RtcOptions options, std::string ufrag, std::string token);
    ~SessionPeer() override;

    // "ours:theirs", as in the API. After begin.
    const std::string& session_id() const { return session_id_; }
    const std::string& token() const { return token_; }
    ClientEntry& entry() { return entry_; }
    const StreamPlan& plan() const { return plan_; }
    const Log& log() const { return log_; }
    // Set by a derived class's admit() when the client is to be sent to another server; then nothing else may be called.
    std::optional<Redirect> take_redirect() { return redirect_ ? std::optional(std::move(*redirect_)) : std::nullopt; }

    // A half-open place; becomes a client's place when the client has connected.
    void take(ConnectionLimits::Place place);
    // Ends the session for this reason. Only the first call counts.
    void end(Error why);

    // Peer
    void take_datagram(TimePoint now, MutBytes datagram, const TransportAddress& from) final;
    bool is_checked(const TransportAddress& address) const final { return session_ != nullptr && session_->is_checked(address); }
    bool is_half_open() const final { return !is_established_; }
    std::optional<TimePoint> next_timeout() const final;
    void on_due(TimePoint now) final;
    // Derived classes call it first.
    void finish_batch(TimePoint now) override { start_step(now); }
    void finish_step(TimePoint now) final;
    std::size_t engine_bytes() const final { return session_ == nullptr ? 0 : session_->bytes(); }
    bool holds_dtls() const final { return session_ != nullptr && session_->holds_dtls(); }

protected:
    StreamPlan& mutable_plan() { return plan_; }
    void set_redirect(Redirect to) { redirect_ = std::make_unique<Redirect>(std::move(to)); }
    Context& context() const { return context_; }
    const RtcOptions& options() const { return options_; }
    // It has been admitted, and the answer is ready: from now on the client may connect. `Engine` is the engine's PublishSession
    // or PlaySession, owned by this. Errc::system.
    template <class Engine>
    Result<Engine*> begin_as(const engine::dtls::Context& dtls, const engine::webrtc::SessionOptions& options) {
        const TimePoint now = io::now();
        auto made = TRY(Engine::create(dtls, options, context_.port.output(), now));
        Engine* const engine = made.get();
        begin(std::move(made), options.agreement.remote_ufrag, now);
        return engine;
    }
    // Reports whether the answer was made and the session has not ended.
    bool is_running() const { return session_ != nullptr && !end_; }
    // Valid once it has ended.
    TimePoint over_since() const { return over_since_; }
    void count_dropped(std::uint64_t packets) { dropped_ += packets; }
    // Memory of this part touched by sending.
    void add_peer_hot_lines(HotLines& lines) const { lines.add_range(session_, is_established_); }
    // Sends the close_notify and leaves the stream: destructors of derived classes must call it first.
    void finish();

    // Called after every input: takes the engine's results.
    virtual void drain(TimePoint now) = 0;
    virtual void on_established(TimePoint now) = 0;
    // How long an established session may be silent, whatever the engine's own limit; nothing: forever.
    virtual std::optional<Duration> silence_max() const { return std::nullopt; }

    // Client
    const ClientRequest& request() const final { return request_; }
    ClientFigures figures() const final;
    void kick(std::string reason) final { end(Error(Errc::closed, std::move(reason))); }

private:
    void begin(std::unique_ptr<engine::webrtc::Session> session, const std::string& remote_ufrag, TimePoint now);
    void look_at_state(TimePoint now);
    // The next step of the handshake, if there is one, goes to the worker; when too many wait for that, the session ends.
    void start_step(TimePoint now);
    // When it times out, unless something is received before.
    std::optional<TimePoint> limit() const;

    Context& context_;
    const ClientRequest request_;
    const RtcOptions options_;
    const std::string token_;
    const Log log_;
    StreamPlan plan_;
    std::unique_ptr<Redirect> redirect_;
    std::string session_id_;
    ClientEntry entry_;
    std::optional<ConnectionLimits::Place> place_;  // half open until an address is proved
    std::unique_ptr<engine::webrtc::Session> session_;
    std::unique_ptr<HandshakeRun> run_;  // while a step is with the worker
    std::optional<StreamStay> stay_;
    std::optional<Error> end_;
    TimePoint over_since_;
    TimePoint begun_;
    TimePoint last_received_;
    std::uint64_t dropped_ = 0;
    bool has_come_ = false;
    bool is_established_ = false;
};

}  // namespace live::session::rtc
