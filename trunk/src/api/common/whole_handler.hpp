// WholeHandler: of several workers, each knows only its own clients. This one answers for all of them, whichever was asked: lists
// and figures are put together, a request about one client or one session is passed on to the worker that has it, and worker=N
// asks one worker for its own answer. An answer that is one worker's own says whose in its head (X-Worker). It does the same for
// the processes of an upgrade, as long as there are several.
#pragma once

#include <chrono>
#include <string>
#include <string_view>

#include "api/common/route.hpp"
#include "api/common/server_info.hpp"
#include "api/common/whole_merge.hpp"
#include "base/time.hpp"
#include "engine/http1/message.hpp"
#include "service/workers/worker_service.hpp"
#include "session/http/handler.hpp"

namespace live::api {

class WholeHandler final : public session::http::Handler {
public:
    // One worker has this long to answer. One that does not is left out: it is about to be restarted.
    static constexpr std::chrono::milliseconds kAnswerLimit{1'500};
    // For what one worker alone is asked: a profile takes as long as it is asked to, and a new program as long as it starts. The
    // end of a worker that stands still ends the request, too.
    static constexpr std::chrono::seconds kOwnAnswerLimit{75};
    static constexpr std::size_t kAnswerBytesMax = 32 << 20;

    // What a port serves.
    enum class Scope : std::uint8_t { all, sessions, metrics };

    // Both outlive this.
    WholeHandler(const ServerInfo& server, service::workers::WorkerService& workers, Scope scope)
        : server_(server), workers_(workers), scope_(scope) {}

    bool takes(const session::http::Request& request) const override;
    session::http::Reply handle(const session::http::Request& request, io::Deadline deadline) override;

private:
    using Request = session::http::Request;
    using Reply = session::http::Reply;

    Result<engine::http1::Response> ask(std::size_t worker, std::string_view method, const std::string& target,
                                        const Request& request, io::Deadline deadline, Duration limit = kAnswerLimit) const;
    WorkerAnswers ask_all(const std::string& target, const Request& request, io::Deadline deadline) const;
    Reply pass_to(std::size_t worker, const Request& request, io::Deadline deadline) const;
    Reply pass_to_owner(const Request& request, int foreign_status, io::Deadline deadline) const;
    Reply list(const Request& request, const Route& route, io::Deadline deadline) const;
    Reply find_stream(const Request& request, io::Deadline deadline) const;
    Reply service_list(const Request& request, const Route& route, io::Deadline deadline) const;
    MergedList merged(std::string_view key, const Shown& shown, const Request& request, io::Deadline deadline) const;

    // The worker that answers where each worker has its own answer.
    std::size_t owner_of(const Route& route) const;
    // This one first.
    std::vector<engine::workers::Worker> everybody() const;

    const ServerInfo& server_;
    service::workers::WorkerService& workers_;
    const Scope scope_;
};

}  // namespace live::api
