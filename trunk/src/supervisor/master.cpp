#include "supervisor/master.hpp"

#include <algorithm>
#include <csignal>
#include <utility>

#include <fcntl.h>
#include <unistd.h>

#include "base/bytes/random.hpp"
#include "base/log/log_format.hpp"
#include "engine/workers/shared_limits.hpp"
#include "io/fibers/loop.hpp"
#include "supervisor/line/start_variables.hpp"

namespace live::supervisor {

namespace messages = engine::workers;
using messages::Kind;
using messages::Message;
using messages::WorkerIdentity;
using std::chrono::milliseconds;

Master::Master(StartedAs started, std::size_t count, std::string secret, const Log& log, Inheritance inheritance)
    : started_(std::move(started)),
      count_(count),
      base_(inheritance.base),
      secret_(std::move(secret)),
      log_(log),
      members_(messages::kMembersMax, *this, log),
      roster_(base_, count, static_cast<std::uint32_t>(random_number())) {
    for (std::size_t i = 0; i < count; ++i) {
        Member& member = members_.add(static_cast<Worker>(base_ + i + 1));
        member.is_free = false;
        if (i < inheritance.sockets.size())
            kept_[member.number] = std::move(inheritance.sockets[i]);
    }
}

Master::~Master() {
    if (started_.folder >= 0)
        ::close(started_.folder);
}

std::optional<Master::Failure> Master::start(io::Deadline deadline) {
    roster_.begin(io::now());
    for (perform(); !is_start_over_; perform()) {
        const auto next = roster_.next_timeout();
        const auto until = next ? deadline.sooner(io::Deadline::at(*next)) : deadline;
        const auto waited = io::wait(decided_, until);
        if (!waited.ok() && (waited.code() == Errc::cancelled || deadline.expired())) {
            start_failure_ = Failure{1, "a worker does not get ready in time"};
            break;
        }
        roster_.on_time(time_after(waited, until), {});
    }
    if (start_failure_) {
        stop(SIGTERM, milliseconds(0));
        return start_failure_;
    }
    MUST(fibers_.start("supervision", [this](io::Deadline forever) { supervise(forever); }));
    return std::nullopt;
}

void Master::perform() {
    while (const auto action = roster_.poll_action()) {
        if (const auto* const start = std::get_if<Roster::Start>(&*action))
            perform(*start);
        else if (const auto* const kill = std::get_if<Roster::Kill>(&*action))
            perform(*kill);
        else
            is_start_over_ = true;
        if (const auto* const failed = std::get_if<Roster::Failed>(&*action))
            start_failure_ = failed->failure;
    }
}

void Master::perform(const Roster::Start& start) {
    Member& member = *members_.find(start.worker);
    const auto begun = start_worker(member);
    if (!begun.ok()) {
        if (!roster_.is_starting_up())
            LOG_ERROR(log_, "worker {} cannot be started: {}", member.number, begun.error().sentence());
        roster_.on_start_failed(member.number, std::string(begun.error().sentence()), io::now());
        return;
    }
    roster_.on_started(member.number, io::now());
    MUST(fibers_.start("worker", [this, &member](io::Deadline forever) { attend_worker(member, forever); }));
}

void Master::perform(const Roster::Kill& kill) {
    if (Member* const member = members_.find(kill.worker); member != nullptr)
        members_.end(*member, kill.reason);
}

Result<void> Master::start_worker(Member& member) {
    if (limits_ == nullptr)
        limits_ = TRY(io::SharedMemory::create(messages::SharedLimits::bytes_for(static_cast<Worker>(count_))));
    const WorkerIdentity identity{static_cast<Worker>(member.number - base_), static_cast<Worker>(count_), member.number};
    io::ChildOptions options = TRY(child_options(started_));
    options.program = "/proc/self/exe";
    options.environment = {worker_variable(identity, secret_)};
    TRY(members_.start_process(member, std::move(options), identity));
    TRY(give_resources(member));
    LOG_INFO(log_, "worker {} is started, pid={}", member.number, member.process->pid());
    return {};
}

// The first messages, which are in the line when the worker starts.
Result<void> Master::give_resources(Member& member) {
    const auto kept = kept_.find(member.number);
    const bool inherits = kept != kept_.end() && !kept->second.empty();
    members_.send(member.number, {Kind::tally, static_cast<std::uint8_t>(inherits ? 1 : 0)}, TRY(limits_->handle()));
    if (!inherits)
        return {};
    for (const io::BoundSocket& socket : kept->second)
        if (const int copy = ::fcntl(socket.copy.fd(), F_DUPFD_CLOEXEC, 0); copy >= 0)
            members_.send(member.number, {Kind::gift, 0, 0, 0, 0, socket.name}, io::Socket(copy));
    members_.send(member.number, {Kind::begin});
    return {};
}

void Master::attend_worker(Member& member, io::Deadline deadline) {
    const std::string why = members_.attend(member, deadline);
    if (members_.is_frozen())
        return;
    member.line->close();
    members_.directory().forget(member.number);
    member.is_ready = false;
    if (roster_.state(member.number) != Roster::State::retired)
        end_worker(member, why);
    hand_over_.on_gone(member.number, io::now());
    roster_.on_ended(member.number, io::now());
    decided_.raise();
    changed_.raise();
}

void Master::end_worker(Member& member, const std::string& why) {
    if (!is_stopping_) {
        member.process->send_signal(SIGKILL);
        const auto ended = member.process->wait(io::Deadline::never());
        LOG_ERROR(log_, "worker {} has ended: {}{}", member.number, ended.ok() ? "it " + ended->text() : "", why);
    }
    member.gifts.clear();
    if (member.process->has_ended())
        messages::SharedLimits::forget(limits_->bytes(), static_cast<Worker>(count_), static_cast<Worker>(member.number - base_));
}

void Master::on_message(Member& member, Message message, io::Socket passed) {
    roster_.on_message(member.number);
    switch (message.kind) {
        case Kind::ready:
            member.is_ready = true;
            LOG_INFO(log_, "worker {} serves, pid={}", member.number, member.process != nullptr ? member.process->pid() : 0);
            if (has_begun_)
                admit(member);
            roster_.on_ready(member.number);
            break;
        case Kind::failed:
            LOG_ERROR(log_, "worker {} does not start: {}", member.number, message.text);
            roster_.on_failure(member.number, {static_cast<int>(message.ticket & 0xFF), std::move(message.text)});
            break;
        case Kind::reload: is_reload_requested_ = true; break;
        // As an operator's signals.
        case Kind::quit: std::raise(SIGQUIT); break;
        case Kind::upgrade: std::raise(SIGUSR2); break;
        case Kind::gift:
            if (hand_over_.step() == HandOver::Step::gathering && member.gifts.size() < Members::kGiftsMax && passed.is_open())
                member.gifts.push_back({std::move(message.text), std::move(passed)});
            break;
        case Kind::given: hand_over_.on_given(member.number, io::now()); break;
        case Kind::handed:
            roster_.retire(member.number);
            hand_over_.on_handed(member.number, io::now());
            break;
        default: return;
    }
    decided_.raise();
    changed_.raise();
}

// While the machine was suspended, or this process stopped, no worker could send a heartbeat.
void Master::supervise(io::Deadline deadline) {
    for (TimePoint then = io::now();;) {
        perform();
        auto until = io::Deadline::after(kLook);
        if (const auto next = roster_.next_timeout())
            until = until.sooner(io::Deadline::at(*next));
        until = deadline.sooner(until);
        const auto waited = io::wait(decided_, until);
        if (!waited.ok() && waited.code() == Errc::cancelled)
            return;
        const TimePoint now = time_after(waited, until);
        roster_.on_time(now, std::min<Duration>(now - then, 2 * kLook));
        then = now;
    }
}

void Master::begin_stop(int number) {
    is_stopping_ = true;
    roster_.stop();
    send_signal(number);
}

void Master::stop(int number, milliseconds limit) {
    begin_stop(number);
    members_.await_ends(limit + kStopSlack);
    if (const auto stopped = fibers_.stop(io::Deadline::after(kStopSlack)); !stopped.ok())
        LOG_WARN(log_, "stopping the supervision: {}", stopped.error().text());
}

}  // namespace live::supervisor
