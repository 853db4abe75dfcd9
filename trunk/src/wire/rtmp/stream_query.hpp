// The query of a stream's URL. Everything that chooses a virtual host by a query reads it here, whatever the protocol: two
// readers that differ let a client be admitted to one stream and get another. See without_vhost() before a query goes to another
// server.
#pragma once

#include <optional>
#include <string>
#include <string_view>

namespace live::wire::rtmp {

// The value of the first vhost=, or else of the first domain=, that is not empty; without slashes and white space. '?', '&' and
// '#' all separate parameters, as some clients write a second '?' instead of '&'. Names and values are percent-decoded. A '?' at
// the beginning is no part of the query.
std::optional<std::string> named_vhost(std::string_view query);

// The query without each parameter that any server may read as a virtual host: named_vhost() in any case, encoded several times,
// or the old mark "...vhost...". Other parameters stay as they were written. '?' and the rest, or empty.
std::string without_vhost(std::string_view query);

}  // namespace live::wire::rtmp
