#include "service/forward/splice.hpp"

#include <utility>

#include "base/log/log_format.hpp"

namespace live::service::forward {

namespace {

// Owns the destination that it refers to.
struct Pushing {
    Pushing(Destination to, const ForwardContext& context, const Log& log, PushProgress* progress)
        : destination(std::move(to)), session(destination, context, log, progress) {}
    const Destination destination;
    PushSession session;
};

// Returns nullptr if the stream stays on the old connection. An error ends the push.
Result<std::unique_ptr<Pushing>> go_on(Pushing& old, const NextDestination& next, const ForwardContext& context, const Log& log,
                                       PushProgress* progress, io::Deadline deadline) {
    auto destination = next(old.destination, old.session.take_reconnect_url());
    if (!destination.ok()) {
        LOG_WARN(log, "FWR keeps the connection to {}: {}", old.destination.label, destination.error().sentence());
        return std::unique_ptr<Pushing>();
    }
    Destination to = *std::move(destination);
    to.sent_by = to.is_named ? std::string() : old.session.peer_ip();
    const auto limit = deadline.sooner(io::Deadline::after(kSpliceLimit));
    auto fresh = std::make_unique<Pushing>(to, context, log, progress);
    auto opened = fresh->session.open(limit);
    const bool is_taken = !opened.ok() && opened.code() == Errc::conflict;
    if (!opened.ok() && opened.code() == Errc::cancelled) {
        old.session.end();
        return opened.error();
    }
    if (!opened.ok() && !is_taken) {
        LOG_WARN(log, "FWR keeps the connection to {}, cannot continue at {}: {}", old.destination.label, to.label,
                 opened.error().sentence());
        return std::unique_ptr<Pushing>();
    }
    // The next connection repeats the packets that arrive until it begins: see Start::overlapping.
    old.session.catch_up(limit);
    old.session.end();
    if (is_taken) {
        fresh = std::make_unique<Pushing>(to, context, log, progress);
        TRY(fresh->session.open(limit));
    }
    LOG_INFO(log, "FWR continues at {}, previous={}", to.label, old.destination.label);
    return fresh;
}

}  // namespace

Result<void> push_and_splice(Destination destination, const NextDestination& next, const ForwardContext& context, const Log& log,
                             const Ref<media::Source>& source, media::Cursor::Audience audience, io::Deadline deadline,
                             PushProgress* progress) {
    auto pushing = std::make_unique<Pushing>(std::move(destination), context, log, progress);
    auto start = media::Cursor::Start::join_point;
    TRY(pushing->session.open(deadline));
    for (;;) {
        TRY(pushing->session.run(source, start, audience, deadline));
        if (auto fresh = TRY(go_on(*pushing, next, context, log, progress, deadline))) {
            pushing = std::move(fresh);
            // Viewers may move before they have received the last packets of the old destination.
            start = media::Cursor::Start::overlapping;
        }
    }
}

}  // namespace live::service::forward
