// WorkersUpgrade: a master starts the program at its own path beside itself, and hands its workers' sockets and its roll over to
// the new master (Master::hand_roll). Nothing changes before that one's workers serve. Of several programs in the foreground, the
// first one stays, and starts all others, because whoever has started it waits for its end: a master that is not the first asks
// it to. Process does the rest (Process::follow_workers).
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
        // This process stays in the foreground, and is its new processes' parent.
        bool stays = false;
        // To the process that does; closed: this one starts the next program itself.
        io::Socket parent{};
    };
    // For the new program to start its workers, each of which has Master::kStartLimit.
    static constexpr std::chrono::seconds kStartLimit{65};
    // For workers to stop taking clients, and for the roll.
    static constexpr std::chrono::seconds kHandLimit{10};
    static constexpr std::chrono::seconds kStopLimit{2};
    static constexpr std::chrono::milliseconds kLook{10};

    // Everything referred to outlives this.
    WorkersUpgrade(Shared shared, const Log& log);
    ~WorkersUpgrade();
    WorkersUpgrade(const WorkersUpgrade&) = delete;
    WorkersUpgrade& operator=(const WorkersUpgrade&) = delete;

    // Unless one is under way. The outcome raises SIGUSR2 again when a new program has taken over.
    void begin();
    bool has_successor() const { return successor_ != 0; }
    std::uint32_t successor() const { return successor_; }
    bool stays() const { return shared_.stays; }

    // Of a process that stays: the programs that it has started and that live.
    std::size_t new_processes() const;
    // The one that takes new clients lives.
    bool has_newest() const;
    void send_to_all(int number);
    void send_to_newest(int number);
    // Of the newest.
    int status() const { return status_; }
    // They go on without this process.
    void leave();
    // What was begun ends, and with this process whatever it has started. Nothing begins any more.
    void end();

private:
    using Line = MasterLine;

    struct NewProcess {
        std::unique_ptr<io::ChildProcess> process;
        std::unique_ptr<Line> line;  // it asks for the next one; nullptr: this process does not stay
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
