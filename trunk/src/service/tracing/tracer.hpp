// Tracer: spans of clients, relays and callbacks, sent to a collector by OTLP over HTTP. Off unless tracing.enabled.
//
// A client's span needs no memory while the client is connected: its ids are computed from the session id. Finished spans wait in
// a bounded queue; one fiber sends them in batches. Spans beyond the bound, and those of a batch that the collector does not
// accept, are counted and dropped.
#pragma once

#include <cstdint>
#include <deque>
#include <optional>
#include <string>

#include "base/log/log.hpp"
#include "base/signal.hpp"
#include "service/http_client/http_client.hpp"
#include "service/service.hpp"
#include "service/tracing/options.hpp"
#include "service/tracing/otlp.hpp"
#include "service/tracing/span.hpp"
#include "session/common/client_table.hpp"

namespace live::service::tracing {

class Tracer final : public Service, public session::ClientWatcher {
public:
    static constexpr std::size_t kBatchMax = 256;
    static constexpr std::chrono::seconds kCallLimit{10};
    static constexpr std::chrono::milliseconds kBatchWait{500};  // from the first span of a batch
    static constexpr std::chrono::seconds kRetryAfter{5};

    // `client` and `log` outlive this.
    Tracer(TracingOptions options, Resource resource, const http_client::HttpClient& client, const Log& log);

    // The span of a client: of the trace that its request names, or of its own.
    wire::http::TraceParent context_of(const session::ClientRequest& request) const;
    // A child span that begins now; nullopt: the trace is not sampled.
    std::optional<Span> begin(const wire::http::TraceParent& parent, std::string_view name) const;
    // The span ends now.
    void end(Span span, const Result<void>& ended);
    // The trace of a client as a traceparent field; empty: tracing is off.
    std::string field_of(const session::ClientRequest& request) const;
    // Makes the request of a relay that a client causes a part of the client's trace.
    void adopt(session::ClientRequest& relay, const session::ClientRequest& cause) const;

    bool is_on() const { return options_.enabled; }
    std::uint64_t sent() const { return sent_; }
    std::uint64_t dropped() const { return dropped_; }

    // session::ClientWatcher
    void on_entered(session::ClientEntry&) override {}
    void on_left(session::ClientEntry& entry, const session::SessionEnd& end) override;
    void on_refused(const session::ClientEntry& entry, const Error& error) override;

    std::string_view name() const override { return "the traces"; }
    Result<void> start(io::Scope& fibers, io::Deadline deadline) override;
    // Sends the queued spans, as far as the deadline allows.
    Result<void> stop(io::Deadline deadline) override;
    void write_metrics(MetricsText& text) const override;

private:
    bool is_chosen(const wire::http::TraceParent& context) const;
    std::optional<Span> span_of(const session::ClientRequest& request) const;
    void add(Span span);
    void run(io::Deadline deadline);
    Result<void> send_batch(io::Deadline deadline);

    const TracingOptions options_;
    const Resource resource_;
    const http_client::HttpClient& client_;
    const Log& log_;
    const std::uint64_t seed_;
    std::deque<Span> queue_;
    Signal is_queued_;
    std::uint64_t sent_ = 0;
    std::uint64_t dropped_ = 0;
    bool is_failing_ = false;
    bool is_stopped_ = false;
    io::Scope scope_{"tracing"};
};

}  // namespace live::service::tracing
