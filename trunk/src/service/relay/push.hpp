// Push: a stream published on an edge, sent to an origin for as long as it is published. When an origin fails, the next one
// receives the sequence headers and the newest GOP; meanwhile the encoder is kept for a limited time.
#pragma once

#include <chrono>
#include <string>

#include "base/bytes/ref.hpp"
#include "base/log/log.hpp"
#include "media/source/source.hpp"
#include "service/forward/push_session.hpp"
#include "service/relay/origins/pick_origin.hpp"
#include "service/relay/pull_context.hpp"

namespace live::service::relay {

class Push {
public:
    // A push that lasted this long was accepted by the origin: the retry time limit restarts when it ends.
    static constexpr std::chrono::seconds kGoodAfter{2};
    // An origin that has answered and then sends nothing for this long is left.
    static constexpr std::chrono::seconds kSilence{3};

    Push(const PullContext& context, Resolver& resolver, OriginHealth& health, session::ClientRequest publisher,
         session::StreamPlan plan, Ref<media::Source> source, Log log);

    // Runs until cancelled, or until no origin accepts the stream: then the publisher is kicked.
    void run(io::Deadline deadline);

    const std::string& url() const { return plan_.url; }

private:
    Result<void> attempt(io::Deadline deadline);
    // Each runs until the push ends. `path` is the path of servers, including this one.
    Result<void> push_by_srt(const Origin& origin, const std::string& path, const ClusterOptions& options, io::Deadline deadline);
    Result<void> push_by_rtmp(const Origin& origin, const std::string& path, const ClusterOptions& options,
                              io::Deadline deadline);
    void kick_publisher(const std::string& why);

    const PullContext& context_;
    Resolver& resolver_;
    OriginHealth& health_;
    const session::ClientRequest publisher_;
    const session::StreamPlan plan_;
    const Ref<media::Source> source_;
    const Log log_;
    const forward::ForwardContext forward_;
    LeftOrigins left_;
    Duration lasted_{};  // duration of the last attempt's connection, without pauses
};

}  // namespace live::service::relay
