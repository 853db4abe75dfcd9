// HandshakeRun: a step of a session's DTLS handshake in a worker thread. A handshake is most of the cost of a new player; in the
// loop, it would delay every other client.
#pragma once

#include <functional>
#include <memory>
#include <optional>

#include "base/result.hpp"
#include "base/signal.hpp"
#include "engine/dtls/handshake_step.hpp"
#include "io/threads/worker_pool.hpp"

namespace live::session::rtc {

class HandshakeRun final : private Signal::Waiter {
    struct Private {};
    class Job;

public:
    // `on_run` is called when the step has run, and take() gives it. It must not suspend. `whose`: see handshake_party().
    // Errc::limit when as many as permitted wait for the thread; then the step is destroyed.
    static Result<std::unique_ptr<HandshakeRun>> start(std::unique_ptr<engine::dtls::HandshakeStep> step,
                                                       std::function<void()> on_run, const std::optional<io::Party>& whose);
    HandshakeRun(Private, std::shared_ptr<Job> job, std::function<void()> on_run);
    // If the step is running, the worker finishes it, and it is destroyed afterwards; if it still waits, it is not run.
    ~HandshakeRun();
    HandshakeRun(const HandshakeRun&) = delete;
    HandshakeRun& operator=(const HandshakeRun&) = delete;

    // nullptr before `on_run` is called.
    std::unique_ptr<engine::dtls::HandshakeStep> take();

private:
    void on_raised() override;

    // The second owner is the worker, which alone uses the job's step until `done` is raised.
    std::shared_ptr<Job> job_;
    const std::function<void()> on_run_;
    bool has_run_ = false;
};

}  // namespace live::session::rtc
