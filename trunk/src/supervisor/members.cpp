#include "supervisor/members.hpp"

#include <algorithm>
#include <csignal>
#include <utility>

#include "base/log/log_format.hpp"
#include "io/fibers/loop.hpp"

namespace live::supervisor {

namespace messages = engine::workers;
using messages::Kind;

Member& Members::add(Worker number) {
    while (members_.size() < number) {
        members_.push_back(std::make_unique<Member>());
        members_.back()->number = static_cast<Worker>(members_.size());
        members_.back()->is_free = true;
    }
    return *members_[number - 1U];
}

Member& Members::take_free() {
    const auto free = std::ranges::find_if(members_, [](const auto& member) { return member->is_free; });
    const Worker number = free != members_.end() ? (*free)->number : static_cast<Worker>(members_.size() + 1);
    add(number);
    auto& place = members_[number - 1U];
    place = std::make_unique<Member>();
    place->number = number;
    return *place;
}

Member* Members::find(Worker number) {
    return number == 0 || number > members_.size() || members_[number - 1U]->is_free ? nullptr : members_[number - 1U].get();
}

std::size_t Members::children() const {
    return static_cast<std::size_t>(
        std::ranges::count_if(members_, [](const auto& member) { return !member->is_free && member->process != nullptr; }));
}

Result<void> Members::start_process(Member& member, io::ChildOptions options, const messages::WorkerIdentity& identity) {
    auto [here, there] = TRY(io::MessageSocket::pair());
    options.passed = there.fd();
    member.process = TRY(io::ChildProcess::spawn(options));
    member.line = std::make_unique<MasterLine>(identity, std::move(here), kQueueMax);
    member.is_ready = false;
    member.end_reason.clear();
    return {};
}

void Members::send(Worker to, const Message& message, io::Socket passed) {
    if (Member* const member = find(to); member != nullptr && member->line != nullptr && member->line->is_open())
        member->line->send(message, std::move(passed));
}

void Members::send_numbers() {
    Message message{Kind::members};
    for (const auto& member : members_)
        if (!member->is_free && member->is_ready)
            message.text.push_back(static_cast<char>(member->number));
    for (const auto& member : members_)
        if (!member->is_free && member->is_ready)
            send(member->number, message);
}

std::string Members::attend(Member& member, io::Deadline deadline) {
    for (;;) {
        if (!member.end_reason.empty())
            return std::exchange(member.end_reason, {});
        if (member.line->is_full())
            return ", killed because it read nothing";
        const auto sent = member.line->flush();
        auto served = read(member);  // also after its end: messages may be left in the line
        if (served.ok())
            served = sent;
        if (served.ok() && member.end_reason.empty())
            served = member.line->wait(deadline);
        if (!served.ok())
            return std::exchange(member.end_reason, {});
    }
}

void Members::end(Member& member, std::string reason) {
    member.end_reason = std::move(reason);
    if (member.line != nullptr)
        member.line->wake();
}

Result<void> Members::read(Member& member) {
    while (!is_frozen_) {
        auto incoming = TRY(member.line->take());
        if (!incoming)
            return {};
        handle(member, std::move(incoming->message), std::move(incoming->passed));
        if (io::is_turn_over())
            TRY(io::yield(io::Deadline::never()));
    }
    return {};
}

void Members::handle(Member& member, Message message, io::Socket passed) {
    switch (message.kind) {
        case Kind::link: {
            const Member* const to = find(message.worker);
            const Worker number = std::exchange(message.worker, member.number);
            if (passed.is_open() && to != nullptr && to->is_ready)
                send(number, message, std::move(passed));
            break;  // otherwise the socket closes, and the asking process notices
        }
        case Kind::claim:
        case Kind::announce:
        case Kind::withdraw:
        case Kind::find:
            for (messages::StreamDirectory::Outgoing& out : directory_.handle(member.number, message))
                send(out.to, out.message);
            break;
        default: break;
    }
    // It sees every message: each one is a sign of life.
    listener_.on_message(member, std::move(message), std::move(passed));
}

void Members::send_signal(int number) {
    for (const auto& member : members_)
        if (member->process != nullptr)
            member->process->send_signal(number);
}

bool Members::are_gone() const {
    return std::ranges::none_of(members_,
                                [](const auto& member) { return member->process != nullptr && !member->process->has_ended(); });
}

void Members::await_ends(std::chrono::milliseconds limit) {
    const auto until = io::Deadline::after(limit);
    while (!are_gone() && !until.expired())
        static_cast<void>(io::sleep(io::Deadline::after(kStopLook)));
    for (const auto& member : members_) {
        if (member->process == nullptr || member->process->has_ended())
            continue;
        LOG_ERROR(log_, "worker {} does not end: it is killed", member->number);
        member->process->send_signal(SIGKILL);
        if (!member->is_ending)
            member->process.reset();  // blocks until it has ended
    }
}

}  // namespace live::supervisor
