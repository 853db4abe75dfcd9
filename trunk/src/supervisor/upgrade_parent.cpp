#include "supervisor/upgrade_parent.hpp"

#include <array>
#include <csignal>
#include <utility>

#include <unistd.h>

#include "base/log/log_format.hpp"
#include "io/fibers/loop.hpp"
#include "supervisor/line/start_variables.hpp"

namespace live::supervisor {

namespace messages = engine::workers;
using messages::Kind;
using messages::Message;
using messages::WorkerIdentity;

UpgradeParent::UpgradeParent(StartedAs started, std::string secret, Programs programs, const Log& log)
    : started_(std::move(started)),
      secret_(std::move(secret)),
      programs_(programs),
      log_(log),
      members_(messages::kWorkersMax, *this, log),
      hand_over_(HandOver::Limits{}, HandOver::Late::wait) {}

UpgradeParent::~UpgradeParent() {
    if (started_.folder >= 0)
        ::close(started_.folder);
}

Result<io::Socket> UpgradeParent::join() {
    auto [here, there] = TRY(io::MessageSocket::pair());
    Member& member = members_.take_free();
    member.is_ready = true;
    member.line = std::make_unique<MasterLine>(WorkerIdentity{}, std::move(here), Members::kQueueMax);
    TRY(fibers_.start("own line", [this, &member](io::Deadline forever) { attend(member, forever); }));
    return std::move(there);
}

void UpgradeParent::attend(Member& member, io::Deadline deadline) {
    const std::string why = members_.attend(member, deadline);
    member.line->close();
    if (member.process != nullptr && !is_stopping_) {
        const std::string end = await_end(member);
        LOG_INFO(log_, "process {} of an upgrade {}{}", member.process->pid(), end, why);
        if (member.number == new_program_)
            hand_over_.on_program_ended(end);
    }
    members_.directory().forget(member.number);
    member.is_ready = false;
    hand_over_.on_gone(member.number, io::now());
    changed_.raise();
    if (is_stopping_)
        return;
    members_.send_numbers();
    member.is_free = true;
}

std::string UpgradeParent::await_end(Member& member) {
    member.is_ending = true;
    auto ended = member.process->wait(io::Deadline::after(kEndLimit));
    if (!ended.ok() && ended.code() != Errc::cancelled) {
        member.process->send_signal(SIGKILL);
        ended = member.process->wait(io::Deadline::never());
    }
    if (member.number == newest_ && ended.ok())
        newest_status_ = ended->signal != 0 ? 128 + ended->signal : ended->code;
    return ended.ok() ? ended->text() : std::string(ended.error().sentence());
}

void UpgradeParent::on_message(Member& member, Message message, io::Socket passed) {
    switch (message.kind) {
        case Kind::ready:
            member.is_ready = true;
            if (member.number == new_program_)
                hand_over_.on_program_ready(io::now());
            break;
        case Kind::failed:
            if (member.number == new_program_)
                hand_over_.on_program_failed(std::move(message.text));
            break;
        case Kind::upgrade:
            if (!hand_over_.is_over())
                return members_.send(member.number, {Kind::upgraded, 1, 0, 0, 0, "an upgrade is under way already"});
            hand_over_.begin(std::array{member.number}, io::now());
            if (!fibers_.start("upgrade", [this, &member](io::Deadline forever) { upgrade(member, forever); }).ok())
                hand_over_ = HandOver(HandOver::Limits{}, HandOver::Late::wait);
            break;
        case Kind::gift:
            if (member.gifts.size() < Members::kGiftsMax && passed.is_open() && hand_over_.step() == HandOver::Step::gathering)
                member.gifts.push_back({std::move(message.text), std::move(passed)});
            break;
        case Kind::given: hand_over_.on_given(member.number, io::now()); break;
        case Kind::handed: hand_over_.on_handed(member.number, io::now()); break;
        default: return;
    }
    changed_.raise();
}

void UpgradeParent::upgrade(Member& asker, io::Deadline deadline) {
    Member* program = nullptr;
    asker.gifts.clear();
    for (;;) {
        while (const auto action = hand_over_.poll_action())
            perform(*action, asker, program);
        const auto next = hand_over_.next_timeout();
        if (!next)
            break;
        const auto until = deadline.sooner(io::Deadline::at(*next));
        const auto waited = io::wait(changed_, until);
        if (!waited.ok() && waited.code() == Errc::cancelled)
            return;
        hand_over_.on_time(time_after(waited, until));
    }
    new_program_ = 0;
}

void UpgradeParent::perform(const HandOver::Action& action, Member& asker, Member*& program) {
    if (std::holds_alternative<HandOver::RequestSockets>(action)) {
        members_.send(asker.number, {Kind::give});
    } else if (std::holds_alternative<HandOver::StartProgram>(action)) {
        const auto begun = start_program(asker);
        if (begun.ok())
            program = *begun;
        else
            hand_over_.on_start_failed(begun.error());
    } else if (std::holds_alternative<HandOver::KillProgram>(action)) {
        if (program != nullptr && !program->is_free && program->process != nullptr)
            program->process->send_signal(SIGKILL);
    } else if (std::holds_alternative<HandOver::Announce>(action)) {
        announce(asker, *program);
    } else if (std::holds_alternative<HandOver::NoteLate>(action)) {
        LOG_WARN(log_, "upgrade: the old process does not release its sockets");
    } else if (std::holds_alternative<HandOver::Release>(action)) {
        members_.send(newest_, {Kind::take});
    } else if (const auto* const fail = std::get_if<HandOver::Fail>(&action)) {
        LOG_ERROR(log_, "upgrade: {}", fail->sentence);
        members_.send(asker.number, {Kind::upgraded, 1, 0, 0, 0, fail->sentence});
    }
}

void UpgradeParent::announce(Member& asker, const Member& program) {
    newest_ = program.number;
    members_.send_numbers();
    const auto pid = static_cast<std::uint32_t>(program.process->pid());
    LOG_INFO(log_, "upgrade: the new program serves, pid={}", pid);
    members_.send(asker.number, {Kind::upgraded, 0, 0, pid, 0, ""});
}

Result<Member*> UpgradeParent::start_program(Member& asker) {
    if (new_processes() + 1 >= messages::kWorkersMax)
        return Error(Errc::limit, "too many old processes have clients still");
    io::ChildOptions options = TRY(child_options(started_));  // by its path, where there may be another program now
    Member& program = members_.take_free();
    options.environment = {successor_variable(secret_)};
    if (const auto begun = members_.start_process(program, std::move(options), {}); !begun.ok()) {
        program.is_free = true;
        return Error(begun.error()).during("starting the new program");
    }
    new_program_ = program.number;
    LOG_INFO(log_, "upgrade: process {} is started, pid={}", program.number, program.process->pid());
    for (io::BoundSocket& gift : std::exchange(asker.gifts, {}))
        program.line->send({Kind::gift, 0, 0, 0, 0, gift.name}, std::move(gift.copy));
    program.line->send({Kind::begin, static_cast<std::uint8_t>(programs_ == Programs::end_with_it ? 1 : 0), program.number});
    TRY(fibers_.start("new process", [this, &program](io::Deadline forever) { attend(program, forever); }));
    return &program;
}

bool UpgradeParent::has_newest() const { return newest_ != 0 && !members_.all()[newest_ - 1U]->is_free; }

void UpgradeParent::send_to_newest(int number) {
    if (has_newest())
        members_.all()[newest_ - 1U]->process->send_signal(number);
}

void UpgradeParent::release() {
    is_stopping_ = true;
    for (const auto& member : members_.all())
        if (member->process != nullptr)
            member->process->detach();
    if (const auto stopped = fibers_.stop(io::Deadline::after(kStopSlack)); !stopped.ok())
        LOG_WARN(log_, "stopping the upgrade connection: {}", stopped.error().text());
}

void UpgradeParent::stop() {
    is_stopping_ = true;
    members_.send_signal(SIGTERM);
    members_.await_ends(kStopSlack);
    if (const auto stopped = fibers_.stop(io::Deadline::after(kStopSlack)); !stopped.ok())
        LOG_WARN(log_, "stopping the upgrade: {}", stopped.error().text());
}

}  // namespace live::supervisor
