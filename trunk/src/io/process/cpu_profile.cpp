#include "io/process/cpu_profile.hpp"

#include <algorithm>
#include <atomic>
#include <cerrno>
#include <csignal>
#include <ctime>
#include <memory>

#include <pthread.h>
#include <sys/syscall.h>
#include <ucontext.h>
#include <unistd.h>

#include "io/fibers/loop.hpp"
#include "io/fibers/loop_state.hpp"

namespace live::io {

namespace {

struct Registers {
    std::uintptr_t pc;
    std::uintptr_t sp;
    std::uintptr_t fp;
};

Registers registers_of(const ucontext_t& context) {
#if defined(__x86_64__)
    const auto& saved = context.uc_mcontext.gregs;
    const auto at = [&saved](int name) { return static_cast<std::uintptr_t>(saved[name]); };
    return {at(REG_RIP), at(REG_RSP), at(REG_RBP)};
#else
    const auto& saved = context.uc_mcontext;
    return {saved.pc, saved.sp, saved.regs[29]};
#endif
}

struct Range {
    std::uintptr_t from = 0;
    std::uintptr_t to = 0;
    bool has(std::uintptr_t address) const { return address >= from && address < to; }
};

Range process_stack() {
    Range range;
    pthread_attr_t attributes;
    if (::pthread_getattr_np(::pthread_self(), &attributes) != 0)
        return range;
    void* lowest = nullptr;
    std::size_t bytes = 0;
    if (::pthread_attr_getstack(&attributes, &lowest, &bytes) == 0)
        range = {reinterpret_cast<std::uintptr_t>(lowest), reinterpret_cast<std::uintptr_t>(lowest) + bytes};
    ::pthread_attr_destroy(&attributes);
    return range;
}

}  // namespace

// Written by the signal handler, which reaches it through LoopState; used by the loop's thread alone. Nothing in it allocates.
class st::CpuSamples {
public:
    explicit CpuSamples(std::size_t samples)
        : capacity_(samples * (CpuProfile::kDepthMax + 2)),
          // Left uninitialized, so that pages become resident only as they are used.
          words_(std::make_unique_for_overwrite<std::uintptr_t[]>(capacity_)),
          process_stack_(process_stack()) {}

    void note(const ucontext_t& context, std::uintptr_t times) {
        if (capacity_ - size_ < CpuProfile::kDepthMax + 2)
            return;
        const Registers at = registers_of(context);
        std::uintptr_t* const frames = &words_[size_ + 2];
        const std::size_t depth = walk(at, frames);
        words_[size_] = times;
        words_[size_ + 1] = depth;
        size_ += depth + 2;
        ++count_;
    }
    CpuProfile take() const { return {{words_.get(), words_.get() + size_}, count_}; }

private:
    // Reads only memory of the stack in use, above the stack pointer, whatever value the frame pointer has: code compiled without
    // frame pointers leaves arbitrary values in it.
    __attribute__((no_sanitize("address"))) std::size_t walk(const Registers& at, std::uintptr_t* frames) const {
        std::size_t depth = 0;
        frames[depth++] = at.pc;
        const Range stack{at.sp, top_of_stack(at.sp)};
        std::uintptr_t fp = at.fp;
        constexpr std::uintptr_t kWord = sizeof(std::uintptr_t);
        while (depth < CpuProfile::kDepthMax && fp % kWord == 0 && stack.has(fp) && stack.to - fp >= 2 * kWord) {
            const auto* const frame = reinterpret_cast<const std::uintptr_t*>(fp);
            if (frame[1] == 0)
                break;
            frames[depth++] = frame[1];
            if (frame[0] <= fp)
                break;
            fp = frame[0];
        }
        return depth;
    }
    // In the middle of a switch the stack pointer may still be on the other stack: then only the innermost frame is recorded.
    std::uintptr_t top_of_stack(std::uintptr_t sp) const {
        const _st_stack* own = _st_this_thread->stack;
        const Range stack = own == nullptr ? process_stack_
                                           : Range{reinterpret_cast<std::uintptr_t>(own->stk_bottom),
                                                   reinterpret_cast<std::uintptr_t>(own->stk_top)};
        return stack.has(sp) ? stack.to : sp;
    }

    std::size_t capacity_;
    std::unique_ptr<std::uintptr_t[]> words_;
    std::size_t size_ = 0;
    std::size_t count_ = 0;
    Range process_stack_;
};

namespace {

void on_tick(int, siginfo_t* info, void* context) {
    const int error = errno;
    if (st::CpuSamples* samples = st::the_loop->cpu_samples)
        samples->note(*static_cast<const ucontext_t*>(context), 1 + static_cast<std::uintptr_t>(std::max(info->si_overrun, 0)));
    errno = error;
}

// Holds the signal handler and the timer for its lifetime. The handler has its own stack: on a parked fiber's it would make pages
// resident.
class Ticker {
public:
    static constexpr int kSignal = SIGPROF;
    static constexpr std::size_t kStackBytes = 64 * 1024;

    Ticker() = default;
    Ticker(const Ticker&) = delete;
    Ticker& operator=(const Ticker&) = delete;
    ~Ticker() {
        if (has_timer_)
            ::timer_delete(timer_);
        if (!has_signal_)
            return;
        // Discards a pending signal, which by default would end the process.
        struct sigaction none {};
        none.sa_handler = SIG_IGN;
        ::sigaction(kSignal, &none, nullptr);
        ::sigaction(kSignal, &before_, nullptr);
        ::sigaltstack(&stack_before_, nullptr);
    }

    Result<void> start() {
        if (::sigaction(kSignal, nullptr, &before_) != 0)
            return system_error("asking for SIGPROF", errno);
        if ((before_.sa_flags & SA_SIGINFO) != 0 || (before_.sa_handler != SIG_DFL && before_.sa_handler != SIG_IGN))
            return Error(Errc::conflict, "another profiler has SIGPROF");
        struct sigaction tick {};
        tick.sa_sigaction = on_tick;
        tick.sa_flags = SA_SIGINFO | SA_RESTART | SA_ONSTACK;
        stack_t stack{};
        stack.ss_sp = stack_.get();
        stack.ss_size = kStackBytes;
        if (::sigaltstack(&stack, &stack_before_) != 0)
            return system_error("giving the profile a stack", errno);
        if (::sigaction(kSignal, &tick, nullptr) != 0) {
            ::sigaltstack(&stack_before_, nullptr);
            return system_error("taking SIGPROF", errno);
        }
        has_signal_ = true;
        sigevent event{};
        event.sigev_notify = SIGEV_THREAD_ID;
        event.sigev_signo = kSignal;
        event._sigev_un._tid = static_cast<pid_t>(::syscall(SYS_gettid));
        if (::timer_create(CLOCK_THREAD_CPUTIME_ID, &event, &timer_) != 0)
            return system_error("creating the profile's timer", errno);
        has_timer_ = true;
        itimerspec often{};
        often.it_interval.tv_nsec = std::chrono::nanoseconds(CpuProfile::kPeriod).count();
        often.it_value = often.it_interval;
        if (::timer_settime(timer_, 0, &often, nullptr) != 0)
            return system_error("starting the profile's timer", errno);
        return {};
    }

private:
    std::unique_ptr<char[]> stack_ = std::make_unique_for_overwrite<char[]>(kStackBytes);
    stack_t stack_before_{};
    struct sigaction before_ {};
    timer_t timer_{};
    bool has_signal_ = false;
    bool has_timer_ = false;
};

}  // namespace

Result<CpuProfile> profile_cpu(std::chrono::milliseconds duration, Deadline deadline) {
    st::LoopState& state = st::loop_state();
    if (state.cpu_samples != nullptr)
        return Error(Errc::conflict, "a profile is being taken");
    duration = std::min<std::chrono::milliseconds>(duration, CpuProfile::kDurationMax);
    const auto samples = std::make_unique<st::CpuSamples>(static_cast<std::size_t>(duration / CpuProfile::kPeriod) + 1);
    Ticker ticker;
    state.cpu_samples = samples.get();
    std::atomic_signal_fence(std::memory_order_release);
    const auto started = ticker.start();
    const auto slept = started.ok() ? sleep(deadline.sooner(Deadline::after(duration))) : started;
    state.cpu_samples = nullptr;
    std::atomic_signal_fence(std::memory_order_seq_cst);
    if (!slept.ok())
        return Error(slept.error());
    return samples->take();
}

}  // namespace live::io
