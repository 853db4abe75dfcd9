#include "base/net/redirect_rule.hpp"

#include <algorithm>
#include <array>
#include <cstdint>

#include "base/net/ip_network.hpp"

namespace live {

namespace {

// From the most private scope to the most public one.
enum class Reach : std::uint8_t { machine, link, site, world };

struct Range {
    std::string_view network;
    Reach reach;
};

constexpr std::array kRanges = {
    Range{"127.0.0.0/8", Reach::machine}, Range{"0.0.0.0/8", Reach::machine},   Range{"::1", Reach::machine},
    Range{"::", Reach::machine},          Range{"169.254.0.0/16", Reach::link}, Range{"fe80::/10", Reach::link},
    Range{"224.0.0.0/4", Reach::link},    Range{"ff00::/8", Reach::link},       Range{"255.255.255.255", Reach::link},
    Range{"10.0.0.0/8", Reach::site},     Range{"172.16.0.0/12", Reach::site},  Range{"192.168.0.0/16", Reach::site},
    Range{"100.64.0.0/10", Reach::site},  Range{"fc00::/7", Reach::site},
};

Result<Reach> reach_of(std::string_view text) {
    const auto address = TRY(parse_ip(text.substr(0, text.find('%'))));
    const auto found = std::ranges::find_if(kRanges, [&](const Range& range) {
        const auto network = IpNetwork::parse(range.network);
        return network.ok() && network->contains(address);
    });
    return found == kRanges.end() ? Reach::world : found->reach;
}

}  // namespace

bool may_send_us(std::string_view sender, std::string_view target) {
    const auto from = reach_of(sender);
    const auto to = reach_of(target);
    if (!from.ok() || !to.ok())
        return false;
    return *to == Reach::link ? *from == Reach::link : *to >= *from;
}

}  // namespace live
