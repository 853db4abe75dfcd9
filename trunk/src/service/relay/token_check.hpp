// TokenCheck: `token_traverse`. Before an edge admits a client, an origin is asked whether it accepts a connection with what the
// client says of itself: RTMP handshake and connect, with the client's own tcUrl, page and arguments. A player of an HTTP live
// stream is asked for with a GET if an origin is HTTP; all clients but RTMP's have their query in the tcUrl.
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
    // To connect to one origin, and for its answer.
    static constexpr std::chrono::seconds kConnectLimit{3};
    static constexpr std::chrono::seconds kAnswerLimit{5};

    // Everything referred to outlives this.
    TokenCheck(const PullContext& context, Resolver& resolver, Log log)
        : context_(context), resolver_(resolver), log_(std::move(log)) {}

    // The first origin that takes a connection decides. Errc::denied when it refuses the client (a redirect is no permission), or
    // none answers (3067).
    Result<void> check(const session::ClientRequest& client, const session::StreamPlan& plan, const ClusterOptions& options,
                       io::Deadline deadline);

private:
    Result<void> ask(io::Stream& stream, Upstream& upstream, io::Deadline deadline) const;

    const PullContext context_;
    Resolver& resolver_;
    const Log log_;
};

}  // namespace live::service::relay
