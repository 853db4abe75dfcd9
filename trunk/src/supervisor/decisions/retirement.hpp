// Retirement: decides how long a process stays after a new program has taken over, and what it does with signals meanwhile. Dry.
//
// In the background the process ends with its last client. In the foreground it stays as the parent of the new programs, because
// its own parent (a supervisor, a terminal, a container) waits for its end.
#pragma once

#include <cstddef>
#include <cstdint>

namespace live::supervisor {

class Retirement {
public:
    struct Role {
        // The process stays in the foreground: it forwards signals, and the new programs end with it.
        bool stays = false;
        // It ends when no more than this many other processes live.
        std::size_t others_min = 0;
        // If the newest program ends, everything ends.
        bool follows_newest = true;
    };
    enum class Next : std::uint8_t {
        wait,
        terminate_others,  // send SIGTERM to all, and wait
        end,
    };
    struct OnSignal {
        bool reopens_logs = false;
        bool stops_others = false;        // forward it to all
        bool forwards_to_newest = false;  // it is meant for the server
        bool ends = false;                // end now
    };

    explicit Retirement(Role role) : role_(role) {}

    // `others` are the processes that this one waits for.
    Next look(std::size_t others, bool newest_lives);
    OnSignal on_signal(int number) const;

private:
    const Role role_;
    bool has_terminated_ = false;
};

}  // namespace live::supervisor
