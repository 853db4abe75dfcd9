// The part of Process that is a master: it has workers, and no clients.
#include <algorithm>
#include <array>
#include <csignal>
#include <cstdlib>
#include <set>
#include <string_view>
#include <utility>

#include <fcntl.h>
#include <sys/prctl.h>
#include <sys/stat.h>
#include <unistd.h>

#include "app/process.hpp"
#include "app/start/profiler.hpp"
#include "app/start/server_id.hpp"
#include "app/start/start_check.hpp"
#include "base/log/log_format.hpp"
#include "io/process/inheritance.hpp"
#include "settings/conf/tools.hpp"

namespace live::app {

namespace {

// How often a master looks for what no signal announces.
constexpr std::chrono::milliseconds kMasterLook{500};
// The same after an upgrade, when it looks for the end of processes.
constexpr std::chrono::milliseconds kEndLook{200};
// The limit for the old workers to release their streams; they are killed then.
constexpr std::chrono::seconds kRollLimit{30};

// FILE becomes FILE.1, and so on.
bool rotate_when_full(const std::string& path, const io::LineWriter::Rotation& rotation) {
    struct ::stat file {};
    if (rotation.file_bytes_max == 0 || ::stat(path.c_str(), &file) != 0 || !S_ISREG(file.st_mode) ||
        static_cast<std::uint64_t>(file.st_size) < rotation.file_bytes_max)
        return false;
    if (rotation.backups == 0)
        return ::unlink(path.c_str()) == 0;
    for (std::uint32_t number = rotation.backups; number > 1; --number)
        ::rename(fmt::format("{}.{}", path, number - 1).c_str(), fmt::format("{}.{}", path, number).c_str());
    return ::rename(path.c_str(), (path + ".1").c_str()) == 0;
}

}  // namespace

int Process::serve_master(const settings::LoadedSettings& loaded, std::size_t workers) {
    announce(loaded);
    constexpr std::array kSignals{SIGHUP, SIGINT, SIGQUIT, SIGABRT, SIGUSR1, SIGUSR2, SIGTERM};
    auto loop = io::Loop::create({.stack_bytes = kStackBytes});
    auto signals = loop.ok() ? io::SignalPipe::create(kSignals) : Result<std::unique_ptr<io::SignalPipe>>(loop.error());
    if (!signals.ok())
        return fail(signals.error().sentence(), kListenFailed);
    const ServerId id = find_server_id(loaded.settings.server_id, loaded.settings.pid);
    if (!id.warning.empty())
        LOG_WARN(log_, "{}", id.warning);
    supervisor::InheritedResources inherited;
    if (command_.started_by.predecessor_version != 0)
        if (const auto status = take_over(loaded.settings, workers, inherited))
            return *status;
    if (const auto free = check_new_ports(loaded.settings, inherited); !free.ok()) {
        LOG_ERROR(log_, "{}", free.error().sentence());
        return fail(free.error().sentence(), kListenFailed);
    }
    if (const auto status = serve_workers(**signals, loaded.settings, workers, std::move(inherited)))
        return *status;
    log_file_->say_left_out();
    LOG_INFO(log_, "main cycle terminated normally");
    LOG_INFO(log_, "srs terminated");
    return status_;
}

std::optional<int> Process::serve_workers(io::SignalPipe& signals, const settings::Settings& settings, std::size_t workers,
                                          supervisor::InheritedResources inherited) {
    supervisor::Master master(std::move(started_as_), workers, command_.started_by.secret, log_,
                              {inherited.number, std::move(inherited.sockets)});
    if (const auto failure = master.start(io::Deadline::never())) {
        LOG_ERROR(log_, "{}", failure->sentence);
        return fail(failure->sentence, failure->status);
    }
    if (settings.asprocess && command_.started_by.predecessor_version == 0)
        ::prctl(PR_SET_PDEATHSIG, SIGTERM);
    supervisor::WorkersUpgrade upgrade(
        {master, command_.started_by.secret, pid_file_, settings.pid, stays(settings), std::move(inherited.parent)}, log_);
    if (takes_over_)
        if (const auto used = use_pid_file(); !used.ok()) {
            master.stop(SIGINT, std::chrono::milliseconds(0));
            return fail(used.error().sentence(), kInvalidConfig);
        }
    LOG_INFO(log_, "{} workers serve", workers);
    report_ready();
    if (takes_over_)
        take_workers_over(master);
    watch_conf(settings);
    handle_master_signals(signals, master, upgrade, settings);
    conf_watch_.reset();
    return std::nullopt;
}

void Process::handle_master_signals(io::SignalPipe& signals, supervisor::Master& master, supervisor::WorkersUpgrade& upgrade,
                                    settings::Settings settings) {
    const auto fast = std::chrono::duration_cast<std::chrono::milliseconds>(kStopLimit);
    for (;;) {
        const auto number = signals.next_signal(io::Deadline::after(kMasterLook));
        if (master.take_reload_request())
            reload_workers(master, settings);
        rotate_logs(master, settings);
        if (!number.ok() && number.code() != Errc::timed_out) {
            LOG_ERROR(log_, "waiting for signals: {}", number.error().text());
            upgrade.end();
            return master.stop(SIGINT, fast);
        }
        if (!number.ok())
            continue;
        if (is_stop(*number)) {
            note_notified(service_manager_.stopping());
            upgrade.end();  // a program that is just being started
        }
        switch (*number) {
            case SIGUSR2:
                if (upgrade.has_successor())
                    return follow_workers(signals, master, upgrade);
                upgrade.begin();
                break;
            case SIGHUP: reload_workers(master, settings); break;
            case SIGUSR1:
                log_file_->reopen();
                LOG_INFO(log_, "signal {}: the log files are reopened", SIGUSR1);
                master.send_signal(SIGUSR1);
                break;
            case SIGINT:
            case SIGTERM:
                if (settings.force_grace_quit && *number == SIGTERM)
                    return stop_workers_gracefully(signals, master, settings);
                LOG_INFO(log_, "signal {}: fast quit requested, of {} workers", *number, master.size());
                return master.stop(SIGINT, fast);
            case SIGQUIT: return stop_workers_gracefully(signals, master, settings);
            case SIGABRT: LOG_ERROR(log_, "signal {}: abort with a core file", SIGABRT); std::abort();
            default: break;
        }
    }
}

void Process::reload_workers(supervisor::Master& master, settings::Settings& settings) {
    LOG_INFO(log_, "signal {}: reload {}, of {} workers", SIGHUP, command_.conf_file, master.size());
    if (conf_watch_ != nullptr)
        conf_watch_->note_reload();
    note_notified(service_manager_.reloading(io::now()));
    auto loaded = load_process_settings(command_);
    const auto possible = loaded.ok() ? settings::check_reload(settings, loaded->settings) : Result<void>(Error(loaded.error()));
    // The workers come to the same result and report it in the API.
    if (!possible.ok())
        LOG_ERROR(log_, "reload: keeping the current settings: {}", possible.error().sentence());
    else
        settings = std::move(loaded->settings);
    master.send_signal(SIGHUP);
    note_notified(service_manager_.ready());
}

void Process::stop_workers_gracefully(io::SignalPipe& signals, supervisor::Master& master, const settings::Settings& settings) {
    LOG_INFO(log_, "graceful quit requested, of {} workers", master.size());
    const auto limit = settings.grace_start_wait + settings.grace_final_wait + 2 * kStopLimit;
    master.begin_stop(SIGQUIT);
    const auto until = io::Deadline::after(limit);
    while (!until.expired() && !master.are_gone()) {
        const auto number = signals.next_signal(until.sooner(io::Deadline::after(kMasterLook)));
        if (number.ok() && (*number == SIGTERM || *number == SIGINT)) {
            LOG_INFO(log_, "a second signal: fast quit requested");
            return master.stop(SIGINT, std::chrono::duration_cast<std::chrono::milliseconds>(kStopLimit));
        }
    }
    master.stop(SIGQUIT, std::chrono::milliseconds(0));
    LOG_INFO(log_, "the workers have stopped gracefully");
}

// Workers append to the same files, so none of them may rename one.
void Process::rotate_logs(supervisor::Master& master, const settings::Settings& settings) {
    if (built_in_profilers().leaks)
        return;
    const io::LineWriter::Rotation rotation = rotation_of(settings.log);
    bool rotated = false;
    if (settings.log.tank == settings::LogTank::file)
        rotated = rotate_when_full(settings.log.file, rotation);
    if (settings.access_log != "off")
        rotated = rotate_when_full(settings.access_log, rotation) || rotated;
    if (!rotated)
        return;
    log_file_->reopen();
    master.send_signal(SIGUSR1);
}

// Checks the ports of the settings. Ports of the previous process's workers count as free.
Result<void> Process::check_new_ports(const settings::Settings& settings, const supervisor::InheritedResources& inherited) {
    std::set<std::string_view> names;
    for (const auto& sockets : inherited.sockets)
        for (const io::BoundSocket& bound : sockets)
            if (names.size() < io::kBoundSocketsMax && names.insert(bound.name).second)
                if (const int copy = ::fcntl(bound.copy.fd(), F_DUPFD_CLOEXEC, 0); copy >= 0)
                    TRY(io::inherit(bound.name, io::Socket(copy)));
    auto checked = check_ports(settings, log_);
    io::drop_inherited();
    return checked;
}

// Without the old master there is nothing to wait for.
void Process::take_workers_over(supervisor::Master& master) {
    master_->send({engine::workers::Kind::ready});
    if (const auto taken = master.take_roll(*master_, io::Deadline::after(kRollLimit)); !taken.ok())
        LOG_WARN(log_, "upgrade: {}", taken.error().sentence());
    master_.reset();
    master.begin_service();
    LOG_INFO(log_, "upgrade: the workers accept clients");
}

void Process::follow_workers(io::SignalPipe& signals, supervisor::Master& master, supervisor::WorkersUpgrade& upgrade) {
    LOG_INFO(log_, "upgrade: process {} accepts new clients, the workers keep theirs", upgrade.successor());
    if (!upgrade.stays())
        note_notified(service_manager_.main_process(upgrade.successor()));
    supervisor::Retirement retirement({.stays = upgrade.stays(), .follows_newest = upgrade.stays()});
    bool are_there = true;
    for (;;) {
        const std::size_t workers = master.are_gone() ? 0 : 1;
        const auto next = retirement.look(workers + upgrade.new_processes(), upgrade.has_newest());
        if (next == supervisor::Retirement::Next::end)
            break;
        if (workers == 0 && std::exchange(are_there, false))
            LOG_INFO(log_, "upgrade: the old workers have ended; this process stays without clients until the new one ends");
        if (next == supervisor::Retirement::Next::terminate_others) {
            upgrade.send_to_all(SIGTERM);
            master.begin_stop(SIGTERM);
        }
        const auto number = signals.next_signal(io::Deadline::after(kEndLook));
        if (!number.ok())
            continue;
        const auto on = retirement.on_signal(*number);
        if (on.ends)
            break;
        if (on.reopens_logs) {
            log_file_->reopen();
            master.send_signal(SIGUSR1);
        }
        if (on.stops_others) {
            upgrade.send_to_all(*number);
            master.begin_stop(*number);
        }
        if (on.forwards_to_newest)
            upgrade.send_to_newest(*number);
    }
    if (are_there)
        LOG_INFO(log_, "upgrade: the old workers {}", master.are_gone() ? "have ended" : "are ended");
    master.stop(SIGINT, std::chrono::duration_cast<std::chrono::milliseconds>(kStopLimit));
    status_ = upgrade.status();
    upgrade.leave();
}

}  // namespace live::app
