#include "service/transcode/audio_pump.hpp"

#include <utility>

#include "io/fibers/loop.hpp"

namespace live::service::transcode {

Result<void> AudioPump::start(io::Scope& scope) {
    return scope.start("converted-audio", [this](io::Deadline forever) { run(forever); });
}

void AudioPump::add(Client& client) {
    if (std::exchange(client.is_due_, true))
        return;
    due_.push_back(&client);
    wake_.raise();
}

void AudioPump::forget(Client& client) {
    if (std::exchange(client.is_due_, false))
        std::erase(due_, &client);
}

void AudioPump::run(io::Deadline deadline) {
    while (io::wait(wake_, deadline).ok()) {
        while (!due_.empty()) {
            Client& client = *due_.front();
            due_.pop_front();
            client.is_due_ = false;
            client.notify();
            if (io::is_turn_over() && !io::yield(deadline).ok())
                return;
        }
    }
}

}  // namespace live::service::transcode
