// Lets a fiber wait for the signals of the process. The signals are blocked in the thread that creates this and in threads it
// starts later; child processes start with nothing blocked.
#pragma once

#include <memory>
#include <span>

#include "base/result.hpp"
#include "io/net/socket.hpp"

namespace live::io {

class SignalPipe {
    struct Private {};

public:
    // Must be created before any other thread, except threads that block all signals, as those of this room do. Errc::system.
    static Result<std::unique_ptr<SignalPipe>> create(std::span<const int> signals);
    explicit SignalPipe(Private, Socket socket) : socket_(std::move(socket)) {}
    // The signals stay blocked: a pending one must not kill a process that is shutting down.
    ~SignalPipe() = default;

    // The number of the next signal; several of the same kind may arrive as one. Errc::timed_out, Errc::cancelled.
    Result<int> next_signal(Deadline deadline);

private:
    Socket socket_;
};

}  // namespace live::io
