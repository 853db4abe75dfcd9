// WorkersUpgrade: a master starts the program at its own path beside itself, and hands its workers over to the new master: first
// copies of their sockets, then, when the new workers serve, the workers themselves (Master::hand_roll). In the foreground the
// first master stays and starts all later programs, because its own parent waits for its end; a later master sends it a request.
// Process::follow_workers in app is the rest of the old process's life.
#pragma once

#include <chrono>
#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "base/log/log.hpp"
#include "io/fibers/scope.hpp"
#include "io/process/child_process.hpp"
#include "supervisor/line/master_line.hpp"
#include "supervisor/master.hpp"
#include "supervisor/process/pid_file.hpp"

namespace live::supervisor {

class WorkersUpgrade {
public:
    struct Shared {
        Master& master;
        std::string secret;
        const std::unique_ptr<PidFile>& pid_file;
        std::string pid_path;
        // This process stays in the foreground as the parent of the new programs.
        bool stays = false;
        // The line to the process that stays; closed: this process starts the next program itself.
        io::Socket parent{};
    };
    static constexpr std::chrono::seconds kStopLimit{2};
    static constexpr std::chrono::milliseconds kLook{10};

    // Everything referred to outlives this.
    WorkersUpgrade(Shared shared, const Log& log);
    ~WorkersUpgrade();
    WorkersUpgrade(const WorkersUpgrade&) = delete;
    WorkersUpgrade& operator=(const WorkersUpgrade&) = delete;

    // Starts an upgrade, unless one is under way. SIGUSR2 is raised again when the new program has taken over.
    void begin();
    bool has_successor() const { return successor_ != 0; }
    std::uint32_t successor() const { return successor_; }
    bool stays() const { return shared_.stays; }

    // In a process that stays: how many of the programs that it has started live.
    std::size_t new_processes() const;
    // Reports whether the program lives that takes new clients.
    bool has_newest() const;
    void send_to_all(int number);
    void send_to_newest(int number);
    // The exit status of the newest program.
    int status() const { return status_; }
    // Leaves the programs running without this process.
    void leave();
    // Cancels an attempt, and ends the programs that this process has started. Later begin() calls have no effect.
    void end();

private:
    using Line = MasterLine;

    struct NewProcess {
        std::unique_ptr<io::ChildProcess> process;
        std::unique_ptr<Line> line;  // for its request for the next program; nullptr: this process does not stay
        std::string end{};           // how it has ended
        bool has_ended = false;
    };
    struct Launched {
        std::uint32_t pid = 0;
        io::Socket parent{};         // for the new program: its line to the process that stays
        NewProcess* next = nullptr;  // nullptr: another process's child
    };

    void run(io::Deadline deadline);
    Result<Launched> start(io::Deadline deadline);
    Result<Launched> launch(io::Socket line);
    Result<Launched> ask_parent(io::Socket line, io::Deadline deadline);
    Result<void> give(WorkersSockets sockets, io::Socket parent, engine::workers::Worker base, io::Deadline deadline);
    Result<void> wait_ready(const Launched& launched, io::Deadline deadline);
    // Waits for the end of a child. Returns it as words.
    Result<std::string> await_end(const Launched& launched, io::Deadline deadline);
    void kill_program(const Launched& launched, const HandOver::KillProgram& kill);
    void hand_over(const Launched& launched, io::Deadline deadline);
    void fail(const std::string& why);
    // Until it has ended.
    void attend(NewProcess& next, io::Deadline deadline);
    Result<void> serve(NewProcess& next, io::Deadline deadline);

    Shared shared_;
    const Log& log_;
    std::unique_ptr<Line> parent_;
    std::unique_ptr<Line> line_;  // to the program that is to take over
    std::vector<std::unique_ptr<NewProcess>> new_processes_;
    NewProcess* newest_ = nullptr;
    std::uint32_t successor_ = 0;
    int status_ = 0;
    bool is_under_way_ = false;
    bool is_over_ = false;
    io::Scope fibers_{"upgrade of the workers"};
};

}  // namespace live::supervisor
