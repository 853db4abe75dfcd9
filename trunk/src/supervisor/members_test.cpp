#include "supervisor/members.hpp"

#include <gtest/gtest.h>

#include <map>

#include "base/log/log_fixture.hpp"
#include "io/fibers/loop.hpp"
#include "io/fibers/scope.hpp"
#include "io/fibers/wait_fixture.hpp"

namespace live::supervisor {
namespace {

using engine::workers::Kind;
using engine::workers::Message;
using engine::workers::Worker;

class MembersTest : public testing::Test, protected MembersListener {
protected:
    ~MembersTest() override { MUST(fibers_.stop(io::Deadline::after(io::kSoon))); }

    void on_message(Member& member, Message message, io::Socket) override { received_.emplace_back(member.number, message.kind); }

    // A member whose other end is the test's.
    Member& join(bool is_ready = true) {
        Member& member = members_.take_free();
        auto [here, there] = MUST(io::MessageSocket::pair());
        member.line = std::make_unique<MasterLine>(WorkerIdentity{}, std::move(here), Members::kQueueMax);
        member.is_ready = is_ready;
        ends_[member.number] = std::make_unique<MasterLine>(WorkerIdentity{}, std::move(there));
        MUST(fibers_.start(
            "member", [this, &member](io::Deadline forever) { reasons_[member.number] = members_.attend(member, forever); }));
        return member;
    }
    Message receive(Worker worker) {
        return MUST(ends_.at(worker)->next("nothing came", io::Deadline::after(io::kSoon))).message;
    }
    void send(Worker worker, const Message& message, io::Socket passed = {}) {
        EXPECT_TRUE(ends_.at(worker)->send(message, std::move(passed)));
    }
    void wait_received(std::size_t count) {
        io::wait_until([&] { return received_.size() >= count; });
    }

    std::unique_ptr<io::Loop> loop_ = MUST(io::Loop::create());
    NoLog sink_;
    Log log_{sink_, "test"};
    Members members_{engine::workers::kMembersMax, *this, log_};
    std::map<Worker, std::unique_ptr<MasterLine>> ends_;
    std::map<Worker, std::string> reasons_;
    std::vector<std::pair<Worker, Kind>> received_;
    io::Scope fibers_{"test"};
};

TEST_F(MembersTest, NumbersAreGivenInOrderAndReused) {
    EXPECT_EQ(join().number, 1);
    Member& second = join();
    EXPECT_EQ(second.number, 2);
    EXPECT_EQ(members_.find(2), &second);
    ends_[2]->close();
    io::wait_until([&] { return reasons_.contains(2); });
    second.is_free = true;
    EXPECT_EQ(members_.find(2), nullptr);
    EXPECT_EQ(members_.take_free().number, 2);
    EXPECT_EQ(members_.take_free().number, 3);
    EXPECT_EQ(members_.find(0), nullptr);
    EXPECT_EQ(members_.find(200), nullptr);
}

TEST_F(MembersTest, AddedNumbersAreFreeAtFirst) {
    Member& seventh = members_.add(7);
    EXPECT_EQ(seventh.number, 7);
    EXPECT_TRUE(seventh.is_free);
    EXPECT_EQ(members_.all().size(), 7U);
    EXPECT_EQ(&members_.add(7), &seventh);
    EXPECT_EQ(members_.take_free().number, 1);
}

TEST_F(MembersTest, ListenerReceivesEveryMessage) {
    join();
    send(1, {Kind::beat});
    send(1, {Kind::ready});
    send(1, {Kind::announce, 0, 0, 0, 0, "/live/a"});
    wait_received(3);
    EXPECT_EQ(received_, (std::vector<std::pair<Worker, Kind>>{{1, Kind::beat}, {1, Kind::ready}, {1, Kind::announce}}));
}

TEST_F(MembersTest, QuestionsAboutStreamsAreAnswered) {
    join();
    join();
    send(1, {Kind::claim, 0, 0, 5, 0, "/live/a"});
    const Message claimed = receive(1);
    EXPECT_EQ(claimed.kind, Kind::claimed);
    EXPECT_EQ(claimed.ticket, 5U);
    send(2, {Kind::find, 0, 0, 9, 0, "/live/a"});
    const Message found = receive(2);
    EXPECT_EQ(found.kind, Kind::found);
    EXPECT_EQ(found.worker, 1);
    EXPECT_EQ(members_.directory().streams(), 1U);
}

TEST_F(MembersTest, AnnouncementReachesTheOthers) {
    join();
    join();
    join();
    send(2, {Kind::announce, 0, 0, 0, 0, "/live/a"});
    for (const Worker other : {Worker{1}, Worker{3}}) {
        const Message moved = receive(other);
        EXPECT_EQ(moved.kind, Kind::moved);
        EXPECT_EQ(moved.worker, 2);
        EXPECT_EQ(moved.text, "/live/a");
    }
}

TEST_F(MembersTest, LinkIsForwardedWithItsDescriptor) {
    join();
    join();
    auto [here, there] = MUST(io::stream_pair());
    send(1, {Kind::link, 1, 2, 0, 0, ""}, std::move(there));
    const auto incoming = MUST(ends_[2]->next("nothing came", io::Deadline::after(io::kSoon)));
    EXPECT_EQ(incoming.message.kind, Kind::link);
    EXPECT_EQ(incoming.message.flag, 1);
    EXPECT_EQ(incoming.message.worker, 1) << "the sender";
    EXPECT_TRUE(incoming.passed.is_open());
}

TEST_F(MembersTest, LinkToNobodyIsClosed) {
    join();
    join(false);
    for (const Worker to : {Worker{0}, Worker{2}, Worker{9}}) {
        auto [here, there] = MUST(io::stream_pair());
        send(1, {Kind::link, 0, to, 0, 0, ""}, std::move(there));
        const auto stream = io::stream_of(std::move(here));
        std::array<std::uint8_t, 4> buffer{};
        EXPECT_EQ(stream->read_some(buffer, io::Deadline::after(io::kSoon)).code(), Errc::closed) << int(to);
    }
}

TEST_F(MembersTest, ReadyMembersReceiveTheNumbers) {
    join();
    join(false);
    join();
    members_.send_numbers();
    EXPECT_EQ(receive(1).text, std::string("\x01\x03"));
    EXPECT_EQ(receive(3).text, std::string("\x01\x03"));
    EXPECT_FALSE(MUST(ends_[2]->take()));
}

TEST_F(MembersTest, MemberThatLeavesEndsItsFiberOnly) {
    join();
    join();
    ends_[1]->close();
    io::wait_until([&] { return reasons_.contains(1); });
    EXPECT_EQ(reasons_[1], "");
    send(2, {Kind::beat});
    wait_received(1);
}

TEST_F(MembersTest, ListenerReceivesTheLastMessages) {
    join(false);
    send(1, {Kind::failed, 0, 0, 3, 0, "why"});
    ends_[1]->close();
    wait_received(1);
    EXPECT_EQ(received_[0].second, Kind::failed);
}

TEST_F(MembersTest, MemberCanBeEnded) {
    Member& member = join();
    members_.end(member, ", killed because it is late");
    io::wait_until([&] { return reasons_.contains(1); });
    EXPECT_EQ(reasons_[1], ", killed because it is late");
    EXPECT_TRUE(member.end_reason.empty());
}

TEST_F(MembersTest, MemberThatDoesNotReadIsEnded) {
    Member& member = join();
    const std::string text(4'000, 'x');
    while (!member.line->is_full())
        members_.send(1, {Kind::moved, 0, 2, 0, 0, text});
    members_.send(1, {Kind::take});
    io::wait_until([&] { return reasons_.contains(1); });
    EXPECT_EQ(reasons_[1], ", killed because it read nothing");
}

TEST_F(MembersTest, FrozenMembersAreNotRead) {
    join();
    members_.freeze();
    send(1, {Kind::beat});
    for (int i = 0; i < 5; ++i)
        MUST(io::yield(io::Deadline::never()));
    EXPECT_TRUE(received_.empty()) << "the next master reads it";
    EXPECT_TRUE(members_.is_frozen());
}

TEST_F(MembersTest, SendingToNobodyDoesNothing) {
    Member& member = join();
    members_.send(9, {Kind::take});
    member.line->close();
    members_.send(1, {Kind::take});
    EXPECT_EQ(members_.children(), 0U);
    EXPECT_TRUE(members_.are_gone());
}

TEST_F(MembersTest, ProcessThatIgnoresTheStopIsKilled) {
    Member& member = members_.take_free();
    io::ChildOptions options;
    options.arguments = {"/bin/sh", "-c", "trap '' TERM; while :; do sleep 60; done"};
    MUST(members_.start_process(member, std::move(options), {}));
    EXPECT_EQ(members_.children(), 1U);
    EXPECT_FALSE(members_.are_gone());
    members_.send_signal(SIGTERM);
    members_.await_ends(50ms);
    EXPECT_TRUE(members_.are_gone());
}

TEST_F(MembersTest, ProgramThatDoesNotExistCannotBeStarted) {
    Member& member = members_.take_free();
    io::ChildOptions options;
    options.arguments = {"/nonexistent/program"};
    EXPECT_FALSE(members_.start_process(member, std::move(options), {}).ok());
    EXPECT_EQ(member.process, nullptr);
}

}  // namespace
}  // namespace live::supervisor
