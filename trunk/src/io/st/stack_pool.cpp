#include "io/st/stack_pool.hpp"

#include <algorithm>
#include <array>
#include <cerrno>
#include <cstdlib>
#include <memory>

#include <sys/mman.h>
#include <unistd.h>

#include "base/check.hpp"
#include "io/st/fiber_stack.hpp"
#include "io/st/instrument.hpp"

// Since Linux 6.13: a guard page without a separate mapping.
#ifndef MADV_GUARD_INSTALL
#define MADV_GUARD_INSTALL 102
#endif

namespace live::io::st {

namespace {

std::size_t page_bytes() { return static_cast<std::size_t>(::sysconf(_SC_PAGESIZE)); }

FiberStack* as_fiber_stack(_st_stack* stack) { return reinterpret_cast<FiberStack*>(stack); }

// Makes the lowest page fault when touched. Old kernels need mprotect, which costs two mappings per stack: vm.max_map_count then
// bounds the number of fibers (about 32,000 by default).
bool install_guard(void* lowest, std::size_t page) {
    if (::madvise(lowest, page, MADV_GUARD_INSTALL) == 0)
        return true;
    return ::mprotect(lowest, page, PROT_NONE) == 0;
}

// `count` adjacent stacks of `total` bytes; nullptr with errno.
char* map_stacks(std::size_t count, std::size_t total, std::size_t page) {
    if constexpr (instrument::kHeapStacks)
        return static_cast<char*>(std::aligned_alloc(page, total));
    void* memory =
        ::mmap(nullptr, count * total, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE | MAP_STACK, -1, 0);
    if (memory == MAP_FAILED)
        return nullptr;
    for (std::size_t i = 0; i < count; ++i) {
        if (install_guard(static_cast<char*>(memory) + i * total, page))
            continue;
        const int error = errno;
        ::munmap(memory, count * total);
        errno = error;
        return nullptr;
    }
    // A huge page would make every stack around it resident. An error only means that there are no huge pages.
    ::madvise(memory, count * total, MADV_NOHUGEPAGE);
    return static_cast<char*>(memory);
}

}  // namespace

_st_stack* StackPool::take(std::size_t bytes) {
    if ((free_ == nullptr || static_cast<std::size_t>(free_->core.stk_size) < bytes) && !map_more(bytes))
        return nullptr;
    FiberStack* stack = free_;
    free_ = stack->next_free;
    --pooled_;
    ++live_;
    stack->in_use = true;
    stack->thread = nullptr;
    stack->exceptions = {};
    stack->sanitizer_fake_stack = nullptr;
    instrument::unpoison_stack(stack->core);
    return &stack->core;
}

bool StackPool::map_more(std::size_t bytes) {
    const std::size_t page = page_bytes();
    const std::size_t total = bytes + page;
    const std::size_t count = instrument::kHeapStacks ? 1 : kMappedAtOnce;
    char* const memory = map_stacks(count, total, page);
    if (memory == nullptr)
        return false;
    for (char* lowest = memory; lowest < memory + count * total; lowest += total) {
        // The core holds the stack as a plain pointer; unmap() takes it back into a unique_ptr.
        FiberStack* const stack = std::make_unique<FiberStack>().release();
        stack->core.vaddr = lowest;
        stack->core.vaddr_size = static_cast<int>(total);
        stack->core.stk_size = static_cast<int>(bytes);
        stack->core.stk_bottom = lowest + page;
        stack->core.stk_top = lowest + total;
        stack->valgrind_id = instrument::announce_stack(stack->core);
        stack->next_mapped = all_;
        if (all_ != nullptr)
            all_->previous_mapped = stack;
        all_ = stack;
        stack->next_free = free_;
        free_ = stack;
        ++pooled_;
    }
    return true;
}

void StackPool::recycle(_st_stack* given) {
    FiberStack* stack = as_fiber_stack(given);
    CHECK(stack->in_use);
    stack->in_use = false;
    stack->next_free = free_;
    free_ = stack;
    --live_;
    ++pooled_;
}

void StackPool::trim() {
    for (std::size_t i = 0; i < kUnmappedAtOnce && pooled_ > kPooledMax; ++i) {
        FiberStack* stack = free_;
        free_ = stack->next_free;
        --pooled_;
        unmap(stack);
    }
}

void StackPool::release() const {
    if constexpr (instrument::kHeapStacks)
        return;
    for (const FiberStack* stack = free_; stack != nullptr; stack = stack->next_free)
        ::madvise(stack->core.stk_bottom, static_cast<std::size_t>(stack->core.stk_size), MADV_DONTNEED);
}

void StackPool::unmap(FiberStack* stack) {
    if (stack->previous_mapped != nullptr)
        stack->previous_mapped->next_mapped = stack->next_mapped;
    else
        all_ = stack->next_mapped;
    if (stack->next_mapped != nullptr)
        stack->next_mapped->previous_mapped = stack->previous_mapped;
    instrument::withdraw_stack(stack->core, stack->valgrind_id);
    const std::unique_ptr<FiberStack> owner(stack);
    if constexpr (instrument::kHeapStacks)
        std::free(stack->core.vaddr);
    else
        ::munmap(stack->core.vaddr, static_cast<std::size_t>(stack->core.vaddr_size));
}

std::size_t StackPool::touched_bytes(const _st_stack& stack) {
    const std::size_t page = page_bytes();
    std::array<unsigned char, 64> resident{};
    for (char* from = stack.stk_bottom; from < stack.stk_top;) {
        const std::size_t pages = std::min(resident.size(), static_cast<std::size_t>(stack.stk_top - from) / page);
        if (::mincore(from, pages * page, resident.data()) != 0)
            return 0;
        for (std::size_t i = 0; i < pages; ++i, from += page)
            if ((resident[i] & 1U) != 0)
                return static_cast<std::size_t>(stack.stk_top - from);
    }
    return 0;
}

void StackPool::register_leak_roots(const _st_thread* running) {
    for (const FiberStack* stack = all_; stack != nullptr; stack = stack->next_mapped) {
        if (!stack->in_use || stack->thread == nullptr || stack->thread == running)
            continue;
        const char* top = stack->core.stk_top;
        const char* sp = reinterpret_cast<const char*>(stack->thread->context[0].slot[LIVE_CONTEXT_SP]);
        if (sp >= stack->core.stk_bottom && sp < top)
            instrument::add_leak_root(sp, static_cast<std::size_t>(top - sp));
    }
}

}  // namespace live::io::st
