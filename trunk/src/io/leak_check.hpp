// Asks valgrind's memcheck, under which the process runs, for a leak check now. Only a build that knows valgrind can
// (configure --valgrind=on); in any other, and without valgrind, nothing happens.
#pragma once

#include <cstdint>

namespace live::io {

enum class LeakCheck : std::uint8_t {
    full,
    quick,    // the summary alone
    added,    // what was lost since the check before
    changed,  // what was lost or is not lost any more since the check before
    fresh,    // new places of loss since the check before
};

// Whether this build can ask.
bool can_check_leaks();

// Stops the process until memcheck has written its report to where it reports.
void check_leaks(LeakCheck how);

}  // namespace live::io
