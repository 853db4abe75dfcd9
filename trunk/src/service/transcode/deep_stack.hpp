// DeepStack: a stack of its own for calls of libraries that need more than a fiber has. libopus and libavcodec put tables of some
// 80 KiB on the stack, and a fiber has 64 KiB. Nothing is suspended: whoever calls goes on when the call has returned.
#pragma once

#include <cstddef>
#include <memory>
#include <type_traits>

#include "base/result.hpp"

namespace live::service::transcode {

class DeepStack {
public:
    // Only what is touched takes memory.
    static constexpr std::size_t kBytes = 1U << 20;

    // Errc::system when there is no memory for it.
    static Result<std::unique_ptr<DeepStack>> create();
    // Takes memory that create() has mapped.
    explicit DeepStack(void* memory) : memory_(memory) {}
    ~DeepStack();
    DeepStack(const DeepStack&) = delete;
    DeepStack& operator=(const DeepStack&) = delete;

    // Calls `function`, which must neither suspend nor come here again.
    template <class Function>
    void run(Function&& function) {
        enter([](void* pointer) { (*static_cast<std::remove_reference_t<Function>*>(pointer))(); }, &function);
    }

private:
    void enter(void (*call)(void*), void* argument);

    void* memory_;  // its first page is the guard
};

}  // namespace live::service::transcode
