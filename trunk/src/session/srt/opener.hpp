// Opener: makes the session of a client that requests a connection, or refuses it with a reason, which the client's SRT library
// shows to its user. Each has a fiber, because passphrases and admission take time; the client is not connected before that.
#pragma once

#include "engine/srt/listener.hpp"
#include "io/fibers/scope.hpp"
#include "session/srt/context.hpp"
#include "session/srt/session.hpp"

namespace live::session::srt {

engine::srt::RejectReason reject_reason_of(const Error& error);
engine::srt::ConnectionOptions connection_options(const SrtServerOptions& options);

class Opener final : public HandshakeListener {
public:
    // A client repeats its request every 250 ms.
    static constexpr std::chrono::milliseconds kPatienceMax{1500};

    // `sessions` has the fibers of clients.
    Opener(Context& context, io::Scope& sessions) : context_(context), sessions_(sessions), half_open_(context.places) {}

    Result<HalfOpen::Place> take_place(const engine::srt::Request& request, TimePoint now) override {
        return half_open_.take(request.from.ip, context_.vhosts.limits(), now);
    }
    void open(engine::srt::Request request, const Path& path) override;
    void give_up(std::uint64_t fiber) override { sessions_.cancel(fiber); }
    const HalfOpen& half_open() const { return half_open_; }

private:
    void serve(Opening& opening, io::Deadline deadline);
    Result<void> run(Opening& opening, const Log& log, io::Deadline deadline);
    Result<StreamId> stream_id_of(const engine::srt::Request& request) const;

    Context& context_;
    io::Scope& sessions_;
    HalfOpen half_open_;
};

}  // namespace live::session::srt
