#include "service/relay/push.hpp"

#include <utility>

#include "base/bytes/random.hpp"
#include "base/log/log_format.hpp"
#include "engine/relay/puller.hpp"
#include "io/fibers/loop.hpp"
#include "service/forward/destination.hpp"
#include "service/forward/splice.hpp"
#include "service/relay/relay_clock.hpp"
#include "wire/rtmp/stream_url.hpp"

namespace live::service::relay {

namespace {

// Reports whether the origin refuses the publisher: see PushSession::run().
bool is_refusal(Errc code) { return code == Errc::conflict || code == Errc::limit; }

}  // namespace

Push::Push(const PullContext& context, Resolver& resolver, OriginHealth& health, session::ClientRequest publisher,
           session::StreamPlan plan, Ref<media::Source> source, Log log)
    : context_(context),
      resolver_(resolver),
      health_(health),
      publisher_(std::move(publisher)),
      plan_(std::move(plan)),
      source_(std::move(source)),
      log_(std::move(log)),
      forward_{context.dial, 10s, nullptr, engine::relay::Puller::kStartLimit, kSilence} {}

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
        if (is_refusal(ended.code()) || options == nullptr || now - lost_at >= options->publish_retry) {
            kick_publisher(ended.error().sentence());
            break;
        }
    }
    LOG_INFO(log_, "edge-fwr stop, stream={}", plan_.url);
}

// Returns the error that ended the push; it is never ok.
Result<void> Push::attempt(io::Deadline deadline) {
    const ClusterOptions* found = context_.options.find(plan_.vhost);
    if (found == nullptr)
        return Error(Errc::not_found, "the virtual host was removed");
    const ClusterOptions options = *found;
    const auto pick = [&] {
        return pick_origin(resolver_, health_, plan_.url, options, left_,
                           deadline.sooner(io::Deadline::after(engine::relay::Puller::kStartLimit)));
    };
    Pick picked = pick();
    for (; std::holds_alternative<RetryLater>(picked); picked = pick()) {
        const RetryLater& later = std::get<RetryLater>(picked);
        const auto waited = io::sleep(deadline.sooner(io::Deadline::after(later.wait)));
        if (!waited.ok() && waited.code() == Errc::cancelled)
            return waited;
        if (!later.why.empty())
            return Error(Errc::not_found, later.why);
    }
    const Origin origin = std::get<Origin>(picked);
    // If the origin is an edge, it checks the path, so that the stream does not return here.
    const std::string path = TRY(extend_path(publisher_.relay_path(), context_.node.server_id));
    const TimePoint began = io::now();
    auto ended = origin.scheme == Scheme::srt ? push_by_srt(origin, path, options, deadline)
                                              : push_by_rtmp(origin, path, options, deadline);
    lasted_ = io::now() - began;
    if (ended.ok())
        ended = Error(Errc::closed, "the push ended");
    if (ended.code() != Errc::cancelled && !is_refusal(ended.code()))
        health_.report_down(origin.text(), ended.error().sentence(), io::now(), static_cast<std::uint32_t>(random_number()));
    left_.add(origin.text());
    return ended;
}

Result<void> Push::push_by_srt(const Origin& origin, const std::string& path, const ClusterOptions& options,
                               io::Deadline deadline) {
    if (!context_.srt)
        return Error(Errc::unsupported, "SRT is not available");
    const Wanted wanted = wanted_from(origin, publisher_, plan_.vhost, options);
    const auto call = srt_request(wanted, session::srt::Mode::publish, path);
    if (!call.ok())
        return Error(Errc::conflict, call.error().sentence());  // the request to another origin would fail too
    LOG_INFO(log_, "edge-fwr publish url {}, origin={}", label_of(wanted), origin.text());
    return context_.srt().push(*call, source_, log_, deadline);
}

Result<void> Push::push_by_rtmp(const Origin& origin, const std::string& path, const ClusterOptions& options,
                                io::Deadline deadline) {
    const std::string vhost = wanted_from(origin, publisher_, plan_.vhost, options).vhost;
    const bool is_default = vhost == wire::rtmp::kDefaultVhost;
    auto destination = TRY(
        forward::make_destination(origin.text(), {is_default ? "" : vhost, publisher_.app, publisher_.stream, publisher_.param}));
    auto span =
        context_.tracer == nullptr ? std::nullopt : context_.tracer->begin(context_.tracer->context_of(publisher_), "relay");
    // A proof is valid once. The default virtual host has the name that the tcUrl has for it.
    const auto introduce = [&](forward::Destination& to) {
        const auto url = wire::rtmp::parse_stream_url(to.tc_url, to.stream);
        const std::string stated = !is_default ? vhost : url.ok() ? url->vhost : to.host;
        const std::string proof = proof_for({RelayedRequest::Role::publish, stated, publisher_.app, publisher_.stream, path},
                                            to.is_named ? options.secret : "");
        to.connect_arguments = wire::amf::Value::object({{"millrace_path", path}, {"millrace_vhost", stated}});
        if (!proof.empty())
            to.connect_arguments.set("millrace_proof", proof);
        if (span)
            to.connect_arguments.set("millrace_traceparent", span->context.text());
    };
    const auto next = [&](const forward::Destination& from, const std::string& tc_url) -> Result<forward::Destination> {
        auto to = TRY(forward::moved_destination(from, tc_url));
        to.is_named = to.is_named || resolver_.knows(to.host, to.port, options);
        introduce(to);
        return to;
    };
    introduce(destination);
    LOG_INFO(log_, "edge-fwr publish url {}/{}, origin={}", destination.tc_url, publisher_.stream, origin.text());
    auto ended = forward::push_and_splice(destination, next, forward_, log_, source_, media::Cursor::Audience::some, deadline);
    if (span) {
        span->attributes.emplace_back("millrace.origin", origin.text());
        context_.tracer->end(*std::move(span), !ended.ok() && ended.code() == Errc::cancelled ? Result<void>() : ended);
    }
    return ended;
}

void Push::kick_publisher(const std::string& why) {
    context_.clients.for_each([&](session::ClientEntry& entry) {
        if (entry.client().request().id == publisher_.id)
            entry.kick("no origin takes the stream: " + why);
    });
}

}  // namespace live::service::relay
