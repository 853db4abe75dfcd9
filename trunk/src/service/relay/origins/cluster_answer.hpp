// What another origin of a cluster says about a stream: the answer to GET /api/v1/clusters?vhost=&app=&stream=... Dry; the answer
// is taken for hostile.
#pragma once

#include <optional>
#include <string>
#include <string_view>

#include "base/result.hpp"
#include "session/common/admission.hpp"

namespace live::service::relay {

// The path and query of the question to the coworker "host:port".
std::string cluster_question(std::string_view host, std::string_view coworker, const session::ClientRequest& client);

// None when that server does not have the stream. Errc::malformed for anything but the documented answer: status 200, an object
// with code 0 and data.origin, which is null or has an address and a port. "http", "host:port" of its live streams, is ours.
Result<std::optional<session::Redirect>> parse_cluster_answer(int status, std::string_view body);

}  // namespace live::service::relay
