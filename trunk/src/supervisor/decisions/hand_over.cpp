#include "supervisor/decisions/hand_over.hpp"

#include <algorithm>
#include <utility>

namespace live::supervisor {

void HandOver::enter(Step step, Duration limit, TimePoint now) {
    step_ = step;
    until_ = now + limit;
}

void HandOver::begin(std::span<const Worker> old, TimePoint now) {
    old_.clear();
    actions_.clear();
    why_.clear();
    enter(Step::gathering, limits_.gather, now);
    for (const Worker worker : old) {
        old_.emplace(worker, Old{});
        actions_.emplace_back(RequestSockets{worker});
    }
    check(now);
}

HandOver::Old* HandOver::find(Worker worker) {
    const auto found = old_.find(worker);
    return found == old_.end() ? nullptr : &found->second;
}

bool HandOver::has_handed(Worker worker) const {
    const auto found = old_.find(worker);
    return found != old_.end() && found->second.has_handed;
}

void HandOver::on_given(Worker worker, TimePoint now) {
    if (Old* const old = find(worker); old != nullptr)
        old->has_given = true;
    check(now);
}

void HandOver::on_handed(Worker worker, TimePoint now) {
    if (Old* const old = find(worker); old != nullptr)
        old->has_handed = true;
    check(now);
}

void HandOver::on_gone(Worker worker, TimePoint now) {
    if (Old* const old = find(worker); old != nullptr)
        old->is_gone = true;
    check(now);
}

void HandOver::check(TimePoint now) {
    if (step_ == Step::gathering &&
        std::ranges::all_of(old_, [](const auto& one) { return one.second.has_given || one.second.is_gone; })) {
        // Workers that die are no reason: the new program brings its own.
        if (late_ == Late::wait && std::ranges::all_of(old_, [](const auto& one) { return one.second.is_gone; }))
            return fail(Errc::closed, "the running process has ended");
        enter(Step::starting, limits_.start, now);
        actions_.emplace_back(StartProgram{});
    }
    if (step_ == Step::handing &&
        std::ranges::all_of(old_, [](const auto& one) { return one.second.has_handed || one.second.is_gone; })) {
        step_ = Step::over;
        actions_.emplace_back(Release{});
    }
}

void HandOver::fail(Errc code, std::string sentence) {
    if (is_over())
        return;
    step_ = Step::failed;
    why_ = std::move(sentence);
    actions_.clear();
    actions_.emplace_back(Fail{code, why_});
}

void HandOver::on_start_failed(const Error& error) {
    if (step_ == Step::starting)
        fail(error.code(), std::string(error.sentence()));
}

void HandOver::on_program_ready(TimePoint now) {
    if (step_ != Step::starting)
        return;
    enter(Step::handing, limits_.hand, now);
    actions_.emplace_back(Announce{});
    check(now);
}

void HandOver::on_program_failed(std::string sentence) {
    if (step_ != Step::starting)
        return;
    fail(Errc::system, std::move(sentence));
    actions_.emplace_front(KillProgram{true});
}

void HandOver::on_program_ended(const std::string& end) {
    if (step_ == Step::starting)
        fail(Errc::system, "the new program " + end + " before it served: it has said why on stderr, or in its log");
}

void HandOver::on_time(TimePoint now) {
    if (is_over() || now < until_)
        return;
    switch (step_) {
        case Step::gathering:
            return fail(Errc::timed_out, late_ == Late::kill ? "the running workers do not give their sockets"
                                                             : "the running process does not give its sockets");
        case Step::starting:
            fail(Errc::timed_out, "the new program does not get ready in time");
            actions_.emplace_front(KillProgram{});
            return;
        case Step::handing:
            for (const auto& [worker, old] : old_)
                if (!old.has_handed && !old.is_gone)
                    actions_.emplace_back(NoteLate{worker});
            step_ = Step::over;
            actions_.emplace_back(Release{});
            return;
        case Step::over:
        case Step::failed: return;
    }
}

std::optional<HandOver::Action> HandOver::poll_action() {
    if (actions_.empty())
        return std::nullopt;
    Action action = std::move(actions_.front());
    actions_.pop_front();
    return action;
}

std::optional<TimePoint> HandOver::next_timeout() const { return is_over() ? std::nullopt : std::optional(until_); }

}  // namespace live::supervisor
