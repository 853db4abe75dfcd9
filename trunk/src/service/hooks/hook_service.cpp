#include "service/hooks/hook_service.hpp"

#include <string_view>
#include <utility>

#include "base/log/log_format.hpp"
#include "base/text/secret.hpp"
#include "io/fibers/loop.hpp"
#include "wire/http/target.hpp"
#include "wire/http/url.hpp"

namespace live::service::hooks {

namespace {

constexpr std::chrono::milliseconds kStopMargin{100};

// Not const references: a reload may replace the options while a call waits.
std::vector<std::string> urls_for(Action action, const HookOptions& options) {
    if (!options.enabled)
        return {};
    switch (action) {
        case Action::on_connect: return options.on_connect;
        case Action::on_close: return options.on_close;
        case Action::on_publish: return options.on_publish;
        case Action::on_unpublish: return options.on_unpublish;
        case Action::on_play: return options.on_play;
        case Action::on_stop: return options.on_stop;
        case Action::on_dvr: return options.on_dvr;
        case Action::on_upload: return options.on_upload;
        case Action::on_hls: return options.on_hls;
        case Action::on_hls_notify: return options.on_hls_notify;
        case Action::on_forward: break;
    }
    return {};
}

// The bytes charged to the queue for a waiting event.
std::size_t cost_of(const std::vector<std::string>& urls, const std::string& body) {
    constexpr std::size_t kOverhead = 256;
    std::size_t cost = body.size() + kOverhead;
    for (const std::string& url : urls)
        cost += url.size() + kOverhead;
    return cost;
}

// A query may hold a key.
std::string label_of(const std::string& url) {
    const auto parsed = wire::http::parse_url(url);
    return parsed.ok() ? parsed->label() : url.substr(0, url.find('?'));
}

std::int64_t milliseconds_since(TimePoint begin) {
    return std::chrono::duration_cast<std::chrono::milliseconds>(io::now() - begin).count();
}

// The error for a refused client. Why a service could not be reached is for the operator, in the log. A service without a valid
// answer refuses; without any, the client may try again.
Error refusal(Action action, const Error& error) {
    if (error.code() == Errc::cancelled || error.code() == Errc::denied)
        return error;
    const bool is_answer = error.code() == Errc::malformed || error.code() == Errc::unsupported || error.code() == Errc::limit;
    return {is_answer ? Errc::denied : Errc::limit, "the callback " + std::string(name_of(action)) + " failed"};
}

// The subject as the service may see it.
// A token of the Authorization field is a parameter for services, as WHIP's is.
void add_bearer(session::ClientRequest& request) {
    if (request.credentials == nullptr || request.credentials->bearer.empty())
        return;
    std::string_view param = request.param;
    const bool is_query = param.starts_with('?') || param.empty();
    param.remove_prefix(param.starts_with('?') ? 1 : 0);
    if (const auto query = wire::http::Query::parse(param); !query.ok() || query->find("token"))
        return;
    const std::string token = "token=" + wire::http::percent_encode(request.credentials->bearer);
    request.param = (is_query ? "?" : "") + std::string(param) + (param.empty() ? "" : "&") + token;
}

Subject shown_to(const HookOptions& options, Subject subject) {
    session::ClientRequest& request = subject.request;
    add_bearer(request);
    if (options.credentials)
        return subject;
    request.param = redacted(request.param);
    request.tc_url = redacted(request.tc_url);
    request.page_url = redacted(request.page_url);
    return subject;
}

}  // namespace

HookService::HookService(const http_client::HttpClient& client, ServerIdentity server, session::StreamIds& ids, Log log,
                         tracing::Tracer* tracer)
    : client_(client), server_(std::move(server)), ids_(ids), log_(std::move(log)), tracer_(tracer) {}

HookService::~HookService() = default;

wire::http::TraceParent HookService::trace_of(const Subject& subject) const {
    return tracer_ == nullptr ? wire::http::TraceParent() : tracer_->context_of(subject.request);
}

Result<engine::http1::Response> HookService::send(http_client::HttpCall& call, Action action,
                                                  const wire::http::TraceParent& trace, io::Deadline deadline) {
    auto span = tracer_ == nullptr ? std::nullopt : tracer_->begin(trace, name_of(action));
    if (!span)
        return client_.call(call, deadline);
    call.headers.add(std::string(session::kTraceParentField), span->context.text());
    span->attributes.emplace_back("http.request.method", call.method);
    span->attributes.emplace_back("url.full", label_of(call.url));
    auto answer = client_.call(call, deadline);
    if (answer.ok())
        span->attributes.emplace_back("http.response.status_code", std::int64_t{answer->status});
    auto checked = answer.ok() && action != Action::on_hls_notify ? check_answer(answer->status, answer->body) : Result<void>();
    tracer_->end(*std::move(span), answer.ok() ? checked : Result<void>(answer.error()));
    return answer;
}

// One call, and one log line about its outcome.
Result<engine::http1::Response> HookService::call(Action action, const std::string& url, const std::string& body,
                                                  const wire::http::TraceParent& trace, const Log& log, io::Deadline deadline) {
    http_client::HttpCall call;
    call.url = url;
    call.headers.add("Content-Type", "application/json");
    call.body = body;
    const TimePoint begin = io::now();
    auto answer = send(call, action, trace, deadline.sooner(io::Deadline::after(kCallLimit)));
    auto checked = answer.ok() ? check_answer(answer->status, answer->body) : Result<void>(answer.error());
    if (checked.ok()) {
        LOG_INFO(log, "http hook {} success, url={}, status={}, cost={}ms", name_of(action), label_of(url), answer->status,
                 milliseconds_since(begin));
        return answer;
    }
    if (checked.code() != Errc::cancelled)
        LOG_WARN(log, "http hook {} failed, url={}, cost={}ms, reason=\"{}\"", name_of(action), label_of(url),
                 milliseconds_since(begin), checked.error().text());
    return std::move(checked).error();
}

// Counted even without callbacks: a reload may switch them on. Nothing for other actions.
std::optional<std::uint64_t> HookService::count_players(Action action, const std::string& stream_url) {
    if (action == Action::on_play)
        return ++players_[stream_url];
    if (action != Action::on_stop)
        return std::nullopt;
    const auto count = players_.find(stream_url);
    if (count == players_.end())
        return 0;
    const std::uint64_t left = --count->second;
    if (left == 0)
        players_.erase(count);
    return left;
}

std::string HookService::stream_id_for(Action action, const Subject& subject) {
    // Only a client that may still enter the stream causes an id to be assigned to it.
    const bool may_enter = action == Action::on_publish || action == Action::on_play;
    return may_enter ? ids_.stream_id(subject.request, subject.stream_url, subject.vhost)
                     : std::as_const(ids_).stream_id(subject.stream_url);
}

Result<Granted> HookService::ask(Action action, const HookOptions& options, const Subject& subject, io::Deadline deadline) {
    const std::vector<std::string> urls = urls_for(action, options);
    // A reload may replace the options while this waits.
    const Subject shown = shown_to(options, subject);
    const auto players = count_players(action, subject.stream_url);
    auto asked = [&]() -> Result<Granted> {
        Granted granted;
        if (urls.empty())
            return granted;
        TRY(wait_for_events(subject.request.id, deadline));
        const std::string body = body_of(action, server_, shown, {stream_id_for(action, subject), players, {}});
        const Log log = log_.with_id(subject.request.id);
        for (const std::string& url : urls) {
            const auto answer = TRY(call(action, url, body, trace_of(subject), log, deadline));
            if (auto more = TRY(granted_by(answer.status, answer.body)); more.srt_passphrase)
                granted = std::move(more);
        }
        return granted;
    }();
    if (asked.ok())
        return asked;
    if (action == Action::on_play)
        count_players(Action::on_stop, subject.stream_url);  // it does not play after all
    return refusal(action, asked.error());
}

Result<std::vector<std::string>> HookService::ask_forward(std::string url, const HookOptions& options, const Subject& subject,
                                                          io::Deadline deadline) {
    const Log log = log_.with_id(subject.request.id);
    const std::string body = body_of(Action::on_forward, server_, shown_to(options, subject), {});
    const auto answer = call(Action::on_forward, url, body, trace_of(subject), log, deadline);
    if (!answer.ok())
        return refusal(Action::on_forward, answer.error());
    auto urls = forward_urls_of(answer->status, answer->body);
    if (urls.ok())
        return urls;
    LOG_WARN(log, "http hook {} failed, url={}, reason=\"{}\"", name_of(Action::on_forward), label_of(url), urls.error().text());
    return refusal(Action::on_forward, urls.error());
}

Result<void> HookService::wait_for_events(const std::string& client_id, io::Deadline deadline) {
    const auto line = lines_.find(client_id);
    if (line == lines_.end())
        return {};
    Signal delivered;
    line->second.waiters.push_back(&delivered);
    const auto waited = io::wait(delivered, deadline.sooner(io::Deadline::after(kCallLimit)));
    if (const auto again = lines_.find(client_id); again != lines_.end())
        std::erase(again->second.waiters, &delivered);
    // If a service hangs until the time limit, the question is sent anyway.
    return waited.ok() || (waited.code() == Errc::timed_out && !deadline.expired()) ? Result<void>() : waited;
}

void HookService::tell(Action action, const HookOptions& options, const Subject& subject, const session::Traffic& traffic) {
    const auto players = count_players(action, subject.stream_url);
    std::vector<std::string> urls = urls_for(action, options);
    if (urls.empty())
        return;
    std::string body = body_of(action, server_, shown_to(options, subject), {stream_id_for(action, subject), players, traffic});
    enqueue(subject.request.id, {action, std::move(urls), std::move(body), 0, trace_of(subject)});
}

void HookService::report_recording(const HookOptions& options, const Subject& subject, const RecordedFile& file) {
    std::vector<std::string> urls = urls_for(Action::on_dvr, options);
    if (urls.empty())
        return;
    std::string body = body_of(file, server_, shown_to(options, subject), stream_id_for(Action::on_dvr, subject));
    enqueue(subject.request.id, {Action::on_dvr, std::move(urls), std::move(body), 0, trace_of(subject)});
}

void HookService::report_upload(const HookOptions& options, const Subject& subject, const UploadedFile& file) {
    std::vector<std::string> urls = urls_for(Action::on_upload, options);
    if (urls.empty())
        return;
    std::string body = body_of(file, server_, shown_to(options, subject), stream_id_for(Action::on_upload, subject));
    enqueue(subject.request.id, {Action::on_upload, std::move(urls), std::move(body), 0, trace_of(subject)});
}

void HookService::report_fragment(const HookOptions& options, const Subject& subject, const Fragment& fragment) {
    if (std::vector<std::string> urls = urls_for(Action::on_hls, options); !urls.empty()) {
        std::string body = body_of(fragment, server_, shown_to(options, subject), stream_id_for(Action::on_hls, subject));
        enqueue(subject.request.id, {Action::on_hls, std::move(urls), std::move(body), 0, trace_of(subject)});
    }
    if (std::vector<std::string> urls =
            notify_urls(urls_for(Action::on_hls_notify, options), fragment, server_, shown_to(options, subject));
        !urls.empty())
        enqueue(subject.request.id,
                {Action::on_hls_notify, std::move(urls), {}, fragment.notify_answer_bytes, trace_of(subject)});
}

void HookService::enqueue(const std::string& client_id, QueuedEvent events) {
    const std::size_t cost = cost_of(events.urls, events.body);
    if (queued_bytes_ + cost > kQueuedBytesMax) {
        ++dropped_;
        if (!std::exchange(is_dropping_, true))
            LOG_WARN(log_, "http hook: {} bytes of events wait for delivery; further events are dropped", queued_bytes_);
        return;
    }
    if (std::exchange(is_dropping_, false))
        LOG_WARN(log_, "http hook: {} events were dropped so far", dropped_);
    queued_bytes_ += cost;
    const auto [line, is_new] = lines_.try_emplace(client_id);
    line->second.events.push_back(std::move(events));
    if (is_new)
        ready_.push_back(client_id);
    start_deliverer();
}

void HookService::start_deliverer() {
    if (deliverers_ >= kDeliverersMax || deliverers_ >= lines_.size())
        return;
    const auto started = scope_.start("hooks", [this](io::Deadline forever) { run_deliverer(forever); });
    if (started.ok())
        ++deliverers_;
    else
        LOG_WARN(log_, "http hook: no fiber for the delivery of events, which wait: {}", started.error().text());
}

void HookService::run_deliverer(io::Deadline deadline) {
    while (!ready_.empty()) {
        const std::string client_id = std::move(ready_.front());
        ready_.pop_front();
        // A reference into a map and a deque stays valid while others are added, and nothing else removes from this queue.
        if (!deliver(client_id, lines_[client_id].events.front(), deadline).ok())
            break;  // the service is stopping
        finish_first(client_id);
    }
    --deliverers_;
}

// Makes a CDN fetch the fragment; the response is ignored. Fails with Errc::cancelled only.
Result<void> HookService::notify(const std::string& url, const QueuedEvent& event, const Log& log, io::Deadline deadline) {
    http_client::HttpCall call;
    call.method = "GET";
    call.url = url;
    call.answer_bytes_max = event.answer_bytes;
    call.rest = http_client::HttpCall::Rest::left;
    const TimePoint begin = io::now();
    const auto answer = send(call, Action::on_hls_notify, event.trace, deadline.sooner(io::Deadline::after(kNotifyLimit)));
    if (answer.ok())
        LOG_INFO(log, "http hook {}, url={}, status={}, cost={}ms", name_of(Action::on_hls_notify), label_of(url), answer->status,
                 milliseconds_since(begin));
    else if (answer.code() == Errc::cancelled)
        return answer.error();
    else
        LOG_WARN(log, "http hook {} failed, url={}, cost={}ms, reason=\"{}\"", name_of(Action::on_hls_notify), label_of(url),
                 milliseconds_since(begin), answer.error().text());
    return {};
}

Result<void> HookService::deliver(const std::string& client_id, const QueuedEvent& events, io::Deadline deadline) {
    const Log log = log_.with_id(client_id);
    for (const std::string& url : events.urls) {
        if (events.action == Action::on_hls_notify) {
            TRY(notify(url, events, log, deadline));
            continue;
        }
        // Every URL is called, whatever another one answered. Failures are in the log.
        const auto sent = call(events.action, url, events.body, events.trace, log, deadline);
        if (!sent.ok() && sent.code() == Errc::cancelled)
            return sent.error();
    }
    return {};
}

void HookService::finish_first(const std::string& client_id) {
    const auto line = lines_.find(client_id);
    const QueuedEvent& first = line->second.events.front();
    queued_bytes_ -= cost_of(first.urls, first.body);
    line->second.events.pop_front();
    if (!line->second.events.empty()) {
        ready_.push_back(client_id);
        return;
    }
    for (Signal* waiter : line->second.waiters)
        waiter->raise();
    lines_.erase(line);
}

Result<void> HookService::stop(io::Deadline deadline) {
    const auto until = deadline.is_never() ? deadline : io::Deadline::at(deadline.when() - kStopMargin);
    const auto drained = scope_.join(until);
    if (!drained.ok())
        LOG_WARN(log_, "http hook: events of {} clients are not delivered", lines_.size());
    return scope_.stop(deadline);
}

}  // namespace live::service::hooks
