// The client end of a session: an ice::Client in front of a Session of the opposite kind. For tests, load programs and the
// doctor, which talk to this server or another one of its kind.
#pragma once

#include <functional>
#include <memory>
#include <optional>

#include "base/bytes/bytes.hpp"
#include "base/net/transport_address.hpp"
#include "base/result.hpp"
#include "base/time.hpp"
#include "engine/ice/client.hpp"
#include "engine/webrtc/session.hpp"

namespace live::engine::webrtc {

class ClientSession {
public:
    // The create() of either kind of session: from the client's side, the server plays what the client publishes.
    using Maker = std::function<Result<std::unique_ptr<Session>>(const dtls::Context&, const SessionOptions&, DatagramBatch&,
                                                                 TimePoint now)>;
    template <class MediaKind>
    static Maker maker_of() {
        return [](const dtls::Context& context, const SessionOptions& options, DatagramBatch& output,
                  TimePoint now) -> Result<std::unique_ptr<Session>> {
            return std::unique_ptr<Session>(TRY(MediaKind::create(context, options, output, now)));
        };
    }
    // The agreement has our role and the server's fingerprint. `session.ice` and `session.peer` are ignored. `context` and
    // `output` outlive the session.
    struct Options {
        ice::Client::Options ice;
        SessionOptions session;
        Maker make;
    };
    ClientSession(const dtls::Context& context, Options options, DatagramBatch& output, TimePoint now);

    // Contract and errors as for Session. The first check is sent by the first handle_timeout().
    Result<void> handle_datagram(TimePoint now, MutBytes datagram, const TransportAddress& from);
    // Errc::timed_out if the server does not answer checks.
    Result<void> handle_timeout(TimePoint now);
    std::optional<TimePoint> next_timeout() const;
    void close(TimePoint now);

    // nullptr until a check was answered.
    Session* session() { return session_.get(); }
    const Session* session() const { return session_.get(); }
    bool is_established() const { return session_ != nullptr && session_->state() == Session::State::established; }
    const ice::Client& ice() const { return ice_; }

private:
    Result<void> handle_stun(TimePoint now, Bytes datagram, const TransportAddress& from);

    const dtls::Context& context_;
    SessionOptions options_;
    Maker make_;
    DatagramBatch& output_;
    ice::Client ice_;
    std::unique_ptr<Session> session_;
};

}  // namespace live::engine::webrtc
