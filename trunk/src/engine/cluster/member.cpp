#include "engine/cluster/member.hpp"

#include <algorithm>
#include <limits>
#include <utility>

namespace live::engine::cluster {

namespace {

using std::chrono::milliseconds;

template <class... Cases>
struct Overloaded : Cases... {
    using Cases::operator()...;
};
template <class... Cases>
Overloaded(Cases...) -> Overloaded<Cases...>;

constexpr milliseconds kPauseWhenFull{100};

}  // namespace

Member::Member(MemberOptions options, NodeRecord self, std::uint64_t seed)
    : options_(std::move(options)), seal_(options_.secret), self_(std::move(self)), random_state_(seed) {}

void Member::set_self(NodeRecord self, std::int64_t wall, TimePoint now) {
    self.id = self_.id;
    self.run = self_.run;
    self_ = std::move(self);
    wall_ = wall;
    wall_at_ = now;
}

Beat Member::signed_beat(TimePoint now) {
    seal_.put_on(self_, wall(now));
    return {self_, options_.lease};
}

void Member::announce_state(TimePoint now) {
    if (may_send())
        send(signed_beat(now), now);
}

// SplitMix64.
std::uint64_t Member::random() {
    random_state_ += 0x9E3779B97F4A7C15;
    std::uint64_t mixed = random_state_;
    mixed = (mixed ^ (mixed >> 30)) * 0xBF58476D1CE4E5B9;
    mixed = (mixed ^ (mixed >> 27)) * 0x94D049BB133111EB;
    return mixed ^ (mixed >> 31);
}

Duration Member::random_below(Duration limit) {
    return Duration(static_cast<Duration::rep>(random() % static_cast<std::uint64_t>(std::max<Duration::rep>(limit.count(), 1))));
}

std::uint64_t Member::start_timer(TimePoint at, Timer::What what, std::string stream) {
    const std::uint64_t number = next_id_++;
    timers_.push({at, number, what, std::move(stream)});
    return number;
}

std::optional<TimePoint> Member::next_timeout() const { return timers_.empty() ? std::nullopt : std::optional(timers_.top().at); }

void Member::handle_timeout(TimePoint now) {
    while (!timers_.empty() && timers_.top().at <= now) {
        const Timer timer = timers_.top();
        timers_.pop();
        fire(timer, now);
    }
}

void Member::fire(const Timer& timer, TimePoint now) {
    switch (timer.what) {
        case Timer::What::beat:
            if (timer.number == beat_timer_)
                send_beat(now);
            break;
        case Timer::What::list:
            if (timer.number != list_timer_)
                break;
            list_timer_ = start_timer(now + kListPeriod + random_below(kListPeriod / 4), Timer::What::list);
            if (may_send())
                send(ListNodes{}, now);
            renew(now);
            break;
        case Timer::What::announce: announce(timer.stream, timer.number, now); break;
        case Timer::What::confirm:
            if (const auto owned = owned_.find(timer.stream);
                owned != owned_.end() && owned->second.confirm == timer.number && !owned->second.is_confirmed)
                unpublish(timer.stream, now);
            break;
        case Timer::What::answer: {
            // The stream's name stands for nothing here: commands have their own numbers, one below that of their timer.
            const auto sent = in_flight_.find(timer.number - 1);
            if (sent == in_flight_.end() || sent->second.is_late)
                break;
            sent->second.is_late = true;
            if (const auto* look = std::get_if<Look>(&sent->second.command.what))
                late_looks_.insert(look->stream);
            ++timeouts_in_row_;
            ++counts_.timeouts;
            give_up(Command(sent->second.command), now);
            break;
        }
    }
}

std::uint64_t Member::send(decltype(Command::what) what, TimePoint now) {
    Command command{next_id_++, std::move(what)};
    start_timer(now + kWaitMax, Timer::What::answer);
    ++counts_.commands;
    in_flight_.emplace(command.id, InFlight{command, now});
    commands_.push_back(std::move(command));
    return commands_.back().id;
}

std::optional<Command> Member::poll_command() {
    if (commands_.empty())
        return std::nullopt;
    Command command = std::move(commands_.front());
    commands_.pop_front();
    return command;
}

std::optional<Notice> Member::poll_notice() {
    if (notices_.empty())
        return std::nullopt;
    Notice notice = std::move(notices_.front());
    notices_.pop_front();
    return notice;
}

// Drops a Moved notice when the queue is full: the pull detects the move itself, later.
void Member::say(Notice notice) {
    if (notices_.size() < kNoticesMax || !std::holds_alternative<Moved>(notice))
        notices_.push_back(std::move(notice));
}

void Member::handle_connected(TimePoint now) {
    if (is_connected_)
        handle_disconnected(now);
    is_connected_ = true;
    timeouts_in_row_ = 0;
    beats_answered_ = 0;
    send_beat(now);
    send(ListNodes{}, now);
    list_timer_ = start_timer(now + kListPeriod, Timer::What::list);
    handle_events_missed(now);
}

void Member::handle_disconnected(TimePoint now) {
    is_connected_ = false;
    beat_timer_ = list_timer_ = 0;
    commands_.clear();
    late_looks_.clear();
    for (const auto& [id, sent] : std::exchange(in_flight_, {}))
        give_up(sent.command, now);
}

void Member::handle_events_missed(TimePoint now) {
    for (auto& [stream, known] : cache_)
        known.is_stale = true;
    announce_all(now);
}

// Sent even while the registry is away: the answer to one shows that it is back.
void Member::send_beat(TimePoint now) {
    const Duration jitter = options_.beat / 10;
    beat_timer_ = start_timer(now + options_.beat - random_below(jitter), Timer::What::beat);
    if (in_flight_.size() < kInFlightMax)
        send(signed_beat(now), now);
}

void Member::send_claim(const std::string& stream, Owned& owned, TimePoint now) {
    const bool is_fresh = owned.step == Step::asking;
    owned.is_postponed = false;
    owned.command = send(Claim{stream, owned.own, is_fresh, owned.replaces, owned.dead}, now);
}

void Member::announce_at(const std::string& stream, Owned& owned, TimePoint at) {
    if (owned.due != 0 && owned.due_at <= at)
        return;
    owned.due = start_timer(at, Timer::What::announce, stream);
    owned.due_at = at;
}

void Member::announce(const std::string& stream, std::uint64_t timer, TimePoint now) {
    const auto found = owned_.find(stream);
    if (found == owned_.end() || found->second.due != timer)
        return;
    Owned& owned = found->second;
    owned.due = 0;
    if (owned.command != 0 || owned.step == Step::asking)
        return;
    if (!is_up()) {
        owned.is_postponed = true;
        return;
    }
    if (!may_send())
        return announce_at(stream, owned, now + kPauseWhenFull + random_below(kPauseWhenFull));
    send_claim(stream, owned, now);
}

// Spread, because all nodes do it at the same moment.
void Member::announce_all(TimePoint now) {
    const auto paced = milliseconds(owned_.size() * 1'000 / kAnnouncedPerSecond);
    for (auto& [stream, owned] : owned_)
        announce_at(stream, owned, now + random_below(std::max(paced, kAnnounceSpread)));
    send_withdrawals(now);
}

// The registry was late, as this node may have been, and probably still has the confirmed records. If it has lost them, the
// answer to the next beat shows that, or the connection is lost.
void Member::announce_postponed(TimePoint now) {
    for (auto& [stream, owned] : owned_)
        if (owned.is_postponed || owned.step == Step::unannounced)
            announce_at(stream, owned, now + random_below(kAnnounceSpread));
    send_withdrawals(now);
}

void Member::renew(TimePoint now) {
    if (!is_up())
        return;
    for (auto& [stream, owned] : owned_)
        if (owned.step == Step::unannounced || owned.renew_at <= now)
            announce_at(stream, owned, now + random_below(kListPeriod));
}

void Member::send_withdrawals(TimePoint now) {
    for (const auto& [stream, own] : withdrawals_)
        if (may_send())
            send(Withdraw{stream, own}, now);
}

void Member::note_alive(TimePoint now) {
    if (std::exchange(timeouts_in_row_, 0) >= kTimeoutsMax)
        announce_postponed(now);
}

// No answer in time, or none at all.
void Member::give_up(const Command& command, TimePoint now) {
    if (const auto* look = std::get_if<Look>(&command.what))
        return tell_finders(look->stream, best_guess(look->stream, now));
    const auto* claim = std::get_if<Claim>(&command.what);
    const auto found = claim == nullptr ? owned_.end() : owned_.find(claim->stream);
    if (found == owned_.end() || found->second.command != command.id)
        return;
    Owned& owned = found->second;
    owned.command = 0;
    if (owned.step == Step::asking)
        return publish_locally(claim->stream, owned, now);
    if (is_connected_)
        announce_at(claim->stream, owned, now + kRetry + random_below(kRetry));
}

void Member::handle_answer(std::uint64_t id, const Answer& answer, TimePoint now) {
    const auto sent = in_flight_.extract(id);
    if (sent.empty())
        return;
    const Command& command = sent.mapped().command;
    if (const auto* look = std::get_if<Look>(&command.what))
        late_looks_.erase(look->stream);
    latency_ = now - sent.mapped().sent;
    note_alive(now);
    // The answers are in the order of the commands; a Refusal comes after them.
    if (answer.index() != command.what.index()) {
        ++counts_.refusals;
        return give_up(command, now);
    }
    std::visit(Overloaded{
                   [&](const BeatDone& done) { on_beat(done, now); },
                   [&](const ClaimDone& done) { on_claim(command, done, now); },
                   [&](const WithdrawDone&) { on_withdrawn(std::get<Withdraw>(command.what)); },
                   [&](const LookDone& done) { on_look(std::get<Look>(command.what).stream, done, now); },
                   [&](const NodesDone& done) { on_nodes(done, now); },
                   [](const Refusal&) {},
               },
               answer);
}

// A lease that had ended while this node was connected: the registry has lost its data, or this process was suspended.
void Member::on_beat(const BeatDone& done, TimePoint now) {
    const bool is_first = beats_answered_++ == 0;
    // Two nodes share one name: neither can keep a stream.
    if (!is_first && done.is_shared)
        ++counts_.namesakes;
    else if (!is_first && !done.was_known)
        announce_all(now);
    send_withdrawals(now);
}

void Member::on_claim(const Command& command, const ClaimDone& done, TimePoint now) {
    const Claim& claim = std::get<Claim>(command.what);
    const auto found = owned_.find(claim.stream);
    if (found == owned_.end())
        return;  // withdrawn meanwhile
    Owned& owned = found->second;
    if (owned.command != command.id && owned.command != 0)
        return;  // it was published again, and that claim is in flight
    const bool is_late = owned.command == 0;
    owned.command = 0;
    if (!done.is_granted) {
        // The epoch decides a claim of a publisher that was admitted meanwhile.
        if (!(is_late && claim.is_fresh))
            on_refused(claim, owned, done.holder, now);
        return;
    }
    owned.own.epoch = std::clamp<std::uint64_t>(done.epoch, 1, kNumberMax);
    owned.step = Step::held;
    owned.renew_at = now + kRenewal + random_below(kRenewal / 2);
    let_in(owned, Verdict::granted);
    if (seal_.is_good(owned.own, claim.stream))
        return;
    // The registry has counted: signed with the epoch it is claimed again.
    seal_.put_on(owned.own, claim.stream);
    announce_at(claim.stream, owned, claim.is_fresh ? now : now + kRetry);
}

// With a secret, a node loses no stream to a record that no node has signed with its epoch. A newly admitted owner signs its
// record soon; any other unsigned record is forged and is overwritten.
bool Member::takes_back(const Claim& claim, Owned& owned, const Result<OwnRecord>& holder, TimePoint now) {
    if (owned.step == Step::asking || (holder.ok() && seal_.is_good(*holder, claim.stream)))
        return false;
    if (holder.ok() && !believes(*holder, claim.stream, now))
        owned.dead = NodeRun{holder->node, holder->run};
    announce_at(claim.stream, owned, now + kRetry + random_below(kRetry));
    return true;
}

void Member::on_refused(const Claim& claim, Owned& owned, const std::string& holder, TimePoint now) {
    const auto own = parse_own(holder);
    const bool is_good = own.ok() && believes(*own, claim.stream, now);
    if (!is_good)
        ++counts_.malformed;
    if (seal_.is_on() && takes_back(claim, owned, own, now))
        return;
    const std::string to = is_good ? own->node : std::string();
    if (is_good)
        cached(claim.stream).epoch = own->epoch;
    forget(claim.stream);
    const std::string stream = claim.stream;
    if (owned.step == Step::asking) {
        let_in(owned, Verdict::refused, to);
    } else {
        ++counts_.lost;
        say(Lost{stream, to});
    }
    owned_.erase(stream);
}

void Member::on_withdrawn(const Withdraw& withdraw) {
    const auto asked = withdrawals_.find(withdraw.stream);
    if (asked != withdrawals_.end() && asked->second == withdraw.own)
        withdrawals_.erase(asked);
}

Whereabouts Member::read(const std::string& stream, const LookDone& done, TimePoint now) {
    if (done.own.empty())
        return Nowhere{};
    auto own = parse_own(done.own);
    auto node = own.ok() && !done.node.empty() ? parse_node(own->node, done.node) : Result<NodeRecord>(NodeRecord());
    const bool is_known =
        own.ok() && node.ok() && believes(*own, stream, now) && (done.node.empty() || seal_.is_good(*node, wall(now)));
    if (!is_known) {
        ++counts_.malformed;
        return Nowhere{};
    }
    cached(stream).epoch = own->epoch;
    if (own->node == self_.id && own->run == self_.run && !owned_.contains(stream))
        withdrawals_.try_emplace(stream, *own);  // left over
    const bool is_alive = !done.node.empty() && node->run == own->run;
    if (!is_alive || own->node == self_.id)
        return Nowhere{};
    return There{*std::move(own), *std::move(node)};
}

void Member::on_look(const std::string& stream, const LookDone& done, TimePoint now) {
    Whereabouts where = read(stream, done, now);
    Cached& known = cached(stream);
    known.where = where;
    known.at = now;
    known.is_stale = false;
    tell_finders(stream, where);
}

void Member::on_nodes(const NodesDone& done, TimePoint now) {
    std::vector<NodeRecord> nodes;
    for (const auto& [id, text] : done.nodes) {
        auto node = parse_node(id, text);
        if (!node.ok() || !seal_.is_good(*node, wall(now)))
            ++counts_.malformed;
        else if (node->id != self_.id && nodes.size() < kNodesMax)
            nodes.push_back(*std::move(node));
    }
    nodes_ = std::move(nodes);
}

void Member::handle_event(std::string_view text, TimePoint now) {
    const auto event = parse_event(text);
    // The others are hints only, and the registry's scripts write them.
    const bool is_order = event.ok() && (event->kind == Event::Kind::drain || event->kind == Event::Kind::kick);
    if (!event.ok() || (is_order && !seal_.is_good(*event))) {
        ++counts_.malformed;
        return;
    }
    const auto owned = owned_.find(event->stream);
    switch (event->kind) {
        case Event::Kind::drain:
            for (NodeRecord& node : nodes_)
                if (node.id == event->node && node.run == event->run)
                    node.state = NodeRecord::State::draining;
            break;
        case Event::Kind::kick:
            if (owned != owned_.end() && event->node == self_.id && is_meant(*event, owned->second.own))
                say(Kicked{event->stream});
            break;
        case Event::Kind::published:
        case Event::Kind::moved:
        case Event::Kind::gone:
            if (event->node != self_.id || event->run != self_.run)
                on_change(*event, now);
            break;
    }
}

// A signed order to end a stream is for one publisher: epochs begin again when a stream has had no owner for a moment.
bool Member::is_meant(const Event& kick, const OwnRecord& own) const {
    return !seal_.is_on() || (own.since >= 0 && kick.epoch == static_cast<std::uint64_t>(own.since));
}

// An event may be late, repeated or forged: a stream of this node is announced again, any other is looked up again.
void Member::on_change(const Event& event, TimePoint now) {
    if (const auto owned = owned_.find(event.stream); owned != owned_.end()) {
        announce_at(event.stream, owned->second, now + random_below(kPauseWhenFull));
        return;
    }
    if (const auto known = cache_.find(event.stream); known != cache_.end())
        known->second.is_stale = true;
    say(Moved{event.stream});
}

void Member::let_in(Owned& owned, Verdict verdict, const std::string& holder) {
    if (const std::uint64_t ticket = std::exchange(owned.ticket, 0); ticket != 0)
        say(PublishDecided{ticket, verdict, holder});
}

std::uint64_t Member::next_epoch(const std::string& stream) const {
    const auto known = cache_.find(stream);
    return std::min((known == cache_.end() ? 0 : known->second.epoch) + 1, kNumberMax);
}

void Member::publish_locally(const std::string& stream, Owned& owned, TimePoint now) {
    owned.step = Step::unannounced;
    owned.own.epoch = next_epoch(stream);
    let_in(owned, Verdict::unregistered);
    if (is_connected_)
        announce_at(stream, owned, now + kRetry + random_below(kRetry));
}

std::uint64_t Member::publish(const std::string& stream, bool replaces, std::int64_t since, TimePoint now,
                              const std::optional<NodeRun>& dead) {
    const std::uint64_t ticket = next_id_++;
    if (owned_.contains(stream)) {
        // Two publishers on one node: the node's own rule decides.
        say(PublishDecided{ticket, Verdict::granted});
        return ticket;
    }
    if (owned_.size() >= kStreamsMax || !is_good_stream(stream)) {
        say(PublishDecided{ticket, Verdict::too_many});
        return ticket;
    }
    Owned& owned = add(stream, since);
    owned.replaces = replaces;
    owned.dead = dead;
    owned.ticket = ticket;
    owned.confirm = start_timer(now + kConfirmWithin, Timer::What::confirm, stream);
    if (may_send())
        send_claim(stream, owned, now);
    else
        publish_locally(stream, owned, now);
    return ticket;
}

Member::Owned& Member::add(const std::string& stream, std::int64_t since) {
    withdrawals_.erase(stream);
    Owned& owned = owned_[stream];
    owned.own = {self_.id, self_.run, 0, std::clamp<std::int64_t>(since, 0, static_cast<std::int64_t>(kNumberMax)), {}};
    seal_.put_on(owned.own, stream);
    return owned;
}

// It may have been lost, or refused to another publisher on this node, since it was granted: then its epoch decides.
void Member::confirm(const std::string& stream, std::int64_t since, TimePoint now) {
    auto owned = owned_.find(stream);
    if (owned == owned_.end() && owned_.size() < kStreamsMax && is_good_stream(stream)) {
        publish_locally(stream, add(stream, since), now);
        owned = owned_.find(stream);
    }
    if (owned != owned_.end())
        owned->second.is_confirmed = true;
}

// Epoch 0 is any of this run: a claim may be on its way.
void Member::unpublish(const std::string& stream, TimePoint now) {
    const auto found = owned_.find(stream);
    if (found == owned_.end())
        return;
    Owned& owned = found->second;
    if (owned.command != 0 || owned.step != Step::held)
        owned.own.epoch = 0;
    if (withdrawals_.size() < kStreamsMax)
        withdrawals_.insert_or_assign(stream, owned.own);
    if (may_send())
        send(Withdraw{stream, owned.own}, now);
    let_in(owned, Verdict::refused);
    forget(stream);
    owned_.erase(found);
}

Member::Cached& Member::cached(const std::string& stream) {
    if (cache_.size() >= kCacheMax && !cache_.contains(stream))
        cache_.clear();
    return cache_.try_emplace(stream, Cached{Nowhere{}, 0, {}, true}).first->second;
}

void Member::forget(const std::string& stream) {
    if (const auto known = cache_.find(stream); known != cache_.end())
        known->second.is_stale = true;
}

std::uint64_t Member::find(const std::string& stream, TimePoint now) {
    const std::uint64_t ticket = next_id_++;
    if (owned_.contains(stream)) {
        say(FindDecided{ticket, Here{}});
        return ticket;
    }
    const auto known = cache_.find(stream);
    if (known != cache_.end() && !known->second.is_stale) {
        const bool is_there = std::holds_alternative<There>(known->second.where);
        if (now - known->second.at < (is_there ? Duration(kCacheAge) : Duration(kNowhereAge))) {
            say(FindDecided{ticket, known->second.where});
            return ticket;
        }
    }
    const auto waiting = finders_.find(stream);
    const bool is_asked = waiting != finders_.end();
    const bool is_late = late_looks_.contains(stream);
    if ((!is_asked && (is_late || !may_send())) || waiting_finders_ >= kWaitersMax || !is_good_stream(stream)) {
        say(FindDecided{ticket, best_guess(stream, now)});
        return ticket;
    }
    finders_[stream].push_back(ticket);
    ++waiting_finders_;
    if (!is_asked)
        send(Look{stream}, now);
    return ticket;
}

// Not from the registry, which does not answer.
Whereabouts Member::best_guess(const std::string& stream, TimePoint now) const {
    const auto known = cache_.find(stream);
    if (known != cache_.end() && std::holds_alternative<There>(known->second.where) && now - known->second.at < kOldAge)
        return known->second.where;
    return Unknown{};
}

void Member::tell_finders(const std::string& stream, const Whereabouts& where) {
    const auto waiting = finders_.extract(stream);
    if (waiting.empty())
        return;
    waiting_finders_ -= waiting.mapped().size();
    for (const std::uint64_t ticket : waiting.mapped())
        say(FindDecided{ticket, where});
}

std::size_t Member::unannounced() const {
    return static_cast<std::size_t>(
        std::ranges::count_if(owned_, [](const auto& entry) { return entry.second.step != Step::held; }));
}

const OwnRecord* Member::find_own(const std::string& stream) const {
    const auto owned = owned_.find(stream);
    return owned == owned_.end() ? nullptr : &owned->second.own;
}

}  // namespace live::engine::cluster
