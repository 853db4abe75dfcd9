// The stacks fibers run on: mapped memory with a guard page below, pooled when a fiber ends, announced to valgrind,
// AddressSanitizer and LeakSanitizer. One page of a parked fiber's stack is resident; the rest is address space.
#pragma once

#include <cstddef>

struct _st_thread;
struct _st_stack;

namespace live::io::st {

struct FiberStack;

class StackPool {
public:
    // Stacks kept mapped for future fibers. Beyond this, the stack of an ended fiber is returned to the kernel.
    static constexpr std::size_t kPooledMax = 128;
    // Unmapped by one trim(): each takes some 5 us, and a thousand clients may leave at once.
    static constexpr std::size_t kUnmappedAtOnce = 64;
    // Mapped with one system call; no page is resident until it is touched.
    static constexpr std::size_t kMappedAtOnce = 8;

    // A stack with `bytes` of usable memory (whole pages); nullptr with errno when the kernel allows no more mappings.
    _st_stack* take(std::size_t bytes);
    // The caller may still be running on it, so nothing is unmapped before trim().
    void recycle(_st_stack* stack);
    // Unmaps pooled stacks beyond the bound, some at once. Not to be called from a fiber that has just given its stack back.
    void trim();
    // Returns the memory of pooled stacks to the kernel; they stay mapped. The restriction of trim() applies.
    void release() const;

    // From the top of the stack down to its lowest resident page: its deepest use since trim_stack(), or since it was mapped,
    // including earlier fibers. Touches nothing; one system call. 0 when the kernel does not report it.
    static std::size_t touched_bytes(const _st_stack& stack);

    std::size_t live() const { return live_; }
    std::size_t pooled() const { return pooled_; }

    // LeakSanitizer: registers the used part of every parked fiber's stack as a root. Whole stacks would hide real leaks.
    void register_leak_roots(const _st_thread* running);

private:
    bool map_more(std::size_t bytes);
    void unmap(FiberStack* stack);

    FiberStack* all_ = nullptr;   // all mapped stacks
    FiberStack* free_ = nullptr;  // pooled stacks
    std::size_t live_ = 0;
    std::size_t pooled_ = 0;
};

// Called around every switch; `from` is about to stop, `to` about to run. See md.h.
struct SwitchHooks {
    static void leave(_st_thread* from, _st_thread* to);
    static void enter();
};

}  // namespace live::io::st
