#include "io/process/leak_check.hpp"

#ifdef LIVE_VALGRIND
#include <valgrind/memcheck.h>
// Before 3.21: "added" includes the new leaks.
#ifndef VALGRIND_DO_NEW_LEAK_CHECK
#define VALGRIND_DO_NEW_LEAK_CHECK VALGRIND_DO_ADDED_LEAK_CHECK
#endif
#endif

namespace live::io {

#ifdef LIVE_VALGRIND

bool can_check_leaks() { return true; }

void check_leaks(LeakCheck how) {
    switch (how) {
        case LeakCheck::full: VALGRIND_DO_LEAK_CHECK; break;
        case LeakCheck::quick: VALGRIND_DO_QUICK_LEAK_CHECK; break;
        case LeakCheck::added: VALGRIND_DO_ADDED_LEAK_CHECK; break;
        case LeakCheck::changed: VALGRIND_DO_CHANGED_LEAK_CHECK; break;
        case LeakCheck::fresh: VALGRIND_DO_NEW_LEAK_CHECK; break;
    }
}

#else

bool can_check_leaks() { return false; }

void check_leaks(LeakCheck) {}

#endif

}  // namespace live::io
