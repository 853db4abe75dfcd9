#include "service/transcode/deep_stack.hpp"

#include <bit>
#include <cerrno>
#include <cstdint>

#include <sys/mman.h>
#include <ucontext.h>

#include "base/check.hpp"

namespace live::service::transcode {

namespace {

constexpr std::size_t kGuardBytes = 64 * 1024;  // whole pages wherever we run

struct Call {
    void (*function)(void*);
    void* argument;
};

// makecontext() hands over ints only.
void begin(unsigned high, unsigned low) {
    const Call* const call = std::bit_cast<const Call*>(static_cast<std::uintptr_t>(std::uint64_t{high} << 32 | low));
    call->function(call->argument);
}

}  // namespace

Result<std::unique_ptr<DeepStack>> DeepStack::create() {
    void* const memory = ::mmap(nullptr, kGuardBytes + kBytes, PROT_READ | PROT_WRITE,
                                MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE | MAP_STACK, -1, 0);
    if (memory == MAP_FAILED)
        return system_error("memory for a deep stack", errno);
    auto stack = std::make_unique<DeepStack>(memory);
    if (::mprotect(memory, kGuardBytes, PROT_NONE) != 0)
        return system_error("the guard of a deep stack", errno);
    return stack;
}

DeepStack::~DeepStack() { ::munmap(memory_, kGuardBytes + kBytes); }

void DeepStack::enter(void (*call)(void*), void* argument) {
    const Call what{call, argument};
    const auto address = static_cast<std::uint64_t>(std::bit_cast<std::uintptr_t>(&what));
    ::ucontext_t here{};
    ::ucontext_t there{};
    CHECK(::getcontext(&there) == 0);
    there.uc_stack.ss_sp = static_cast<std::uint8_t*>(memory_) + kGuardBytes;
    there.uc_stack.ss_size = kBytes;
    there.uc_link = &here;
    ::makecontext(&there, std::bit_cast<void (*)()>(&begin), 2, static_cast<unsigned>(address >> 32),
                  static_cast<unsigned>(address));
    CHECK(::swapcontext(&here, &there) == 0);
}

}  // namespace live::service::transcode
