#include "app/process.hpp"

#include <algorithm>
#include <array>
#include <cerrno>
#include <csignal>
#include <cstdlib>
#include <iostream>
#include <iterator>
#include <utility>

#include <sched.h>
#include <sys/prctl.h>
#include <sys/utsname.h>
#include <unistd.h>

#include "app/start/profiler.hpp"
#include "app/start/resource_limits.hpp"
#include "app/start/server_id.hpp"
#include "app/start/start_check.hpp"
#include "app/wiring/features.hpp"
#include "base/bytes/random.hpp"
#include "base/log/log_format.hpp"
#include "base/version.hpp"
#include "build_info.hpp"
#include "io/net/network_interfaces.hpp"
#include "service/workers/shared_name.hpp"
#include "settings/conf/tools.hpp"
#include "supervisor/process/container.hpp"

namespace live::app {

namespace {

// A worker finds the master's first message there when it starts.
constexpr std::chrono::seconds kTallyLimit{5};
constexpr std::size_t kSecretLetters = 16;

std::size_t usable_cores() {
    cpu_set_t cores;
    CPU_ZERO(&cores);
    return ::sched_getaffinity(0, sizeof cores, &cores) == 0 ? static_cast<std::size_t>(CPU_COUNT(&cores)) : 1;
}

// On the one with that index among those it may use, or that modulo their number.
void run_on_one_core(std::size_t index) {
    cpu_set_t cores;
    CPU_ZERO(&cores);
    if (::sched_getaffinity(0, sizeof cores, &cores) != 0)
        return;
    index %= static_cast<std::size_t>(CPU_COUNT(&cores));
    for (std::size_t core = 0; core < CPU_SETSIZE; ++core)
        if (CPU_ISSET(core, &cores) && index-- == 0) {
            cpu_set_t one;
            CPU_ZERO(&one);
            CPU_SET(core, &one);
            ::sched_setaffinity(0, sizeof one, &one);
            return;
        }
}

// HLS keys of all workers are the same: those that the settings make random follow from the workers' secret.
void share_keys(settings::Settings& settings, const std::string& secret) {
    for (settings::Vhost& vhost : settings.vhosts)
        if (vhost.hls.key_secret.empty())
            vhost.hls.key_secret = secret;
}

std::string working_folder() {
    std::array<char, 4096> path{};
    return ::getcwd(path.data(), path.size()) == nullptr ? "?" : path.data();
}

}  // namespace

Result<settings::LoadedSettings> load_process_settings(const CommandLine& command) {
    settings::LoadInput input;
    input.path = command.conf_file;
    input.env_only = command.env_only;
    input.in_container = !supervisor::container_sign(supervisor::signs_seen_here()).empty();
    if (const auto addresses = io::interface_addresses(); addresses.ok())
        input.local_addresses = io::device_addresses(*addresses).size();
    input.environment = config::process_environment();
    return settings::load_settings(input);
}

std::vector<std::string> conf_warnings(const settings::LoadedSettings& loaded) {
    std::vector<std::string> warnings = loaded.warnings;
    std::ranges::move(unwritable_folders(loaded.settings), std::back_inserter(warnings));
    return warnings;
}

Result<void> enter_work_folder(const settings::Settings& settings) {
    if (::chdir(settings.work_dir.c_str()) != 0)
        return system_error("work_dir " + settings.work_dir, errno);
    return {};
}

// A worker is not the service: its master is.
Process::Process(CommandLine command)
    : command_(std::move(command)),
      service_manager_(command_.started_by.identity.is_worker() ? "" : config::process_environment()["NOTIFY_SOCKET"]) {}

void Process::note_notified(const Result<void>& sent) const {
    if (!sent.ok())
        LOG_WARN(log_, "{}", sent.error().sentence());
}

void Process::report_ready() {
    start_report_.report_success();
    // After an upgrade the service is ready already, and the old process names this one.
    if (command_.started_by.predecessor_version == 0)
        note_notified(service_manager_.ready());
}

int Process::run() {
    auto loaded = load_process_settings(command_);
    if (!loaded.ok())
        return fail(loaded.error().sentence(), kInvalidConfig);
    const auto workers = settings::worker_count(loaded->settings.workers, usable_cores());
    if (!workers.ok())
        return fail(workers.error().sentence(), kInvalidConfig);
    if (!command_.started_by.identity.is_worker())
        started_as_ = supervisor::started_as();
    if (command_.started_by.secret.empty())
        command_.started_by.secret = random_id(kSecretLetters);
    if (const auto status = prepare(*loaded))
        return *status;
    if (*workers > 1 && !command_.started_by.identity.is_worker())
        return serve_master(*loaded, *workers);
    return serve(*std::move(loaded));
}

int Process::fail(std::string_view sentence, int code) {
    // To the process that has started this one; there may be no loop yet.
    if (command_.started_by.predecessor_version == engine::workers::kSpoken && master_ == nullptr) {
        const auto told = engine::workers::write_message(
            {engine::workers::Kind::failed, 0, 0, static_cast<std::uint32_t>(exit_status(code)), 0, std::string(sentence)});
        io::MessageSocket::send_once(io::kPassedHandle, told);
    }
    if (master_ != nullptr)
        master_->send(
            {engine::workers::Kind::failed, 0, 0, static_cast<std::uint32_t>(exit_status(code)), 0, std::string(sentence)});
    if (master_ != nullptr)
        return exit_status(code);
    if (start_report_.is_awaited())
        start_report_.report_failure(exit_status(code), sentence);
    else
        std::cerr << sentence << std::endl;
    return exit_status(code);
}

// In the original process: returns when the daemon is serving, or has reported why it cannot.
std::optional<int> Process::go_to_background(const settings::Settings& settings) {
    auto detached = supervisor::detach_from_terminal();
    if (!detached.ok())
        return fail(detached.error().sentence(), kInvalidConfig);
    if (detached->side == supervisor::Detached::Side::daemon) {
        start_report_ = std::move(detached->report);
        return std::nullopt;
    }
    const bool has_log_file = settings.log.tank == settings::LogTank::file;
    if (detached->status != EXIT_SUCCESS) {
        std::cerr << detached->sentence << std::endl;
        if (has_log_file)
            std::cerr << "The log: " << settings.log.file << std::endl;
    } else if (has_log_file) {
        std::cout << supervisor::daemon_hint(settings.log.file) << std::flush;
    }
    return detached->status;
}

// Everything before the loop: the steps that must precede a fork, and those that must follow it.
std::optional<int> Process::prepare(settings::LoadedSettings& loaded) {
    const settings::Settings& settings = loaded.settings;
    if (const auto entered = enter_work_folder(settings); !entered.ok())
        return fail(entered.error().sentence(), kInvalidConfig);
    if (loaded.is_kept_in_foreground && !command_.started_by.identity.is_worker() && command_.started_by.predecessor_version == 0)
        std::cerr
            << "in a container the server stays in the foreground, although daemon is on; \"disable_daemon_for_docker off;\" "
               "changes that"
            << std::endl;
    if (settings.daemon && !command_.started_by.identity.is_worker() && command_.started_by.predecessor_version == 0)
        if (const auto status = go_to_background(settings))
            return status;
    LogFile::Options options{settings.log.tank,
                             settings.log.file,
                             log_level_of(settings.log),
                             settings.utc_time,
                             {},
                             command_.started_by.identity.is_worker() ? io::LineWriter::Rotation{} : rotation_of(settings.log),
                             settings.log.lines};
    auto log_file = LogFile::create(std::move(options));
    if (!log_file.ok())
        return fail(log_file.error().sentence(), kInvalidConfig);
    log_file_ = *std::move(log_file);
    log_file_->writer().hold_crashes();
    log_ = Log(*log_file_, random_id());

    if (command_.started_by.identity.is_worker() || command_.started_by.predecessor_version != 0)
        return std::nullopt;  // the file is the master's, or the running process's still
    auto pid_file = supervisor::PidFile::create(settings.pid);
    if (!pid_file.ok()) {
        LOG_ERROR(log_, "{}", pid_file.error().sentence());
        return fail(pid_file.error().sentence(), pid_file.code() == Errc::conflict ? kPidLocked : kInvalidConfig);
    }
    pid_file_ = *std::move(pid_file);
    return std::nullopt;
}

void Process::announce(const settings::LoadedSettings& loaded) const {
    const settings::Settings& settings = loaded.settings;
    ::utsname system{};
    ::uname(&system);
    LOG_INFO(log_, "Millrace, {}: {}", kSignature, kDescription);
    LOG_INFO(log_, "version {}, licence {}, authors: the authors of Millrace", kVersion, kLicense);
    LOG_INFO(log_, "cwd={}, work_dir={}, build: {}, configure: {}, uname: {} {} {}", working_folder(), settings.work_dir,
             build_info::kDate, build_info::kUserOptions, system.sysname, system.release, system.machine);
    LOG_INFO(log_, "configure detail: {}, compiler: {}", build_info::kOptions, build_info::kCompiler);
    if (settings.log.tank == settings::LogTank::file)
        LOG_INFO(log_, "you can follow the log: tail -n 30 -f {}", settings.log.file);
    else
        LOG_INFO(log_, "the log goes to the console");
    LOG_INFO(log_, "features, {}", features_text(settings::describe_settings()));
    if (const settings::Vhost* vhost = settings.find_vhost(settings::kDefaultVhost); vhost != nullptr)
        LOG_INFO(log_, "mw sleep:{}ms, mr enabled:{}, gc:{}, pq:{}ms, tn:{}, ss:{}", vhost->play.mw_latency.count(),
                 vhost->publish.merged_read ? "on" : "off", vhost->play.gop_cache ? "on" : "off",
                 std::chrono::milliseconds(vhost->play.queue_length).count(), vhost->rtmp.tcp_nodelay ? "on" : "off",
                 vhost->play.send_min_interval / 1ms);
    LOG_INFO(log_, "conf: {}, env: {}", command_.conf_file.empty() ? "-" : command_.conf_file, command_.env_only ? 1 : 0);
    for (const std::string& name : loaded.environment_used)
        LOG_INFO(log_, "environment: {}", name);
    for (const std::string& warning : conf_warnings(loaded))
        log_.write(LogLevel::warn, warning);  // without a limit: their number has one already
    if (!command_.started_by.identity.is_worker() && command_.started_by.predecessor_version == 0)
        LOG_INFO(log_, "write pid={} to {} success!", ::getpid(), settings.pid);
}

Result<void> Process::join_master(const settings::Settings& settings) {
    // Before the check of the parent, which may be gone already.
    ::prctl(PR_SET_PDEATHSIG, SIGTERM);
    auto socket = TRY(io::MessageSocket::adopt(io::kPassedHandle));
    master_ = std::make_unique<supervisor::MasterLine>(command_.started_by.identity, std::move(socket));
    TRY(master_->take_tally(command_.started_by.secret, io::Deadline::after(kTallyLimit)));
    takes_over_ = master_->inherits();
    if (takes_over_) {
        TRY(supervisor::receive_inherited(*master_, io::Deadline::after(kTallyLimit)));
        io::hold_arrivals();
    }
    if (settings.worker_affinity)
        run_on_one_core(command_.started_by.identity.number - std::size_t{1});
    return {};
}

ServerNames Process::names(const std::string& server_id) const {
    const supervisor::StartedBy& by = command_.started_by;
    // The same on all workers of this start of the server.
    const std::string service = by.identity.is_worker() ? service::workers::shared_name(by.secret, "service") : random_id();
    return {server_id, service, ::getpid(), master_.get(), by.secret, upgrade_control_.get(), upgrade_.get(), takes_over_};
}

int Process::serve(settings::LoadedSettings loaded) {
    announce(loaded);
    const auto files = raise_open_files_limit();
    if (!files.ok())
        LOG_WARN(log_, "{}", files.error().sentence());
    open_files_ = files.ok() ? *files : 0;
    const auto fitting = fit_connections(loaded.settings.max_connections, open_files_);
    if (!fitting.warning.empty())
        LOG_WARN(log_, "{}", fitting.warning);
    if (const auto cores = permit_core_dumps(); !cores.ok())
        LOG_WARN(log_, "{}", cores.error().sentence());
    const ServerId id = find_server_id(loaded.settings.server_id, loaded.settings.pid);
    if (!id.warning.empty())
        LOG_WARN(log_, "{}", id.warning);

    constexpr std::array kSignals{SIGHUP, SIGINT, SIGQUIT, SIGABRT, SIGUSR1, SIGUSR2, SIGTERM};
    auto loop = io::Loop::create({.stack_bytes = kStackBytes, .long_hold = loaded.settings.loop_hold_limit});
    if (!loop.ok()) {
        LOG_ERROR(log_, "{}", loop.error().text());
        return fail(loop.error().text(), kListenFailed);
    }
    // With a file size limit, a write fails and the process continues.
    std::signal(SIGXFSZ, SIG_IGN);
    auto signals = io::SignalPipe::create(kSignals);
    if (!signals.ok()) {
        LOG_ERROR(log_, "{}", signals.error().text());
        return fail(signals.error().text(), kListenFailed);
    }
    if (command_.started_by.identity.is_worker())
        if (const auto joined = join_master(loaded.settings); !joined.ok())
            return fail(joined.error().sentence(), kListenFailed);
    if (command_.started_by.predecessor_version != 0) {
        supervisor::InheritedResources inherited;
        if (const auto status = take_over(loaded.settings, 1, inherited))
            return *status;
        io::hold_arrivals();
    }
    std::vector<std::string> warnings = conf_warnings(loaded);
    prepare_upgrade(loaded.settings);
    share_keys(loaded.settings, command_.started_by.secret);
    auto server = Server::create(std::move(loaded.settings), names(id.id), fitting.max_connections, log_);
    if (!server.ok()) {
        LOG_ERROR(log_, "{}", server.error().sentence());
        return fail(server.error().sentence(), kListenFailed);
    }
    server_ = *std::move(server);
    server_->note_warnings(std::move(warnings));
    if (server_->settings().asprocess && command_.started_by.predecessor_version == 0)
        ::prctl(PR_SET_PDEATHSIG, SIGTERM);  // the end of the parent process triggers a fast stop
    LOG_INFO(log_, "signal installed, reload={}, reopen={}, fast_quit={}, grace_quit={}", SIGHUP, SIGUSR1, SIGTERM, SIGQUIT);
    if (takes_over_)
        if (const auto used = use_pid_file(); !used.ok())
            return fail(used.error().sentence(), kInvalidConfig);
    report_ready();
    if (master_ != nullptr)
        master_->send({engine::workers::Kind::ready});
    watch_conf(server_->settings());
    handle_signals(**signals);
    conf_watch_.reset();
    server_.reset();
    master_.reset();
    if (upgrade_ != nullptr)
        upgrade_->end();
    log_file_->say_left_out();
    LOG_INFO(log_, "main cycle terminated normally");
    LOG_INFO(log_, "srs terminated");
    return status_;
}

void Process::watch_conf(const settings::Settings& settings) {
    if (settings.inotify_auto_reload && !command_.started_by.identity.is_worker())
        conf_watch_ = std::make_unique<ConfWatch>(command_.conf_file, log_);
}

void Process::handle_signals(io::SignalPipe& signals) {
    for (;;) {
        const auto number = signals.next_signal(io::Deadline::never());
        if (!number.ok()) {
            LOG_ERROR(log_, "waiting for signals: {}", number.error().text());
            return stop_fast("the signals are lost");
        }
        switch (*number) {
            case SIGHUP:
                note_notified(service_manager_.reloading(io::now()));
                reload();
                note_notified(service_manager_.ready());
                break;
            case SIGUSR1:
                // The guides stop a build with the heap checker this way.
                if (built_in_profilers().leaks)
                    return stop_fast("SIGUSR1");
                log_file_->reopen();
                LOG_INFO(log_, "signal {}: the log file is reopened", SIGUSR1);
                server_->reopen_access_log();
                break;
            case SIGINT: return stop_fast("SIGINT");
            case SIGTERM: return server_->settings().force_grace_quit ? stop_gracefully(signals) : stop_fast("SIGTERM");
            case SIGQUIT: return stop_gracefully(signals);
            case SIGUSR2:
                if (upgrade_ != nullptr && upgrade_->has_successor())
                    return hand_over(signals);
                if (upgrade_ != nullptr)
                    upgrade_->begin(server_->workers(), server_->is_cluster_node());
                break;
            case SIGABRT: LOG_ERROR(log_, "signal {}: abort with a core file", SIGABRT); std::abort();
            default: break;
        }
    }
}

void Process::reload() {
    LOG_INFO(log_, "signal {}: reload {}", SIGHUP, command_.conf_file);
    if (conf_watch_ != nullptr)
        conf_watch_->note_reload();
    using Stage = api::RawControl::Stage;
    // The same result for the log and for the API.
    const auto finish = [this](int code, Stage stage, const std::string& why) {
        if (code == 0)
            LOG_INFO(log_, "reload finished, code=0, file {}", command_.conf_file);
        else
            LOG_ERROR(log_, "reload finished, keeping the current settings, code={}: {}", code, why);
        constexpr std::size_t kIdLetters = 7;
        server_->note_reload({code, code == 0 ? "the settings are in use" : why, stage, random_id(kIdLetters)});
    };
    auto loaded = load_process_settings(command_);
    if (!loaded.ok())
        return finish(kInvalidConfig, Stage::parsing, loaded.error().sentence());
    std::vector<std::string> warnings = conf_warnings(*loaded);
    for (const std::string& warning : warnings)
        log_.write(LogLevel::warn, warning);  // without a limit: their number has one already
    share_keys(loaded->settings, command_.started_by.secret);
    const auto fitting = fit_connections(loaded->settings.max_connections, open_files_);
    if (!fitting.warning.empty())
        LOG_WARN(log_, "{}", fitting.warning);
    const auto possible = settings::check_reload(server_->settings(), loaded->settings);
    if (!possible.ok())
        return finish(kUnsupportedReload, Stage::checking, possible.error().sentence());
    for (const settings::Change& change : settings::changes_between(server_->settings(), loaded->settings))
        LOG_INFO(log_, "reload: {} was {}, is {}{}", change.path, change.before, change.after,
                 change.takes_effect == config::Reload::restart ? " after a restart" : "");
    const auto applied = server_->reload(std::move(loaded->settings), fitting.max_connections);
    if (applied.ok())
        server_->note_warnings(std::move(warnings));
    finish(applied.ok() ? 0 : kListenFailed, applied.ok() ? Stage::finished : Stage::applying,
           applied.ok() ? "" : applied.error().sentence());
}

void Process::stop_fast(const char* why) {
    LOG_INFO(log_, "{}: fast quit requested", why);
    note_notified(service_manager_.stopping());
    dump_heap_profile(why);
    server_->stop(io::Deadline::after(kStopLimit));
    LOG_INFO(log_, "the server has stopped without waiting for clients");
}

// False when a signal requests a fast stop meanwhile.
bool Process::wait_graceful(io::SignalPipe& signals, std::chrono::milliseconds duration) {
    const auto until = io::Deadline::after(duration);
    for (;;) {
        const auto number = signals.next_signal(until);
        if (!number.ok())
            return true;
        if (*number == SIGTERM || *number == SIGINT)
            return false;
    }
}

// Gives the clients of a cluster node time to reconnect to other nodes. Returns false if a signal requests a fast stop.
bool Process::drain(io::SignalPipe& signals) {
    Drain& drain = server_->drain();
    const auto limit = server_->is_cluster_node() ? server_->settings().cluster.drain_limit : std::chrono::milliseconds::zero();
    drain.begin(limit, Drain::To::other_nodes, io::Deadline::after(kStopLimit));
    while (!drain.is_over() && !drain.is_late()) {
        drain.step();
        if (!wait_graceful(signals, supervisor::DrainPlan::kStep))
            return false;
    }
    const auto facts = drain.facts();
    LOG_INFO(log_, "drain ends after {} ms, {} asked, remaining publishers={}, players={}", facts.lasted.count(), facts.asked,
             facts.clients.publishers, facts.clients.players);
    return true;
}

void Process::stop_gracefully(io::SignalPipe& signals) {
    const settings::Settings& settings = server_->settings();
    LOG_INFO(log_, "graceful quit requested, {} connections", server_->connections());
    note_notified(service_manager_.stopping());
    if (!drain(signals))
        return stop_fast("a second signal");
    if (!wait_graceful(signals, settings.grace_start_wait))
        return stop_fast("a second signal");
    server_->close(io::Deadline::after(kStopLimit));
    server_->ask_publishers_to_leave();
    // Clients that have not left by then are closed: a supervisor whose patience runs out would kill the process, and the
    // recordings with it.
    constexpr std::chrono::milliseconds kPauseMin{50};
    constexpr std::chrono::milliseconds kPauseMax{1000};
    const TimePoint until = io::now() + settings.grace_final_wait;
    if (server_->connections() > 0)
        LOG_INFO(log_, "graceful quit waits up to {} ms for {} connections", settings.grace_final_wait.count(),
                 server_->connections());
    for (auto pause = kPauseMin; server_->connections() > 0 && io::now() < until; pause = std::min(pause * 2, kPauseMax)) {
        const auto left = std::chrono::duration_cast<std::chrono::milliseconds>(until - io::now()) + 1ms;
        if (!wait_graceful(signals, std::min(pause, left)))
            return stop_fast("a second signal");
    }
    if (server_->connections() > 0)
        LOG_INFO(log_, "graceful quit closes {} connections", server_->connections());
    server_->stop(io::Deadline::after(kStopLimit));
    LOG_INFO(log_, "the server has stopped gracefully");
}

}  // namespace live::app
