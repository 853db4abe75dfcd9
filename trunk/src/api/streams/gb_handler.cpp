#include "api/streams/gb_handler.hpp"

#include <utility>

#include <nlohmann/json.hpp>

#include "api/common/envelope.hpp"
#include "api/common/rows.hpp"
#include "base/text/json_text.hpp"
#include "wire/http/status.hpp"

namespace live::api {
using session::gb28181::ListedSession;
using session::gb28181::OpenRequest;
using session::gb28181::Transport;
using session::http::Reply;
using session::http::Request;
using wire::http::Status;

namespace {

using Json = nlohmann::ordered_json;

Result<std::string> text_member(const Json& body, const char* name) {
    const auto found = body.find(name);
    if (found == body.end() || !found->is_string())
        return Error(Errc::malformed, std::string(name) + " must be a string");
    return found->get<std::string>();
}

Result<Transport> parse_transport(std::string_view text) {
    for (const Transport transport : {Transport::tcp, Transport::udp, Transport::tcp_active})
        if (text == name_of(transport))
            return transport;
    return Error(Errc::malformed, "transport must be tcp, udp or tcp_active");
}

// {"id":"...","ssrc":"..."}, and ours: "transport", and "address" for tcp_active.
Result<OpenRequest> parse_request(std::string_view text) {
    const Json body = Json::parse(text, nullptr, false);
    if (!body.is_object())
        return Error(Errc::malformed, "the body must be a JSON object");
    OpenRequest request;
    request.id = TRY(text_member(body, "id"));
    request.ssrc = TRY(engine::gb28181::parse_ssrc(TRY(text_member(body, "ssrc"))));
    if (body.contains("transport"))
        request.transport = TRY(parse_transport(TRY(text_member(body, "transport"))));
    if (body.contains("address")) {
        auto endpoints = TRY(parse_endpoint(TRY(text_member(body, "address"))));
        if (endpoints.size() != 1)
            return Error(Errc::malformed, "address must be ip:port");
        request.device = std::move(endpoints.front());
    } else if (request.transport == Transport::tcp_active) {
        return Error(Errc::malformed, "tcp_active needs the address of the device");
    }
    return request;
}

int code_of(Errc code) {
    switch (code) {
        case Errc::conflict: return GbPublishHandler::kSessionTaken;
        case Errc::malformed: return GbPublishHandler::kRequestInvalid;
        default: return GbPublishHandler::kNoSession;
    }
}

Row row_of(const ListedSession& session) {
    std::string codecs;
    for (const std::string& codec : session.codecs)
        codecs += (codecs.empty() ? "" : " ") + codec;
    return {{"id", session.id},
            {"ssrc", session.ssrc ? std::optional(std::to_string(*session.ssrc)) : std::nullopt},
            {"transport", std::string(name_of(session.transport))},
            {"state", std::string(session.is_publishing ? "publishing" : "waiting")},
            {"device", session.device.empty() ? std::nullopt : std::optional(session.device)},
            {"port", std::uint64_t{session.port}},
            {"age_ms", static_cast<std::uint64_t>(session.age.count())},
            {"recv_bytes", session.received_bytes},
            {"codecs", std::move(codecs)}};
}

}  // namespace

Reply GbPublishHandler::handle(const Request& request, io::Deadline) {
    return request.message.method == "DELETE" ? close(request) : open(request);
}

Reply GbPublishHandler::open(const Request& request) {
    auto asked = parse_request(request.message.body);
    auto opened = asked.ok() ? directory_.open(*std::move(asked)) : Result<session::gb28181::OpenedSession>(asked.error());
    Json answer;
    answer["code"] = opened.ok() ? 0 : code_of(opened.code());
    if (opened.ok()) {
        answer["port"] = opened->port;
        answer["is_tcp"] = opened->is_tcp;
    } else {
        answer["message"] = opened.error().sentence();
    }
    Reply reply{Status::ok, "application/json", text_of(answer), {}};
    reply.headers.emplace_back("Cache-Control", "no-store");
    return reply;
}

Reply GbPublishHandler::close(const Request& request) {
    const auto closed = directory_.close(request.target.query.get("id"));
    if (!closed.ok())
        return session::http::error_reply(Status::not_found, closed.error().sentence());
    return json_reply(request, envelope(server_));
}

Reply GbSessionsHandler::handle(const Request& request, io::Deadline) {
    const auto page = page_of(request);
    if (!page.ok())
        return refuse_page(page.error());
    const auto all = directory_.list();
    ListAnswer answer(request);
    for (std::size_t i = page->start; i < all.size() && answer.size() < page->count; ++i)
        answer.add(row_of(all[i]));
    return answer.reply(server_, "sessions", *page, all.size());
}

}  // namespace live::api
