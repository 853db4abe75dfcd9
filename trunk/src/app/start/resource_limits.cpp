#include "app/start/resource_limits.hpp"

#include <fmt/format.h>
#include <sys/resource.h>

#include <algorithm>
#include <cerrno>

namespace live::app {

Result<std::uint64_t> raise_open_files_limit() {
    rlimit limit{};
    if (::getrlimit(RLIMIT_NOFILE, &limit) != 0)
        return system_error("cannot read the limit of open files", errno);
    if (limit.rlim_cur != limit.rlim_max) {
        const rlimit raised{limit.rlim_max, limit.rlim_max};
        // Not permitted everywhere; if it fails, the old limit applies.
        if (::setrlimit(RLIMIT_NOFILE, &raised) == 0)
            limit = raised;
    }
    return static_cast<std::uint64_t>(limit.rlim_cur);
}

Result<void> permit_core_dumps() {
    rlimit limit{};
    if (::getrlimit(RLIMIT_CORE, &limit) != 0)
        return system_error("cannot read the limit of core dumps", errno);
    limit.rlim_cur = limit.rlim_max;
    if (::setrlimit(RLIMIT_CORE, &limit) != 0)
        return system_error("cannot raise the limit of core dumps", errno);
    return {};
}

ConnectionsLimit fit_connections(std::uint32_t wanted, std::uint64_t open_files_limit) {
    // RLIM_INFINITY is the largest number and needs no special case.
    if (open_files_limit > kSpareFiles && wanted <= open_files_limit - kSpareFiles)
        return {wanted, ""};
    const std::uint64_t fits = open_files_limit > kSpareFiles + 1 ? open_files_limit - kSpareFiles : 1;
    const auto clamped = static_cast<std::uint32_t>(std::min<std::uint64_t>(wanted, fits));
    return {clamped,
            fmt::format("max_connections is {} and the limit of open files is {}: at most {} connections are accepted; raise the "
                        "limit with ulimit -HSn {}",
                        wanted, open_files_limit, clamped, wanted + kSpareFiles)};
}

}  // namespace live::app
