// Process: one run of the program, from loaded settings to the last log line: work folder, background, pid file, log, loop,
// server, signals, and the stop sequences of the reference (fast and graceful).
#pragma once

#include <chrono>
#include <csignal>
#include <memory>
#include <string>

#include "app/server.hpp"
#include "app/start/command_line.hpp"
#include "app/start/conf_watch.hpp"
#include "app/start/log_file.hpp"
#include "app/upgrade_control.hpp"
#include "base/log/log.hpp"
#include "io/fibers/loop.hpp"
#include "io/net/message_socket.hpp"
#include "io/process/service_manager.hpp"
#include "io/process/signal_pipe.hpp"
#include "settings/conf/load.hpp"
#include "supervisor/decisions/retirement.hpp"
#include "supervisor/line/master_line.hpp"
#include "supervisor/master.hpp"
#include "supervisor/process/daemon.hpp"
#include "supervisor/process/pid_file.hpp"
#include "supervisor/upgrade.hpp"
#include "supervisor/workers_upgrade.hpp"

namespace live::app {

// The reference's error codes, which scripts see as exit statuses.
inline constexpr int kListenFailed = 1003;
inline constexpr int kInvalidConfig = 1023;
inline constexpr int kPidLocked = 1035;
inline constexpr int kUnsupportedReload = 2023;

// Address space of a fiber's stack; untouched pages cost nothing. The Opus encoder takes 70 KiB of the publisher's fiber.
inline constexpr std::size_t kStackBytes = 256 * 1024;
// The limit of a fast stop.
inline constexpr std::chrono::seconds kStopLimit{1};

inline bool is_stop(int number) { return number == SIGTERM || number == SIGINT || number == SIGQUIT; }

// An exit status has eight bits.
inline int exit_status(int code) { return code & 0xFF; }

// The settings selected by the command line and the environment.
Result<settings::LoadedSettings> load_process_settings(const CommandLine& command);

// Base folder of all relative paths in the settings.
Result<void> enter_work_folder(const settings::Settings& settings);

class Process {
public:
    explicit Process(CommandLine command);

    // Returns the exit status.
    int run();

private:
    // Each returns an exit status if the process is to end there.
    int serve_master(const settings::LoadedSettings& loaded, std::size_t workers);
    std::optional<int> serve_workers(io::SignalPipe& signals, const settings::Settings& settings, std::size_t workers,
                                     supervisor::InheritedResources inherited);
    void handle_master_signals(io::SignalPipe& signals, supervisor::Master& master, supervisor::WorkersUpgrade& upgrade,
                               settings::Settings settings);
    // Its workers have handed over.
    void follow_workers(io::SignalPipe& signals, supervisor::Master& master, supervisor::WorkersUpgrade& upgrade);
    // New settings for the workers, if all of them can have them.
    void reload_workers(supervisor::Master& master, settings::Settings& settings);
    void rotate_logs(supervisor::Master& master, const settings::Settings& settings);
    void stop_workers_gracefully(io::SignalPipe& signals, supervisor::Master& master, const settings::Settings& settings);
    std::optional<int> prepare(settings::LoadedSettings& loaded);
    std::optional<int> go_to_background(const settings::Settings& settings);
    // Reports the failed start to the process or user that started this.
    int fail(std::string_view sentence, int code);
    int serve(settings::LoadedSettings loaded);
    ServerNames names(const std::string& server_id) const;
    void announce(const settings::LoadedSettings& loaded) const;
    // For inotify_auto_reload; not in a worker.
    void watch_conf(const settings::Settings& settings);
    void handle_signals(io::SignalPipe& signals);
    void reload();
    void stop_fast(const char* why);
    // Waits for the connections; a second stop signal makes it fast.
    void stop_gracefully(io::SignalPipe& signals);
    bool drain(io::SignalPipe& signals);
    // After an upgrade (app/process_hand_over.cpp).
    void hand_over(io::SignalPipe& signals);
    bool serve_the_rest(io::SignalPipe& signals);
    void stay(io::SignalPipe& signals);
    void forward_signal(int number, const supervisor::Retirement::OnSignal& on);
    // A worker's line to the master that has started it.
    Result<void> join_master(const settings::Settings& settings);
    // Receives the resources of the running program that this one replaces. It must have that many workers.
    std::optional<int> take_over(const settings::Settings& settings, std::size_t workers,
                                 supervisor::InheritedResources& inherited);
    Result<void> check_new_ports(const settings::Settings& settings, const supervisor::InheritedResources& inherited);
    void take_workers_over(supervisor::Master& master);
    Result<void> use_pid_file();
    bool stays(const settings::Settings& settings) const;
    void prepare_upgrade(const settings::Settings& settings);
    // To whoever waits for the start: the process in the foreground, and the service manager.
    void report_ready();
    void note_notified(const Result<void>& sent) const;
    bool wait_graceful(io::SignalPipe& signals, std::chrono::milliseconds duration);

    CommandLine command_;
    supervisor::StartedAs started_as_;
    std::unique_ptr<supervisor::MasterLine> master_;  // of a worker; of a new program: to the process before it
    bool takes_over_ = false;
    supervisor::StartReport start_report_;
    io::ServiceManager service_manager_;
    std::unique_ptr<LogFile> log_file_;
    std::unique_ptr<supervisor::PidFile> pid_file_;
    Log log_;
    std::unique_ptr<supervisor::Upgrade> upgrade_;
    std::unique_ptr<UpgradeControl> upgrade_control_;
    std::unique_ptr<Server> server_;
    std::unique_ptr<ConfWatch> conf_watch_;
    std::uint64_t open_files_ = 0;
    int status_ = 0;  // of a parent: the new process's
};

}  // namespace live::app
