// For tests that do not look at what becomes of streams.
#pragma once

#include <string>

#include "service/cluster/cluster_service.hpp"

namespace live::service::workers {

struct NoEvents final : cluster::ClusterEvents {
    void on_lost(const std::string&, const std::string&) override {}
    void on_moved(const std::string&) override {}
    void on_elsewhere(const std::string&) override {}
};

}  // namespace live::service::workers
