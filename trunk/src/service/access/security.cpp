#include "service/access/security.hpp"

#include <algorithm>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "base/net/ip_network.hpp"

namespace live::service::access {

namespace {

constexpr std::string_view kEverybody = "all";

std::string_view name_of(Role role) { return role == Role::publish ? "publish" : "play"; }

bool matches(const std::vector<std::string>& rule, Role role, const Result<IpAddress>& address) {
    if (rule.size() != 2 || rule[0] != name_of(role))
        return false;
    if (rule[1] == kEverybody)
        return true;
    const auto network = IpNetwork::parse(rule[1]);
    return network.ok() && address.ok() && network->contains(*address);
}

bool any_matches(const std::vector<std::vector<std::string>>& rules, Role role, const Result<IpAddress>& address) {
    return std::ranges::any_of(rules, [&](const auto& rule) { return matches(rule, role, address); });
}

Error refusal(Role role, std::string_view why, int number) {
    return {Errc::denied, std::string(name_of(role)) + " is not permitted from your address: " + std::string(why) + " (" +
                              std::to_string(number) + ")"};
}

}  // namespace

Result<void> check_security(const SecurityOptions& options, Role role, std::string_view ip) {
    if (!options.enabled)
        return {};
    if (options.allow.empty() && options.deny.empty())
        return refusal(role, "no rule permits any client", 1052);
    const auto address = parse_ip(ip);
    if (any_matches(options.deny, role, address))
        return refusal(role, "a rule denies it", 1053);
    if (options.allow.empty() || any_matches(options.allow, role, address))
        return {};
    return refusal(role, "no rule allows it", 1054);
}

bool restricts(const SecurityOptions& options, Role role) {
    const auto is_of_role = [role](const std::vector<std::string>& rule) { return rule.size() == 2 && rule[0] == name_of(role); };
    const auto is_for_all = [&](const std::vector<std::string>& rule) { return is_of_role(rule) && rule[1] == kEverybody; };
    const bool allows_some = options.allow.empty() ? options.deny.empty() : std::ranges::none_of(options.allow, is_for_all);
    return options.enabled && (allows_some || std::ranges::any_of(options.deny, is_of_role));
}

namespace {

Result<void> validate(const std::vector<std::string>& rule) {
    if (rule.size() != 2 || (rule[0] != name_of(Role::publish) && rule[0] != name_of(Role::play)))
        return Error(Errc::malformed, "expected publish or play, then all, an address or a network");
    if (rule[1] != kEverybody)
        TRY(IpNetwork::parse(rule[1]));
    return {};
}

}  // namespace

config::Findings check_security_options(const SecurityOptions& options, const config::CheckContext& around) {
    for (const auto* rules : {&options.allow, &options.deny})
        for (const auto& rule : *rules)
            if (const auto valid = validate(rule); !valid.ok())
                return config::Findings::broken(fmt::format("vhost {}: security: found the rule \"{}\": {}", around.vhost,
                                                            fmt::join(rule, " "), valid.error().sentence()));
    return {};
}

}  // namespace live::service::access
