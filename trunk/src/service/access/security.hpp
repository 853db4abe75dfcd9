// Access rules by address, for publishing and playing. Pure.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "base/result.hpp"
#include "service/access/options.hpp"

namespace live::service::access {

// Errc::denied with a sentence for the client that ends in the family's number: 1052 when there are no rules at all, 1053 when a
// deny rule matches, 1054 when allow rules exist and none matches. An `ip` that is not an address matches only "all".
Result<void> check_security(const SecurityOptions& options, Role role, std::string_view ip);

}  // namespace live::service::access
