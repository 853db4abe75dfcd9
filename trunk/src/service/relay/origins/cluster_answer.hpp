// The location of a stream from another origin of an origin_cluster: the answer to GET /api/v1/clusters?vhost=&app=&stream=...
// Dry; the answer is untrusted.
#pragma once

#include <optional>
#include <string>
#include <string_view>

#include "base/result.hpp"
#include "session/common/admission.hpp"

namespace live::service::relay {

// Returns the path and query of the request to the peer "host:port".
std::string cluster_question(std::string_view host, std::string_view coworker, const session::ClientRequest& client);

// Returns nullopt when that server does not have the stream. Errc::malformed for anything but the documented answer: status 200,
// an object with code 0 and data.origin, which is null or has an address and a port. Only this server sends "http", the
// "host:port" of its live streams.
Result<std::optional<session::Redirect>> parse_cluster_answer(int status, std::string_view body);

}  // namespace live::service::relay
