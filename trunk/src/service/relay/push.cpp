#include "service/relay/push.hpp"

#include <utility>

#include "base/log_format.hpp"
#include "base/random.hpp"
#include "io/loop.hpp"
#include "service/forward/destination.hpp"
#include "wire/rtmp/stream_url.hpp"

namespace live::service::relay {

Push::Push(const PullContext& context, Resolver& resolver, OriginBook& book, session::ClientRequest publisher,
           session::StreamPlan plan, Ref<media::Source> source, Log log)
    : context_(context),
      resolver_(resolver),
      book_(book),
      publisher_(std::move(publisher)),
      plan_(std::move(plan)),
      source_(std::move(source)),
      log_(std::move(log)),
      forward_{context.dial, 10s} {}

void Push::run(io::Deadline deadline) {
    LOG_INFO(log_, "edge-fwr start, stream={}", plan_.url);
    TimePoint lost_at = io::now();
    for (;;) {
        lasted_ = Duration::zero();
        const auto ended = attempt(deadline);
        const TimePoint now = io::now();
        if (ended.code() == Errc::cancelled)
            break;
        LOG_WARN(log_, "edge-fwr origin disconnected, retry. stream={}: {}", plan_.url, ended.error().sentence());
        if (lasted_ >= kGoodAfter)
            lost_at = now;
        const ClusterOptions* options = context_.options.find(plan_.vhost);
        if (ended.code() == Errc::conflict || options == nullptr || now - lost_at >= options->publish_retry) {
            kick_publisher(ended.error().sentence());
            break;
        }
    }
    LOG_INFO(log_, "edge-fwr stop, stream={}", plan_.url);
}

// Never ok: returns the error that ended the push.
Result<void> Push::attempt(io::Deadline deadline) {
    const ClusterOptions* found = context_.options.find(plan_.vhost);
    if (found == nullptr)
        return Error(Errc::not_found, "the virtual host is gone");
    const ClusterOptions options = *found;
    const Location location = resolver_.find(plan_.url, options, deadline.sooner(io::Deadline::after(Pull::kStartLimit)));
    const auto* located = std::get_if<Located>(&location);
    if (located == nullptr) {
        TRY(io::sleep(deadline.sooner(io::Deadline::after(StaticResolver::kRetry))));
        return Error(Errc::not_found, "no origin is known");
    }
    std::vector<std::string> names;
    for (const Origin& origin : located->origins)
        names.push_back(origin.text());
    const auto choice = book_.choose(names, plan_.url, avoid_, io::now());
    if (choice->wait > Duration::zero()) {
        const auto waited = io::sleep(deadline.sooner(io::Deadline::after(choice->wait)));
        if (!waited.ok() && waited.code() == Errc::cancelled)
            return waited;
    }
    const std::string origin = names[choice->index];
    const bool is_default = plan_.vhost == wire::rtmp::kDefaultVhost;
    const auto destination = TRY(
        forward::make_destination(origin, {is_default ? "" : plan_.vhost, publisher_.app, publisher_.stream, publisher_.param}));
    LOG_INFO(log_, "edge-fwr publish url {}/{}, origin={}", destination.tc_url, publisher_.stream, origin);
    const TimePoint began = io::now();
    auto ended = forward::PushSession(destination, forward_, log_).run(source_, media::Cursor::Audience::some, deadline);
    lasted_ = io::now() - began;
    if (ended.ok())
        ended = Error(Errc::closed, "the push ended");
    if (ended.code() != Errc::cancelled && ended.code() != Errc::conflict)
        book_.report_down(origin, ended.error().sentence(), io::now(), static_cast<std::uint32_t>(random_number()));
    avoid_ = origin;
    return ended;
}

void Push::kick_publisher(const std::string& why) {
    context_.clients.for_each([&](session::ClientEntry& entry) {
        if (entry.client().request().id == publisher_.id)
            entry.kick("no origin takes the stream: " + why);
    });
}

}  // namespace live::service::relay
