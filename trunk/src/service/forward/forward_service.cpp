#include "service/forward/forward_service.hpp"

#include <algorithm>
#include <utility>

#include "base/bytes/random.hpp"
#include "base/log/log_format.hpp"

namespace live::service::forward {

namespace {

// "/app/stream" belongs to the default virtual host, "vhost/app/stream" to another.
std::string vhost_of(const std::string& source_url) {
    return source_url.substr(0, std::min(source_url.find('/'), source_url.size()));
}

Result<Forwarder::To> forwarder_target(std::string_view text, const StreamName& name) {
    if (session::srt::is_srt_url(text))
        return Forwarder::To(TRY(make_srt_destination(text, name)));
    return Forwarder::To(TRY(make_destination(text, name)));
}

}  // namespace

ForwardService::ForwardService(media::StreamTable& streams, const OptionsOf<ForwardOptions>& options, ForwardContext context,
                               Log log)
    : streams_(streams), options_(options), context_(std::move(context)), log_(std::move(log)) {}

ForwardService::~ForwardService() = default;

void ForwardService::on_published(const session::ClientRequest& request, const session::StreamPlan& plan) {
    const ForwardOptions* found = options_.find(request.vhost);
    if (forwarders_.is_stopping() || found == nullptr || !found->enabled)
        return;
    const ForwardOptions& options = *found;
    if (!options.backend.empty() && !plan.forward_urls)
        return;  // configured by a reload after the publisher was admitted
    const std::vector<std::string>& destinations = plan.forward_urls ? *plan.forward_urls : options.destinations;
    const bool is_known = forwarders_.find([&plan](const Forwarder& one) { return one.url() == plan.url; }) != nullptr;
    const Ref<media::Source> source = streams_.find(plan.url);
    if (is_known || !source)
        return;
    const StreamName name{vhost_of(plan.url), request.app, request.stream, request.param};
    std::size_t count = 0;
    for (const std::string& text : destinations) {
        if (++count > kDestinationsMax) {
            LOG_WARN(log_, "FWR {} has {} destinations, the limit is {}", plan.url, destinations.size(), kDestinationsMax);
            return;
        }
        auto to = forwarder_target(text, name);
        if (to.ok())
            start_push(*std::move(to), source);
        else
            LOG_ERROR(log_, "FWR {}: {}", plan.url, to.error().sentence());
    }
}

void ForwardService::start_push(Forwarder::To to, const Ref<media::Source>& source) {
    const auto started = forwarders_.start(std::move(to), source, context_, totals_, log_.with_id(random_id()));
    if (!started.ok())
        LOG_ERROR(log_, "FWR cannot start, source={}: {}", source->url(), started.error().text());
}

void ForwardService::on_unpublished(const std::string& url) {
    forwarders_.end_if([&url](const Forwarder& one) { return one.url() == url; });
    forwarders_.reap();
}

std::vector<ForwardFacts> ForwardService::list() const {
    std::vector<ForwardFacts> all;
    forwarders_.for_each([&all](const Forwarder& one) { all.push_back(one.facts()); });
    return all;
}

std::vector<ForwardFacts> ForwardService::list_of(const std::string& url) const {
    std::vector<ForwardFacts> found;
    forwarders_.for_each([&](const Forwarder& one) {
        if (one.url() == url)
            found.push_back(one.facts());
    });
    return found;
}

ForwardTotals ForwardService::totals() const {
    ForwardTotals totals = totals_;
    forwarders_.for_each([&totals](const Forwarder& one) { totals.sent_bytes += one.unended_bytes(); });
    return totals;
}

}  // namespace live::service::forward
