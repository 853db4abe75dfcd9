// The client's end of a session: ice::Client in front of a Session, of either kind, that has the other part. For tests, load
// programs and the doctor, which talk to our server or another one of this kind.
#pragma once

#include <functional>
#include <memory>
#include <optional>

#include "base/bytes.hpp"
#include "base/result.hpp"
#include "base/time.hpp"
#include "base/transport_address.hpp"
#include "engine/ice/client.hpp"
#include "engine/webrtc/session.hpp"

namespace live::engine::webrtc {

class ClientSession {
public:
    // What create() of either kind of session is: seen from here, the server plays what a client publishes.
    using Maker = std::function<Result<std::unique_ptr<Session>>(const dtls::Context&, const SessionOptions&, DatagramBatch&,
                                                                 TimePoint now)>;
    template <class Kind>
    static Maker maker_of() {
        return [](const dtls::Context& context, const SessionOptions& options, DatagramBatch& output,
                  TimePoint now) -> Result<std::unique_ptr<Session>> {
            return std::unique_ptr<Session>(TRY(Kind::create(context, options, output, now)));
        };
    }
    // The agreement has our role and the server's fingerprint. `session.ice` and `session.peer` are not used. `context` and
    // `output` outlive the session.
    struct Options {
        ice::Client::Options ice;
        SessionOptions session;
        Maker make;
    };
    ClientSession(const dtls::Context& context, Options options, DatagramBatch& output, TimePoint now);

    // The contract and the errors are those of Session. The first check leaves with the first handle_timeout().
    Result<void> handle_datagram(TimePoint now, MutBytes datagram, const TransportAddress& from);
    // Errc::timed_out when the server does not answer checks.
    Result<void> handle_timeout(TimePoint now);
    std::optional<TimePoint> next_timeout() const;
    void close(TimePoint now);

    // Nothing before a check was answered.
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
