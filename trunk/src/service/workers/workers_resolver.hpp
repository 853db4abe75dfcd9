// WorkersResolver: the worker that publishes a stream. Where there is one process only, or an edge, the next resolver is asked.
#pragma once

#include <string>

#include "service/relay/origins/resolver.hpp"
#include "service/workers/worker_service.hpp"

namespace live::service::workers {

class WorkersResolver final : public relay::Resolver {
public:
    static constexpr std::chrono::milliseconds kRetry{500};

    // Both outlive this.
    WorkersResolver(WorkerService& service, relay::Resolver& next) : service_(service), next_(next) {}

    relay::Location find(const std::string& url, const relay::ClusterOptions& options, io::Deadline deadline) override;
    bool knows(std::string_view host, std::uint16_t port, const relay::ClusterOptions& options) const override {
        return next_.knows(host, port, options);
    }

private:
    WorkerService& service_;
    relay::Resolver& next_;
};

}  // namespace live::service::workers
