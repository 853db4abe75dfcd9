#include "app/parts/events.hpp"

#include <algorithm>

#include "app/parts/outputs.hpp"
#include "app/parts/relays.hpp"

namespace live::app {

void Events::on_published(const session::ClientRequest& request, const session::StreamPlan& plan) {
    if (!request.is_sibling)
        return to_.services.on_published(request, plan);
    to_.outputs.on_sibling_published(request, plan);
}

void Events::on_publish_ended(const session::ClientRequest& request, const session::StreamPlan& plan) {
    to_.admission.callbacks().report_stream(service::hooks::Action::on_unpublish, request, plan);
}

void Events::on_play_ended(const session::ClientRequest& request, const session::StreamPlan& plan) {
    to_.relays.redirector().on_play_ended(request, plan.url);
    to_.admission.callbacks().report_stream(service::hooks::Action::on_stop, request, plan);
}

void Events::on_closed(const session::ClientRequest& request, const session::Traffic& traffic) {
    to_.admission.report_closed(request, traffic);
}

void Events::on_taken(const std::string& url) { to_.relays.pulls().hold_players(url); }

void Events::on_moved(const std::string& url) { to_.relays.pulls().look_again(url); }

void Events::on_elsewhere(const std::string& url) {
    // "/app/stream" or "vhost/app/stream".
    const std::size_t app_at = std::min(url.find('/'), url.size());
    const std::size_t stream_at = std::max(std::min(url.rfind('/'), url.size()), app_at);
    session::ClientRequest request;
    request.kind = session::ClientKind::relay_pull;
    request.vhost = app_at == 0 ? std::string(settings::kDefaultVhost) : url.substr(0, app_at);
    request.app = stream_at > app_at ? url.substr(app_at + 1, stream_at - app_at - 1) : std::string();
    request.stream = url.substr(std::min(stream_at + 1, url.size()));
    const auto plan = to_.admission.vhosts().plan_for(request);
    if (plan.ok() && plan->url == url)
        to_.relays.pulls().adopt(request, *plan);
}

}  // namespace live::app
