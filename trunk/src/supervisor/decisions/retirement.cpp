#include "supervisor/decisions/retirement.hpp"

#include <csignal>
#include <utility>

namespace live::supervisor {

Retirement::Next Retirement::look(std::size_t others, bool newest_lives) {
    if (others <= role_.others_min)
        return Next::end;
    if (role_.follows_newest && !newest_lives && !std::exchange(has_terminated_, true))
        return Next::terminate_others;
    return Next::wait;
}

Retirement::OnSignal Retirement::on_signal(int number) const {
    const bool is_stop = number == SIGTERM || number == SIGINT || number == SIGQUIT;
    const bool is_for_server = number == SIGHUP || number == SIGUSR1 || number == SIGUSR2;
    OnSignal on;
    on.reopens_logs = number == SIGUSR1;
    on.stops_others = role_.stays && is_stop;
    on.forwards_to_newest = role_.stays && is_for_server;
    on.ends = !role_.stays && is_stop;
    return on;
}

}  // namespace live::supervisor
