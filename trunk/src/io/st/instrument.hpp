// Announces stacks and switches to valgrind, AddressSanitizer and LeakSanitizer. Every function is empty in a build without them.
// Only for files of this folder.
#pragma once

#include <cstddef>

#include "io/st/core.hpp"

#if defined(__has_feature)
#if __has_feature(address_sanitizer)
#define LIVE_ASAN 1
#endif
#endif
#if defined(__SANITIZE_ADDRESS__)
#define LIVE_ASAN 1
#endif

#ifdef LIVE_ASAN
#include <sanitizer/asan_interface.h>
#include <sanitizer/common_interface_defs.h>
#include <sanitizer/lsan_interface.h>
#endif
#ifdef LIVE_VALGRIND_STACKS
#include <valgrind/valgrind.h>
#endif

namespace live::io::st::instrument {

// The id for withdraw_stack().
inline unsigned announce_stack([[maybe_unused]] const _st_stack_t& stack) {
#ifdef LIVE_VALGRIND_STACKS
    return VALGRIND_STACK_REGISTER(stack.stk_bottom, stack.stk_top);
#else
    return 0;
#endif
}

// A pooled stack still carries the red zones of the frames its last fiber never returned from.
inline void unpoison_stack([[maybe_unused]] const _st_stack_t& stack) {
#ifdef LIVE_ASAN
    __asan_unpoison_memory_region(stack.stk_bottom, static_cast<std::size_t>(stack.stk_top - stack.stk_bottom));
#endif
}

inline void withdraw_stack([[maybe_unused]] const _st_stack_t& stack, [[maybe_unused]] unsigned id) {
#ifdef LIVE_VALGRIND_STACKS
    VALGRIND_STACK_DEREGISTER(id);
#endif
    unpoison_stack(stack);
}

inline void add_leak_root([[maybe_unused]] const void* from, [[maybe_unused]] std::size_t bytes) {
#ifdef LIVE_ASAN
    __lsan_register_root_region(from, bytes);
#endif
}

// `fake_stack` is where the leaving fiber's state is kept; nullptr when it never runs again.
inline void start_switch([[maybe_unused]] void** fake_stack, [[maybe_unused]] const void* bottom,
                         [[maybe_unused]] std::size_t bytes) {
#ifdef LIVE_ASAN
    __sanitizer_start_switch_fiber(fake_stack, bottom, bytes);
#endif
}

inline void finish_switch([[maybe_unused]] void* fake_stack, [[maybe_unused]] const void** old_bottom,
                          [[maybe_unused]] std::size_t* old_bytes) {
#ifdef LIVE_ASAN
    __sanitizer_finish_switch_fiber(fake_stack, old_bottom, old_bytes);
#endif
}

inline bool runs_on_valgrind() {
#ifdef LIVE_VALGRIND_STACKS
    return RUNNING_ON_VALGRIND != 0;
#else
    return false;
#endif
}

// The gperftools heap checker scans malloc's memory, not mappings: with it, stacks come from the heap, without guards.
#ifdef LIVE_GMC
inline constexpr bool kHeapStacks = true;
#else
inline constexpr bool kHeapStacks = false;
#endif

#ifdef LIVE_ASAN
inline constexpr bool kAddressSanitizer = true;
#else
inline constexpr bool kAddressSanitizer = false;
#endif

}  // namespace live::io::st::instrument
