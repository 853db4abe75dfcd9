// Faults on purpose, for the tests of the memory tools (test/tools): each must be reported with these very frames. Compiled into
// test programs, and into the server only with `configure --simulator=on`.
#pragma once

#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <string_view>

namespace live::planted {

// Where a pointer is put so that the compiler cannot know that nobody reads it.
inline void* volatile sink;

inline constexpr std::size_t kLeakBytes = 4321;

[[gnu::noinline]] inline void planted_leak() {
    sink = std::malloc(kLeakBytes);
    sink = nullptr;
}

// The address of a fresh block, laundered: the compiler would refuse to compile what follows.
inline char* fresh_block() {
    sink = std::malloc(64);
    return static_cast<char*>(sink);
}

[[gnu::noinline]] inline void planted_use_after_free() {
    std::free(fresh_block());
    static_cast<volatile char*>(sink)[7] = 1;
    sink = nullptr;
}

[[gnu::noinline]] inline void planted_overflow() {
    char* block = fresh_block();
    volatile char* end = block + 64;
    *end = 1;
    std::free(block);
    sink = nullptr;
}

[[gnu::noinline]] inline int planted_stack_overflow(int depth) {
    volatile char frame[1024];
    std::memset(const_cast<char*>(frame), depth, sizeof frame);
    return depth == 0 ? 0 : planted_stack_overflow(depth - 1) + frame[17];
}

[[gnu::noinline]] inline void planted_uninitialised() {
    char* block = fresh_block();
    if (block[3] == 7)
        std::puts("seven");
    std::free(block);
    sink = nullptr;
}

// False when there is no fault of this name.
[[gnu::noinline]] inline bool plant(std::string_view fault) {
    bool known = true;
    if (fault == "leak")
        planted_leak();
    else if (fault == "use_after_free")
        planted_use_after_free();
    else if (fault == "overflow")
        planted_overflow();
    else if (fault == "stack_overflow")
        std::printf("%d\n", planted_stack_overflow(4096));
    else if (fault == "uninitialised")
        planted_uninitialised();
    else
        known = false;
    sink = nullptr;  // So that none of the calls is the last thing done here: its frame would be gone from the report.
    return known;
}

}  // namespace live::planted
