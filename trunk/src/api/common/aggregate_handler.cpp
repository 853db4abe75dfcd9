#include "api/common/aggregate_handler.hpp"

#include <algorithm>
#include <charconv>
#include <utility>

#include <fmt/format.h>

#include "api/common/envelope.hpp"
#include "api/common/metrics_sum.hpp"
#include "api/common/page.hpp"
#include "api/common/rows.hpp"
#include "engine/workers/metrics_report.hpp"
#include "engine/workers/row_report.hpp"
#include "wire/http/status.hpp"
#include "wire/http/target.hpp"
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
    return route.answerer == Answerer::all && (request.is_get() || route.methods.is_any());
}

bool is_list(const Route& route) { return route.answerer == Answerer::entries || route.answerer == Answerer::joined; }

bool is_own(const Route& route) { return route.answerer == Answerer::own || route.answerer == Answerer::holder; }

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
    return is_session(request) || is_list(*route) || is_metrics(*route) || is_combined(request, *route) || is_own(*route) ||
           worker_asked(request) != 0;
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
    if (is_own(route))
        return own(request, route, deadline);
    if (is_list(route))
        return list(request, route, deadline);
    if (is_metrics(route) && request.is_get())
        return metrics(request, route, deadline);
    // This worker's report is first: fields that are not added come from it.
    const RowReport sum =
        is_combined(request, route) ? sum_of(everybody(), request.message.target, request, deadline) : RowReport();
    if (sum.head.fields.empty())
        return pass_to(workers_.identity().address(), request, deadline);
    return json_reply(request, envelope(server_, route.answer.key, json_text(sum.head)));
}

Result<engine::http1::Response> AggregateHandler::ask(std::size_t worker, std::string_view method, const std::string& target,
                                                      const Request& request, io::Deadline deadline, Asked asked) const {
    service::http_client::HttpCall call;
    call.method = method;
    // Which address the server is known by is a part of some answers. The client's text is no part of the path.
    const auto known_by = wire::http::parse_url("http://" + std::string(request.message.headers.find("Host").value_or("")));
    call.url = "http://" + (known_by.ok() ? known_by->authority() : "worker") + target;
    for (const char* name : {"Content-Type", "If-Match"})
        if (const auto value = request.message.headers.find(name))
            call.headers.add(name, std::string(*value));
    if (asked == Asked::report)
        call.headers.add("Accept", std::string(engine::workers::kReportType));
    call.body = request.message.body;
    call.answer_bytes_max = kAnswerBytesMax;
    const Duration limit = asked == Asked::one ? Duration(kOwnAnswerLimit) : Duration(kAnswerLimit);
    return workers_.ask(static_cast<engine::workers::Worker>(worker), call, deadline.sooner(io::Deadline::after(limit)));
}

Reply AggregateHandler::own(const Request& request, const Route& route, io::Deadline deadline) const {
    Reply reply;
    for (const std::size_t worker : everybody()) {
        reply = pass_to(worker, request, deadline);
        if (route.answerer == Answerer::own || reply.status != Status::not_found)
            break;
    }
    return reply;
}

AggregateHandler::Everybody AggregateHandler::everybody() const {
    auto all = workers_.everybody_else();
    all.insert(all.begin(), workers_.identity().address());
    return all;
}

// Calls visit(worker, report) for each report.
template <class Visit>
void AggregateHandler::for_reports(const Everybody& workers, const std::string& target, const Request& request,
                                   io::Deadline deadline, Visit&& visit) const {
    for (const std::size_t worker : workers) {
        const auto answer = ask(worker, "GET", target, request, deadline, Asked::report);
        if (answer.ok() && answer->status == Status::ok)
            visit(worker, as_bytes(answer->body));
    }
}

// A worker whose report cannot be read is left out: an old process of an upgrade.
AggregateHandler::RowReport AggregateHandler::sum_of(const Everybody& workers, const std::string& target, const Request& request,
                                                     io::Deadline deadline) const {
    RowReport sum;
    for_reports(workers, target, request, deadline, [&](std::size_t worker, Bytes bytes) {
        if (auto report = engine::workers::parse_row_report(bytes); report.ok())
            add_report(sum, worker, std::move(*report));
    });
    return sum;
}

Reply AggregateHandler::pass_to(std::size_t worker, const Request& request, io::Deadline deadline) const {
    if (std::ranges::count(everybody(), worker) == 0)
        return error_reply(Status::not_found, "there is no such worker");
    const auto answer = ask(worker, request.message.method, request.message.target, request, deadline, Asked::one);
    Reply reply = answer.ok() ? reply_of(*answer) : error_reply(Status::service_unavailable, "the worker does not answer");
    reply.headers.emplace_back("X-Worker", std::to_string(worker));
    return reply;
}

// Requests the workers one by one until one answers with another status than `foreign_status`.
Reply AggregateHandler::pass_to_owner(const Request& request, int foreign_status, io::Deadline deadline) const {
    Reply foreign = error_reply(Status::service_unavailable, "the workers do not answer");
    for (const std::size_t worker : everybody()) {
        const auto answer = ask(worker, request.message.method, request.message.target, request, deadline, Asked::some);
        if (!answer.ok())
            continue;
        if (answer->status != foreign_status)
            return reply_of(*answer);
        foreign = reply_of(*answer);
    }
    return foreign;
}

// Without any report, the answer is this worker's own, such as the 404 without an exporter.
Reply AggregateHandler::metrics(const Request& request, const Route& route, io::Deadline deadline) const {
    MetricsSum sum;
    for_reports(everybody(), request.message.target, request, deadline, [&](std::size_t worker, Bytes bytes) {
        if (const auto families = engine::workers::parse_metrics_report(bytes); families.ok())
            sum.add(worker, *families);
    });
    if (sum.families().empty())
        return pass_to(workers_.identity().address(), request, deadline);
    return {Status::ok, std::string(route.answer.content_type), metrics_text(sum.families()), {}};
}

// An entry that may be several workers' is found in the list of all.
Reply AggregateHandler::list(const Request& request, const Route& route, io::Deadline deadline) const {
    const bool is_joined = route.answerer == Answerer::joined;
    const std::string id = route.is_folder() ? id_of(request, route) : "";
    if (!request.is_get() || (!id.empty() && !is_joined))
        return pass_to_owner(request, Status::not_found, deadline);
    const auto page = id.empty() ? page_of(request, route.answer.page_size) : Page{0, Page::kMost};
    if (!page.ok())
        return refuse_page(page.error());
    const std::size_t count = is_joined ? Page::kMost : std::min(page->start + page->count, Page::kMost);
    // Every worker returns the same order, so that pages fit together.
    auto workers = everybody();
    std::ranges::sort(workers);
    std::string target = fmt::format("{}?start=0&count={}", route.path, count);
    if (const std::string_view stream = request.target.query.get("stream"); !stream.empty())
        target += "&stream=" + wire::http::percent_encode(stream);
    const RowReport sum = sum_of(workers, target, request, deadline);
    if (!id.empty()) {
        const auto entry = std::ranges::find(sum.rows, id, [](const Row& row) { return row.text("id"); });
        return entry != sum.rows.end() ? json_reply(request, envelope(server_, route.answer.one, json_text(*entry)))
                                       : pass_to(workers_.identity().address(), request, deadline);  // its 404 names the object
    }
    ListAnswer answer(request);
    for (std::size_t at = page->start; at < sum.rows.size() && answer.size() < page->count; ++at)
        answer.add(sum.rows[at]);
    const auto* total = sum.head.find<std::uint64_t>("total");
    return answer.reply(server_, route.answer.key, *page, is_joined || total == nullptr ? sum.rows.size() : *total);
}

}  // namespace live::api
