#include "api/system/upgrade_handler.hpp"

#include <algorithm>

#include <nlohmann/json.hpp>

#include "api/common/envelope.hpp"
#include "base/net/endpoint.hpp"
#include "base/text/json_text.hpp"
#include "wire/http/status.hpp"

namespace live::api {
using session::http::Reply;
using session::http::Request;
using wire::http::Status;

namespace {

using Json = nlohmann::ordered_json;

const char* text_of_state(UpgradeFacts::State state) {
    switch (state) {
        case UpgradeFacts::State::serving: return "serving";
        case UpgradeFacts::State::starting: return "starting";
        case UpgradeFacts::State::draining: return "draining";
    }
    return "";
}

std::uint64_t count_at(const Json& json, const char* key) {
    const auto found = json.find(key);
    return found != json.end() && found->is_number_unsigned() ? found->get<std::uint64_t>() : 0;
}

// The workers of one program are one.
void add(Json& own, Json& others, Json one) {
    Json* known = own.value("pid", Json()) == one.value("pid", Json()) ? &own : nullptr;
    for (Json& other : others)
        if (known == nullptr && other.value("pid", Json()) == one.value("pid", Json()))
            known = &other;
    if (known == nullptr) {
        others.push_back(std::move(one));
        return;
    }
    for (const char* key : {"publishers", "players", "asked"})
        (*known)[key] = count_at(*known, key) + count_at(one, key);
    (*known)["lasted_ms"] = std::max(count_at(*known, "lasted_ms"), count_at(one, "lasted_ms"));
}

// Asked by another process of the same upgrade: for its own part.
bool is_of_one(const Request& request) { return request.target.query.get("own") == "1"; }

}  // namespace

// An upgrade runs a program. Without http_api.auth, only this machine may start one.
Reply UpgradeHandler::handle(const Request& request, io::Deadline deadline) {
    if (request.message.method == "POST") {
        // Another process of this server forwards the request of an unknown client.
        if (!drain_.is_api_guarded() && (request.is_sibling || !Endpoint{request.peer_ip, 1}.is_loopback()))
            return session::http::error_reply(Status::forbidden,
                                              "an upgrade can be started from this machine only, or with http_api.auth on");
        const auto done = control_.upgrade(deadline);
        if (!done.ok())
            return session::http::error_reply(done.code() == Errc::conflict ? Status::conflict : Status::internal_server_error,
                                              done.error().sentence());
    }
    const std::string own = data(control_.upgrade_facts());
    return json_reply(request, envelope(server_, "data", is_of_one(request) ? own : with_others(own, deadline)));
}

std::string UpgradeHandler::data(const UpgradeFacts& facts) const {
    const DrainFacts drain = drain_.facts();
    Json data = {{"state", text_of_state(facts.state)}, {"pid", facts.pid}};
    data["successor"] = facts.successor ? Json(*facts.successor) : Json();
    data["error"] = facts.error;
    data["lasted_ms"] = drain.lasted.count();
    data["limit_ms"] = drain.limit.count();
    data["publishers"] = drain.clients.publishers;
    data["players"] = drain.clients.players;
    data["asked"] = drain.asked;
    return text_of(data);
}

std::string UpgradeHandler::with_others(const std::string& own, io::Deadline deadline) const {
    Json all = Json::parse(own, nullptr, false);
    Json old = Json::array();
    for (const auto other : workers_.everybody_else()) {
        service::http_client::HttpCall call;
        call.method = "GET";
        call.url = "http://worker" + std::string(kPath) + "?own=1";
        const auto answer = workers_.ask(other, call, deadline.sooner(io::Deadline::after(kAnswerLimit)));
        if (!answer.ok() || answer->status != Status::ok)
            continue;
        Json one = Json::parse(answer->body, nullptr, false);
        if (one.is_object() && one.contains("data") && one["data"].is_object())
            add(all, old, std::move(one["data"]));
    }
    all["others"] = std::move(old);
    return text_of(all);
}

}  // namespace live::api
