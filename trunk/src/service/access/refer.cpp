#include "service/access/refer.hpp"

#include <algorithm>

#include "base/text/ascii.hpp"

namespace live::service::access {

namespace {

bool ends_with(std::string_view host, std::string_view name) {
    return name.size() <= host.size() && ascii::are_same(host.substr(host.size() - name.size()), name);
}

}  // namespace

std::string_view host_of_page(std::string_view page_url) {
    constexpr std::string_view kSchemeEnd = "://";
    const std::size_t scheme = page_url.find(kSchemeEnd);
    std::string_view host = scheme == std::string_view::npos ? page_url : page_url.substr(scheme + kSchemeEnd.size());
    host = host.substr(0, host.find_first_of("/?#\\"));
    if (const std::size_t user = host.rfind('@'); user != std::string_view::npos)
        host.remove_prefix(user + 1);
    if (host.starts_with('['))
        return host.substr(1, std::min(host.find(']'), host.size()) - 1);
    return host.substr(0, host.find(':'));
}

Result<void> check_refer(std::span<const std::string> names, std::string_view page_url) {
    if (names.empty())
        return {};
    const std::string_view host = host_of_page(page_url);
    if (!host.empty() && std::ranges::any_of(names, [&](const std::string& name) { return ends_with(host, name); }))
        return {};
    return Error(Errc::denied, "clients from your page are not permitted (2015)");
}

}  // namespace live::service::access
