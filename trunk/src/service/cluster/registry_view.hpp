// Lists the streams in a registry, for operators: page by page, beside the node's own commands.
#pragma once

#include <string>
#include <utility>
#include <vector>

#include "engine/cluster/records.hpp"
#include "service/cluster/cluster_service.hpp"

namespace live::service::cluster {

struct RegistryStreams {
    static constexpr std::size_t kStreamsMax = 10'000;

    std::vector<std::pair<std::string, engine::cluster::OwnRecord>> streams{};
    bool is_whole = false;  // all of them were read in time
};

RegistryStreams list_streams(ClusterService& service, io::Deadline deadline);

}  // namespace live::service::cluster
