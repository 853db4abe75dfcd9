#include "service/relay/origins/origin_peers.hpp"

#include <utility>

#include "base/counted.hpp"
#include "base/log/log_format.hpp"
#include "io/fibers/loop.hpp"
#include "service/relay/origins/cluster_answer.hpp"
#include "wire/http/url.hpp"

namespace live::service::relay {

namespace {

// Other protocols have no redirect for players.
const std::string* place_for(session::ClientKind kind, const session::Redirect& to) {
    switch (kind.row().reach) {
        case session::Reach::rtmp: return &to.rtmp;
        case session::Reach::http: return &to.http;
        case session::Reach::api: return &to.api;
        case session::Reach::none: break;
    }
    return nullptr;
}

}  // namespace

Result<std::optional<session::Redirect>> OriginPeers::find(const session::ClientRequest& request, const session::StreamPlan& plan,
                                                           const ClusterOptions& options, io::Deadline deadline) {
    if (const auto source = streams_.find(plan.url); source && source->is_published())
        return std::optional<session::Redirect>();
    const auto known = known_.find(plan.url);
    const bool is_fresh = known != known_.end() && io::now() - known->second.at < kAnswerAge;
    if (!is_fresh && asking_ >= kAskingMax)
        return Error(Errc::limit, "too many players wait for the other servers of this cluster");
    // Copied, because a reload may free the options during a suspension.
    Answer answer = is_fresh ? known->second.answer
                             : ask_all(request, std::vector(options.coworkers), deadline.sooner(io::Deadline::after(kFindLimit)));
    if (!is_fresh)
        remember(plan.url, answer);
    const auto to = TRY(std::move(answer));
    // The publisher may have connected here meanwhile.
    if (const auto source = streams_.find(plan.url); source && source->is_published())
        return std::optional<session::Redirect>();
    const std::string* place = place_for(request.kind, to);
    if (place == nullptr || place->empty())
        return Error(Errc::not_found, "the stream is on another server, which has no address for players of this protocol");
    return std::optional(to);
}

OriginPeers::Answer OriginPeers::ask_all(const session::ClientRequest& request, const std::vector<std::string>& coworkers,
                                         io::Deadline deadline) {
    const Counted asking(asking_);
    bool any_answered = coworkers.empty();
    std::string why = "none answers";
    for (const std::string& coworker : coworkers) {
        if (const auto silent = silent_.find(coworker); silent != silent_.end() && io::now() - silent->second < kSilentAge)
            continue;
        auto said = ask(request, coworker, deadline.sooner(io::Deadline::after(kAskLimit)));
        if (!said.ok() && said.code() == Errc::cancelled)
            return said.error();
        if (!said.ok()) {
            why = said.error().sentence();
            LOG_WARN(log_, "coworker {} does not answer for {}/{} (3091): {}", coworker, request.app, request.stream, why);
            if (silent_.size() >= kAnswersMax)
                silent_.clear();
            silent_[coworker] = io::now();
            continue;
        }
        any_answered = true;
        silent_.erase(coworker);
        if (*said)
            return **std::move(said);
    }
    if (!any_answered)
        return Error(Errc::closed, "the other servers of this cluster do not answer: " + why);
    return Error(Errc::not_found, "no server of this cluster has the stream");
}

Result<std::optional<session::Redirect>> OriginPeers::ask(const session::ClientRequest& request, const std::string& coworker,
                                                          io::Deadline deadline) {
    const bool is_url = coworker.starts_with("http://") || coworker.starts_with("https://");
    const auto url = TRY(wire::http::parse_url(is_url ? coworker : "http://" + coworker));
    http_client::HttpCall call;
    call.method = "GET";
    call.url = (url.is_secure ? "https://" : "http://") + url.authority() + cluster_question(url.host, url.authority(), request);
    call.answer_bytes_max = kAnswerBytesMax;
    const auto answer = TRY(http_.call(call, deadline));
    return parse_cluster_answer(answer.status, answer.body);
}

void OriginPeers::remember(const std::string& url, const Answer& answer) {
    if (!answer.ok() && answer.code() == Errc::cancelled)
        return;
    if (known_.size() >= kAnswersMax)
        known_.clear();
    known_.insert_or_assign(url, Known{answer, io::now()});
}

}  // namespace live::service::relay
