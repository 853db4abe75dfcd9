#include "service/cluster/cluster_service.hpp"

#include <algorithm>
#include <utility>

#include "base/bytes/random.hpp"
#include "base/log/log_format.hpp"
#include "io/fibers/loop.hpp"
#include "io/net/resolve.hpp"
#include "io/net/tcp_stream.hpp"
#include "service/cluster/redis_commands.hpp"

namespace live::service::cluster {

namespace cluster = engine::cluster;
using engine::redis::Reply;
using std::chrono::milliseconds;

namespace {

// Longer than ClusterNode::kWaitMax: the node decides in time by itself.
constexpr milliseconds kDecisionLimit{1'000};

std::int64_t wall_ms() {
    const auto now = std::chrono::system_clock::now().time_since_epoch();
    return std::chrono::duration_cast<milliseconds>(now).count();
}

}  // namespace

ClusterService::ClusterService(ClusterContext context, ClusterEvents& events, Log log)
    : context_(std::move(context)), events_(events), log_(std::move(log)), orphans_(context_.streams) {
    const RegistryOptions& options = context_.options;
    if (options.registry.empty())
        return;
    cluster::NodeRecord self;
    self.id = context_.node_id;
    self.run = random_number() % cluster::kNumberMax;
    node_ = std::make_unique<cluster::ClusterNode>(cluster::ClusterNodeOptions{options.beat, options.lease, options.secret},
                                                   std::move(self), random_number());
    registry_ = std::make_unique<RegistryClient>(
        *node_, RegistryClient::Access{MUST(parse_registry_url(options.registry)), context_.tls, context_.scratch, options.lease},
        [this] { pump(); }, log_);
}

ClusterService::~ClusterService() = default;

Result<void> ClusterService::start(io::Scope& fibers, io::Deadline) {
    if (!is_on())
        return {};
    describe_self();
    LOG_INFO(log_, "cluster node {} at {}, registry={}", context_.node_id, node_->self().host, registry_->label());
    TRY(registry_->start(fibers));
    TRY(fibers.start("cluster timer", [this](io::Deadline forever) { run_timer(forever); }));
    return fibers.start("cluster orphans", [this](io::Deadline forever) { run_orphans(forever); });
}

void ClusterService::run_timer(io::Deadline deadline) {
    for (;;) {
        const auto next = node_->next_timeout();
        const auto waited = io::wait(timer_changed_, next ? deadline.sooner(io::Deadline::at(*next)) : deadline);
        if (!waited.ok() && waited.code() != Errc::timed_out)
            return;
        node_->handle_timeout(io::now());
        pump();
        timer_changed_.consume();  // the loop reads next_timeout() anyway
    }
}

void ClusterService::pump() {
    while (auto notice = node_->poll_notice())
        deliver(*std::move(notice));
    registry_->wake();
    timer_changed_.raise();
}

void ClusterService::deliver(cluster::Notice notice) {
    if (auto* decided = std::get_if<cluster::PublishDecided>(&notice)) {
        if (const auto waiter = publishers_.find(decided->ticket); waiter != publishers_.end()) {
            waiter->second->value = std::move(*decided);
            waiter->second->signal.raise();
        }
    } else if (auto* found = std::get_if<cluster::FindDecided>(&notice)) {
        if (const auto waiter = finders_.find(found->ticket); waiter != finders_.end()) {
            waiter->second->value = std::move(found->where);
            waiter->second->signal.raise();
        }
    } else if (const auto* lost = std::get_if<cluster::Lost>(&notice)) {
        LOG_WARN(log_, "cluster stream {} has moved to node {}: its publisher here is closed", lost->stream, lost->to);
        events_.on_taken(lost->stream);
        events_.on_lost(lost->stream, "the stream is published on node " + lost->to);
    } else if (const auto* kicked = std::get_if<cluster::Kicked>(&notice)) {
        events_.on_lost(kicked->stream, "kicked by the cluster's operator");
    } else if (const auto* moved = std::get_if<cluster::Moved>(&notice)) {
        events_.on_moved(moved->stream);
        orphans_.note(moved->stream);
    }
}

Result<void> ClusterService::claim(const std::string& url, bool replaces, io::Deadline deadline) {
    const auto answered = io::Deadline::after(cluster::ClusterNode::kWaitMax);
    auto claimed = claim_once(url, replaces, {}, deadline);
    if (claimed.ok() || claimed.code() != Errc::conflict)
        return claimed;
    const auto dead = find_dead_owner(url, answered, deadline);
    if (!dead)
        return claim_again(url, replaces, std::move(claimed), deadline);
    LOG_INFO(log_, "cluster stream {} is taken from node {}, whose process has ended", url, dead->node);
    return claim_once(url, replaces, dead, deadline);
}

// A publisher may connect here at once after its connection to another node broke. That node detects the end on a tick.
Result<void> ClusterService::claim_again(const std::string& url, bool replaces, Result<void> claimed, io::Deadline deadline) {
    const auto until = deadline.sooner(io::Deadline::after(kReturnLimit));
    while (!claimed.ok() && claimed.code() == Errc::conflict && !until.expired()) {
        TRY(io::sleep(deadline.sooner(io::Deadline::after(kReturnLook))));
        claimed = claim_once(url, replaces, {}, deadline);
    }
    return claimed;
}

// A killed process keeps its lease for some seconds, and its encoder reconnects elsewhere at once. A machine that refuses the
// connection proves that the process has ended; a machine that does not answer proves nothing.
std::optional<cluster::NodeRun> ClusterService::find_dead_owner(const std::string& url, io::Deadline answered,
                                                                io::Deadline deadline) {
    const auto where = find(url, deadline.sooner(answered));
    const auto* there = where.ok() ? std::get_if<cluster::There>(&*where) : nullptr;
    if (there == nullptr || there->node.rtmp_port == 0 || probes_ >= kProbesMax)
        return std::nullopt;
    ++probes_;
    const auto limit = deadline.sooner(io::Deadline::after(kProbeLimit));
    const auto addresses = io::resolve(there->node.host, there->node.rtmp_port, limit);
    const bool is_dead = addresses.ok() && !addresses->empty() && std::ranges::all_of(*addresses, [&](const Endpoint& address) {
                             const auto connected = io::TcpStream::connect(address, limit);
                             return !connected.ok() && connected.code() == Errc::closed;
                         });
    --probes_;
    return is_dead ? std::optional(cluster::NodeRun{there->own.node, there->own.run}) : std::nullopt;
}

Result<void> ClusterService::claim_once(const std::string& url, bool replaces, const std::optional<cluster::NodeRun>& dead,
                                        io::Deadline deadline) {
    Waiter<cluster::PublishDecided> waiter;
    const std::uint64_t ticket = node_->publish(url, replaces, wall_ms(), io::now(), dead);
    publishers_[ticket] = &waiter;
    pump();
    Result<void> waited;
    while (waited.ok() && !waiter.value)
        waited = io::wait(waiter.signal, deadline.sooner(io::Deadline::after(kDecisionLimit)));
    publishers_.erase(ticket);
    if (!waiter.value)
        return waited.code() == Errc::cancelled ? waited : Result<void>();
    switch (waiter.value->verdict) {
        case cluster::Verdict::granted: break;
        case cluster::Verdict::unregistered:
            LOG_WARN(log_, "cluster registry does not answer: {} is published here, and registered later", url);
            break;
        case cluster::Verdict::refused: return Error(Errc::conflict, "the stream is published on node " + waiter.value->holder);
        case cluster::Verdict::too_many: return Error(Errc::limit, "this node cannot register another stream");
    }
    return {};
}

Result<cluster::StreamLocation> ClusterService::find(const std::string& url, io::Deadline deadline) {
    Waiter<cluster::StreamLocation> waiter;
    const std::uint64_t ticket = node_->find(url, io::now());
    finders_[ticket] = &waiter;
    pump();
    Result<void> waited;
    while (waited.ok() && !waiter.value)
        waited = io::wait(waiter.signal, deadline.sooner(io::Deadline::after(kDecisionLimit)));
    finders_.erase(ticket);
    if (waiter.value)
        return *std::move(waiter.value);
    if (waited.code() == Errc::cancelled)
        return waited.error();
    return cluster::StreamLocation(cluster::Unknown{});
}

// The publisher of a pulled stream is on another node; the publishers of an edge belong to its origin.
void ClusterService::on_published(const session::ClientRequest& request, const session::StreamPlan& plan) {
    if (!is_on() || request.kind == session::ClientKind::relay_pull || !context_.takes_part(plan.vhost))
        return;
    published_.insert(plan.url);
    node_->confirm(plan.url, wall_ms(), io::now());
    pump();
}

void ClusterService::on_unpublished(const std::string& url) {
    if (!is_on() || published_.erase(url) == 0)
        return;
    node_->unpublish(url, io::now());
    pump();
    orphans_.note(url);
}

void ClusterService::on_tick() {
    if (!is_on())
        return;
    sent_rate_.note(context_.sent_bytes(), io::now());
    describe_self();
    orphans_.note_all(io::now());
}

void ClusterService::describe_self() {
    cluster::NodeRecord self = context_.describe();
    using State = cluster::NodeRecord::State;
    self.state = is_draining_ ? State::draining : context_.options.publishers ? State::up : State::edge;
    self.capacity = context_.options.capacity;
    self.load = sent_rate_.per_second();
    node_->set_self(std::move(self), wall_ms(), io::now());
}

void ClusterService::drain(io::Deadline deadline) {
    if (!is_on() || std::exchange(is_draining_, true))
        return;
    LOG_INFO(log_, "cluster node {} drains: it takes no further streams and sends its clients to other nodes", context_.node_id);
    describe_self();
    node_->announce_state(io::now());
    pump();
    // A hint: the other nodes list all nodes every few seconds anyway.
    cluster::Event event{cluster::Event::Kind::drain, context_.node_id, node_->self().run, 0, {}, {}};
    node_->seal().put_on(event);
    static_cast<void>(
        call({"PUBLISH", std::string(kEventChannel), text_of(event)}, deadline.sooner(io::Deadline::after(kDrainLimit))));
}

void ClusterService::run_orphans(io::Deadline deadline) {
    for (;;) {
        const auto url = orphans_.next(deadline);
        if (!url.ok())
            return;
        const auto where = orphans_.is_orphan(*url) ? find(*url, deadline) : cluster::StreamLocation(cluster::Nowhere{});
        if (!where.ok())
            return;
        const bool may_be_anywhere = std::holds_alternative<cluster::Unknown>(*where) && !node_->neighbours().empty();
        if ((std::holds_alternative<cluster::There>(*where) || may_be_anywhere) && orphans_.is_orphan(*url))
            events_.on_elsewhere(*url);
    }
}

Result<Reply> ClusterService::call(std::vector<std::string> words, io::Deadline deadline) {
    return is_on() ? registry_->call(std::move(words), deadline) : Result<Reply>(Error(Errc::closed, "the registry is away"));
}

}  // namespace live::service::cluster
