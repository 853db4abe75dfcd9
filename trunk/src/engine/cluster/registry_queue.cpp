#include "engine/cluster/registry_queue.hpp"

#include <algorithm>
#include <utility>

namespace live::engine::cluster {

void RegistryQueue::connect() {
    is_connected_ = true;
    timeouts_in_row_ = 0;
}

std::vector<Command> RegistryQueue::disconnect() {
    is_connected_ = false;
    commands_.clear();
    std::vector<Command> lost;
    for (auto& [id, sent] : std::exchange(in_flight_, {}))
        lost.push_back(std::move(sent.command));
    return lost;
}

std::uint64_t RegistryQueue::send(decltype(Command::what) what, TimePoint now) {
    Command command{next_id(), std::move(what)};
    // expire() relies on the order: the timer's number is the next one.
    start_timer(now + kWaitMax, ClusterTimer::Kind::answer);
    ++counts_.commands;
    in_flight_.emplace(command.id, InFlight{command, now});
    commands_.push_back(std::move(command));
    return commands_.back().id;
}

std::optional<Command> RegistryQueue::poll_command() {
    if (commands_.empty())
        return std::nullopt;
    Command command = std::move(commands_.front());
    commands_.pop_front();
    return command;
}

std::optional<RegistryQueue::Answered> RegistryQueue::take_answered(std::uint64_t id, TimePoint now) {
    auto sent = in_flight_.extract(id);
    if (sent.empty())
        return std::nullopt;
    latency_ = now - sent.mapped().sent;
    const bool has_returned = std::exchange(timeouts_in_row_, 0) >= kTimeoutsMax;
    return Answered{std::move(sent.mapped().command), has_returned};
}

std::uint64_t RegistryQueue::start_timer(TimePoint at, ClusterTimer::Kind kind, std::string stream) {
    const std::uint64_t number = next_id();
    timers_.push({at, number, kind, std::move(stream)});
    return number;
}

std::optional<ClusterTimer> RegistryQueue::take_due_timer(TimePoint now) {
    if (timers_.empty() || timers_.top().at > now)
        return std::nullopt;
    ClusterTimer timer = timers_.top();
    timers_.pop();
    return timer;
}

std::optional<TimePoint> RegistryQueue::next_timeout() const {
    return timers_.empty() ? std::nullopt : std::optional(timers_.top().at);
}

std::optional<Command> RegistryQueue::expire(const ClusterTimer& timer) {
    const auto sent = in_flight_.find(timer.number - 1);
    if (sent == in_flight_.end() || std::exchange(sent->second.is_late, true))
        return std::nullopt;
    ++timeouts_in_row_;
    ++counts_.timeouts;
    return sent->second.command;
}

// SplitMix64.
Duration RegistryQueue::random_below(Duration limit) {
    random_state_ += 0x9E3779B97F4A7C15;
    std::uint64_t mixed = random_state_;
    mixed = (mixed ^ (mixed >> 30)) * 0xBF58476D1CE4E5B9;
    mixed = (mixed ^ (mixed >> 27)) * 0x94D049BB133111EB;
    mixed ^= mixed >> 31;
    return Duration(static_cast<Duration::rep>(mixed % static_cast<std::uint64_t>(std::max<Duration::rep>(limit.count(), 1))));
}

}  // namespace live::engine::cluster
