// ForwardService: pushes published streams to their destinations. For every published stream it starts one forwarder per
// destination, and stops them when the stream ends. It never suspends in the publisher's call; stopped forwarders end their
// connections in their own fibers.
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

    // `streams`, `options` and the targets of `context` must outlive this.
    ForwardService(media::StreamTable& streams, const OptionsOf<ForwardOptions>& options, ForwardContext context, Log log);
    ~ForwardService() override;
    ForwardService(const ForwardService&) = delete;
    ForwardService& operator=(const ForwardService&) = delete;

    // Forwards the stream to the destinations of the options, or to the plan's forward_urls. Does nothing for a stream that is
    // already forwarded (another publisher took it over). Serves at most kDestinationsMax destinations and logs one line for each
    // malformed or excess one.
    void on_published(const session::ClientRequest& request, const session::StreamPlan& plan) override;
    void on_unpublished(const std::string& url) override;

    // Ends all forwarders; none starts afterwards. Errc::timed_out when a fiber does not end.
    Result<void> stop(io::Deadline deadline) override { return forwarders_.stop(deadline); }

    std::string_view name() const override { return "the forwards"; }
    void write_metrics(MetricsText& text) const override;

    // Returns the number of forwarders whose stream is published, including those that wait to retry.
    std::size_t active() const { return forwarders_.size(); }
    // Returns the forwarders of one stream, or of all streams, in the order of their start.
    std::vector<ForwardFacts> list() const;
    std::vector<ForwardFacts> list_of(const std::string& url) const;
    // Includes the current connections.
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
