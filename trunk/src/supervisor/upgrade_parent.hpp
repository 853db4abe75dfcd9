// UpgradeParent: connects a process without workers with the programs that replace it, one after the other. The first process of
// an upgrade has one; it starts each new program on request of the one that serves, and never restarts one.
#pragma once

#include <chrono>
#include <cstddef>
#include <optional>
#include <string>

#include "base/log/log.hpp"
#include "base/signal.hpp"
#include "io/fibers/scope.hpp"
#include "supervisor/decisions/hand_over.hpp"
#include "supervisor/members.hpp"
#include "supervisor/process/started_as.hpp"

namespace live::supervisor {

class UpgradeParent final : MembersListener {
public:
    // From the end of a process's service to its end.
    static constexpr std::chrono::seconds kEndLimit{10};
    static constexpr std::chrono::seconds kStopSlack{3};

    // Whether the new programs end with this process.
    enum class Programs : std::uint8_t { end_with_it, outlive_it };

    UpgradeParent(StartedAs started, std::string secret, Programs programs, const Log& log);
    ~UpgradeParent();
    UpgradeParent(const UpgradeParent&) = delete;
    UpgradeParent& operator=(const UpgradeParent&) = delete;

    // Makes this process a member. Returns its end of the line.
    Result<io::Socket> join();

    // Reports whether the program lives that takes new clients.
    bool has_newest() const;
    // Its exit status, 0 while it lives.
    int newest_status() const { return newest_status_; }
    // Programs that this process has started and that live.
    std::size_t new_processes() const { return members_.children(); }
    void send_signal(int number) { members_.send_signal(number); }
    void send_to_newest(int number);

    // Leaves the programs running without this process.
    void release();
    // Ends the programs.
    void stop();

private:
    void on_message(Member& member, engine::workers::Message message, io::Socket passed) override;

    void attend(Member& member, io::Deadline deadline);
    // Waits for the end of the process. Returns the end as words.
    std::string await_end(Member& member);
    void upgrade(Member& asker, io::Deadline deadline);
    // Sets `program` to the one that it starts.
    void perform(const HandOver::Action& action, Member& asker, Member*& program);
    Result<Member*> start_program(Member& asker);
    void announce(Member& asker, const Member& program);

    const StartedAs started_;
    const std::string secret_;
    const Programs programs_;
    const Log& log_;
    Members members_;
    HandOver hand_over_;
    engine::workers::Worker new_program_ = 0;  // the one of hand_over_
    engine::workers::Worker newest_ = 0;       // takes new clients
    int newest_status_ = 0;
    bool is_stopping_ = false;
    Signal changed_;  // hand_over_ has an action
    io::Scope fibers_{"upgrade"};
};

}  // namespace live::supervisor
