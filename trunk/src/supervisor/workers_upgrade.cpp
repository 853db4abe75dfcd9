#include "supervisor/workers_upgrade.hpp"

#include <algorithm>
#include <csignal>
#include <utility>

#include <fcntl.h>
#include <unistd.h>

#include "base/log/log_format.hpp"
#include "io/fibers/loop.hpp"
#include "supervisor/line/start_variables.hpp"
#include "supervisor/upgrade.hpp"

namespace live::supervisor {

namespace messages = engine::workers;
using messages::Kind;
using messages::Message;

WorkersUpgrade::WorkersUpgrade(Shared shared, const Log& log) : shared_(std::move(shared)), log_(log) {
    if (shared_.parent.is_open())
        parent_ = std::make_unique<Line>(WorkerIdentity{}, std::move(shared_.parent));
}

WorkersUpgrade::~WorkersUpgrade() { end(); }

void WorkersUpgrade::begin() {
    if (is_under_way_ || is_over_)
        return;
    LOG_INFO(log_, "signal {}: upgrade: the program is started anew, beside this process and its {} workers", SIGUSR2,
             shared_.master.size());
    is_under_way_ = fibers_.start("upgrade", [this](io::Deadline forever) { run(forever); }).ok();
}

void WorkersUpgrade::run(io::Deadline deadline) {
    auto launched = start(deadline);
    if (launched.ok())
        hand_over(*launched, deadline);
    else if (launched.code() != Errc::cancelled)
        fail(launched.error().sentence());
    is_under_way_ = false;
}

void WorkersUpgrade::fail(const std::string& why) {
    line_.reset();
    LOG_ERROR(log_, "upgrade: this process continues to serve: {}", why);
    shared_.master.send_to_workers({Kind::upgraded, 1, 0, 0, 0, why});
}

Result<WorkersUpgrade::Launched> WorkersUpgrade::start(io::Deadline deadline) {
    const auto base = TRY(shared_.master.free_base());
    auto sockets = TRY(shared_.master.gather(deadline));
    auto [here, there] = TRY(io::MessageSocket::pair());
    line_ = std::make_unique<Line>(WorkerIdentity{}, std::move(here));
    const auto soon = deadline.sooner(io::Deadline::after(Master::kHandLimit));
    auto launched = parent_ == nullptr ? launch(std::move(there)) : ask_parent(std::move(there), soon);
    if (launched.ok())  // a program that does not read reports the reason itself
        static_cast<void>(give(std::move(sockets), std::move(launched->parent), base, soon));
    else if (launched.code() != Errc::cancelled)
        shared_.master.hand_over().on_start_failed(launched.error());
    if (!launched.ok())
        return launched;
    TRY(wait_ready(*launched, deadline));
    return launched;
}

Result<WorkersUpgrade::Launched> WorkersUpgrade::launch(io::Socket line) {
    Launched launched;
    auto next = std::make_unique<NewProcess>();
    if (stays()) {
        auto [here, there] = TRY(io::MessageSocket::pair());
        next->line = std::make_unique<Line>(WorkerIdentity{}, std::move(here));
        launched.parent = std::move(there);
    }
    io::ChildOptions options = TRY(child_options(shared_.master.started()));
    options.environment = {successor_variable(shared_.secret)};
    options.passed = line.fd();
    auto process = io::ChildProcess::spawn(options);
    if (!process.ok())
        return Error(process.error()).during("starting the new program");
    next->process = *std::move(process);
    launched.pid = static_cast<std::uint32_t>(next->process->pid());
    LOG_INFO(log_, "upgrade: the new program is started, pid={}", launched.pid);
    std::erase_if(new_processes_, [this](const auto& one) { return one->has_ended && one.get() != newest_; });
    new_processes_.push_back(std::move(next));
    launched.next = new_processes_.back().get();
    TRY(fibers_.start("new process", [this, one = launched.next](io::Deadline forever) { attend(*one, forever); }));
    return launched;
}

Result<WorkersUpgrade::Launched> WorkersUpgrade::ask_parent(io::Socket line, io::Deadline deadline) {
    parent_->send({Kind::launch}, std::move(line));
    for (;;) {
        auto incoming = TRY(parent_->next("the process that stays does not start the new program", deadline));
        const Message& message = incoming.message;
        if (message.kind != Kind::launched)
            continue;
        if (message.flag == 1)
            return Error(Errc::system, message.text);
        return Launched{message.ticket, std::move(incoming.passed), nullptr};
    }
}

Result<void> WorkersUpgrade::give(WorkersSockets sockets, io::Socket parent, messages::Worker base, io::Deadline deadline) {
    for (std::size_t i = 0; i < sockets.size(); ++i)
        for (io::BoundSocket& bound : sockets[i]) {
            line_->send({Kind::gift, 0, static_cast<messages::Worker>(i + 1), 0, 0, bound.name}, std::move(bound.copy));
            TRY(line_->flush_all(deadline));
        }
    const bool has_parent = parent.is_open();
    if (has_parent)
        line_->send({Kind::gift, 0, 0, 0, 0, std::string(kParentGift)}, std::move(parent));
    if (shared_.pid_file != nullptr)
        if (const int copy = ::fcntl(shared_.pid_file->native_handle(), F_DUPFD_CLOEXEC, 0); copy >= 0)
            line_->send({Kind::gift, 0, 0, 0, 0, std::string(kPidGift) + shared_.pid_path}, io::Socket(copy));
    const auto workers = static_cast<std::uint32_t>(shared_.master.size());
    line_->send({Kind::begin, static_cast<std::uint8_t>(has_parent ? 1 : 0), base, workers, 0, ""});
    return line_->flush_all(deadline);
}

Result<void> WorkersUpgrade::wait_ready(const Launched& launched, io::Deadline deadline) {
    HandOver& steps = shared_.master.hand_over();
    for (;;) {
        while (const auto action = steps.poll_action()) {
            if (const auto* const kill = std::get_if<HandOver::KillProgram>(&*action))
                kill_program(launched, *kill);
            else if (const auto* const fail = std::get_if<HandOver::Fail>(&*action))
                return Error(fail->code, fail->sentence);
            else if (std::holds_alternative<HandOver::Announce>(*action))
                return {};
        }
        const auto until = deadline.sooner(io::Deadline::at(steps.next_timeout().value_or(io::now())));
        const auto incoming = line_->next("", until);
        if (incoming.ok() && incoming->message.kind == Kind::ready)
            steps.on_program_ready(io::now());
        else if (incoming.ok() && incoming->message.kind == Kind::failed)
            steps.on_program_failed(incoming->message.text);
        else if (!incoming.ok() && incoming.code() == Errc::cancelled)
            return Error(incoming.error());
        else if (!incoming.ok() && incoming.code() == Errc::timed_out)
            steps.on_time(std::max(io::now(), until.when()));
        else if (!incoming.ok())
            steps.on_program_ended(TRY(await_end(launched, deadline)));
    }
}

Result<std::string> WorkersUpgrade::await_end(const Launched& launched, io::Deadline deadline) {
    if (launched.next == nullptr)
        return std::string("ended");
    const auto soon = deadline.sooner(io::Deadline::after(kStopLimit));
    while (!launched.next->has_ended && !soon.expired())
        TRY(io::sleep(deadline.sooner(io::Deadline::after(kLook))));
    return launched.next->has_ended ? launched.next->end : std::string("ended");
}

// Another process's child that has ended is reaped, and its pid may be another process's.
void WorkersUpgrade::kill_program(const Launched& launched, const HandOver::KillProgram& kill) {
    if (launched.next != nullptr)
        launched.next->process->send_signal(SIGKILL);
    else if (!kill.may_have_ended)
        ::kill(static_cast<pid_t>(launched.pid), SIGKILL);
}

void WorkersUpgrade::hand_over(const Launched& launched, io::Deadline deadline) {
    Master& master = shared_.master;
    LOG_INFO(log_, "upgrade: the new program serves, pid={}", launched.pid);
    master.send_to_workers({Kind::upgraded, 0, 0, launched.pid, 0, ""});
    master.await_handed(deadline);
    if (const auto handed = master.hand_roll(*line_, deadline.sooner(io::Deadline::after(Master::kHandLimit))); !handed.ok())
        LOG_ERROR(log_, "upgrade: handing the workers over: {}", handed.error().sentence());
    newest_ = launched.next;
    if (parent_ != nullptr)
        parent_->send({Kind::handed, 0, 0, launched.pid, 0, ""});
    successor_ = launched.pid;
    std::raise(SIGUSR2);
}

Result<void> WorkersUpgrade::serve(NewProcess& next, io::Deadline deadline) {
    while (next.line != nullptr) {
        auto incoming = TRY(next.line->take());
        if (!incoming) {
            TRY(next.line->flush());
            TRY(next.line->wait(deadline));
            continue;
        }
        if (incoming->message.kind == Kind::launch && incoming->passed.is_open()) {
            auto launched = launch(std::move(incoming->passed));
            if (launched.ok())
                next.line->send({Kind::launched, 0, 0, launched->pid, 0, ""}, std::move(launched->parent));
            else
                next.line->send({Kind::launched, 1, 0, 0, 0, launched.error().sentence()});
        }
        if (incoming->message.kind == Kind::handed)
            for (const auto& one : new_processes_)
                if (!one->has_ended && static_cast<std::uint32_t>(one->process->pid()) == incoming->message.ticket)
                    newest_ = one.get();
    }
    return {};
}

void WorkersUpgrade::attend(NewProcess& next, io::Deadline deadline) {
    if (const auto served = serve(next, deadline); !served.ok() && served.code() == Errc::cancelled)
        return;
    const auto ended = next.process->wait(deadline);
    if (!ended.ok())
        return;
    if (&next == newest_)
        status_ = ended->signal != 0 ? 128 + ended->signal : ended->code;
    next.end = ended->text();
    LOG_INFO(log_, "process {} of an upgrade {}", next.process->pid(), next.end);
    next.has_ended = true;
}

std::size_t WorkersUpgrade::new_processes() const {
    return static_cast<std::size_t>(
        std::ranges::count_if(new_processes_, [this](const auto& next) { return stays() && !next->has_ended; }));
}

bool WorkersUpgrade::has_newest() const { return newest_ != nullptr && !newest_->has_ended; }

void WorkersUpgrade::send_to_all(int number) {
    for (const auto& next : new_processes_)
        if (!next->has_ended)
            next->process->send_signal(number);
}

void WorkersUpgrade::send_to_newest(int number) {
    if (has_newest() && stays())
        newest_->process->send_signal(number);
}

void WorkersUpgrade::leave() {
    for (const auto& next : new_processes_)
        next->process->detach();
    end();
}

void WorkersUpgrade::end() {
    is_over_ = true;
    if (const auto stopped = fibers_.stop(io::Deadline::after(kStopLimit)); !stopped.ok())
        LOG_WARN(log_, "stopping an upgrade: {}", stopped.error().text());
    new_processes_.clear();  // ends the processes that were not detached
    newest_ = nullptr;
    line_.reset();
}

}  // namespace live::supervisor
