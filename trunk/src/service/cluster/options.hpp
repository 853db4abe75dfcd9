// RegistryOptions: the settings of a cluster, as plain values with defaults.
#pragma once

#include <chrono>
#include <cstdint>
#include <string>

#include "base/config/option_check.hpp"
#include "base/time.hpp"

namespace live::service::cluster {

struct RegistryOptions {
    // Empty: this server is in no cluster.
    std::string registry;
    std::string node_id;
    std::string advertise;
    std::string region;
    std::chrono::milliseconds beat = 2s;
    std::chrono::milliseconds lease = 8s;
    std::string secret;
    bool redirect = false;
    bool publishers = true;
    std::uint64_t capacity = 0;
    std::chrono::milliseconds drain_limit = 20s;
};

config::Findings check_registry_options(const RegistryOptions& options, const config::CheckContext& around);
inline constexpr config::OptionCheck<RegistryOptions> kRegistryCheck{check_registry_options};

}  // namespace live::service::cluster
