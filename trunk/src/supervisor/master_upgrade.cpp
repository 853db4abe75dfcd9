// The part of Master that upgrades: one process hands its sockets and its new clients over to a program that was started beside
// it.
#include <algorithm>
#include <csignal>
#include <utility>

#include "base/log/log_format.hpp"
#include "io/fibers/loop.hpp"
#include "supervisor/master.hpp"

namespace live::supervisor {

namespace messages = engine::workers;
using messages::Kind;
using messages::Message;

Result<io::Socket> Master::join(bool programs_end_with_it) {
    auto [here, there] = TRY(io::MessageSocket::pair());
    programs_end_with_it_ = programs_end_with_it;
    Place& place = free_place();
    place.is_gone = false;
    place.is_ready = true;
    place.socket = std::make_unique<io::MessageSocket>(std::move(here));
    TRY(fibers_.start("own line", [this, &place](io::Deadline forever) { accompany(place, forever); }));
    return std::move(there);
}

Master::Place& Master::free_place() {
    const auto free = std::ranges::find_if(workers_, [](const auto& place) { return place->is_gone; });
    if (free != workers_.end()) {
        const Worker number = (*free)->number;
        *free = std::make_unique<Place>();
        (*free)->number = number;
        return **free;
    }
    workers_.push_back(std::make_unique<Place>());
    workers_.back()->number = static_cast<Worker>(workers_.size());
    return *workers_.back();
}

void Master::accompany(Place& place, io::Deadline deadline) {
    const std::string why = attend(place, deadline);
    if (is_released_)
        return;
    place.socket->close();
    std::string end;
    if (place.process != nullptr && !stopping_) {
        place.is_ending = true;
        auto ended = place.process->wait(io::Deadline::after(kEndLimit));
        if (!ended.ok() && ended.code() != Errc::cancelled) {
            place.process->send_signal(SIGKILL);
            ended = place.process->wait(io::Deadline::never());
        }
        end = ended.ok() ? ended->text() : ended.error().sentence();
        if (place.number == newest_ && ended.ok())
            newest_status_ = ended->signal != 0 ? 128 + ended->signal : ended->code;
        LOG_INFO(log_, "process {} of an upgrade {}{}", place.process->pid(), end, why);
    }
    directory_.forget(place.number);
    if (!place.is_ready && place.failure.sentence.empty())
        place.failure.sentence = "the new program " + end + " before it served: it has said why on stderr, or in its log";
    place.is_ready = false;
    asked_.raise();
    if (stopping_)
        return;
    tell_members();
    place.is_gone = true;
    if (count_ == 0)
        return;
    LOG_INFO(log_, "worker {} of an old program is gone{}", place.number, why);
    if (std::ranges::none_of(workers_, [this](const auto& other) { return is_elder(*other); }))
        for (const auto& other : workers_)
            other->kept.clear();
}

void Master::tell_members() {
    Message message{Kind::members};
    for (const auto& place : workers_)
        if (!place->is_gone && place->is_ready)
            message.text.push_back(static_cast<char>(place->number));
    for (const auto& place : workers_)
        if (!place->is_gone && place->is_ready)
            send(place->number, message);
}

void Master::handle_upgrade(Place& place, Message message, io::Socket passed) {
    switch (message.kind) {
        case Kind::upgrade:
            if (is_upgrading_)
                return send(place.number, {Kind::upgraded, 1, 0, 0, 0, "an upgrade is under way already"});
            is_upgrading_ = true;
            if (!fibers_.start("upgrade", [this, &place](io::Deadline forever) { upgrade(place, forever); }).ok())
                is_upgrading_ = false;
            break;
        case Kind::gift:
            if (place.gifts.size() < kGiftsMax && passed.is_open() && !place.has_given)
                place.gifts.push_back({std::move(message.text), std::move(passed)});
            break;
        case Kind::given: place.has_given = true; break;
        case Kind::handed: place.has_handed = true; break;
        default: break;
    }
    asked_.raise();
}

// Nobody else waits for this signal once the workers have been started.
Result<void> Master::wait_for(const std::function<bool()>& condition, io::Deadline until, const char* what) {
    while (!condition()) {
        const auto waited = io::wait(asked_, until);
        if (!waited.ok())
            return Error(waited.code(), what);
    }
    return {};
}

void Master::upgrade(Place& asker, io::Deadline deadline) {
    const auto next = start_new_process(asker, deadline);
    if (!next.ok()) {
        LOG_ERROR(log_, "upgrade: {}", next.error().sentence());
        send(asker.number, {Kind::upgraded, 1, 0, 0, 0, next.error().sentence()});
        is_upgrading_ = false;
        return;
    }
    newest_ = (*next)->number;
    tell_members();
    const auto pid = static_cast<std::uint32_t>((*next)->process->pid());
    LOG_INFO(log_, "upgrade: the new program serves, pid={}", pid);
    send(asker.number, {Kind::upgraded, 0, 0, pid, 0, ""});
    const auto handed = wait_for([&] { return asker.has_handed || !asker.is_ready; },
                                 deadline.sooner(io::Deadline::after(kHandLimit)), "the old process does not let go");
    if (!handed.ok() && handed.code() != Errc::cancelled)
        LOG_WARN(log_, "upgrade: {}", handed.error().sentence());
    send((*next)->number, {Kind::take});
    is_upgrading_ = false;
}

Result<Master::Place*> Master::start_new_process(Place& asker, io::Deadline deadline) {
    if (new_processes() + 1 >= messages::kWorkersMax)
        return Error(Errc::limit, "too many old processes have clients still");
    asker.gifts.clear();
    asker.has_given = false;
    asker.has_handed = false;
    send(asker.number, {Kind::give});
    const auto soon = deadline.sooner(io::Deadline::after(kHandLimit));
    TRY(wait_for([&] { return asker.has_given || !asker.is_ready; }, soon, "the running process does not give its sockets"));
    if (!asker.is_ready)
        return Error(Errc::closed, "the running process has ended");
    Place& next = free_place();
    if (auto begun = start_worker(next); !begun.ok()) {
        next.is_gone = true;
        return Error(begun.error()).during("starting the new program");
    }
    MUST(fibers_.start("new process", [this, &next](io::Deadline forever) { accompany(next, forever); }));
    for (io::BoundSocket& gift : asker.gifts)
        next.waiting.push_back({messages::write_message({Kind::gift, 0, 0, 0, 0, gift.name}), std::move(gift.copy)});
    asker.gifts.clear();
    send(next.number, {Kind::begin, static_cast<std::uint8_t>(programs_end_with_it_ ? 1 : 0), next.number});
    const auto served = wait_for([&] { return next.is_ready || !next.failure.sentence.empty(); },
                                 deadline.sooner(io::Deadline::after(kStartLimit)), "the new program does not get ready in time");
    if (next.is_ready)
        return &next;
    const std::string why = next.failure.sentence.empty() ? served.error().sentence() : next.failure.sentence;
    end_new_process(next);
    return Error(Errc::system, why);
}

// One that has not begun to serve.
void Master::end_new_process(Place& next) {
    if (next.is_gone || next.process == nullptr)
        return;
    next.failure.sentence = "it was ended";
    next.process->send_signal(SIGKILL);
}

bool Master::has_newest() const { return newest_ != 0 && !workers_[newest_ - 1U]->is_gone; }

std::size_t Master::new_processes() const {
    return static_cast<std::size_t>(
        std::ranges::count_if(workers_, [](const auto& place) { return !place->is_gone && place->process != nullptr; }));
}

void Master::send_to_newest(int number) {
    if (has_newest())
        workers_[newest_ - 1U]->process->send_signal(number);
}

void Master::release() {
    stopping_ = true;
    for (const auto& place : workers_)
        if (place->process != nullptr)
            place->process->let_go();
    if (const auto stopped = fibers_.stop(io::Deadline::after(kStopSlack)); !stopped.ok())
        LOG_WARN(log_, "stopping the upgrade's line: {}", stopped.error().text());
}

}  // namespace live::supervisor
