// AggregateHandler: answers an API request for all workers of the server, and for all processes of an upgrade; each worker has
// only its own clients. It combines lists and counters, and forwards a request about one client or session to the worker that has
// it. worker=N selects one worker's own answer. The header X-Worker names the worker of such an answer.
#pragma once

#include <chrono>
#include <string>
#include <string_view>

#include "api/common/route.hpp"
#include "api/common/server_info.hpp"
#include "base/time.hpp"
#include "engine/http1/message.hpp"
#include "engine/workers/row.hpp"
#include "service/workers/worker_service.hpp"
#include "session/http/handler.hpp"

namespace live::api {

class AggregateHandler final : public session::http::Handler {
public:
    // The limit for one worker's answer. A late one is left out: that worker is about to be restarted.
    static constexpr std::chrono::milliseconds kAnswerLimit{1'500};
    // The limit for a request to one selected worker: a profile or the start of a new program takes long. The end of that worker
    // ends the request, too.
    static constexpr std::chrono::seconds kOwnAnswerLimit{75};
    static constexpr std::size_t kAnswerBytesMax = 32 << 20;

    // The endpoints of a port that are answered for all workers.
    enum class Scope : std::uint8_t { all, sessions, metrics };

    // Both must outlive this.
    AggregateHandler(const ServerInfo& server, service::workers::WorkerService& workers, Scope scope)
        : server_(server), workers_(workers), scope_(scope) {}

    bool takes(const session::http::Request& request) const override;
    session::http::Reply handle(const session::http::Request& request, io::Deadline deadline) override;

private:
    using Request = session::http::Request;
    using Reply = session::http::Reply;

    using RowReport = engine::workers::RowReport;
    using Everybody = std::vector<engine::workers::Worker>;
    enum class Asked : std::uint8_t {
        one,     // the only worker that is asked
        some,    // one after the other
        report,  // the same, for reports
    };

    Result<engine::http1::Response> ask(std::size_t worker, std::string_view method, const std::string& target,
                                        const Request& request, io::Deadline deadline, Asked asked) const;
    template <class Visit>
    void for_reports(const Everybody& workers, const std::string& target, const Request& request, io::Deadline deadline,
                     Visit&& visit) const;
    RowReport sum_of(const Everybody& workers, const std::string& target, const Request& request, io::Deadline deadline) const;
    Reply pass_to(std::size_t worker, const Request& request, io::Deadline deadline) const;
    Reply pass_to_owner(const Request& request, int foreign_status, io::Deadline deadline) const;
    // For Answerer::own and Answerer::holder.
    Reply own(const Request& request, const Route& route, io::Deadline deadline) const;
    Reply list(const Request& request, const Route& route, io::Deadline deadline) const;
    Reply metrics(const Request& request, const Route& route, io::Deadline deadline) const;

    // All workers and processes, this one first.
    Everybody everybody() const;

    const ServerInfo& server_;
    service::workers::WorkerService& workers_;
    const Scope scope_;
};

}  // namespace live::api
