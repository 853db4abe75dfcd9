// Connection: one RTMP client from accept to close. Identifies it, checks admission, and runs its sessions one after another. A
// refused client receives the reason as an RTMP status before the socket closes.
#pragma once

#include <chrono>
#include <memory>

#include "base/log/log.hpp"
#include "session/common/accept_loop.hpp"
#include "session/common/admission.hpp"
#include "session/limits/memory_budget.hpp"
#include "session/rtmp/context.hpp"
#include "session/rtmp/options.hpp"
#include "session/rtmp/peer.hpp"
#include "wire/rtmp/stream_url.hpp"

namespace live::session::rtmp {

class PlaySession;
class PublishSession;

class Connection final : public Client, private MemoryBudget::Holder {
public:
    static constexpr AcceptorTexts kAcceptor{"rtmp", "RTMP client", "RTMPS client"};
    // Time limit from accept until the client publishes or plays.
    static constexpr std::chrono::seconds kIdentifyLimit{30};
    // Time limit for a redirected client to leave.
    static constexpr std::chrono::seconds kRedirectLimit{3};
    // Between two sessions of one connection.
    static constexpr std::chrono::minutes kNextSessionLimit{3};
    // How long a refused client has to read the reason.
    static constexpr std::chrono::seconds kRefusalLimit{3};

    // Everything referred to outlives this.
    Connection(std::unique_ptr<io::Stream> stream, const Arrival& arrival, Context& context, MemoryBudget& memory, Log log);

    // Returns when the client is gone, for whatever reason; the reason is in the log.
    void run(io::Deadline deadline);

    const ClientRequest& request() const override { return request_; }
    ClientFigures figures() const override;
    void kick(std::string reason) override;
    void ask_to_leave(std::string reason) override;
    bool ask_to_move(const Redirect& to) override;

private:
    // MemoryBudget::Holder
    std::string_view address() const override { return request_.ip; }
    void lose_memory(std::string why) override { kick(std::move(why)); }

    Result<void> serve(io::Deadline deadline);
    Result<void> connect(io::Deadline deadline);
    void keep_arguments(const wire::amf::Value& arguments);
    Result<void> challenge(const engine::rtmp::ConnectRequest& request);
    Result<void> next_session(io::Deadline deadline, std::chrono::seconds patience);
    Result<void> publish(const engine::rtmp::WantsToPublish& asked, io::Deadline deadline);
    Result<void> play(const engine::rtmp::WantsToPlay& asked, io::Deadline deadline);
    Result<std::unique_ptr<PlaySession>> begin_play(const StreamPlan& plan, const Ref<media::Source>& source,
                                                    std::chrono::milliseconds duration, io::Deadline deadline);
    Result<void> obey_relay(wire::rtmp::StreamUrl& url) const;
    Result<void> identify(std::string_view stream_name, ClientKind kind);
    Result<void> refuse_publish(const Error& error, io::Deadline deadline);
    Result<void> refuse_play(const Error& error, io::Deadline deadline);
    Result<void> send_elsewhere(const Redirect& redirect, io::Deadline deadline);
    void log_end(const Result<void>& ended) const;

    Context& context_;
    Log log_;
    Peer peer_;
    ClientRequest request_;
    RtmpOptions options_;
    std::string app_;  // as in `connect`
    std::unique_ptr<std::string> kick_reason_;
    // While it plays.
    PlaySession* playing_ = nullptr;
    // While it publishes.
    PublishSession* publishing_ = nullptr;
    ClientEntry entry_;
};

using Acceptor = TcpAcceptor<Connection, Context>;

}  // namespace live::session::rtmp
