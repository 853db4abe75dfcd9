// WorkersResolver: the worker that publishes a stream. Where there is one process only, or an edge, the next resolver is asked.
#pragma once

#include <string>

#include "service/relay/resolver.hpp"
#include "service/workers/worker_service.hpp"

namespace live::service::workers {

class WorkersResolver final : public relay::Resolver {
public:
    static constexpr std::chrono::milliseconds kRetry{500};

    // Both outlive this.
    WorkersResolver(WorkerService& service, relay::Resolver& next) : service_(service), next_(next) {}

    relay::Location find(const std::string& url, const relay::ClusterOptions& options, io::Deadline deadline) override;

private:
    WorkerService& service_;
    relay::Resolver& next_;
};

}  // namespace live::service::workers
