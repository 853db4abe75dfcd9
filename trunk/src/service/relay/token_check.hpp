// TokenCheck: `token_traverse`. Before an edge admits a client, an origin must accept a connection with the client's own data:
// RTMP handshake and connect, with the client's tcUrl, page and arguments. For an HTTP live player, it is a GET if an origin is
// HTTP. Clients of other protocols than RTMP have their query in the tcUrl.
#pragma once

#include <chrono>

#include "base/log/log.hpp"
#include "io/fibers/deadline.hpp"
#include "service/relay/origins/resolver.hpp"
#include "service/relay/pull_context.hpp"
#include "service/relay/upstream/upstream.hpp"

namespace live::service::relay {

class TokenCheck {
public:
    // For the connection to one origin, and for its answer.
    static constexpr std::chrono::seconds kConnectLimit{3};
    static constexpr std::chrono::seconds kAnswerLimit{5};

    // All referenced objects must outlive this.
    TokenCheck(const PullContext& context, Resolver& resolver, Log log)
        : context_(context), resolver_(resolver), log_(std::move(log)) {}

    // The first origin that accepts a connection decides. Errc::denied when it refuses or redirects the client, or when no origin
    // answers (3067).
    Result<void> check(const session::ClientRequest& client, const session::StreamPlan& plan, const ClusterOptions& options,
                       io::Deadline deadline);

private:
    Result<void> ask(io::Stream& stream, Upstream& upstream, io::Deadline deadline) const;

    const PullContext context_;
    Resolver& resolver_;
    const Log log_;
};

}  // namespace live::service::relay
