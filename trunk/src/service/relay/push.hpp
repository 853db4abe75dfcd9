// Push: one stream that is published on an edge, carried to an origin for as long as it is published. When an origin fails, the
// next one gets the sequence headers and the newest GOP; the encoder is kept meanwhile, for a limited time.
#pragma once

#include <chrono>
#include <string>

#include "base/log.hpp"
#include "base/ref.hpp"
#include "media/source.hpp"
#include "service/forward/push_session.hpp"
#include "service/relay/pull.hpp"

namespace live::service::relay {

class Push {
public:
    // A push that lived this long was accepted by the origin: the time limit begins anew with its end.
    static constexpr std::chrono::seconds kGoodAfter{2};

    Push(const PullContext& context, Resolver& resolver, OriginBook& book, session::ClientRequest publisher,
         session::StreamPlan plan, Ref<media::Source> source, Log log);

    // Until cancelled, or until no origin takes the stream: then the publisher is kicked.
    void run(io::Deadline deadline);

    const std::string& url() const { return plan_.url; }

private:
    Result<void> attempt(io::Deadline deadline);
    void kick_publisher(const std::string& why);

    const PullContext& context_;
    Resolver& resolver_;
    OriginBook& book_;
    const session::ClientRequest publisher_;
    const session::StreamPlan plan_;
    const Ref<media::Source> source_;
    const Log log_;
    const forward::ForwardContext forward_;
    std::string avoid_;
    Duration lasted_{};  // the connection of the last attempt, pauses left out
};

}  // namespace live::service::relay
