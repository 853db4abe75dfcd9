#include "engine/cluster/cluster_node.hpp"

#include <utility>
#include <variant>

namespace live::engine::cluster {

namespace {

template <class... Cases>
struct Overloaded : Cases... {
    using Cases::operator()...;
};
template <class... Cases>
Overloaded(Cases...) -> Overloaded<Cases...>;

}  // namespace

ClusterNode::ClusterNode(ClusterNodeOptions options, NodeRecord self, std::uint64_t seed)
    : options_(std::move(options)),
      identity_(options_.secret, std::move(self)),
      queue_(counts_, seed),
      finder_(queue_, notices_),
      streams_({identity_, queue_, notices_, finder_, counts_}) {}

void ClusterNode::announce_state(TimePoint now) {
    if (queue_.may_send())
        queue_.send(Beat{identity_.signed_self(now), options_.lease}, now);
}

void ClusterNode::handle_timeout(TimePoint now) {
    while (const auto timer = queue_.take_due_timer(now))
        handle_timer(*timer, now);
}

void ClusterNode::handle_timer(const ClusterTimer& timer, TimePoint now) {
    switch (timer.kind) {
        case ClusterTimer::Kind::heartbeat:
            if (timer.number == heartbeat_timer_)
                send_heartbeat(now);
            break;
        case ClusterTimer::Kind::list:
            if (timer.number != list_timer_)
                break;
            list_timer_ = queue_.start_timer(now + kListPeriod + queue_.random_below(kListPeriod / 4), ClusterTimer::Kind::list);
            if (queue_.may_send())
                queue_.send(ListNodes{}, now);
            streams_.renew(kListPeriod, now);
            break;
        case ClusterTimer::Kind::announce:
        case ClusterTimer::Kind::confirm: streams_.handle_timer(timer, now); break;
        case ClusterTimer::Kind::answer:
            if (const auto late = queue_.expire(timer))
                handle_late(*late, now);
            break;
    }
}

void ClusterNode::handle_late(const Command& command, TimePoint now) {
    if (const auto* lookup = std::get_if<StreamLookup>(&command.what))
        finder_.note_late(lookup->stream);
    handle_failure(command, now);
}

// The command has no answer, or a late one.
void ClusterNode::handle_failure(const Command& command, TimePoint now) {
    if (const auto* lookup = std::get_if<StreamLookup>(&command.what))
        finder_.handle_failure(lookup->stream, now);
    else
        streams_.handle_failure(command, now);
}

void ClusterNode::handle_connected(TimePoint now) {
    if (queue_.is_connected())
        handle_disconnected(now);
    queue_.connect();
    heartbeats_answered_ = 0;
    send_heartbeat(now);
    queue_.send(ListNodes{}, now);
    list_timer_ = queue_.start_timer(now + kListPeriod, ClusterTimer::Kind::list);
    handle_events_missed(now);
}

void ClusterNode::handle_disconnected(TimePoint now) {
    heartbeat_timer_ = list_timer_ = 0;
    finder_.handle_disconnected();
    for (const Command& command : queue_.disconnect())
        handle_failure(command, now);
}

void ClusterNode::handle_events_missed(TimePoint now) {
    finder_.forget_all();
    streams_.announce_all(now);
}

// Sent even while the registry is away: an answer shows that it is back.
void ClusterNode::send_heartbeat(TimePoint now) {
    const Duration jitter = options_.beat / 10;
    heartbeat_timer_ = queue_.start_timer(now + options_.beat - queue_.random_below(jitter), ClusterTimer::Kind::heartbeat);
    if (!queue_.is_full())
        queue_.send(Beat{identity_.signed_self(now), options_.lease}, now);
}

void ClusterNode::handle_answer(std::uint64_t id, const Answer& answer, TimePoint now) {
    const auto answered = queue_.take_answered(id, now);
    if (!answered)
        return;
    const Command& command = answered->command;
    if (const auto* lookup = std::get_if<StreamLookup>(&command.what))
        finder_.note_answered(lookup->stream);
    if (answered->has_returned)
        streams_.announce_postponed(now);
    // The alternatives of Answer are in the order of the commands; a Refusal comes after them.
    if (answer.index() != command.what.index()) {
        ++counts_.refusals;
        return handle_failure(command, now);
    }
    std::visit(Overloaded{
                   [&](const BeatDone& done) { handle_heartbeat(done, now); },
                   [&](const ClaimDone& done) { streams_.handle_claim(command, done, now); },
                   [&](const WithdrawDone&) { streams_.handle_withdrawn(std::get<Withdraw>(command.what)); },
                   [&](const StreamLookupDone& done) {
                       const std::string& stream = std::get<StreamLookup>(command.what).stream;
                       finder_.handle_location(stream, location_of(stream, done, now), now);
                   },
                   [&](const NodesDone& done) { handle_nodes(done, now); },
                   [](const Refusal&) {},
               },
               answer);
}

// If the lease has ended while this node was connected, the registry has lost its data, or this process was suspended.
void ClusterNode::handle_heartbeat(const BeatDone& done, TimePoint now) {
    const bool is_first = heartbeats_answered_++ == 0;
    // Two nodes share one id: neither can keep a stream.
    if (!is_first && done.is_shared)
        ++counts_.duplicate_node_ids;
    else if (!is_first && !done.was_known)
        streams_.announce_all(now);
    streams_.send_withdrawals(now);
}

StreamLocation ClusterNode::location_of(const std::string& stream, const StreamLookupDone& done, TimePoint now) {
    if (done.own.empty())
        return Nowhere{};
    auto own = parse_own(done.own);
    auto node = own.ok() && !done.node.empty() ? parse_node(own->node, done.node) : Result<NodeRecord>(NodeRecord());
    const bool is_known =
        own.ok() && node.ok() && believes(*own, stream, now) && (done.node.empty() || seal().is_good(*node, identity_.wall(now)));
    if (!is_known) {
        ++counts_.malformed;
        return Nowhere{};
    }
    finder_.note_epoch(stream, own->epoch);
    if (identity_.is_self(own->node, own->run) && !streams_.contains(stream))
        streams_.withdraw(stream, *own);
    const bool is_alive = !done.node.empty() && node->run == own->run;
    if (!is_alive || own->node == self().id)
        return Nowhere{};
    return There{*std::move(own), *std::move(node)};
}

void ClusterNode::handle_nodes(const NodesDone& done, TimePoint now) {
    std::vector<NodeRecord> nodes;
    for (const auto& [id, text] : done.nodes) {
        auto node = parse_node(id, text);
        if (!node.ok() || !seal().is_good(*node, identity_.wall(now)))
            ++counts_.malformed;
        else if (node->id != self().id && nodes.size() < kNodesMax)
            nodes.push_back(*std::move(node));
    }
    nodes_ = std::move(nodes);
}

void ClusterNode::handle_event(std::string_view text, TimePoint now) {
    const auto event = parse_event(text);
    // The other kinds are hints, which the registry's scripts write without a signature.
    const bool is_order = event.ok() && (event->kind == Event::Kind::drain || event->kind == Event::Kind::kick);
    if (!event.ok() || (is_order && !seal().is_good(*event))) {
        ++counts_.malformed;
        return;
    }
    switch (event->kind) {
        case Event::Kind::drain:
            for (NodeRecord& node : nodes_)
                if (node.id == event->node && node.run == event->run)
                    node.state = NodeRecord::State::draining;
            break;
        case Event::Kind::kick:
            if (const OwnRecord* own = streams_.find(event->stream);
                own != nullptr && event->node == self().id && is_meant(*event, *own))
                notices_.push(Kicked{event->stream});
            break;
        case Event::Kind::published:
        case Event::Kind::moved:
        case Event::Kind::gone:
            if (!identity_.is_self(event->node, event->run))
                handle_change(*event, now);
            break;
    }
}

// A signed order to end a stream is for one publisher: epochs begin again when a stream has had no owner for a moment.
bool ClusterNode::is_meant(const Event& kick, const OwnRecord& own) const {
    return !seal().is_on() || (own.since >= 0 && kick.epoch == static_cast<std::uint64_t>(own.since));
}

// An event may be late, repeated or forged: a stream of this node is announced again, any other is looked up again.
void ClusterNode::handle_change(const Event& event, TimePoint now) {
    if (streams_.announce_soon(event.stream, now))
        return;
    finder_.forget(event.stream);
    notices_.push(Moved{event.stream});
}

std::uint64_t ClusterNode::publish(const std::string& stream, bool replaces, std::int64_t since, TimePoint now,
                                   const std::optional<NodeRun>& dead) {
    const std::uint64_t ticket = queue_.next_id();
    streams_.publish(stream, ticket, replaces, since, now, dead);
    return ticket;
}

std::uint64_t ClusterNode::find(const std::string& stream, TimePoint now) {
    const std::uint64_t ticket = queue_.next_id();
    if (streams_.contains(stream))
        notices_.push(FindDecided{ticket, Here{}});
    else
        finder_.find(stream, ticket, now);
    return ticket;
}

}  // namespace live::engine::cluster
