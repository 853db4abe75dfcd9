// AudioPump: the fiber that notifies streams of converted audio from the worker threads. One fiber for all streams: their work on
// it (packets for players, frames for recordings) is done in that fiber, in turns of a few milliseconds.
#pragma once

#include <deque>

#include "base/signal.hpp"
#include "io/fibers/scope.hpp"

namespace live::service::transcode {

class AudioPump {
public:
    // A stream with converted audio. Before it is destroyed it must be forgotten: forget().
    class Client {
    public:
        // May be the last access to this client. Must not suspend.
        virtual void notify() = 0;

    protected:
        ~Client() = default;

    private:
        friend class AudioPump;
        bool is_due_ = false;
    };

    // Starts the fiber; it ends with the scope. Errors as Scope::start.
    Result<void> start(io::Scope& scope);
    // The client is notified soon, not in this call, and only once however often it was added.
    void add(Client& client);
    void forget(Client& client);

private:
    void run(io::Deadline deadline);

    Signal wake_;
    std::deque<Client*> due_;
};

}  // namespace live::service::transcode
