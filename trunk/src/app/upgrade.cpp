#include "app/upgrade.hpp"

#include <algorithm>
#include <csignal>
#include <utility>

#include <fcntl.h>
#include <unistd.h>

#include "base/log/log_format.hpp"
#include "io/fibers/loop.hpp"
#include "io/process/inheritance.hpp"

namespace live::app {

namespace messages = engine::workers;
using api::UpgradeFacts;
using messages::Kind;
using messages::Message;

namespace {

Result<void> take_gift(Heritage& heritage, const Message& gift, io::Socket passed) {
    const std::string& name = gift.text;
    if (gift.worker != 0) {
        heritage.sockets.resize(std::max<std::size_t>(heritage.sockets.size(), gift.worker));
        auto& sockets = heritage.sockets[gift.worker - 1U];
        if (sockets.size() < io::kBoundSocketsMax)
            sockets.push_back({name, std::move(passed)});
    } else if (name == kParentGift) {
        heritage.parent = std::move(passed);
    } else if (!name.starts_with(kPidGift)) {
        return io::inherit(name, std::move(passed));
    } else if (heritage.pid_file < 0) {
        heritage.pid_path = name.substr(kPidGift.size());
        heritage.pid_file = ::fcntl(passed.fd(), F_DUPFD_CLOEXEC, 0);
    }
    return {};
}

}  // namespace

Result<Heritage> receive_heritage(service::workers::MasterLine& from, io::Deadline deadline) {
    Heritage heritage;
    for (;;) {
        auto incoming = TRY(from.next("the running process does not say what is to be taken over", deadline));
        const Message& message = incoming.message;
        if (message.kind == Kind::gift && incoming.passed.is_open())
            TRY(take_gift(heritage, message, std::move(incoming.passed)));
        if (message.kind != Kind::begin)
            continue;
        heritage.number = message.worker;
        heritage.workers = std::max<std::size_t>(message.ticket, 1);
        heritage.parent_stays = message.flag == 1;
        return heritage;
    }
}

api::UpgradeFacts Upgrade::upgrade_facts() const {
    auto facts = facts_;
    facts.pid = is_worker() ? shared_.master_pid : ::getpid();
    return facts;
}

void Upgrade::fail(const std::string& why) {
    if (!is_worker())  // its master says it
        LOG_ERROR(log_, "upgrade: this process goes on: {}", why);
    facts_ = {UpgradeFacts::State::serving, 0, std::nullopt, why};
}

Result<void> Upgrade::become_parent(service::workers::WorkerService& workers) {
    if (parent_ == nullptr)
        parent_ = std::make_unique<Master>(std::move(shared_.started), 0, shared_.secret, log_, Master::Inheritance{});
    auto socket = TRY(parent_->join(shared_.stays));
    if (shared_.line != nullptr)
        first_line_ = std::move(shared_.line);
    shared_.line = std::make_unique<service::workers::MasterLine>(service::workers::Seat{0, 0, 1}, std::move(socket));
    return workers.attach(*shared_.line);
}

void Upgrade::begin(service::workers::WorkerService& workers, bool is_cluster_node) {
    is_asked_ = false;
    if (facts_.state == UpgradeFacts::State::starting)
        return;
    if (!is_worker())
        LOG_INFO(log_, "signal {}: upgrade: the program is started anew, beside this process", SIGUSR2);
    if (is_cluster_node)
        return fail("a node of a cluster is not upgraded in place: drain it, and start the new program");
    if (!workers.is_on())
        if (const auto parent = become_parent(workers); !parent.ok())
            return fail(parent.error().sentence());
    facts_ = {};
    facts_.state = UpgradeFacts::State::starting;
    if (!shared_.line->tell({Kind::upgrade}))
        fail("the parent process does not listen");
}

void Upgrade::on_give() {
    facts_.state = UpgradeFacts::State::starting;
    const auto give = [this](const std::string& name, io::Socket socket) {
        Message gift{Kind::gift};
        gift.text = name;
        shared_.line->tell(gift, std::move(socket));
    };
    for (io::BoundSocket& bound : io::copies_of_bound_sockets())
        give(bound.name, std::move(bound.copy));
    if (shared_.pid_file != nullptr)
        if (const int copy = ::fcntl(shared_.pid_file->native_handle(), F_DUPFD_CLOEXEC, 0); copy >= 0)
            give(std::string(kPidGift) + shared_.pid_path, io::Socket(copy));
    shared_.line->tell({Kind::given});
}

void Upgrade::on_upgraded(std::optional<std::uint32_t> pid, const std::string& why) {
    if (!pid)
        return fail(why);
    facts_ = {UpgradeFacts::State::draining, 0, pid, ""};
    have_others_handed_ = false;
    std::raise(SIGUSR2);
}

// After it has handed over itself, it is told that the other old workers have.
void Upgrade::on_take() {
    io::release_arrivals();
    have_others_handed_ = true;
}

void Upgrade::note_handed() {
    shared_.line->tell({Kind::handed});
    handed_at_ = io::now();
}

bool Upgrade::is_everybody_out() const { return !is_worker() || have_others_handed_ || io::now() - handed_at_ >= kOthersLimit; }

void Upgrade::leave() {
    if (parent_ != nullptr)
        parent_->let_go();
    parent_.reset();
}

void Upgrade::end() {
    if (parent_ != nullptr)
        parent_->stop(SIGTERM, std::chrono::milliseconds(0));
    parent_.reset();
}

bool Upgrade::successor_lives(const service::workers::WorkerService& workers) const {
    return parent_ != nullptr ? parent_->has_heir() : workers.is_on();
}

// The same way as an operator's signal: in the process's own fiber.
Result<std::uint32_t> Upgrade::upgrade(io::Deadline deadline) {
    if (is_asked_ || facts_.state == UpgradeFacts::State::starting)
        return Error(Errc::conflict, "an upgrade is under way already");
    if (facts_.state == UpgradeFacts::State::draining)
        return Error(Errc::conflict, "this process has handed over already");
    is_asked_ = true;
    std::raise(SIGUSR2);
    const auto until = deadline.sooner(io::Deadline::after(kAnswerLimit));
    while (is_asked_ || facts_.state == UpgradeFacts::State::starting) {
        if (until.expired())
            return Error(Errc::timed_out, "the new program is not ready yet");
        TRY(io::sleep(until.sooner(io::Deadline::after(kLook))));
    }
    if (facts_.successor)
        return *facts_.successor;
    return Error(Errc::system, facts_.error);
}

}  // namespace live::app
