// ForwardService: decides which streams are pushed where. Is notified of every published stream, starts one forwarder per
// destination and stops them when the stream ends. Never suspends in the publisher's call; stopped forwarders say goodbye in
// their own fibers.
#pragma once

#include <string>
#include <vector>

#include "base/log/log.hpp"
#include "base/options_of.hpp"
#include "base/result.hpp"
#include "io/fibers/job_list.hpp"
#include "media/source/stream_table.hpp"
#include "service/forward/forwarder.hpp"
#include "service/forward/options.hpp"
#include "service/forward/push_session.hpp"
#include "service/service.hpp"
#include "session/common/admission.hpp"

namespace live::service::forward {

class ForwardService final : public Service {
public:
    static constexpr std::size_t kDestinationsMax = 64;

    // `streams`, `options` and the targets of `context` outlive this.
    ForwardService(media::StreamTable& streams, const OptionsOf<ForwardOptions>& options, ForwardContext context, Log log);
    ~ForwardService() override;
    ForwardService(const ForwardService&) = delete;
    ForwardService& operator=(const ForwardService&) = delete;

    // To the destinations of the options, or the plan's forward_urls. A stream that is already forwarded (another publisher took
    // it over) is left alone. At most kDestinationsMax destinations are served; each excess or unreadable one costs one log line.
    void on_published(const session::ClientRequest& request, const session::StreamPlan& plan) override;
    void on_unpublished(const std::string& url) override;

    // Ends everything; nothing starts afterwards. Errc::timed_out when a fiber does not end.
    Result<void> stop(io::Deadline deadline) override { return forwarders_.stop(deadline); }

    std::string_view name() const override { return "the forwards"; }
    void write_metrics(MetricsText& text) const override;

    // Forwarders whose stream is published, including those waiting to retry.
    std::size_t active() const { return forwarders_.size(); }
    // Those of one stream, or all, in the order of their start.
    std::vector<ForwardFacts> list() const;
    std::vector<ForwardFacts> list_of(const std::string& url) const;
    // With what the current connections have sent.
    ForwardTotals totals() const;

private:
    void start_push(Forwarder::To to, const Ref<media::Source>& source);

    media::StreamTable& streams_;
    const OptionsOf<ForwardOptions>& options_;
    ForwardContext context_;
    Log log_;
    ForwardTotals totals_;
    io::JobList<Forwarder> forwarders_{"forward"};
};

}  // namespace live::service::forward
