#include "service/workers/remote_segments.hpp"

#include <utility>

#include "base/counted.hpp"
#include "wire/http/status.hpp"

namespace live::service::workers {

using wire::http::Status;
using Answered = std::optional<std::size_t>;

namespace {

// The virtual host follows from it.
std::string url_of(const session::http::Request& request) {
    const std::string host(request.message.headers.find("Host").value_or("worker"));
    return "http://" + host + request.message.target;
}

}  // namespace

// Whom another worker has asked does not ask on.
bool RemoteSegments::may_ask(const session::http::Request& request) const {
    return workers_.is_on() && !request.is_sibling && asking_ < kAskingMax && request.message.target.starts_with('/');
}

Result<bool> RemoteSegments::publishes(const session::ClientRequest& player, io::Deadline deadline) {
    const auto url = url_of_(player);
    if (!url || workers_.publishes(*url))
        return url.has_value();
    const auto where = workers_.find(*url, deadline);
    if (!where.ok() && where.code() == Errc::cancelled)
        return Error(where.error());
    return !where.ok() || where->has_value();
}

Result<Answered> RemoteSegments::answer(session::http::Exchange& exchange, const std::string& url, const Edit& edit,
                                        io::Deadline deadline) {
    if (!may_ask(exchange.request()) || workers_.publishes(url))
        return Answered();
    const auto where = workers_.find(url, deadline);
    if (!where.ok() && where.code() == Errc::cancelled)
        return Error(where.error());
    return where.ok() && *where ? pass((*where)->worker, Asked::publisher, exchange, edit, deadline) : Answered();
}

Result<Answered> RemoteSegments::answer(session::http::Exchange& exchange, const Edit& edit, io::Deadline deadline) {
    for (const auto worker : workers_.everybody_else()) {
        if (!may_ask(exchange.request()))
            break;
        if (auto sent = TRY(pass(worker, Asked::anybody, exchange, edit, deadline)))
            return Answered(sent);
    }
    return Answered();
}

// Without a body for HEAD, which the exchange leaves out.
Result<Answered> RemoteSegments::pass(engine::workers::Worker worker, Asked asked, session::http::Exchange& exchange,
                                      const Edit& edit, io::Deadline deadline) {
    const session::http::Request& request = exchange.request();
    http_client::HttpCall call;
    call.method = "GET";
    call.url = url_of(request);
    call.answer_bytes_max = kBytesMax;
    // A part of a changed body would be another part.
    if (const auto range = request.message.headers.find("Range"); range && !edit)
        call.headers.add("Range", std::string(*range));
    const auto answered = [&] {
        const Counted counted(asking_);
        return workers_.ask(worker, call, deadline.sooner(io::Deadline::after(kLimit)));
    }();
    if (!answered.ok() && answered.code() == Errc::cancelled)
        return Error(answered.error());
    const bool is_good = answered.ok() && (answered->status == Status::ok || answered->status == Status::partial_content);
    const bool is_said = answered.ok() && asked == Asked::publisher && answered->status == Status::bad_request;
    if (!is_good && !is_said)
        return Answered();
    session::http::Reply reply{
        answered->status, std::string(answered->headers.find("Content-Type").value_or("")), answered->body, {}};
    for (const char* name : {"Cache-Control", "Content-Range", "Accept-Ranges"})
        if (const auto value = answered->headers.find(name))
            reply.headers.emplace_back(name, *value);
    if (edit && is_good)
        reply.body = edit(reply.body);
    const std::size_t bytes = reply.body.size();
    TRY(exchange.send(std::move(reply), deadline));
    return Answered(bytes);
}

}  // namespace live::service::workers
