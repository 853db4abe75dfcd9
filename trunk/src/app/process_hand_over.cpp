// The part of Process that follows an upgrade: the new program serves, and this process keeps its clients until they leave. Then
// it ends. In the foreground it stays as the parent of the new process, because its own parent waits for its end: a supervisor, a
// terminal, or a container whose first process it is.
#include <algorithm>
#include <csignal>
#include <utility>

#include <sys/prctl.h>
#include <unistd.h>

#include "app/process.hpp"
#include "base/log/log_format.hpp"
#include "io/fibers/loop.hpp"
#include "io/process/inheritance.hpp"

namespace live::app {

namespace {

constexpr std::chrono::milliseconds kParentLook{200};
// The limit for the sockets of the previous process.
constexpr std::chrono::seconds kInheritLimit{10};

}  // namespace

void Process::forward_signal(int number, const supervisor::Retirement::OnSignal& on) {
    supervisor::UpgradeParent* const parent = upgrade_->parent();
    if (on.reopens_logs)
        log_file_->reopen();
    if (on.reopens_logs && server_ != nullptr)
        server_->reopen_access_log();
    if (parent == nullptr)
        return;
    if (on.stops_others)
        parent->send_signal(number);
    if (on.forwards_to_newest)
        parent->send_to_newest(number);
}

// False when the rest is to end at once.
bool Process::serve_the_rest(io::SignalPipe& signals) {
    Drain& drain = server_->drain();
    const supervisor::Retirement retirement({.stays = upgrade_->stays()});
    drain.begin(server_->settings().upgrade_limit, Drain::To::new_program, io::Deadline::after(kStopLimit));
    while (server_->connections() > 0 && !drain.is_late()) {
        drain.step(upgrade_->is_everybody_out() ? Drain::Ask::all : Drain::Ask::nobody);
        if (!upgrade_->successor_lives(server_->workers())) {
            LOG_ERROR(log_, "upgrade: the new process has ended, so this one ends");
            return false;
        }
        const auto number = signals.next_signal(io::Deadline::after(supervisor::DrainPlan::kStep));
        if (!number.ok())
            continue;
        forward_signal(*number, retirement.on_signal(*number));
        if (is_stop(*number))
            return false;
    }
    if (server_->connections() == 0)
        return true;
    LOG_INFO(log_, "upgrade: closing {} remaining connections after {} s", server_->connections(), drain.limit() / 1s);
    server_->ask_publishers_to_leave();
    return wait_graceful(signals, server_->settings().grace_final_wait);
}

void Process::hand_over(io::SignalPipe& signals) {
    server_->hand_over(io::Deadline::after(kStopLimit));
    upgrade_->note_handed();
    LOG_INFO(log_, "upgrade: process {} accepts new clients, this process keeps {} connections",
             upgrade_->status().successor.value_or(0), server_->connections());
    if (const auto successor = upgrade_->status().successor; successor && !upgrade_->stays())
        note_notified(service_manager_.main_process(*successor));
    static_cast<void>(serve_the_rest(signals));
    const auto facts = server_->drain().facts();
    LOG_INFO(log_, "upgrade: this process has no clients, after {} ms, {} asked", facts.lasted.count(), facts.asked);
    server_->stop(io::Deadline::after(kStopLimit));
    server_.reset();
    master_.reset();
    stay(signals);
}

void Process::prepare_upgrade(const settings::Settings& settings) {
    upgrade_ = std::make_unique<supervisor::Upgrade>(
        supervisor::Upgrade::Shared{std::move(started_as_), command_.started_by.secret, master_, pid_file_, settings.pid,
                                    stays(settings), command_.started_by.identity.is_worker() ? ::getppid() : 0},
        log_);
    upgrade_control_ = std::make_unique<UpgradeControl>(*upgrade_);
}

// A service manager follows the new process, so that the old one may end. The end of process 1 is the end of its container.
bool Process::stays(const settings::Settings& settings) const {
    const bool is_awaited = ::getpid() == 1 || (!settings.daemon && !service_manager_.is_present());
    return is_awaited && !command_.started_by.identity.is_worker() && command_.started_by.predecessor_version == 0;
}

std::optional<int> Process::take_over(const settings::Settings& settings, std::size_t workers,
                                      supervisor::InheritedResources& inherited) {
    if (command_.started_by.predecessor_version != engine::workers::kSpoken)
        return fail("the running program is of another kind: it is upgraded by a restart", kInvalidConfig);
    auto adopted = io::MessageSocket::adopt(io::kPassedHandle);
    if (!adopted.ok())
        return fail(adopted.error().sentence(), kListenFailed);
    takes_over_ = true;
    master_ = std::make_unique<supervisor::MasterLine>(engine::workers::WorkerIdentity{}, *std::move(adopted));
    auto received = supervisor::receive_inherited(*master_, io::Deadline::after(kInheritLimit));
    if (!received.ok())
        return fail(received.error().sentence(), kListenFailed);
    inherited = *std::move(received);
    master_->set_identity({0, 0, inherited.number});
    if (inherited.workers != workers)
        return fail(fmt::format("workers was {} and is {} now, which needs a restart", inherited.workers, workers),
                    kInvalidConfig);
    if (inherited.parent_stays)
        ::prctl(PR_SET_PDEATHSIG, SIGTERM);
    if (inherited.pid_file >= 0 && inherited.pid_path == settings.pid) {
        pid_file_ = supervisor::PidFile::adopt(inherited.pid_file);
    } else {
        if (inherited.pid_file >= 0)
            ::close(inherited.pid_file);
        auto own = supervisor::PidFile::create(settings.pid);
        if (!own.ok())
            return fail(own.error().sentence(), kPidLocked);
        pid_file_ = *std::move(own);
    }
    return std::nullopt;
}

// From now on this process is the server.
Result<void> Process::use_pid_file() {
    if (const std::size_t unused = io::drop_inherited(); unused > 0)
        LOG_INFO(log_, "upgrade: {} sockets of the old process are not in the settings", unused);
    return pid_file_ != nullptr ? pid_file_->write() : Result<void>();  // a worker has none
}

void Process::stay(io::SignalPipe& signals) {
    supervisor::UpgradeParent* const parent = upgrade_->parent();
    if (parent == nullptr)
        return;
    if (upgrade_->stays())
        LOG_INFO(log_, "upgrade: this process stays without clients until the new one ends");
    // In the background, connects the other processes while there are several.
    supervisor::Retirement retirement({.stays = upgrade_->stays(), .others_min = upgrade_->stays() ? 0U : 1U});
    for (;;) {
        const auto next = retirement.look(parent->new_processes(), parent->has_newest());
        if (next == supervisor::Retirement::Next::end)
            break;
        if (next == supervisor::Retirement::Next::terminate_others)
            parent->send_signal(SIGTERM);
        const auto number = signals.next_signal(io::Deadline::after(kParentLook));
        if (!number.ok())
            continue;
        const auto on = retirement.on_signal(*number);
        forward_signal(*number, on);
        if (on.ends)
            break;
    }
    if (upgrade_->stays())
        status_ = parent->newest_status();
    upgrade_->leave();
}

}  // namespace live::app
