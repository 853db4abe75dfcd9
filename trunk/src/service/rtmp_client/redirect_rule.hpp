// Where another server may send this one: a redirect must not reach what its sender cannot reach itself.
#pragma once

#include <string_view>

namespace live::service::rtmp_client {

// Whether the server at `sender` may send us to `target`, both addresses without port: never to a wider-known server's inside.
// From the Internet to the Internet only, from a private network (RFC 1918, 4193, 6598) to one or to the Internet, from this
// machine anywhere; to link-local addresses, as of a cloud's metadata, only from one. Text that is not an address is refused.
bool may_send_us(std::string_view sender, std::string_view target);

}  // namespace live::service::rtmp_client
