// RegistryUrl: the `registry` of a cluster, parsed. Pure.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.hpp"

namespace live::service::cluster {

struct RegistryPlace {
    std::string host;  // without brackets
    std::uint16_t port = 0;

    bool operator==(const RegistryPlace&) const = default;
};

struct RegistryUrl {
    static constexpr std::size_t kPlacesMax = 16;

    bool is_secure = false;
    // One server; with a master's name: its sentinels.
    std::vector<RegistryPlace> places;
    std::string master{};
    std::string user{};
    std::string password{};
    std::uint32_t database = 0;

    // For the log: without user and password.
    std::string label() const;
    bool operator==(const RegistryUrl&) const = default;
};

// redis://[[user]:password@]host[:port][/db], rediss:// the same, redis+sentinel://[[user]:password@]host[:port],.../master[/db].
// User and password may be percent-encoded. Errc::malformed.
Result<RegistryUrl> parse_registry_url(std::string_view text);

// Reads a sentinel's answer: the master's address.
Result<RegistryPlace> parse_master(std::string_view host, std::string_view port);

}  // namespace live::service::cluster
