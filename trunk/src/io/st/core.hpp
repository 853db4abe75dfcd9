// The internals of the pinned state-threads source, for the files of this folder only: thread objects, run queue, sleep queue. No
// header outside io/st includes this one.
#pragma once

#include <cstddef>
#include <cstdint>

extern "C" {
#include "state_threads/common.h"
}

// common.h renames libc's type for its own structs; undone for everyone else.
#undef jmp_buf
