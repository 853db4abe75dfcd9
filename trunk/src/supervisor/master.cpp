#include "supervisor/master.hpp"

#include <algorithm>
#include <array>
#include <csignal>
#include <utility>

#include <fcntl.h>
#include <unistd.h>

#include "base/bytes/random.hpp"
#include "base/log/log_format.hpp"
#include "engine/workers/tally.hpp"
#include "io/fibers/loop.hpp"
#include "supervisor/line/start_variables.hpp"

namespace live::supervisor {

namespace messages = engine::workers;
using messages::Kind;
using messages::Message;
using std::chrono::milliseconds;

Master::Master(StartedAs started, std::size_t count, std::string secret, const Log& log, Inheritance inheritance)
    : started_(std::move(started)),
      count_(count),
      base_(inheritance.base),
      secret_(std::move(secret)),
      log_(log),
      directory_(count > 0 ? messages::kMembersMax : messages::kWorkersMax) {
    for (std::size_t i = 0; i < base_ + count; ++i) {
        workers_.push_back(std::make_unique<Place>());
        workers_.back()->number = static_cast<Worker>(i + 1);
        workers_.back()->is_gone = i < base_;
        if (i >= base_ && i - base_ < inheritance.sockets.size())
            workers_.back()->kept = std::move(inheritance.sockets[i - base_]);
    }
}

Master::~Master() {
    if (started_.folder >= 0)
        ::close(started_.folder);
}

// The first one alone: it makes what is there once, such as a certificate, and says why nothing can be served.
std::optional<Master::Failure> Master::start(io::Deadline deadline) {
    const auto limit = deadline.sooner(io::Deadline::after(kStartLimit));
    std::optional<Failure> failure;
    const auto are_ready = [&] {
        return std::ranges::all_of(workers_, [](const auto& place) { return place->is_ready || place->process == nullptr; });
    };
    for (const auto& place : workers_) {
        Place* const one = place.get();
        if (!is_own(*one))
            continue;
        if (const auto begun = start_worker(*one); !begun.ok())
            one->failure.sentence = begun.error().sentence();
        else
            MUST(fibers_.start("worker", [this, one](io::Deadline forever) { supervise(*one, forever); }));
        const bool is_last = place == workers_.back();
        while (one->failure.sentence.empty() && (one->number == base_ + 1 || is_last) && !are_ready())
            if (const auto waited = io::wait(asked_, limit); !waited.ok())
                one->failure.sentence = "a worker does not get ready in time";
            else if (std::ranges::any_of(workers_, [](const auto& other) { return !other->failure.sentence.empty(); }))
                break;
        const auto failed = std::ranges::find_if(workers_, [](const auto& other) { return !other->failure.sentence.empty(); });
        if (failed == workers_.end())
            continue;
        failure = (*failed)->failure;
        stop(SIGTERM, milliseconds(0));
        return failure;
    }
    MUST(fibers_.start("beats", [this](io::Deadline forever) { watch(forever); }));
    return failure;
}

Result<void> Master::start_worker(Place& place) {
    auto [here, there] = TRY(io::MessageSocket::pair());
    io::ChildOptions options;
    options.arguments = started_.arguments;
    if (options.arguments.empty())
        return Error(Errc::system, "the command line of this process is unknown: is /proc mounted?");
    options.inherits_output = true;
    if (count_ > 0) {
        options.program = "/proc/self/exe";
        const auto number = static_cast<Worker>(place.number - base_);
        options.environment = {worker_variable({number, static_cast<Worker>(count_), place.number}, secret_)};
    } else {
        // By its path, where there may be another one now.
        options.environment = {successor_variable(secret_)};
    }
    options.passed = there.fd();
    options.folder = started_.folder;
    if (count_ > 0 && tally_ == nullptr)
        tally_ = TRY(io::SharedMemory::create(messages::Tally::bytes_for(static_cast<Worker>(count_))));
    place.process = TRY(io::ChildProcess::spawn(options));
    place.socket = std::make_unique<io::MessageSocket>(std::move(here));
    place.waiting.clear();
    place.is_ready = false;
    place.started = io::now();
    place.silent = {};
    if (tally_ != nullptr)
        TRY(give_place(place));
    LOG_INFO(log_, "{} {} is started, pid={}", count_ > 0 ? "worker" : "upgrade: process", place.number, place.process->pid());
    return {};
}

// What a worker finds there when it starts.
Result<void> Master::give_place(Place& place) {
    const bool inherits = !place.kept.empty();
    send(place.number, {Kind::tally, static_cast<std::uint8_t>(inherits ? 1 : 0)}, TRY(tally_->handle()));
    for (const io::BoundSocket& kept : place.kept)
        if (const int copy = ::fcntl(kept.copy.fd(), F_DUPFD_CLOEXEC, 0); copy >= 0)
            send(place.number, {Kind::gift, 0, 0, 0, 0, kept.name}, io::Socket(copy));
    if (inherits)
        send(place.number, {Kind::begin});
    return {};
}

// A worker is there when this begins.
void Master::supervise(Place& place, io::Deadline deadline) {
    for (;;) {
        const std::string why = attend(place, deadline);
        if (is_released_)
            return;
        place.socket->close();
        if (place.has_handed) {  // it has no clients any more, and ends
            directory_.forget(place.number);
            place.is_ready = false;
            asked_.raise();
            return;
        }
        if (place.process != nullptr && !stopping_) {
            place.process->send_signal(SIGKILL);
            const auto ended = place.process->wait(io::Deadline::never());
            LOG_ERROR(log_, "worker {} is gone: {}{}", place.number, ended.ok() ? "it " + ended->text() : "", why);
        }
        directory_.forget(place.number);
        place.gifts.clear();
        place.has_given = true;  // nothing
        if (tally_ != nullptr && place.process != nullptr && place.process->has_ended())
            messages::Tally::forget(tally_->bytes(), static_cast<Worker>(count_), static_cast<Worker>(place.number - base_));
        const bool was_ready = std::exchange(place.is_ready, false);
        if (!was_ready && place.failure.sentence.empty())
            place.failure.sentence = fmt::format("worker {} died while it started", place.number);
        asked_.raise();
        if (stopping_ || is_handing_)
            return;
        if (was_ready && io::now() - place.started >= kLivedLong)
            place.backoff.reset();
        for (bool is_there = false; !is_there;) {
            const auto pause = place.backoff.next(static_cast<std::uint32_t>(random_number()));
            if (const auto slept = io::sleep(deadline.sooner(io::Deadline::after(pause)));
                stopping_ || is_handing_ || (!slept.ok() && slept.code() == Errc::cancelled))
                return;
            const auto begun = start_worker(place);
            is_there = begun.ok();
            if (!is_there)
                LOG_ERROR(log_, "worker {} cannot be started: {}", place.number, begun.error().sentence());
        }
        ++restarts_;
        place.failure = {};
    }
}

std::string Master::attend(Place& place, io::Deadline deadline) {
    for (;;) {
        if (place.silent >= (place.is_ready ? Duration(kBeatLimit) : Duration(kStartLimit)))
            return fmt::format(", killed because its loop stood still for {} ms", place.silent / milliseconds(1));
        if (place.waiting.size() >= kWaitingMax)
            return ", killed because it read nothing";
        const auto told = flush(place);
        auto served = read(place);  // what it said before it ended, too
        if (served.ok())
            served = told;
        if (served.ok()) {
            const auto interest = place.waiting.empty() ? io::Interest::readable : io::Interest::both;
            const auto ready = place.socket->wait(interest, &place.wake, deadline);
            served = ready.ok() ? Result<void>() : Result<void>(ready.error());
        }
        if (!served.ok())
            return "";
    }
}

Result<void> Master::read(Place& place) {
    std::array<std::uint8_t, messages::kMessageMax> packet{};
    while (!is_released_) {
        auto received = place.socket->try_receive(packet);
        if (!received.ok() && received.code() == Errc::need_more)
            return {};
        if (!received.ok())
            return received.error();
        auto message = messages::parse_message(Bytes(packet).first(received->size));
        if (message.ok())
            handle(place, *std::move(message), std::move(received->passed));
        if (io::is_turn_over())
            TRY(io::yield(io::Deadline::never()));
    }
    return {};
}

void Master::handle(Place& place, Message message, io::Socket passed) {
    place.silent = {};
    switch (message.kind) {
        case Kind::beat: break;
        case Kind::ready:
            place.is_ready = true;
            if (place.process != nullptr && count_ > 0)
                LOG_INFO(log_, "worker {} serves, pid={}", place.number, place.process->pid());
            if (has_begun_)
                welcome(place);
            asked_.raise();
            break;
        case Kind::failed:
            place.failure = {static_cast<int>(message.ticket & 0xFF), std::move(message.text)};
            if (count_ > 0)
                LOG_ERROR(log_, "worker {} does not start: {}", place.number, place.failure.sentence);
            asked_.raise();
            break;
        case Kind::reload:
            reload_wanted_ = true;
            asked_.raise();
            break;
        case Kind::quit:
            if (count_ > 0)
                std::raise(SIGQUIT);  // as an operator's signal
            break;
        case Kind::upgrade:
            if (count_ > 0)
                std::raise(SIGUSR2);  // as an operator's signal
            else
                handle_upgrade(place, std::move(message), std::move(passed));
            break;
        case Kind::gift:
        case Kind::given:
        case Kind::handed: handle_upgrade(place, std::move(message), std::move(passed)); break;
        case Kind::link: {
            const Worker to = message.worker;
            message.worker = place.number;
            if (passed.is_open() && to >= 1 && to <= workers_.size() && workers_[to - 1U]->is_ready)
                send(to, message, std::move(passed));
            break;  // else the socket closes, which the asking worker sees
        }
        default:
            for (messages::StreamDirectory::Outgoing& out : directory_.handle(place.number, message))
                send(out.to, out.message);
    }
}

void Master::send(Worker to, const Message& message, io::Socket passed) {
    if (to > workers_.size() || workers_[to - 1U]->is_gone)
        return;
    Place& place = *workers_[to - 1U];
    if (place.socket == nullptr || place.socket->native_handle() < 0 || place.waiting.size() >= kWaitingMax)
        return;
    place.waiting.push_back({messages::write_message(message), std::move(passed)});
    if (!flush(place).ok() || !place.waiting.empty())
        place.wake.raise();
}

Result<void> Master::flush(Place& place) {
    while (!place.waiting.empty()) {
        if (!TRY(place.socket->try_send(place.waiting.front().bytes, place.waiting.front().passed.fd())))
            break;
        place.waiting.pop_front();
    }
    return {};
}

// When the machine was suspended, or this process stopped, nobody has beaten, and nobody is to blame.
void Master::watch(io::Deadline deadline) {
    TimePoint then = io::now();
    while (true) {
        const auto slept = io::sleep(deadline.sooner(io::Deadline::after(kLook)));
        if (!slept.ok() && slept.code() == Errc::cancelled)
            return;
        const Duration passed = std::min<Duration>(io::now() - then, 2 * kLook);
        then = io::now();
        for (const auto& place : workers_) {
            place->silent += passed;
            if (place->silent >= kBeatLimit)
                place->wake.raise();
        }
    }
}

void Master::send_signal(int number) {
    for (const auto& place : workers_)
        if (place->process != nullptr)
            place->process->send_signal(number);
}

bool Master::are_gone() const {
    return std::ranges::none_of(workers_,
                                [](const auto& place) { return place->process != nullptr && !place->process->has_ended(); });
}

void Master::begin_stop(int number) {
    stopping_ = true;
    send_signal(number);
}

void Master::stop(int number, milliseconds limit) {
    stopping_ = true;
    send_signal(number);
    const auto until = io::Deadline::after(limit + kStopSlack);
    while (!are_gone() && !until.expired())
        static_cast<void>(io::sleep(io::Deadline::after(kStopLook)));
    for (const auto& place : workers_) {
        if (place->process == nullptr || place->process->has_ended())
            continue;
        LOG_ERROR(log_, "worker {} does not end: it is killed", place->number);
        place->process->send_signal(SIGKILL);
        if (!place->is_ending)
            place->process.reset();  // which waits for it
    }
    if (const auto stopped = fibers_.stop(io::Deadline::after(kStopSlack)); !stopped.ok())
        LOG_WARN(log_, "stopping the supervision: {}", stopped.error().text());
}

}  // namespace live::supervisor
