#include "session/rtc/transport/handshake_run.hpp"

#include <utility>

#include "io/fibers/off_loop.hpp"

namespace live::session::rtc {

// The pool's mutex hands the step to the worker and back.
class HandshakeRun::Job final : public io::Job {
public:
    explicit Job(const std::optional<io::Party>& whose) : io::Job(io::Work::arrival, whose) {}
    void run() override { step->run(); }

    std::unique_ptr<engine::dtls::HandshakeStep> step;
};

Result<std::unique_ptr<HandshakeRun>> HandshakeRun::start(std::unique_ptr<engine::dtls::HandshakeStep> step,
                                                          std::function<void()> on_run, const std::optional<io::Party>& whose) {
    // Owners: this run, and the worker, which may outlast it.
    auto job = std::make_shared<Job>(whose);
    job->step = std::move(step);
    TRY(io::start_job(job));
    return std::make_unique<HandshakeRun>(Private{}, std::move(job), std::move(on_run));
}

// The job's other owner is the worker.
HandshakeRun::HandshakeRun(Private, std::shared_ptr<Job> job, std::function<void()> on_run)
    : job_(std::move(job)), on_run_(std::move(on_run)) {
    job_->done.set_waiter(this);
}

HandshakeRun::~HandshakeRun() {
    job_->done.set_waiter(nullptr);
    job_->abandoned.store(true);
}

std::unique_ptr<engine::dtls::HandshakeStep> HandshakeRun::take() { return has_run_ ? std::move(job_->step) : nullptr; }

void HandshakeRun::on_raised() {
    has_run_ = true;
    on_run_();
}

}  // namespace live::session::rtc
