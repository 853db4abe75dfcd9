#include "io/loop_watch.hpp"

#include <utility>

#include "io/fiber.hpp"

namespace live::io {

LoopWatch::Holds LoopWatch::take_holds() { return std::exchange(newest_, {}); }

void LoopWatch::note(const Fiber* fiber, std::chrono::nanoseconds held) {
    if (fiber == nullptr)
        return;
    ++holds_;
    ++newest_.count;
    if (held <= newest_.longest)
        return;
    newest_.longest = held;
    newest_.fiber = fiber->name;
    newest_.scope = fiber->scope_name;
}

}  // namespace live::io
