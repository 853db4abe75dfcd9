// The allowed targets of a redirect: another server must not send this one to an address that it cannot reach itself.
#pragma once

#include <string_view>

namespace live {

// Reports whether the server at `sender` may send us to `target`, both addresses without port: from the Internet to the Internet
// only, from a private network (RFC 1918, 4193, 6598) to one or to the Internet, from this machine anywhere; to link-local
// addresses, as of a cloud's metadata, only from one. Text that is not an address is refused.
bool may_send_us(std::string_view sender, std::string_view target);

}  // namespace live
