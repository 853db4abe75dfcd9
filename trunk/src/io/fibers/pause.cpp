#include "io/fibers/pause.hpp"

#include "io/fibers/loop.hpp"
#include "io/fibers/loop_state.hpp"

namespace live::io {

const Pauses& pauses() {
    static constexpr Pauses kNone;
    const st::LoopState* state = st::loop_state_or_null();
    return state == nullptr ? kNone : state->pauses;
}

Result<void> ReadFirst::pause_shortly() { return sleep(Deadline::after(std::chrono::milliseconds(1))); }

}  // namespace live::io
