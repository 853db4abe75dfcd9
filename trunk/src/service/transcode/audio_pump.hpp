// AudioPump: the fiber in which streams are told that converted audio has come back from the worker threads. One for all of them:
// what a stream does about it (packets for players, frames for recordings) is done in that fiber, in turns of some milliseconds.
#pragma once

#include <deque>

#include "base/signal.hpp"
#include "io/scope.hpp"

namespace live::service::transcode {

class AudioPump {
public:
    // Somebody whose audio has come. One that goes away says so: forget().
    class Client {
    public:
        // It may be the last that is heard of this client. Must not suspend.
        virtual void tell() = 0;

    protected:
        ~Client() = default;

    private:
        friend class AudioPump;
        bool is_due_ = false;
    };

    // Starts the fiber; it ends with the scope. Errors as Scope::start.
    Result<void> start(io::Scope& scope);
    // The client is told soon, but not in this call, and once however often it was added.
    void add(Client& client);
    void forget(Client& client);

private:
    void run(io::Deadline deadline);

    Signal wake_;
    std::deque<Client*> due_;
};

}  // namespace live::service::transcode
