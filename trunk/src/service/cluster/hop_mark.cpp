#include "service/cluster/hop_mark.hpp"

#include <algorithm>

#include "engine/cluster/records.hpp"

namespace live::service::cluster {

namespace {

bool is_mark(std::string_view parameter, std::string_view name) {
    return parameter.starts_with(name) && parameter.substr(name.size()).starts_with('=');
}

// Calls `each` with every "name=value".
template <class Each>
void for_each_parameter(std::string_view query, Each&& each) {
    query = query.starts_with('?') ? query.substr(1) : query;
    while (!query.empty()) {
        const std::size_t end = std::min(query.find('&'), query.size());
        each(query.substr(0, end));
        query.remove_prefix(std::min(end + 1, query.size()));
    }
}

}  // namespace

std::vector<std::string> hops_of(std::string_view query) {
    std::vector<std::string> hops;
    for_each_parameter(query, [&hops](std::string_view parameter) {
        if (!is_mark(parameter, kHopMark) || hops.size() >= kHopsMax)
            return;
        const std::string_view node = parameter.substr(kHopMark.size() + 1);
        if (engine::cluster::is_good_id(node))
            hops.emplace_back(node);
    });
    return hops;
}

bool has_branch_mark(std::string_view query) {
    bool found = false;
    for_each_parameter(query, [&found](std::string_view parameter) { found = found || is_mark(parameter, kBranchMark); });
    return found;
}

std::string branch_mark(std::string_view node) { return std::string(kBranchMark).append("=").append(node); }

std::string hop_mark(std::string_view node) { return std::string(kHopMark).append("=").append(node); }

}  // namespace live::service::cluster
