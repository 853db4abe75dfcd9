#include "service/workers/session_ownership.hpp"

#include <algorithm>
#include <map>
#include <utility>

#include <nlohmann/json.hpp>

#include "base/bytes/hash.hpp"
#include "base/log/log_format.hpp"
#include "base/text/json_text.hpp"
#include "io/fibers/loop.hpp"
#include "service/workers/client_texts.hpp"
#include "service/workers/shared_name.hpp"
#include "wire/http/status.hpp"

namespace live::service::workers {

using engine::workers::Worker;
using session::ClientRequest;
using session::http::error_reply;
using session::http::Reply;
using wire::http::Status;
using State = files::Sessions::State;
using Json = nlohmann::json;

namespace {

constexpr std::string_view kSeen = "?seen";

Json parsed(const std::string& body) { return Json::parse(body, nullptr, false); }

http_client::HttpCall call_to(std::string_view target, const Json& body) {
    http_client::HttpCall call;
    call.url = "http://worker" + std::string(target);
    call.headers.add("Content-Type", "application/json");
    call.body = text_of(body);
    call.answer_bytes_max = 1 << 20;
    return call;
}

}  // namespace

// A constant follows from the name alone: a name that a player has made up has a home too.
Worker SessionOwnership::home_of(std::string_view name) const {
    constexpr int kMixed = 17;  // the low bits are a check letter
    const std::uint64_t hash = fnv1a(as_bytes(name)) >> kMixed;
    const engine::workers::WorkerIdentity identity = workers_.identity();
    return identity.address_of(static_cast<Worker>(hash % std::max<Worker>(identity.count, 1) + 1));
}

bool SessionOwnership::is_elsewhere(std::string_view name) const {
    return workers_.is_on() && home_of(name) != workers_.identity().address();
}

std::string SessionOwnership::name_for(std::string_view key) const {
    constexpr std::size_t kLetters = 10;
    return shared_name(secret_, key, kLetters);
}

Result<bool> SessionOwnership::open(const ClientRequest& request, Duration idle_limit, io::Deadline deadline) {
    Json body = {{"idle_ms", static_cast<std::uint64_t>(idle_limit / std::chrono::milliseconds(1))}};
    write_client(body, request);
    const auto answer = workers_.ask(home_of(request.id), call_to(kPath, body), deadline.sooner(io::Deadline::after(kOpenLimit)));
    if (!answer.ok() && answer.code() == Errc::cancelled)
        return answer.error();
    const Json said = answer.ok() && answer->status == Status::ok ? parsed(answer->body) : Json();
    if (!said.is_object())
        return Error(Errc::closed, "the worker that has the session does not answer");
    if (!text_at(said, "refused").empty())
        return refusal_in(said);
    return said.value("was_there", Json(false)) == true;
}

Reply SessionOwnership::handle(const session::http::Request& request, io::Deadline deadline) {
    if (request.message.method != "POST")
        return error_reply(Status::method_not_allowed, "workers post here");
    const bool is_news = request.message.target.ends_with(kSeen);
    const std::string said = is_news ? note(request.message.body) : admit(request.message.body, deadline);
    return said.empty() ? error_reply(Status::bad_request, "this is no message of a worker") : Reply{.body = said, .headers = {}};
}

std::string SessionOwnership::admit(const std::string& body, io::Deadline deadline) {
    const Json asked = parsed(body);
    ClientRequest request;
    request.kind = session::ClientKind::hls_play;
    read_client(asked, request);
    if (request.id.empty() || request.id.size() > files::Sessions::kNameBytesMax)
        return "";
    const std::chrono::milliseconds idle(std::min<std::uint64_t>(number_at(asked, "idle_ms"), 86'400'000));
    const std::string name = request.id;
    if (const files::Session* known = sessions_.find(name)) {
        const ClientRequest& player = known->request();
        if (known->is_kicked())
            return text_of(refusal_json<Json>(Error(Errc::not_found, "this player has been disconnected")));
        // A session is the permission for one stream.
        if (player.vhost != request.vhost || player.app != request.app || player.stream != request.stream)
            return text_of(refusal_json<Json>(Error(Errc::not_found, "this session plays another stream")));
        return text_of(Json{{"was_there", true}});
    }
    const auto opened = sessions_.open_for_guest(std::move(request), idle, deadline);
    if (opened.ok())
        return "{}";
    return text_of(refusal_json<Json>(opened.error()));
}

std::string SessionOwnership::note(const std::string& body) {
    const Json told = parsed(body);
    if (!told.is_array() || told.size() > kUpdatesMax)
        return "";
    Json answer = {{"kicked", Json::array()}, {"unknown", Json::array()}};
    for (const Json& one : told) {
        const SessionUpdate update{text_at(one, "name"), number_at(one, "bytes")};
        const State state = sessions_.note(update, io::now());
        if (state != State::plays)
            answer[state == State::kicked ? "kicked" : "unknown"].push_back(update.name);
    }
    return text_of(answer);
}

Result<void> SessionOwnership::start(io::Scope& fibers, io::Deadline) {
    return workers_.is_on() ? fibers.start("worker sessions", [this](io::Deadline forever) { run(forever); }) : Result<void>();
}

void SessionOwnership::run(io::Deadline deadline) {
    while (io::sleep(deadline.sooner(io::Deadline::after(kTellPeriod))).ok()) {
        std::map<Worker, std::vector<SessionUpdate>> by_home;
        for (SessionUpdate& update : sessions_.take_updates())
            by_home[home_of(update.name)].push_back(std::move(update));
        for (const auto& [home, all] : by_home)
            for (std::size_t at = 0; at < all.size(); at += kUpdatesMax) {
                const auto end = all.begin() + static_cast<std::ptrdiff_t>(std::min(at + kUpdatesMax, all.size()));
                tell(home, {all.begin() + static_cast<std::ptrdiff_t>(at), end}, deadline);
            }
    }
}

void SessionOwnership::tell(Worker home, const std::vector<SessionUpdate>& updates, io::Deadline deadline) {
    Json body = Json::array();
    for (const SessionUpdate& one : updates)
        body.push_back({{"name", one.name}, {"bytes", one.sent_bytes}});
    const auto answer = workers_.ask(home, call_to(std::string(kPath) + std::string(kSeen), body),
                                     deadline.sooner(io::Deadline::after(kTellLimit)));
    if (!answer.ok() || answer->status != Status::ok) {
        LOG_DEBUG(log_, "worker {} did not receive {} players", home, updates.size());
        return;
    }
    const Json said = parsed(answer->body);
    for (const auto& [key, state] : {std::pair("kicked", State::kicked), std::pair("unknown", State::unknown)}) {
        const auto names = said.is_object() ? said.find(key) : said.end();
        if (names == said.end() || !names->is_array())
            continue;
        for (const Json& name : *names)
            if (name.is_string())
                sessions_.settle(name.get<std::string>(), state);
    }
}

}  // namespace live::service::workers
