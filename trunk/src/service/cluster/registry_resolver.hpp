// RegistryResolver: looks up the owner of a stream in the cluster's registry. Without an owner or an answer, it calls the next
// resolver if the virtual host has origins. Otherwise, without an answer, any other node may have the stream.
#pragma once

#include <string>

#include "service/cluster/cluster_service.hpp"
#include "service/cluster/lookup_budget.hpp"
#include "service/relay/origins/resolver.hpp"

namespace live::service::cluster {

class RegistryResolver final : public relay::Resolver {
public:
    static constexpr std::chrono::milliseconds kRetry{500};
    // While an answer is late, because it may arrive at any moment. The budget limits these retries.
    static constexpr std::chrono::milliseconds kLateRetry{50};
    static constexpr std::size_t kNeighboursMax = 64;

    // Both must outlive this.
    RegistryResolver(ClusterService& service, relay::Resolver& next) : service_(service), next_(next) {}

    relay::Location find(const std::string& url, const relay::ClusterOptions& options, io::Deadline deadline) override;
    bool knows(std::string_view host, std::uint16_t port, const relay::ClusterOptions& options) const override;

private:
    relay::Location neighbours();

    ClusterService& service_;
    relay::Resolver& next_;
    LookupBudget budget_;
    LookupBudget late_;
};

}  // namespace live::service::cluster
