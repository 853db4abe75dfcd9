#include "service/cluster/cluster_service.hpp"

#include <algorithm>
#include <utility>

#include "base/backoff.hpp"
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

// Above Member::kWaitMax: the member decides in time by itself.
constexpr milliseconds kDecisionLimit{1'000};

std::int64_t wall_ms() {
    const auto now = std::chrono::system_clock::now().time_since_epoch();
    return std::chrono::duration_cast<milliseconds>(now).count();
}

Backoff make_backoff() { return Backoff(ClusterService::kBackoffFirst, ClusterService::kBackoffMax); }

// False when cancelled.
bool pause_before_retry(Backoff& backoff, io::Deadline deadline) {
    const auto slept = io::sleep(deadline.sooner(io::Deadline::after(backoff.next(static_cast<std::uint32_t>(random_number())))));
    return slept.ok() || slept.code() == Errc::timed_out;
}

}  // namespace

ClusterService::ClusterService(ClusterContext context, ClusterEvents& events, Log log)
    : context_(std::move(context)), events_(events), log_(std::move(log)) {
    const RegistryOptions& options = context_.options;
    if (options.registry.empty())
        return;
    url_ = MUST(parse_registry_url(options.registry));
    cluster::NodeRecord self;
    self.id = context_.node_id;
    self.run = random_number() % cluster::kNumberMax;
    member_ = std::make_unique<Member>(cluster::MemberOptions{options.beat, options.lease, options.secret}, std::move(self),
                                       random_number());
}

ClusterService::~ClusterService() = default;

Result<void> ClusterService::start(io::Scope& fibers, io::Deadline) {
    if (!is_on())
        return {};
    describe_self();
    LOG_INFO(log_, "cluster node {} at {}, registry={}", context_.node_id, member_->self().host, url_.label());
    TRY(fibers.start("registry", [this](io::Deadline forever) { run_commands(forever); }));
    TRY(fibers.start("registry events", [this](io::Deadline forever) { run_events(forever); }));
    TRY(fibers.start("cluster timer", [this](io::Deadline forever) { run_timer(forever); }));
    return fibers.start("cluster orphans", [this](io::Deadline forever) { run_orphans(forever); });
}

void ClusterService::run_commands(io::Deadline deadline) {
    Backoff backoff = make_backoff();
    for (;;) {
        auto link = RedisLink::open(url_, context_.tls, context_.scratch, deadline);
        Result<void> served;
        if (link.ok()) {
            LOG_INFO(log_, "cluster registry is connected, {}", (*link)->stream().peer());
            backoff.reset();
            why_away_.clear();
            ++connections_;
            is_connected_ = true;
            sent_.clear();
            member_->handle_connected(io::now());
            pump();
            served = serve_commands(**link, deadline);
            is_connected_ = false;
            end_calls();
            member_->handle_disconnected(io::now());
            pump();
        } else {
            served = link.error();
        }
        if (!served.ok() && served.code() == Errc::cancelled)
            return;
        // Once for an absence.
        if (link.ok() || served.error().sentence() != why_away_)
            LOG_WARN(log_, "cluster registry is away, everything goes on: {}", served.error().sentence());
        why_away_ = served.error().sentence();
        if (!pause_before_retry(backoff, deadline))
            return;
    }
}

// Fails at the end of the connection in any case.
Result<void> ClusterService::serve_commands(RedisLink& link, io::Deadline deadline) {
    for (;;) {
        send_commands(link);
        TRY(link.flush(deadline.sooner(io::Deadline::after(context_.options.lease))));
        const auto oldest = sent_.empty() ? io::Deadline::never() : io::Deadline::at(sent_.front().at + context_.options.lease);
        const auto ready = link.stream().wait_ready(io::Interest::readable, &commands_wait_, deadline.sooner(oldest));
        if (!ready.ok() && ready.code() != Errc::timed_out)
            return ready.error();
        if (ready.ok() && ready->readable) {
            TRY(link.read());
            TRY(take_replies(link));
        } else if (oldest.expired()) {
            return Error(Errc::timed_out, "it has not answered for the length of a lease");
        }
    }
}

void ClusterService::send_commands(RedisLink& link) {
    const TimePoint now = io::now();
    while (auto command = member_->poll_command()) {
        link.queue(words_of(*command));
        sent_.push_back({*std::move(command), 0, now});
    }
    while (!calls_.empty()) {
        link.queue(calls_.front().words);
        sent_.push_back({{}, calls_.front().number, now});
        calls_.pop_front();
    }
}

Result<void> ClusterService::take_replies(RedisLink& link) {
    while (auto reply = TRY(link.next())) {
        if (sent_.empty())
            return Error(Errc::malformed, "it answers what was not asked");
        const Sent sent = std::move(sent_.front());
        sent_.pop_front();
        if (sent.call != 0) {
            end_call(sent.call, *std::move(reply));
            continue;
        }
        const auto answer = answer_of(sent.command, *reply);
        if (const auto* refusal = std::get_if<cluster::Refusal>(&answer))
            LOG_WARN(log_, "cluster registry refuses a command: {}", refusal->why);
        member_->handle_answer(sent.command.id, answer, io::now());
        warn_of_namesakes();
        pump();
    }
    return {};
}

void ClusterService::warn_of_namesakes() {
    if (std::exchange(namesakes_, member_->counts().namesakes) != member_->counts().namesakes)
        LOG_WARN(log_, "cluster node {}: another process has this node_id too, and takes its streams; each node needs its own",
                 context_.node_id);
}

void ClusterService::run_events(io::Deadline deadline) {
    Backoff backoff = make_backoff();
    for (;;) {
        auto link = RedisLink::open(url_, context_.tls, context_.scratch, deadline);
        const auto served = link.ok() ? serve_events(**link, deadline) : Result<void>(link.error());
        if (!served.ok() && served.code() == Errc::cancelled)
            return;
        if (link.ok())
            backoff.reset();
        if (!pause_before_retry(backoff, deadline))
            return;
    }
}

Result<void> ClusterService::serve_events(RedisLink& link, io::Deadline deadline) {
    const std::vector<std::string> subscribe = {"SUBSCRIBE", std::string(kEventChannel)};
    const Reply subscribed = TRY(link.call(subscribe, deadline.sooner(io::Deadline::after(RedisLink::kOpenLimit))));
    if (!subscribed.is_list(3))
        return Error(Errc::denied, "the registry does not let us subscribe");
    member_->handle_events_missed(io::now());
    pump();
    // A silent peer is found out by a question of our own.
    const std::vector<std::string> ping = {"PING"};
    for (bool asked = false;;) {
        const auto limit = deadline.sooner(io::Deadline::after(context_.options.lease));
        const auto ready = link.stream().wait_ready(io::Interest::readable, nullptr, limit);
        if (!ready.ok() && (ready.code() != Errc::timed_out || std::exchange(asked, true)))
            return ready.error();
        if (!ready.ok()) {
            link.queue(ping);
            TRY(link.flush(limit));
            continue;
        }
        asked = false;
        TRY(link.read());
        while (auto reply = TRY(link.next())) {
            if (reply->is_list(3) && reply->items[0].text == "message")
                member_->handle_event(reply->items[2].text, io::now());
        }
        pump();
    }
}

void ClusterService::run_timer(io::Deadline deadline) {
    for (;;) {
        const auto next = member_->next_timeout();
        const auto waited = io::wait(timer_changed_, next ? deadline.sooner(io::Deadline::at(*next)) : deadline);
        if (!waited.ok() && waited.code() != Errc::timed_out)
            return;
        member_->handle_timeout(io::now());
        pump();
        timer_changed_.consume();  // the next turn looks anyway
    }
}

void ClusterService::pump() {
    while (auto notice = member_->poll_notice())
        deliver(*std::move(notice));
    if (member_->has_commands())
        commands_wait_.raise();
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
        LOG_WARN(log_, "cluster stream {} is on node {} now: its publisher here is closed", lost->stream, lost->to);
        events_.on_taken(lost->stream);
        events_.on_lost(lost->stream, "the stream is published on node " + lost->to);
    } else if (const auto* kicked = std::get_if<cluster::Kicked>(&notice)) {
        events_.on_lost(kicked->stream, "kicked by the cluster's operator");
    } else if (const auto* moved = std::get_if<cluster::Moved>(&notice)) {
        events_.on_moved(moved->stream);
        note_orphan(moved->stream);
    }
}

Result<void> ClusterService::claim(const std::string& url, bool replaces, io::Deadline deadline) {
    const auto answered = io::Deadline::after(Member::kWaitMax);
    auto claimed = claim_once(url, replaces, {}, deadline);
    if (claimed.ok() || claimed.code() != Errc::conflict)
        return claimed;
    const auto dead = find_dead_owner(url, answered, deadline);
    if (!dead)
        return claim_again(url, replaces, std::move(claimed), deadline);
    LOG_INFO(log_, "cluster stream {} is taken from node {}, whose process has ended", url, dead->node);
    return claim_once(url, replaces, dead, deadline);
}

// A publisher that comes here at once after its connection to another node broke: that node reads the end on a tick.
Result<void> ClusterService::claim_again(const std::string& url, bool replaces, Result<void> claimed, io::Deadline deadline) {
    const auto until = deadline.sooner(io::Deadline::after(kReturnLimit));
    while (!claimed.ok() && claimed.code() == Errc::conflict && !until.expired()) {
        TRY(io::sleep(deadline.sooner(io::Deadline::after(kReturnLook))));
        claimed = claim_once(url, replaces, {}, deadline);
    }
    return claimed;
}

// A killed process keeps its lease for some seconds, and its encoder is back elsewhere at once. A machine that says that nobody
// listens there any more is as good as the lease's end; one that says nothing is not.
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
    const std::uint64_t ticket = member_->publish(url, replaces, wall_ms(), io::now(), dead);
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

Result<cluster::Whereabouts> ClusterService::find(const std::string& url, io::Deadline deadline) {
    Waiter<cluster::Whereabouts> waiter;
    const std::uint64_t ticket = member_->find(url, io::now());
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
    return cluster::Whereabouts(cluster::Unknown{});
}

Result<Reply> ClusterService::call(std::vector<std::string> words, io::Deadline deadline) {
    if (!is_on() || !is_connected_)
        return Error(Errc::closed, "the registry is away");
    if (callers_.size() >= kCallsMax)
        return Error(Errc::limit, "too many questions for the registry");
    CallWaiter waiter;
    const std::uint64_t number = next_call_++;
    callers_[number] = &waiter;
    calls_.push_back({number, std::move(words)});
    commands_wait_.raise();
    Result<void> waited;
    while (waited.ok() && !waiter.value)
        waited = io::wait(waiter.signal, deadline);
    callers_.erase(number);
    std::erase_if(calls_, [number](const QueuedCall& queued) { return queued.number == number; });
    return waiter.value ? *std::move(waiter.value) : Result<Reply>(waited.error());
}

void ClusterService::end_call(std::uint64_t number, Result<Reply> reply) {
    if (const auto waiter = callers_.find(number); waiter != callers_.end()) {
        waiter->second->value = std::move(reply);
        waiter->second->signal.raise();
    }
}

void ClusterService::end_calls() {
    calls_.clear();
    for (const auto& [number, waiter] : callers_)
        if (!waiter->value)
            end_call(number, Error(Errc::closed, "the registry is away"));
}

// What a pull publishes is another node's; an edge's publishers are the origin's.
void ClusterService::on_published(const session::ClientRequest& request, const session::StreamPlan& plan) {
    if (!is_on() || request.kind == session::ClientKind::relay_pull || !context_.takes_part(plan.vhost))
        return;
    published_.insert(plan.url);
    member_->confirm(plan.url, wall_ms(), io::now());
    pump();
}

void ClusterService::on_unpublished(const std::string& url) {
    if (!is_on() || published_.erase(url) == 0)
        return;
    member_->unpublish(url, io::now());
    pump();
    note_orphan(url);
}

void ClusterService::on_tick() {
    if (!is_on())
        return;
    sent_rate_.note(context_.sent_bytes(), io::now());
    describe_self();
    find_orphans();
}

void ClusterService::describe_self() {
    cluster::NodeRecord self = context_.describe();
    using State = cluster::NodeRecord::State;
    self.state = is_draining_ ? State::draining : context_.options.publishers ? State::up : State::edge;
    self.capacity = context_.options.capacity;
    self.load = sent_rate_.per_second();
    member_->set_self(std::move(self), wall_ms(), io::now());
}

void ClusterService::drain(io::Deadline deadline) {
    if (!is_on() || std::exchange(is_draining_, true))
        return;
    LOG_INFO(log_, "cluster node {} drains: it takes no more streams, and sends its clients to other nodes", context_.node_id);
    describe_self();
    member_->announce_state(io::now());
    pump();
    // A hint: they list the nodes by themselves, some seconds later.
    cluster::Event event{cluster::Event::Kind::drain, context_.node_id, member_->self().run, 0, {}, {}};
    member_->seal().put_on(event);
    static_cast<void>(
        call({"PUBLISH", std::string(kEventChannel), text_of(event)}, deadline.sooner(io::Deadline::after(kDrainLimit))));
}

bool ClusterService::is_orphan(const std::string& url) const {
    const auto source = context_.streams.find(url);
    return source && !source->is_published() && source->readers().is_watched();
}

void ClusterService::note_orphan(const std::string& url) {
    if (orphans_.size() >= kOrphansMax || !is_orphan(url))
        return;
    orphans_.insert(url);
    orphans_wait_.raise();
}

// An event may be lost.
void ClusterService::find_orphans() {
    if (io::now() - orphans_at_ < kOrphanPeriod)
        return;
    orphans_at_ = io::now();
    context_.streams.for_each([this](media::Source& source) {
        if (!source.is_published() && source.readers().is_watched() && orphans_.size() < kOrphansMax)
            orphans_.insert(source.url());
    });
    orphans_wait_.raise();
}

void ClusterService::run_orphans(io::Deadline deadline) {
    for (;;) {
        while (!orphans_.empty()) {
            const std::string url = *orphans_.begin();
            orphans_.erase(orphans_.begin());
            const auto where = is_orphan(url) ? find(url, deadline) : cluster::Whereabouts(cluster::Nowhere{});
            if (!where.ok())
                return;
            const bool may_be_anywhere = std::holds_alternative<cluster::Unknown>(*where) && !member_->neighbours().empty();
            if ((std::holds_alternative<cluster::There>(*where) || may_be_anywhere) && is_orphan(url))
                events_.on_elsewhere(url);
        }
        if (!io::wait(orphans_wait_, deadline).ok())
            return;
    }
}

}  // namespace live::service::cluster
