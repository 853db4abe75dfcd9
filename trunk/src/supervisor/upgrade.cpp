#include "supervisor/upgrade.hpp"

#include <algorithm>
#include <csignal>
#include <utility>

#include <fcntl.h>
#include <unistd.h>

#include "base/log/log_format.hpp"
#include "io/fibers/loop.hpp"
#include "io/process/inheritance.hpp"

namespace live::supervisor {

namespace messages = engine::workers;
using messages::Kind;
using messages::Message;

std::int64_t Upgrade::server_pid() const { return is_worker() ? shared_.master_pid : ::getpid(); }

void Upgrade::fail(const std::string& why) {
    if (!is_worker())  // its master logs it
        LOG_ERROR(log_, "upgrade: this process continues to serve: {}", why);
    status_ = {UpgradeStatus::State::serving, std::nullopt, why};
}

Result<void> Upgrade::become_parent(MasterClient& client) {
    if (parent_ == nullptr)
        parent_ = std::make_unique<UpgradeParent>(
            std::move(shared_.started), shared_.secret,
            shared_.stays ? UpgradeParent::Programs::end_with_it : UpgradeParent::Programs::outlive_it, log_);
    auto socket = TRY(parent_->join());
    if (shared_.line != nullptr)
        first_line_ = std::move(shared_.line);
    shared_.line = std::make_unique<MasterLine>(WorkerIdentity{0, 0, 1}, std::move(socket));
    return client.attach(*shared_.line);
}

void Upgrade::begin(MasterClient& client, bool is_cluster_node) {
    is_requested_ = false;
    if (status_.state == UpgradeStatus::State::starting)
        return;
    if (!is_worker())
        LOG_INFO(log_, "signal {}: upgrade: the program is started anew, beside this process", SIGUSR2);
    if (is_cluster_node)
        return fail("a node of a cluster is not upgraded in place: drain it, and start the new program");
    if (!client.is_on())
        if (const auto parent = become_parent(client); !parent.ok())
            return fail(parent.error().sentence());
    status_ = {};
    status_.state = UpgradeStatus::State::starting;
    if (!shared_.line->send({Kind::upgrade}))
        fail("the parent process does not listen");
}

void Upgrade::on_give() {
    status_.state = UpgradeStatus::State::starting;
    const auto give = [this](const std::string& name, io::Socket socket) {
        Message gift{Kind::gift};
        gift.text = name;
        shared_.line->send(gift, std::move(socket));
    };
    for (io::BoundSocket& bound : io::copies_of_bound_sockets())
        give(bound.name, std::move(bound.copy));
    if (shared_.pid_file != nullptr)
        if (const int copy = ::fcntl(shared_.pid_file->native_handle(), F_DUPFD_CLOEXEC, 0); copy >= 0)
            give(std::string(kPidGift) + shared_.pid_path, io::Socket(copy));
    shared_.line->send({Kind::given});
}

void Upgrade::on_upgraded(std::optional<std::uint32_t> pid, const std::string& why) {
    if (!pid)
        return fail(why);
    status_ = {UpgradeStatus::State::draining, pid, ""};
    have_others_handed_ = false;
    std::raise(SIGUSR2);
}

// Also received by an old worker that has handed over: the other old workers have, too.
void Upgrade::on_take() {
    io::release_arrivals();
    have_others_handed_ = true;
}

void Upgrade::note_handed() {
    shared_.line->send({Kind::handed});
    handed_at_ = io::now();
}

bool Upgrade::is_everybody_out() const { return !is_worker() || have_others_handed_ || io::now() - handed_at_ >= kOthersLimit; }

void Upgrade::leave() {
    if (parent_ != nullptr)
        parent_->release();
    parent_.reset();
}

void Upgrade::end() {
    if (parent_ != nullptr)
        parent_->stop();
    parent_.reset();
}

bool Upgrade::successor_lives(const MasterClient& client) const {
    return parent_ != nullptr ? parent_->has_newest() : client.is_on();
}

// Raises the operator's signal, so that the process's own fiber starts the upgrade.
Result<std::uint32_t> Upgrade::request(io::Deadline deadline) {
    if (is_requested_ || status_.state == UpgradeStatus::State::starting)
        return Error(Errc::conflict, "an upgrade is under way already");
    if (status_.state == UpgradeStatus::State::draining)
        return Error(Errc::conflict, "this process has handed over already");
    is_requested_ = true;
    std::raise(SIGUSR2);
    const auto until = deadline.sooner(io::Deadline::after(kAnswerLimit));
    while (is_requested_ || status_.state == UpgradeStatus::State::starting) {
        if (until.expired())
            return Error(Errc::timed_out, "the new program is not ready yet");
        TRY(io::sleep(until.sooner(io::Deadline::after(kLook))));
    }
    if (status_.successor)
        return *status_.successor;
    return Error(Errc::system, status_.error);
}

}  // namespace live::supervisor
