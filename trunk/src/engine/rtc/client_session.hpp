// The client's end of a session: IceClient in front of a Session that has the other part. For tests, load programs and the
// doctor, which talk to our server or another one of this kind.
#pragma once

#include <memory>
#include <optional>

#include "base/bytes.hpp"
#include "base/result.hpp"
#include "base/time.hpp"
#include "base/transport_address.hpp"
#include "engine/rtc/ice_client.hpp"
#include "engine/rtc/session.hpp"

namespace live::engine::rtc {

class ClientSession {
public:
    // Seen from here: `session.purpose` is play for who sends media, publish for who receives it; the agreement has our role and
    // the server's fingerprint. `session.ice` and `session.peer` are not used. `context` and `output` outlive the session.
    struct Options {
        IceClient::Options ice;
        SessionOptions session;
    };
    ClientSession(const DtlsContext& context, Options options, DatagramBatch& output, TimePoint now);

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
    const IceClient& ice() const { return ice_; }

private:
    Result<void> handle_stun(TimePoint now, Bytes datagram, const TransportAddress& from);

    const DtlsContext& context_;
    SessionOptions options_;
    DatagramBatch& output_;
    IceClient ice_;
    std::unique_ptr<Session> session_;
};

}  // namespace live::engine::rtc
