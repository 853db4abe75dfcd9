// The part of Master that hands its workers on to the master of a new program, and takes those of an old one.
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
    const auto is_free = [this](std::size_t number) { return number > workers_.size() || workers_[number - 1]->is_gone; };
    for (std::size_t base = 0; base + count_ <= messages::kMembersMax; base += count_) {
        bool are_free = true;
        for (std::size_t number = base + 1; number <= base + count_; ++number)
            are_free = are_free && is_free(number);
        if (are_free)
            return static_cast<Worker>(base);
    }
    return Error(Errc::limit, "too many old workers have clients still");
}

Result<WorkersSockets> Master::gather(io::Deadline deadline) {
    for (const auto& place : workers_) {
        place->gifts.clear();
        place->has_given = !place->is_ready;  // one that is just starting is not asked
        place->has_handed = false;
    }
    tell_workers({Kind::give});
    const auto have_given = [this] {
        return std::ranges::all_of(workers_, [this](const auto& place) { return !is_own(*place) || place->has_given; });
    };
    TRY(wait_for(have_given, deadline, "the running workers do not give their sockets"));
    WorkersSockets all;
    for (const auto& place : workers_)
        if (is_own(*place))
            all.push_back(std::exchange(place->gifts, {}));
    return all;
}

void Master::tell_workers(const Message& message) {
    for (const auto& place : workers_)
        if (is_own(*place) && place->is_ready)
            send(place->number, message);
}

// One that has sockets still would go on taking clients that nobody expects there. One that dies now is not started again, and
// one that is just starting has not been told: nobody would wait for either of them but the new program's clients.
void Master::await_handed(io::Deadline deadline) {
    is_handing_ = true;
    for (const auto& place : workers_)
        if (is_own(*place) && !place->is_ready && place->process != nullptr)
            place->process->send_signal(SIGKILL);
    const auto have_handed = [this] {
        return std::ranges::all_of(
            workers_, [this](const auto& place) { return !is_own(*place) || place->has_handed || !place->is_ready; });
    };
    const auto handed = wait_for(have_handed, deadline, "the old workers do not let go");
    if (!handed.ok() && handed.code() == Errc::cancelled)
        return;
    for (const auto& place : workers_) {
        if (!is_own(*place) || place->has_handed)
            continue;
        if (place->process != nullptr && !place->process->has_ended()) {
            LOG_WARN(log_, "upgrade: worker {} does not let go of its sockets: it is killed", place->number);
            place->process->send_signal(SIGKILL);
        }
        directory_.forget(place->number);
    }
    tell_workers({Kind::take});
}

Result<void> Master::hand_roll(MasterLine& to, io::Deadline deadline) {
    is_released_ = true;
    if (const auto stopped = fibers_.stop(deadline); !stopped.ok())
        return Error(stopped.error()).during("stopping the supervision");
    for (const auto& [url, owner] : directory_.owners()) {
        to.send({Kind::announce, 0, owner.worker, 0, owner.epoch, url});
        TRY(to.flush_all(deadline));
    }
    for (const auto& place : workers_) {
        if (place->socket == nullptr || place->socket->native_handle() < 0)
            continue;
        const bool goes_on = is_elder(*place) || (is_own(*place) && place->has_handed);
        // What has waited for it; it reads all the time.
        if (const auto told = flush(*place); goes_on && (!told.ok() || !place->waiting.empty()))
            LOG_WARN(log_, "upgrade: worker {} was not told all", place->number);
        if (const int copy = ::fcntl(place->socket->native_handle(), F_DUPFD_CLOEXEC, 0); goes_on && copy >= 0)
            to.send({Kind::member, 0, place->number}, io::Socket(copy));
        place->socket->close();
        TRY(to.flush_all(deadline));
    }
    to.send({Kind::take});
    return to.flush_all(deadline);
}

Result<void> Master::take_roll(MasterLine& from, io::Deadline deadline) {
    for (;;) {
        auto incoming = TRY(from.next("the running process does not hand its workers over", deadline));
        Message& message = incoming.message;
        switch (message.kind) {
            case Kind::announce: directory_.restore(message.text, {message.worker, message.epoch}); break;
            case Kind::member: take_member(message.worker, std::move(incoming.passed)); break;
            case Kind::take: return {};
            default: break;
        }
    }
}

void Master::take_member(Worker number, io::Socket line) {
    if (number == 0 || !line.is_open())
        return;
    while (workers_.size() < number) {
        workers_.push_back(std::make_unique<Place>());
        workers_.back()->number = static_cast<Worker>(workers_.size());
        workers_.back()->is_gone = true;
    }
    Place& place = *workers_[number - 1U];
    if (!place.is_gone)
        return;
    place.is_gone = false;
    place.is_ready = true;
    place.silent = {};
    place.socket = std::make_unique<io::MessageSocket>(std::move(line));
    MUST(fibers_.start("old worker", [this, &place](io::Deadline forever) { accompany(place, forever); }));
}

// TCP sockets need no copies any more: a worker that is started again shares the ports. Those of UDP would share the datagrams
// with the old worker's, which nobody reads.
void Master::begin_service() {
    has_begun_ = true;
    for (const auto& place : workers_)
        std::erase_if(place->kept, [](const io::BoundSocket& kept) { return !kept.name.starts_with("udp "); });
    tell_members();
    tell_workers({Kind::take});
}

// It was started again.
void Master::welcome(Place& place) {
    if (std::ranges::any_of(workers_, [this](const auto& other) { return is_elder(*other); }))
        tell_members();
    send(place.number, {Kind::take});
}

}  // namespace live::supervisor
