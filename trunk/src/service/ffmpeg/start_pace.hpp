// StartPace: the pauses between the starts of one ffmpeg that must run as long as its stream is published. Pauses grow while it
// fails, and a stream has at most StartLimit::kMax starts per minute.
#pragma once

#include <chrono>
#include <functional>
#include <memory>

#include "base/backoff.hpp"
#include "base/time.hpp"
#include "io/fibers/deadline.hpp"
#include "service/ffmpeg/start_limit.hpp"

namespace live::service::ffmpeg {

class StartPace {
public:
    struct Pauses {
        std::chrono::milliseconds first;
        std::chrono::milliseconds max;
        // A child that ran this long makes the next pause short again.
        std::chrono::milliseconds good_after;
    };

    // Owners of the limit: this and the service.
    StartPace(Pauses pauses, std::shared_ptr<StartLimit> limit);

    // Waits until the limit permits another start; calls `on_wait` if it must wait. Returns false when it is cancelled.
    bool wait_for_turn(const std::function<void()>& on_wait, io::Deadline deadline);
    void note_start();
    // Waits after the end of a child that has failed. Returns false when it is cancelled.
    bool pause(io::Deadline deadline);

private:
    const Pauses pauses_;
    const std::shared_ptr<StartLimit> limit_;
    Backoff backoff_;
    TimePoint began_{};
};

}  // namespace live::service::ffmpeg
