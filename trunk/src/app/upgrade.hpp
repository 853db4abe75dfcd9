// Upgrade: this process hands its sockets and its new clients over to the program at its own path, which it starts beside itself.
// A process that is asked for the first time becomes the parent of an upgrade: its Master connects all that follow, each with
// each. Process does the rest of the work: it drains, and ends or stays (app/process_hand_over.cpp). A worker asks its master,
// which starts the new program (app/workers_upgrade.hpp), and does the rest in the same way.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string>

#include "api/system/upgrade_handler.hpp"
#include "app/master.hpp"
#include "app/start/pid_file.hpp"
#include "base/log/log.hpp"
#include "service/workers/master_line.hpp"
#include "service/workers/worker_service.hpp"

namespace live::app {

// What a program that takes over is given before it starts.
struct Heritage {
    engine::workers::Worker number = 0;  // its own; of a master: what its workers' begin after
    std::size_t workers = 1;
    bool parent_stays = false;
    std::string pid_path{};
    int pid_file = -1;  // an open descriptor that the caller owns; negative: none
    Master::WorkersSockets sockets{};
    io::Socket parent{};  // of a master: a line to the process that stays
};
// Its own sockets go to the loop. Errc::timed_out, Errc::closed when the other process is gone.
Result<Heritage> receive_heritage(service::workers::MasterLine& from, io::Deadline deadline);
// How the descriptors that are no sockets are named, beside the pid file's path.
inline constexpr std::string_view kPidGift = "pid ";
inline constexpr std::string_view kParentGift = "parent";

class Upgrade final : public service::workers::Succession, public api::UpgradeControl {
public:
    struct Shared {
        StartedAs started;
        std::string secret;
        std::unique_ptr<service::workers::MasterLine>& line;
        const std::unique_ptr<PidFile>& pid_file;
        std::string pid_path;
        // This process stays in the foreground as a parent: whoever has started it waits for its end.
        bool stays = false;
        // The master's, of a worker.
        std::int64_t master_pid = 0;
    };
    // Of the API, for a signal that was raised to be noticed and for the program to start.
    static constexpr std::chrono::seconds kAnswerLimit{70};
    static constexpr std::chrono::milliseconds kLook{10};
    // For the other old workers to let go of their sockets: a bit more than the master waits for them.
    static constexpr std::chrono::seconds kOthersLimit{12};

    // Everything referred to outlives this.
    Upgrade(Shared shared, const Log& log) : shared_(std::move(shared)), log_(log) {}

    // Begins, unless one is under way. The outcome raises SIGUSR2 again when there is something to hand over.
    void begin(service::workers::WorkerService& workers, bool is_cluster_node);
    bool has_successor() const { return facts_.state == api::UpgradeFacts::State::draining; }
    // The new one serves, and this process takes nothing out of the sockets any more.
    void note_handed();
    // No worker of the old program takes clients any more: whoever is asked to come again comes to the new one, not to a worker
    // that would ask it again.
    bool is_everybody_out() const;
    // The process that new clients come to is there.
    bool successor_lives(const service::workers::WorkerService& workers) const;
    // nullptr: another process is the parent, or there is none.
    Master* parent() { return parent_.get(); }
    // The others go on without this process.
    void leave();
    // With this process, whatever was started ends.
    void end();
    bool stays() const { return shared_.stays; }

    api::UpgradeFacts upgrade_facts() const override;
    Result<std::uint32_t> upgrade(io::Deadline deadline) override;

private:
    void on_give() override;
    void on_upgraded(std::optional<std::uint32_t> pid, const std::string& why) override;
    void on_take() override;
    Result<void> become_parent(service::workers::WorkerService& workers);
    void fail(const std::string& why);
    bool is_worker() const { return shared_.master_pid != 0; }

    Shared shared_;
    const Log& log_;
    std::unique_ptr<Master> parent_;
    std::unique_ptr<service::workers::MasterLine> first_line_;  // of a process that became a parent later; the server knows it
    api::UpgradeFacts facts_;
    bool is_asked_ = false;  // by the API, and not begun yet
    TimePoint handed_at_{};
    bool have_others_handed_ = false;
};

}  // namespace live::app
