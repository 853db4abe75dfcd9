// Access rules by the page a client comes from. Pure.
#pragma once

#include <span>
#include <string>
#include <string_view>

#include "base/result.hpp"

namespace live::service::access {

// Errc::denied, with a sentence for the client, unless the host of `page_url` ends with one of `names`, case-insensitively.
// "example.com" permits sub.example.com and, as in the family, badexample.com; ".example.com" permits subdomains only. Empty
// `names` permit all clients, also those without a page.
Result<void> check_refer(std::span<const std::string> names, std::string_view page_url);

// The host of the page URL that a client sends: "http://user@Host.example.com:80/x" is "Host.example.com". Empty when there is
// none.
std::string_view host_of_page(std::string_view page_url);

}  // namespace live::service::access
