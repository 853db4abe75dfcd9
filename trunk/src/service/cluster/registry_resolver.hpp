// RegistryResolver: the owner of a stream by the cluster's registry. Where the registry knows none, or does not answer, the next
// resolver is asked if the virtual host has origins; otherwise, without an answer, any other node may have the stream.
#pragma once

#include <string>

#include "service/cluster/ask_budget.hpp"
#include "service/cluster/cluster_service.hpp"
#include "service/relay/origins/resolver.hpp"

namespace live::service::cluster {

class RegistryResolver final : public relay::Resolver {
public:
    static constexpr std::chrono::milliseconds kRetry{500};
    // While an answer is late: it may come at any moment. Only for so many pulls as the budget allows.
    static constexpr std::chrono::milliseconds kLateRetry{50};
    static constexpr std::size_t kNeighboursMax = 64;

    // Both outlive this.
    RegistryResolver(ClusterService& service, relay::Resolver& next) : service_(service), next_(next) {}

    relay::Location find(const std::string& url, const relay::ClusterOptions& options, io::Deadline deadline) override;
    bool knows(std::string_view host, std::uint16_t port, const relay::ClusterOptions& options) const override;

private:
    relay::Location neighbours();

    ClusterService& service_;
    relay::Resolver& next_;
    AskBudget budget_;
    AskBudget late_;
};

}  // namespace live::service::cluster
