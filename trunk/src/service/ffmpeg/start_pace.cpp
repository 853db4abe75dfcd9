#include "service/ffmpeg/start_pace.hpp"

#include <cstdint>
#include <utility>

#include "base/bytes/random.hpp"
#include "io/fibers/loop.hpp"

namespace live::service::ffmpeg {

// Owners of the limit: this and the service.
StartPace::StartPace(Pauses pauses, std::shared_ptr<StartLimit> limit)
    : pauses_(pauses), limit_(std::move(limit)), backoff_(pauses.first, pauses.max) {}

bool StartPace::wait_for_turn(const std::function<void()>& on_wait, io::Deadline deadline) {
    for (;;) {
        const TimePoint now = io::now();
        const TimePoint next = limit_->next(now);
        if (next <= now)
            return true;
        on_wait();
        if (!io::sleep(deadline.sooner(io::Deadline::at(next))).ok())
            return false;
    }
}

void StartPace::note_start() {
    began_ = io::now();
    limit_->note(began_);
}

bool StartPace::pause(io::Deadline deadline) {
    if (io::now() - began_ >= pauses_.good_after)
        backoff_.reset();
    const auto pause = backoff_.next(static_cast<std::uint32_t>(random_number()));
    return io::sleep(deadline.sooner(io::Deadline::after(pause))).ok();
}

}  // namespace live::service::ffmpeg
