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
    // Stacks that are kept mapped for the next fibers. Beyond it, a stack of an ended fiber goes back to the kernel.
    static constexpr std::size_t kPooledMax = 128;
    // One system call for so many; none of their pages is there before it is touched.
    static constexpr std::size_t kMappedAtOnce = 8;

    // A stack with `bytes` of usable memory (whole pages); nullptr with errno when the kernel has no more mappings for us.
    _st_stack* take(std::size_t bytes);
    // The caller may still be running on it, so nothing is unmapped before trim().
    void give_back(_st_stack* stack);
    // Unmaps what is pooled beyond the bound. Not to be called from a fiber that has just given its stack back.
    void trim();
    // The memory of those that are pooled goes back to the kernel; they stay mapped. The same holds as for trim().
    void release() const;

    // From the top of the stack down to its lowest resident page: how deep it has been since trim_stack(), or since it was
    // mapped, for the fibers before this one too. Touches nothing; a system call. 0 when the kernel does not say.
    static std::size_t touched_bytes(const _st_stack& stack);

    std::size_t live() const { return live_; }
    std::size_t pooled() const { return pooled_; }

    // LeakSanitizer: the part of every parked fiber's stack that is in use holds pointers. Whole stacks would hide real leaks.
    void register_leak_roots(const _st_thread* running);

private:
    bool map_more(std::size_t bytes);
    void unmap(FiberStack* stack);

    FiberStack* all_ = nullptr;   // every mapped stack
    FiberStack* free_ = nullptr;  // the pooled ones
    std::size_t live_ = 0;
    std::size_t pooled_ = 0;
};

// Called around every switch; `from` is about to stop, `to` about to run. See md.h.
struct SwitchHooks {
    static void leave(_st_thread* from, _st_thread* to);
    static void enter();
};

}  // namespace live::io::st
