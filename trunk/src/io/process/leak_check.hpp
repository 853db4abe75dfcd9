// Asks valgrind's memcheck, when the process runs under it, for a leak check now. Works only in a build with valgrind support
// (configure --valgrind=on); otherwise, and without valgrind, it does nothing.
#pragma once

#include <cstdint>

namespace live::io {

enum class LeakCheck : std::uint8_t {
    full,
    quick,    // the summary only
    added,    // leaks since the previous check
    changed,  // leaks that appeared or disappeared since the previous check
    fresh,    // new leak locations since the previous check
};

// Whether this build supports it.
bool can_check_leaks();

// Stops the process until memcheck has written its report.
void check_leaks(LeakCheck how);

}  // namespace live::io
