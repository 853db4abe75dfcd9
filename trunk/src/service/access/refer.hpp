// The page that a client comes from: may clients of that page come in? Pure.
#pragma once

#include <span>
#include <string>
#include <string_view>

#include "base/result.hpp"

namespace live::service::access {

// Errc::denied, with a sentence for the client, unless the host of `page_url` ends with one of `names`, without regard to case.
// "example.com" permits sub.example.com and, as in the family, badexample.com; ".example.com" permits only what is below it. No
// names permit everybody, a client without a page too.
Result<void> check_refer(std::span<const std::string> names, std::string_view page_url);

// The host in what a client says its page is: "http://user@Host.example.com:80/x" is "Host.example.com". Empty when there is
// none.
std::string_view host_of_page(std::string_view page_url);

}  // namespace live::service::access
