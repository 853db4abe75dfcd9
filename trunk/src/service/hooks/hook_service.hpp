// HookService: requests permissions from an operator's HTTP services, and notifies them of events. A request for permission waits
// in the client's own fiber, at most kCallLimit per URL, and delays no other client. Events go into a bounded queue and are
// delivered by fibers of this service: one client's events in order, different clients' in parallel.
#pragma once

#include <chrono>
#include <cstddef>
#include <deque>
#include <optional>
#include <string>
#include <unordered_map>
#include <vector>

#include "base/log/log.hpp"
#include "base/result.hpp"
#include "base/signal.hpp"
#include "io/fibers/deadline.hpp"
#include "io/fibers/scope.hpp"
#include "service/hooks/callback.hpp"
#include "service/hooks/options.hpp"
#include "service/http_client/http_client.hpp"
#include "service/service.hpp"
#include "service/tracing/tracer.hpp"
#include "session/common/stream_ids.hpp"

namespace live::service::hooks {

class HookService final : public Service {
public:
    static constexpr std::chrono::seconds kCallLimit{30};
    static constexpr std::chrono::seconds kNotifyLimit{10};
    // Delivering fibers; events of further clients wait.
    static constexpr std::size_t kDeliverersMax = 128;
    // Bound of queued events, bodies and URLs together. Events beyond it are dropped and counted in the log.
    static constexpr std::size_t kQueuedBytesMax = 16 << 20;

    // The references outlive this, and the tracer; nullptr: no traces.
    HookService(const http_client::HttpClient& client, ServerIdentity server, session::StreamIds& ids, Log log,
                tracing::Tracer* tracer = nullptr);
    ~HookService() override;
    HookService(const HookService&) = delete;
    HookService& operator=(const HookService&) = delete;

    // Questions: on_connect, on_publish, on_play. All URLs in order; the first that does not permit refuses. Before that, queued
    // events of this client have been delivered, or kCallLimit has passed. ok when there is no URL. Errc::denied with a sentence
    // for the client, Errc::cancelled.
    Result<Granted> ask(Action action, const HookOptions& options, const Subject& subject, io::Deadline deadline);
    // forward.backend: where to push the stream. Errors as ask().
    Result<std::vector<std::string>> ask_forward(std::string url, const HookOptions& options, const Subject& subject,
                                                 io::Deadline deadline);

    // Events: on_close, on_unpublish, on_stop. Never suspends.
    void tell(Action action, const HookOptions& options, const Subject& subject, const session::Traffic& traffic = {});

    // on_dvr: a recording is complete or has failed. `subject` is its publisher. Never suspends.
    void report_recording(const HookOptions& options, const Subject& subject, const RecordedFile& file);

    // on_upload: a recording is in the object storage, or cannot get there. `subject` names its stream. Never suspends.
    void report_upload(const HookOptions& options, const Subject& subject, const UploadedFile& file);

    // A fragment is complete: on_hls, and on_hls_notify. `subject` is its publisher. Never suspends.
    void report_fragment(const HookOptions& options, const Subject& subject, const Fragment& fragment);

    // Delivers queued events, as far as the deadline allows, and ends. Errc::timed_out when a fiber does not end.
    Result<void> stop(io::Deadline deadline) override;
    std::string_view name() const override { return "the callbacks"; }

    // Clients with undelivered events.
    std::size_t waiting_clients() const { return lines_.size(); }
    std::uint64_t dropped() const { return dropped_; }

private:
    struct QueuedEvent {
        Action action{};
        std::vector<std::string> urls;
        std::string body;
        std::size_t answer_bytes = 0;  // on_hls_notify
        wire::http::TraceParent trace{};
    };
    // One client's queue of events. It is in `ready_`, or a deliverer works on its first event.
    struct Line {
        std::deque<QueuedEvent> events;
        std::vector<Signal*> waiters;
    };

    Result<void> wait_for_events(const std::string& client_id, io::Deadline deadline);
    // Sends a call as a span of the client's trace.
    Result<engine::http1::Response> send(http_client::HttpCall& call, Action action, const wire::http::TraceParent& trace,
                                         io::Deadline deadline);
    Result<engine::http1::Response> call(Action action, const std::string& url, const std::string& body,
                                         const wire::http::TraceParent& trace, const Log& log, io::Deadline deadline);
    Result<void> notify(const std::string& url, const QueuedEvent& event, const Log& log, io::Deadline deadline);
    wire::http::TraceParent trace_of(const Subject& subject) const;
    void enqueue(const std::string& client_id, QueuedEvent events);
    void start_deliverer();
    void run_deliverer(io::Deadline deadline);
    Result<void> deliver(const std::string& client_id, const QueuedEvent& events, io::Deadline deadline);
    void finish_first(const std::string& client_id);
    std::optional<std::uint64_t> count_players(Action action, const std::string& stream_url);
    std::string stream_id_for(Action action, const Subject& subject);

    const http_client::HttpClient& client_;
    ServerIdentity server_;
    session::StreamIds& ids_;
    Log log_;
    tracing::Tracer* const tracer_;
    std::unordered_map<std::string, Line> lines_;  // by client
    std::deque<std::string> ready_;
    // Players of each stream, counted from the question on.
    std::unordered_map<std::string, std::uint64_t> players_;
    std::size_t queued_bytes_ = 0;
    std::size_t deliverers_ = 0;
    std::uint64_t dropped_ = 0;
    bool is_dropping_ = false;
    io::Scope scope_{"hooks"};
};

}  // namespace live::service::hooks
