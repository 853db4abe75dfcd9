// RelayService: the streams of edges. Admission requests a stream that this node does not have; the service pulls each stream
// once, regardless of the number and protocols of its readers.
#pragma once

#include <array>
#include <memory>
#include <optional>
#include <string>
#include <unordered_map>
#include <vector>

#include "base/histogram.hpp"
#include "base/log/log.hpp"
#include "io/fibers/job_list.hpp"
#include "io/fibers/scope.hpp"
#include "service/relay/pull.hpp"
#include "service/relay/push.hpp"
#include "service/service.hpp"

namespace live::service::relay {

inline constexpr std::array kJoinBounds = {0.005, 0.01, 0.02, 0.05, 0.1, 0.2, 0.5, 1.0, 2.0, 5.0, 10.0};

class RelayService final : public Service {
public:
    static constexpr std::size_t kPullsMax = 10'000;
    static constexpr std::chrono::seconds kHeldFor{5};

    // `resolver` and objects referenced by `context` must outlive this.
    RelayService(PullContext context, Resolver& resolver, Log log);
    ~RelayService() override;
    RelayService(const RelayService&) = delete;
    RelayService& operator=(const RelayService&) = delete;

    // Returns when the stream of `plan` has media, published here or pulled; starts a pull if needed. Errc::not_found when no
    // origin has sent it in time, Errc::denied for a loop of edges, Errc::limit.
    Result<void> pull(const session::ClientRequest& request, const session::StreamPlan& plan, io::Deadline deadline);

    // Reports whether a pull of the stream runs.
    bool has(const std::string& url) const;
    // Starts a pull for the existing readers of a stream, unless one runs.
    void adopt(const session::ClientRequest& request, const session::StreamPlan& plan);
    // A client publishes the stream on this node: its pull ends at once.
    void give_way(const std::string& url);
    // The stream may have moved to another node.
    void look_again(const std::string& url);
    // The stream has a publisher on another node, and its publisher here will leave. Its players wait for the pull, for kHeldFor,
    // instead of ending with that publisher.
    void hold_players(const std::string& url);

    // A stream published on an edge is pushed to an origin.
    void on_published(const session::ClientRequest& request, const session::StreamPlan& plan) override;
    void on_unpublished(const std::string& url) override;
    void on_tick() override;
    Result<void> stop(io::Deadline deadline) override;
    std::string_view name() const override { return "the pulls"; }
    std::optional<session::Protocol> protocol() override;
    void write_metrics(MetricsText& text) const override;

    std::vector<PullFacts> list() const;
    // Returns nullopt when the stream is not pulled.
    std::optional<PullFacts> find(const std::string& url) const;
    std::size_t pushes() const { return pushes_.size(); }
    // Seconds from a client's request to the first media, for clients that had to wait.
    const Histogram<kJoinBounds>& joins() const { return joins_; }
    const PullTotals& totals() const { return totals_; }
    const OriginHealth& health() const { return health_; }

private:
    struct Job {
        template <class... Arguments>
        explicit Job(Arguments&&... arguments) : pull(std::forward<Arguments>(arguments)...), scope("relay") {}
        Pull pull;
        io::Scope scope;
    };

    Result<std::shared_ptr<Job>> find_or_start(const session::ClientRequest& request, const session::StreamPlan& plan);
    // Removes jobs that have ended.
    void reap();
    void release_held_players();

    const PullContext context_;
    Resolver& resolver_;
    const Log log_;
    OriginHealth health_;
    PullTotals totals_;
    // Keyed by the source's url for the look-up by players; so not a JobList. The second owner is the fiber of a client that
    // waits for the first media.
    std::unordered_map<std::string, std::shared_ptr<Job>> jobs_;
    // Pulls that are over and have a successor, until their fibers end.
    std::vector<std::shared_ptr<Job>> leaving_;
    Histogram<kJoinBounds> joins_;
    io::JobList<Push> pushes_{"push"};
    bool stopping_ = false;
    std::unordered_map<std::string, TimePoint> held_;  // streams whose players wait, and since when
};

}  // namespace live::service::relay
