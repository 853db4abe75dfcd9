#include "supervisor/decisions/roster.hpp"

#include <algorithm>
#include <utility>

#include <fmt/format.h>

namespace live::supervisor {

using std::chrono::milliseconds;

Roster::Roster(Worker base, std::size_t count, std::uint32_t random, Limits limits)
    : base_(base), count_(count), limits_(limits), random_(random) {
    for (std::size_t i = 1; i <= count; ++i)
        entries_.emplace(static_cast<Worker>(base + i), Entry{.backoff = Backoff(limits.backoff_first, limits.backoff_max)});
}

Roster::Entry* Roster::find(Worker worker) {
    const auto found = entries_.find(worker);
    return found == entries_.end() ? nullptr : &found->second;
}

bool Roster::is_ready(Worker worker) const { return state(worker) == State::ready; }

std::optional<Roster::State> Roster::state(Worker worker) const {
    const auto found = entries_.find(worker);
    return found == entries_.end() ? std::nullopt : std::optional(found->second.state);
}

const std::string& Roster::failure(Worker worker) const {
    static const std::string kNone;
    const auto found = entries_.find(worker);
    return found == entries_.end() ? kNone : found->second.failure.sentence;
}

void Roster::begin(TimePoint now) {
    phase_ = Phase::first;
    start_limit_ = now + limits_.start;
    start(static_cast<Worker>(base_ + 1));
}

void Roster::on_started(Worker worker, TimePoint now) {
    Entry* const entry = find(worker);
    if (entry == nullptr)
        return;
    if (entry->was_started)
        ++restarts_;
    entry->state = State::starting;
    entry->was_started = true;
    entry->is_killed = false;
    entry->silent = {};
    entry->started = now;
    entry->failure = {};
}

void Roster::on_start_failed(Worker worker, std::string sentence, TimePoint now) {
    Entry* const entry = find(worker);
    if (entry == nullptr)
        return;
    if (is_starting_up() && !entry->was_started)
        return fail({1, std::move(sentence)});
    pause(*entry, now);
}

void Roster::on_message(Worker worker) {
    if (Entry* const entry = find(worker); entry != nullptr)
        entry->silent = {};
}

void Roster::on_ready(Worker worker) {
    Entry* const entry = find(worker);
    if (entry == nullptr || entry->state != State::starting)
        return;
    entry->state = State::ready;
    go_on();
}

void Roster::go_on() {
    if (phase_ == Phase::first && are_ready(static_cast<Worker>(base_ + 1))) {
        phase_ = Phase::rest;
        for (std::size_t i = 2; i <= count_; ++i)
            start(static_cast<Worker>(base_ + i));
    }
    if (phase_ == Phase::rest && are_ready(static_cast<Worker>(base_ + count_))) {
        phase_ = Phase::serving;
        actions_.emplace_back(Serving{});
    }
}

bool Roster::are_ready(Worker last) const {
    return std::ranges::all_of(
        entries_, [&](const auto& one) { return !is_own(one.first) || one.first > last || one.second.state == State::ready; });
}

void Roster::on_failure(Worker worker, Failure failure) {
    if (Entry* const entry = find(worker); entry != nullptr && entry->state == State::starting) {
        entry->failure = failure;
        if (is_starting_up())
            fail(std::move(failure));
    }
}

void Roster::fail(Failure failure) {
    phase_ = Phase::failed;
    is_stopped_ = true;
    actions_.clear();
    actions_.emplace_back(Failed{std::move(failure)});
}

void Roster::on_ended(Worker worker, TimePoint now) {
    Entry* const entry = find(worker);
    if (entry == nullptr || (entry->state != State::starting && entry->state != State::ready))
        return;
    const bool was_ready = std::exchange(entry->state, State::ended) == State::ready;
    if (!was_ready && entry->failure.sentence.empty())
        entry->failure.sentence = fmt::format("worker {} died while it started", worker);
    if (!was_ready && is_starting_up())
        return fail(entry->failure);
    if (was_ready && now - entry->started >= limits_.stable)
        entry->backoff.reset();
    if (is_own(worker) && !is_stopped_)
        pause(*entry, now);
}

void Roster::pause(Entry& entry, TimePoint now) {
    constexpr std::uint32_t kMultiplier = 1'664'525;
    constexpr std::uint32_t kIncrement = 1'013'904'223;
    random_ = random_ * kMultiplier + kIncrement;
    entry.state = State::pausing;
    entry.restart = now + entry.backoff.next(random_);
}

void Roster::adopt(Worker worker) {
    Entry entry{.backoff = Backoff(limits_.backoff_first, limits_.backoff_max)};
    entry.state = State::ready;
    entries_.insert_or_assign(worker, std::move(entry));
}

void Roster::retire(Worker worker) {
    if (Entry* const entry = find(worker); entry != nullptr)
        entry->state = State::retired;
}

void Roster::check_silence(Worker worker, Entry& entry, Duration passed) {
    if ((entry.state != State::starting && entry.state != State::ready) || entry.is_killed)
        return;
    entry.silent += passed;
    if (entry.silent < (entry.state == State::ready ? limits_.silence : limits_.start))
        return;
    entry.is_killed = true;
    actions_.emplace_back(
        Kill{worker, fmt::format(", killed because its loop stood still for {} ms", entry.silent / milliseconds(1))});
}

void Roster::on_time(TimePoint now, Duration passed) {
    for (auto& [worker, entry] : entries_) {
        check_silence(worker, entry, passed);
        if (entry.state == State::pausing && !is_stopped_ && now >= entry.restart) {
            entry.state = State::ended;
            start(worker);
        }
    }
    if (is_starting_up() && now >= start_limit_)
        fail({1, "a worker does not get ready in time"});
}

std::optional<Roster::Action> Roster::poll_action() {
    while (!actions_.empty()) {
        Action action = std::move(actions_.front());
        actions_.pop_front();
        if (is_stopped_ && std::holds_alternative<Start>(action))
            continue;
        return action;
    }
    return std::nullopt;
}

std::optional<TimePoint> Roster::next_timeout() const {
    std::optional<TimePoint> next;
    if (is_starting_up())
        next = start_limit_;
    if (is_stopped_)
        return next;
    for (const auto& [worker, entry] : entries_)
        if (entry.state == State::pausing)
            next = next ? std::min(*next, entry.restart) : entry.restart;
    return next;
}

}  // namespace live::supervisor
