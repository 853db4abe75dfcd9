#include "service/tracing/tracer.hpp"

#include <algorithm>
#include <memory>
#include <utility>

#include "base/bytes/hash.hpp"
#include "base/bytes/random.hpp"
#include "base/log/log_format.hpp"
#include "base/text/metrics_text.hpp"
#include "io/fibers/loop.hpp"

namespace live::service::tracing {

namespace {

using session::ClientKind;
using session::ClientRequest;
using wire::http::TraceParent;

void write_number(std::uint64_t number, std::span<std::uint8_t> bytes) {
    for (std::size_t i = 0; i < bytes.size(); ++i)
        bytes[i] = static_cast<std::uint8_t>(number >> (8 * (bytes.size() - 1 - i)));
}

// Spreads the bits of a hash (the finaliser of MurmurHash3). An id of zeros is invalid.
std::uint64_t mixed(std::uint64_t number) {
    number = (number ^ (number >> 33)) * 0xFF51'AFD7'ED55'8CCD;
    number = (number ^ (number >> 33)) * 0xC4CE'B9FE'1A85'EC53;
    return std::max<std::uint64_t>(number ^ (number >> 33), 1);
}

std::string_view name_for(const ClientRequest& request) {
    if (request.kind == ClientKind::relay_pull)
        return "relay";
    return session::is_publisher(request.kind) ? "publish" : "play";
}

std::optional<TraceParent> stated_parent(const ClientRequest& request) {
    if (request.claims == nullptr || request.claims->trace_parent.empty())
        return std::nullopt;
    const auto parent = wire::http::parse_trace_parent(request.claims->trace_parent);
    return parent.ok() ? std::optional(*parent) : std::nullopt;
}

std::chrono::system_clock::time_point wall_time(TimePoint time) {
    return std::chrono::system_clock::now() - std::chrono::duration_cast<std::chrono::system_clock::duration>(io::now() - time);
}

}  // namespace

Tracer::Tracer(TracingOptions options, Resource resource, const http_client::HttpClient& client, const Log& log)
    : options_(std::move(options)), resource_(std::move(resource)), client_(client), log_(log), seed_(random_number()) {}

// The decision depends on the trace alone, so that all spans of a trace are kept or none.
bool Tracer::is_chosen(const TraceParent& context) const {
    std::uint32_t number = 0;
    for (std::size_t i = 0; i < 4; ++i)
        number = number << 8 | context.trace[i];
    constexpr double kAll = 4'294'967'296.0;
    return static_cast<double>(number) < kAll * options_.sample_percent / 100;
}

TraceParent Tracer::context_of(const ClientRequest& request) const {
    const std::uint64_t hash = fnv1a(as_bytes(request.id), fnv1a_step(kFnv1aBasis, seed_));
    TraceParent context;
    if (const auto parent = stated_parent(request)) {
        context.trace = parent->trace;
        context.is_sampled = parent->is_sampled;
    } else {
        const std::span<std::uint8_t> trace = context.trace;
        write_number(mixed(hash), trace.first(8));
        write_number(mixed(hash + seed_), trace.last(8));
        context.is_sampled = is_chosen(context);
    }
    write_number(mixed(~hash), context.span);
    context.is_sampled = context.is_sampled && options_.enabled;
    return context;
}

std::optional<Span> Tracer::begin(const TraceParent& parent, std::string_view name) const {
    if (!options_.enabled || !parent.is_sampled)
        return std::nullopt;
    Span span{.context = parent,
              .parent = parent.span_text(),
              .name = name,
              .kind = Span::Kind::client,
              .begin = std::chrono::system_clock::now(),
              .attributes = {},
              .failure = {}};
    write_number(mixed(random_number()), span.context.span);
    return span;
}

void Tracer::end(Span span, const Result<void>& ended) {
    span.end = std::chrono::system_clock::now();
    span.has_failed = !ended.ok();
    if (!ended.ok())
        span.failure = ended.error().sentence();
    add(std::move(span));
}

std::string Tracer::field_of(const ClientRequest& request) const {
    return options_.enabled ? context_of(request).text() : std::string();
}

void Tracer::adopt(ClientRequest& relay, const ClientRequest& cause) const {
    if (!options_.enabled)
        return;
    auto claims = relay.claims == nullptr ? session::RelayClaims() : *relay.claims;
    claims.trace_parent = context_of(cause).text();
    relay.claims = std::make_shared<const session::RelayClaims>(std::move(claims));
}

std::optional<Span> Tracer::span_of(const ClientRequest& request) const {
    if (!options_.enabled)
        return std::nullopt;
    const TraceParent context = context_of(request);
    if (!context.is_sampled)
        return std::nullopt;
    const auto parent = stated_parent(request);
    return Span{.context = context,
                .parent = parent ? parent->span_text() : std::string(),
                .name = name_for(request),
                .kind = request.kind == ClientKind::relay_pull ? Span::Kind::client : Span::Kind::server,
                .end = std::chrono::system_clock::now(),
                .attributes = {{"millrace.client_id", request.id},
                               {"millrace.vhost", request.vhost},
                               {"millrace.app", request.app},
                               {"millrace.stream", request.stream},
                               {"network.protocol.name", request.protocol},
                               {"client.address", request.ip}},
                .failure = {}};
}

void Tracer::on_left(session::ClientEntry& entry, const session::SessionEnd& end) {
    auto span = span_of(entry.client().request());
    if (!span)
        return;
    span->begin = wall_time(entry.since());
    const auto figures = entry.figures();
    span->attributes.emplace_back("millrace.received_bytes", static_cast<std::int64_t>(figures.received_bytes));
    span->attributes.emplace_back("millrace.sent_bytes", static_cast<std::int64_t>(figures.sent_bytes));
    span->attributes.emplace_back("millrace.dropped_packets", static_cast<std::int64_t>(figures.dropped_packets));
    span->attributes.emplace_back("millrace.reason", end.why);
    span->has_failed = end.failed;
    if (end.failed)
        span->failure = end.why;
    add(*std::move(span));
}

void Tracer::on_refused(const session::ClientEntry& entry, const Error& error) {
    auto span = span_of(entry.client().request());
    if (!span)
        return;
    span->begin = span->end;
    span->has_failed = true;
    span->failure = error.sentence();
    add(*std::move(span));
}

void Tracer::add(Span span) {
    if (is_stopped_ || queue_.size() >= options_.queue) {
        ++dropped_;
        return;
    }
    queue_.push_back(std::move(span));
    is_queued_.raise();
}

Result<void> Tracer::start(io::Scope&, io::Deadline) {
    if (!options_.enabled)
        return {};
    return scope_.start("tracing", [this](io::Deadline forever) { run(forever); });
}

void Tracer::run(io::Deadline deadline) {
    for (;;) {
        if (queue_.empty() && !io::wait(is_queued_, deadline).ok())
            return;
        if (!io::sleep(deadline.sooner(io::Deadline::after(kBatchWait))).ok())
            return;
        const auto sent = send_batch(deadline);
        if (!sent.ok() && sent.code() == Errc::cancelled)
            return;
        if (!sent.ok() && !io::sleep(deadline.sooner(io::Deadline::after(kRetryAfter))).ok())
            return;
    }
}

// A batch that the collector does not accept is dropped: a queue that keeps it would only drop newer spans.
Result<void> Tracer::send_batch(io::Deadline deadline) {
    const auto end = queue_.begin() + static_cast<std::ptrdiff_t>(std::min(queue_.size(), kBatchMax));
    const std::vector<Span> batch(std::make_move_iterator(queue_.begin()), std::make_move_iterator(end));
    queue_.erase(queue_.begin(), end);
    if (batch.empty())
        return {};
    http_client::HttpCall call;
    call.url = options_.url;
    call.headers.add("Content-Type", "application/json");
    if (!options_.authorization.empty())
        call.headers.add("Authorization", options_.authorization);
    call.body = otlp_json(resource_, batch);
    const auto answer = client_.call(call, deadline.sooner(io::Deadline::after(kCallLimit)));
    if (answer.ok() && answer->status / 100 == 2) {
        sent_ += batch.size();
        is_failing_ = false;
        return {};
    }
    dropped_ += batch.size();
    const Error error =
        answer.ok() ? Error(Errc::denied, fmt::format("the collector answers with status {}", answer->status)) : answer.error();
    if (error.code() != Errc::cancelled && !std::exchange(is_failing_, true))
        LOG_WARN(log_, "tracing: spans are lost: {}", error.sentence());
    return error;
}

Result<void> Tracer::stop(io::Deadline deadline) {
    TRY(scope_.stop(deadline));
    const auto limit = deadline.sooner(io::Deadline::after(std::chrono::seconds(1)));
    while (!queue_.empty() && send_batch(limit).ok()) {
    }
    dropped_ += queue_.size();
    queue_.clear();
    is_stopped_ = true;
    return {};
}

void Tracer::write_metrics(MetricsText& text) const {
    if (!options_.enabled)
        return;
    text.family("millrace_trace_spans_total", MetricsText::Type::counter, "Spans of traces, by their end.");
    text.sample(sent_, {{"end", "sent"}});
    text.sample(dropped_, {{"end", "dropped"}});
    text.family("millrace_trace_spans_queued", MetricsText::Type::gauge, "Spans that wait for the collector.")
        .sample(std::uint64_t{queue_.size()});
}

}  // namespace live::service::tracing
