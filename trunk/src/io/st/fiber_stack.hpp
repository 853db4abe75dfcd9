// One fiber's stack and what must be swapped with it: the C++ runtime's list of caught exceptions (per OS thread, so two fibers
// inside catch blocks would mix them up) and AddressSanitizer's fake stack. Only for files of this folder.
#pragma once

#include <array>

#include "io/st/core.hpp"

namespace live::io::st {

struct FiberStack {
    _st_stack_t core{};  // must be first: the core uses only this part
    FiberStack* next_mapped = nullptr;
    FiberStack* previous_mapped = nullptr;
    FiberStack* next_free = nullptr;
    _st_thread* thread = nullptr;          // the thread on it, from the first switch to it on
    std::array<void*, 2> exceptions{};     // __cxa_eh_globals while the fiber does not run
    void* sanitizer_fake_stack = nullptr;  // AddressSanitizer's, while the fiber does not run
    unsigned valgrind_id = 0;
    bool in_use = false;
};

}  // namespace live::io::st
