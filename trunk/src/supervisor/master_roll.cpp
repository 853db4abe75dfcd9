// The part of Master that hands its workers over to the master of a new program, and receives those of an old one.
#include <algorithm>
#include <csignal>
#include <utility>

#include <fcntl.h>

#include "base/log/log_format.hpp"
#include "io/fibers/loop.hpp"
#include "supervisor/master.hpp"

namespace live::supervisor {

namespace messages = engine::workers;
using messages::Kind;
using messages::Message;

Result<Master::Worker> Master::free_base() const {
    const auto& all = members_.all();
    const auto is_free = [&all](std::size_t number) { return number > all.size() || all[number - 1]->is_free; };
    for (std::size_t base = 0; base + count_ <= messages::kMembersMax; base += count_) {
        bool are_free = true;
        for (std::size_t number = base + 1; number <= base + count_; ++number)
            are_free = are_free && is_free(number);
        if (are_free)
            return static_cast<Worker>(base);
    }
    return Error(Errc::limit, "too many old workers have clients still");
}

Result<void> Master::wait_hand_over(io::Deadline deadline) {
    const auto next = hand_over_.next_timeout();
    const auto until = next ? deadline.sooner(io::Deadline::at(*next)) : deadline;
    const auto waited = io::wait(changed_, until);
    if (!waited.ok() && waited.code() == Errc::cancelled)
        return Error(waited.error());
    hand_over_.on_time(time_after(waited, until));
    return {};
}

Result<WorkersSockets> Master::gather(io::Deadline deadline) {
    std::vector<Worker> serving;  // one that is just starting is not asked
    for (const auto& member : members_.all()) {
        member->gifts.clear();
        if (is_own(*member) && member->is_ready)
            serving.push_back(member->number);
    }
    hand_over_.begin(serving, io::now());
    for (;;) {
        while (const auto action = hand_over_.poll_action()) {
            if (const auto* const request = std::get_if<HandOver::RequestSockets>(&*action))
                members_.send(request->worker, {Kind::give});
            else if (const auto* const fail = std::get_if<HandOver::Fail>(&*action))
                return Error(fail->code, fail->sentence);
        }
        if (hand_over_.step() != HandOver::Step::gathering)
            break;
        TRY(wait_hand_over(deadline));
    }
    WorkersSockets all;
    for (const auto& member : members_.all())
        if (is_own(*member))
            all.push_back(std::exchange(member->gifts, {}));
    return all;
}

void Master::send_to_workers(const Message& message) {
    for (const auto& member : members_.all())
        if (is_own(*member) && member->is_ready)
            members_.send(member->number, message);
}

// A worker that still has sockets would take clients that the new program expects. A worker that is just starting has received no
// request, and its clients would be the new program's.
void Master::await_handed(io::Deadline deadline) {
    roster_.stop();
    for (const auto& member : members_.all())
        if (is_own(*member) && !member->is_ready && member->process != nullptr)
            member->process->send_signal(SIGKILL);
    for (;;) {
        while (const auto action = hand_over_.poll_action())
            if (const auto* const late = std::get_if<HandOver::NoteLate>(&*action))
                note_late(late->worker);
        if (hand_over_.is_over())
            break;
        if (!wait_hand_over(deadline).ok())
            return;
    }
    send_to_workers({Kind::take});
}

void Master::note_late(Worker worker) {
    const Member* const member = members_.find(worker);
    if (member != nullptr && member->process != nullptr && !member->process->has_ended()) {
        LOG_WARN(log_, "upgrade: worker {} does not release its sockets: it is killed", worker);
        member->process->send_signal(SIGKILL);
    }
    members_.directory().forget(worker);
}

Result<void> Master::hand_roll(MasterLine& to, io::Deadline deadline) {
    members_.freeze();
    if (const auto stopped = fibers_.stop(deadline); !stopped.ok())
        return Error(stopped.error()).during("stopping the supervision");
    for (const auto& [url, owner] : members_.directory().owners()) {
        to.send({Kind::announce, 0, owner.worker, 0, owner.epoch, url});
        TRY(to.flush_all(deadline));
    }
    for (const auto& member : members_.all()) {
        if (member->line == nullptr || !member->line->is_open())
            continue;
        const bool remains = is_elder(*member) || (is_own(*member) && hand_over_.has_handed(member->number));
        // It reads all the time, so its queue is short.
        if (const auto sent = member->line->flush(); remains && (!sent.ok() || member->line->has_queued()))
            LOG_WARN(log_, "upgrade: worker {} did not receive every message", member->number);
        if (const int copy = ::fcntl(member->line->native_handle(), F_DUPFD_CLOEXEC, 0); remains && copy >= 0)
            to.send({Kind::member, 0, member->number}, io::Socket(copy));
        member->line->close();
        TRY(to.flush_all(deadline));
    }
    to.send({Kind::take});
    return to.flush_all(deadline);
}

Result<void> Master::take_roll(MasterLine& from, io::Deadline deadline) {
    for (;;) {
        auto incoming = TRY(from.next("the running process does not hand its workers over", deadline));
        const Message& message = incoming.message;
        switch (message.kind) {
            case Kind::announce: members_.directory().restore(message.text, {message.worker, message.epoch}); break;
            case Kind::member: adopt(message.worker, std::move(incoming.passed)); break;
            case Kind::take: return {};
            default: break;
        }
    }
}

void Master::adopt(Worker number, io::Socket line) {
    if (number == 0 || number > messages::kMembersMax || !line.is_open())
        return;
    Member& member = members_.add(number);
    if (!member.is_free)
        return;
    member.is_free = false;
    member.is_ready = true;
    member.line = std::make_unique<MasterLine>(messages::WorkerIdentity{}, std::move(line), Members::kQueueMax);
    roster_.adopt(number);
    MUST(fibers_.start("old worker", [this, &member](io::Deadline forever) { attend_elder(member, forever); }));
}

void Master::attend_elder(Member& member, io::Deadline deadline) {
    const std::string why = members_.attend(member, deadline);
    if (members_.is_frozen())
        return;
    member.line->close();
    members_.directory().forget(member.number);
    member.is_ready = false;
    roster_.remove(member.number);
    if (is_stopping_)
        return;
    members_.send_numbers();
    member.is_free = true;
    LOG_INFO(log_, "worker {} of an old program has ended{}", member.number, why);
    if (std::ranges::none_of(members_.all(), [this](const auto& other) { return is_elder(*other); }))
        kept_.clear();
}

// A restarted worker shares TCP ports, so it needs no copies of those sockets. A UDP socket of its own would share the datagrams
// with the old worker's socket, which no process reads.
void Master::begin_service() {
    has_begun_ = true;
    for (auto& [worker, sockets] : kept_)
        std::erase_if(sockets, [](const io::BoundSocket& socket) { return !socket.name.starts_with("udp "); });
    members_.send_numbers();
    send_to_workers({Kind::take});
}

// A worker was restarted.
void Master::admit(Member& member) {
    if (std::ranges::any_of(members_.all(), [this](const auto& other) { return is_elder(*other); }))
        members_.send_numbers();
    members_.send(member.number, {Kind::take});
}

}  // namespace live::supervisor
