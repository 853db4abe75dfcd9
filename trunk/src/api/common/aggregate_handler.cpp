#include "api/common/aggregate_handler.hpp"

#include <algorithm>
#include <charconv>
#include <utility>

#include <fmt/format.h>

#include "api/common/envelope.hpp"
#include "api/common/metrics_sum.hpp"
#include "api/common/page.hpp"
#include "engine/workers/metrics_report.hpp"
#include "wire/http/status.hpp"
#include "wire/http/url.hpp"

namespace live::api {

using session::http::error_reply;
using session::http::Reply;
using session::http::Request;
using wire::http::Status;

namespace {

constexpr std::string_view kApiFolder = "/api/v1/";

// "clients/ID" of "/api/v1/clients/ID" is an entry.
std::string id_of(const Request& request, const Route& route) { return request.path().substr(route.path.size()); }

// Reports whether the workers' answers are combined. Other methods change the worker that receives the request.
bool is_combined(const Request& request, const Route& route) {
    const bool is_for_all = route.answerer == Answerer::all || route.answerer == Answerer::entries;
    return is_for_all && (request.is_get() || route.methods.is_any());
}

bool is_own(const Route& route) { return route.answerer == Answerer::own || route.answerer == Answerer::first; }

// Reports whether another server looks for the origin of a stream.
bool is_stream_sought(const Request& request, const Route& route) {
    return route.merge == merge_clusters && request.target.query.find("stream");
}

bool is_session(const Request& request) {
    const std::string& method = request.message.method;
    if (method != "DELETE" && method != "PATCH")
        return false;
    const Route* route = find_route(request.path());
    return route != nullptr && route->answerer == Answerer::session;
}

bool is_metrics(const Route& route) { return route.answerer == Answerer::metrics; }

// 0: none is asked for.
std::size_t worker_asked(const Request& request) {
    const std::string_view text = request.target.query.get("worker");
    std::size_t number = 0;
    std::from_chars(text.data(), text.data() + text.size(), number);
    const Route* route = find_route(request.path());
    return request.path().starts_with(kApiFolder) || (route != nullptr && is_metrics(*route)) ? number : 0;
}

Reply reply_of(const engine::http1::Response& response) {
    Reply reply{response.status, std::string(response.headers.find("Content-Type").value_or("")), response.body, {}};
    if (const auto allow = response.headers.find("Allow"))
        reply.headers.emplace_back("Allow", *allow);
    return reply;
}

}  // namespace

// The exporter's port has the metrics, and no control over the server.
bool AggregateHandler::takes(const Request& request) const {
    if (!workers_.identity().is_worker() && workers_.others().empty())
        return false;
    if (scope_ == Scope::sessions)
        return is_session(request);
    const Route* route = find_route(request.path());
    if (route == nullptr)
        return false;
    if (scope_ == Scope::metrics)
        return is_metrics(*route);
    return is_session(request) || route->answerer == Answerer::pages || is_metrics(*route) || is_combined(request, *route) ||
           is_stream_sought(request, *route) || is_own(*route) || worker_asked(request) != 0;
}

Reply AggregateHandler::handle(const Request& request, io::Deadline deadline) {
    if (is_session(request)) {
        // Ending a session that is not there succeeds.
        const bool is_end = request.message.method == "DELETE";
        return pass_to_owner(request, is_end ? Status::ok : Status::not_found, deadline);
    }
    if (const std::size_t worker = worker_asked(request); worker != 0)
        return pass_to(worker, request, deadline);
    const Route& route = *find_route(request.path());  // takes() has found it
    if (is_stream_sought(request, route))
        return find_stream(request, deadline);
    if (is_own(route))
        return pass_to(owner_of(route), request, deadline);
    if (route.answerer == Answerer::pages)
        return list(request, route, deadline);
    if (route.answerer == Answerer::entries)
        return service_list(request, route, deadline);
    if (is_metrics(route) && request.is_get())
        return metrics(request, route, deadline);
    const auto answers = is_combined(request, route) ? ask_all(request.message.target, request, deadline) : WorkerAnswers();
    if (answers.empty() || answers.front().body.empty())
        return pass_to(workers_.identity().address(), request, deadline);
    if (route.answer.key.empty())
        return {Status::ok, std::string(route.answer.content_type), route.merge(answers), {}};
    return json_reply(request, envelope(server_, route.answer.key, route.merge(answers)));
}

Result<engine::http1::Response> AggregateHandler::ask(std::size_t worker, std::string_view method, const std::string& target,
                                                      const Request& request, io::Deadline deadline, Duration limit) const {
    service::http_client::HttpCall call;
    call.method = method;
    // Which address the server is known by is a part of some answers. The client's text is no part of the path.
    const auto known_by = wire::http::parse_url("http://" + std::string(request.message.headers.find("Host").value_or("")));
    call.url = "http://" + (known_by.ok() ? known_by->authority() : "worker") + target;
    for (const char* name : {"Content-Type", "If-Match"})
        if (const auto value = request.message.headers.find(name))
            call.headers.add(name, std::string(*value));
    call.body = request.message.body;
    call.answer_bytes_max = kAnswerBytesMax;
    return workers_.ask(static_cast<engine::workers::Worker>(worker), call, deadline.sooner(io::Deadline::after(limit)));
}

std::size_t AggregateHandler::owner_of(const Route& route) const {
    const auto identity = workers_.identity();
    return route.answerer == Answerer::first && identity.is_worker() ? identity.address_of(1) : identity.address();
}

std::vector<engine::workers::Worker> AggregateHandler::everybody() const {
    auto all = workers_.everybody_else();
    all.insert(all.begin(), workers_.identity().address());
    return all;
}

// This worker's answer is first: members that are not added come from it.
WorkerAnswers AggregateHandler::ask_all(const std::string& target, const Request& request, io::Deadline deadline) const {
    WorkerAnswers answers;
    for (const std::size_t worker : everybody()) {
        auto answer = ask(worker, "GET", target, request, deadline);
        if (answer.ok() && answer->status == Status::ok)
            answers.push_back({worker, std::move(answer->body)});
    }
    return answers;
}

Reply AggregateHandler::pass_to(std::size_t worker, const Request& request, io::Deadline deadline) const {
    if (std::ranges::count(everybody(), worker) == 0)
        return error_reply(Status::not_found, "there is no such worker");
    const auto answer = ask(worker, request.message.method, request.message.target, request, deadline, kOwnAnswerLimit);
    Reply reply = answer.ok() ? reply_of(*answer) : error_reply(Status::service_unavailable, "the worker does not answer");
    reply.headers.emplace_back("X-Worker", std::to_string(worker));
    return reply;
}

// Requests the workers one by one until one answers with another status than `foreign_status`.
Reply AggregateHandler::pass_to_owner(const Request& request, int foreign_status, io::Deadline deadline) const {
    Reply foreign = error_reply(Status::service_unavailable, "the workers do not answer");
    for (const std::size_t worker : everybody()) {
        const auto answer = ask(worker, request.message.method, request.message.target, request, deadline);
        if (!answer.ok())
            continue;
        if (answer->status != foreign_status)
            return reply_of(*answer);
        foreign = reply_of(*answer);
    }
    return foreign;
}

// A worker whose report cannot be read is left out: an old process of an upgrade. Without any report, the answer is this worker's
// own, such as the 404 without an exporter.
Reply AggregateHandler::metrics(const Request& request, const Route& route, io::Deadline deadline) const {
    MetricsSum sum;
    for (const WorkerAnswer& answer : ask_all(std::string(kWorkersFolder) + request.message.target, request, deadline))
        if (const auto families = engine::workers::parse_metrics_report(as_bytes(answer.body)); families.ok())
            sum.add(answer.worker, *families);
    if (sum.families().empty())
        return pass_to(workers_.identity().address(), request, deadline);
    return {Status::ok, std::string(route.answer.content_type), metrics_text(sum.families()), {}};
}

// Returns the answer of the worker that has the stream; otherwise this worker's own.
Reply AggregateHandler::find_stream(const Request& request, io::Deadline deadline) const {
    for (const std::size_t worker : everybody()) {
        const auto answer = ask(worker, "GET", request.message.target, request, deadline);
        if (answer.ok() && says_origin(answer->body))
            return reply_of(*answer);
    }
    return pass_to(workers_.identity().address(), request, deadline);
}

Reply AggregateHandler::service_list(const Request& request, const Route& route, io::Deadline deadline) const {
    const auto page = page_of(request);
    if (!page.ok())
        return refuse_page(page.error());
    const std::string key(route.answer.key);
    const std::size_t count = std::min(page->start + page->count, Page::kMost);
    auto answers = ask_all(fmt::format("{}?start=0&count={}", route.path, count), request, deadline);
    std::ranges::sort(answers, {}, &WorkerAnswer::worker);
    const MergedList merged = merge_list(key.c_str(), answers, {page->start, page->count});
    return json_reply(request, list_envelope(server_, key, merged.entries, *page, merged.total));
}

MergedList AggregateHandler::merged(std::string_view key, const Shown& shown, const Request& request,
                                    io::Deadline deadline) const {
    // Every worker returns the same order, so that pages fit together.
    const auto all_of = [&](std::string_view list, std::size_t count) {
        auto answers = ask_all(fmt::format("/api/v1/{}/?start=0&count={}", list, count), request, deadline);
        std::ranges::sort(answers, {}, &WorkerAnswer::worker);
        return answers;
    };
    const std::size_t count = std::min(shown.start + shown.count, Page::kMost);
    if (key == "clients")
        return merge_list("clients", all_of(key, count), shown);
    if (key == "vhosts")
        return merge_vhosts(all_of(key, Page::kMost), all_of("streams", Page::kMost), shown);
    // A stream may be on several workers: how many there are is known when all are.
    auto streams = all_of(key, count);
    if (!are_whole("streams", streams))
        streams = all_of(key, Page::kMost);
    return merge_streams(streams, shown);
}

Reply AggregateHandler::list(const Request& request, const Route& route, io::Deadline deadline) const {
    const std::string_view key = route.answer.key;
    const std::string id = id_of(request, route);
    const bool is_get = method_of(request) == "GET";
    if (!is_get || (!id.empty() && key == "clients"))
        return pass_to_owner(request, Status::not_found, deadline);
    if (id.empty()) {
        const auto page = page_of(request, key == "vhosts" ? Page::kMost : Page::kDefault);
        if (!page.ok())
            return refuse_page(page.error());
        const MergedList all = merged(key, {page->start, page->count}, request, deadline);
        return json_reply(request, list_envelope(server_, key, all.entries, *page, all.total));
    }
    const auto entry = entry_of(merged(key, {0, Page::kMost}, request, deadline).entries, id);
    if (!entry)
        return pass_to(workers_.identity().address(), request, deadline);  // its 404 names the missing object
    return json_reply(request, envelope(server_, route.answer.one, *entry));
}

}  // namespace live::api
