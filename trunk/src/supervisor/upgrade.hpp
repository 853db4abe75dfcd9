// Upgrade: this process hands its sockets and its new clients over to the program at its own path, which it starts beside itself.
// A process that is upgraded for the first time becomes its parent: an UpgradeParent connects the programs with each
// other. A worker sends a request to its master, which starts the new program (supervisor/workers_upgrade.hpp). The process
// itself then drains, and ends or stays (app/process_hand_over.cpp).
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string>

#include "base/log/log.hpp"
#include "supervisor/inherited_resources.hpp"
#include "supervisor/line/master_client.hpp"
#include "supervisor/line/master_line.hpp"
#include "supervisor/line/upgrade_listener.hpp"
#include "supervisor/process/pid_file.hpp"
#include "supervisor/process/started_as.hpp"
#include "supervisor/upgrade_parent.hpp"

namespace live::supervisor {

struct UpgradeStatus {
    enum class State : std::uint8_t { serving, starting, draining };
    State state = State::serving;
    // The process that serves in place of this one.
    std::optional<std::uint32_t> successor{};
    // The failure of the last attempt.
    std::string error{};
};

class Upgrade final : public UpgradeListener {
public:
    struct Shared {
        StartedAs started;
        std::string secret;
        std::unique_ptr<MasterLine>& line;
        const std::unique_ptr<PidFile>& pid_file;
        std::string pid_path;
        // This process stays in the foreground as a parent, because its own parent waits for its end.
        bool stays = false;
        // The master's pid in a worker, otherwise 0.
        std::int64_t master_pid = 0;
    };
    // For a request: the start of the new program.
    static constexpr std::chrono::seconds kAnswerLimit{70};
    static constexpr std::chrono::milliseconds kLook{10};
    // For the other old workers to release their sockets: more than the master waits for them.
    static constexpr std::chrono::seconds kOthersLimit{12};

    // Everything referred to outlives this.
    Upgrade(Shared shared, const Log& log) : shared_(std::move(shared)), log_(log) {}

    // Starts an upgrade, unless one is under way. SIGUSR2 is raised again when the new program serves.
    void begin(MasterClient& client, bool is_cluster_node);
    bool has_successor() const { return status_.state == UpgradeStatus::State::draining; }
    // Call when this process takes no new clients.
    void note_handed();
    // Reports whether no old process takes clients. A client that is asked to reconnect before that may reach a process that
    // would ask it again.
    bool is_everybody_out() const;
    // Reports whether the process exists that takes new clients.
    bool successor_lives(const MasterClient& client) const;
    // nullptr: another process is the parent, or no process is.
    UpgradeParent* parent() { return parent_.get(); }
    // Leaves the other processes running without this one.
    void leave();
    // Ends all processes that this one has started.
    void end();
    bool stays() const { return shared_.stays; }

    const UpgradeStatus& status() const { return status_; }
    // The pid that the pid file names, or named before the upgrade.
    std::int64_t server_pid() const;
    // Starts an upgrade as the signal does. Returns the pid of the new program once it serves. Errc::conflict when an upgrade is
    // under way, Errc::timed_out, Errc::system with the reason, Errc::cancelled.
    Result<std::uint32_t> request(io::Deadline deadline);

private:
    void on_give() override;
    void on_upgraded(std::optional<std::uint32_t> pid, const std::string& why) override;
    void on_take() override;
    Result<void> become_parent(MasterClient& client);
    void fail(const std::string& why);
    bool is_worker() const { return shared_.master_pid != 0; }

    Shared shared_;
    const Log& log_;
    std::unique_ptr<UpgradeParent> parent_;
    std::unique_ptr<MasterLine> first_line_;  // of a process that became a parent later: the client still refers to it
    UpgradeStatus status_;
    bool is_requested_ = false;  // and not begun yet
    TimePoint handed_at_{};
    bool have_others_handed_ = false;
};

}  // namespace live::supervisor
