// Connection: one RTSP client from accept to close. It identifies the stream, checks admission, and runs a PlaySession or a
// PublishSession.
#pragma once

#include <chrono>
#include <memory>
#include <optional>
#include <string>

#include "base/log/log.hpp"
#include "engine/rtsp/authenticator.hpp"
#include "session/common/accept_loop.hpp"
#include "session/common/admission.hpp"
#include "session/common/client_table.hpp"
#include "session/limits/memory_budget.hpp"
#include "session/rtsp/context.hpp"
#include "session/rtsp/peer.hpp"

namespace live::session::rtsp {

class PlaySession;

class Connection final : public Client, private MemoryBudget::Holder {
public:
    static constexpr AcceptorTexts kAcceptor{"rtsp", "RTSP: client", "RTSPS: client"};
    // Time limit from accept until the client names a stream.
    static constexpr std::chrono::seconds kIdentifyLimit{30};
    // Passwords are tried on many connections; a client that has the right one needs one challenge.
    static constexpr int kChallengesMax = 3;

    // Everything referred to outlives this.
    Connection(std::unique_ptr<io::Stream> stream, const Arrival& arrival, Context& context, MemoryBudget& memory, Log log);

    // Returns when the client is gone, for whatever reason; the reason is in the log.
    void run(io::Deadline deadline);

    const ClientRequest& request() const override { return request_; }
    ClientFigures figures() const override;
    void kick(std::string reason) override;

private:
    // MemoryBudget::Holder
    std::string_view address() const override { return request_.ip; }
    void lose_memory(std::string why) override { kick(std::move(why)); }

    Result<void> serve(io::Deadline deadline);
    Result<void> identify(const std::string& url, ClientKind kind);
    // Sets the credentials of the request. Errc::malformed for a Digest response that is not valid, Errc::limit as
    // PasswordSource::prove().
    Result<void> take_credentials(const std::string& authorization, std::string_view method, const std::string& url);
    // Ends the request: with a challenge, after which the client may repeat it, or for good.
    Result<void> refuse(const Error& error, io::Deadline deadline);
    struct Playing;
    Result<std::unique_ptr<Playing>> begin_play(const engine::rtsp::WantsToDescribe& asked, io::Deadline deadline);
    Result<void> play(const engine::rtsp::WantsToDescribe& asked, io::Deadline deadline);
    Result<void> publish(const engine::rtsp::WantsToAnnounce& asked, io::Deadline deadline);
    void log_end(const Result<void>& ended) const;

    Context& context_;
    Log log_;
    Peer peer_;
    ClientRequest request_;
    RtspOptions options_;
    std::string kick_reason_;
    std::optional<Error> challenged_;  // the refusal of the last request, which a challenge answered
    int challenges_ = 0;
    engine::rtsp::Authenticator authenticator_;
    PlaySession* playing_ = nullptr;
    MemoryBudget::Use memory_;
    ClientEntry entry_;
};

using Acceptor = TcpAcceptor<Connection, Context>;

}  // namespace live::session::rtsp
