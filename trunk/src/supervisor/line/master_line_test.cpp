#include "supervisor/line/master_line.hpp"

#include <gtest/gtest.h>

#include <unistd.h>

#include "io/fibers/loop.hpp"
#include "io/fibers/scope.hpp"
#include "io/fibers/wait_fixture.hpp"

namespace live::supervisor {
namespace {

using engine::workers::Kind;
using engine::workers::Message;
using engine::workers::SharedLimits;

class MasterLineTest : public testing::Test {
protected:
    explicit MasterLineTest(std::size_t queue_max = MasterLine::kQueueMax) {
        auto [one, other] = MUST(io::MessageSocket::pair());
        master_ = std::make_unique<MasterLine>(WorkerIdentity{}, std::move(one), queue_max);
        worker_ = std::make_unique<MasterLine>(WorkerIdentity{2, 3, 5}, std::move(other));
    }
    Result<MasterLine::Incoming> next() { return worker_->next("late", io::Deadline::after(io::kSoon)); }
    // Sends until the socket takes no more and `count` messages wait.
    void fill(std::size_t count) {
        const std::string text(4'000, 'x');
        for (std::size_t waiting = 0; waiting < count; waiting += master_->has_queued() ? 1 : 0)
            ASSERT_TRUE(master_->send({Kind::announce, 0, 0, 0, 0, text}));
    }

    std::unique_ptr<io::Loop> loop_ = MUST(io::Loop::create());
    std::unique_ptr<MasterLine> master_;
    std::unique_ptr<MasterLine> worker_;
};

class ShortLineTest : public MasterLineTest {
protected:
    ShortLineTest() : MasterLineTest(3) {}
};

TEST_F(MasterLineTest, MessagesArriveInOrder) {
    for (std::uint32_t i = 0; i < 10; ++i)
        EXPECT_TRUE(master_->send({Kind::found, 0, 0, i, 0, "url"}));
    for (std::uint32_t i = 0; i < 10; ++i)
        EXPECT_EQ(MUST(next()).message.ticket, i);
    EXPECT_FALSE(MUST(worker_->take())) << "nothing for now";
}

TEST_F(MasterLineTest, IdentityCanBeLearned) {
    EXPECT_EQ(worker_->identity().id, 5);
    EXPECT_EQ(master_->identity().address(), 0);
    master_->set_identity({0, 0, 9});
    EXPECT_EQ(master_->identity().address(), 9);
}

TEST_F(MasterLineTest, DescriptorsArePassed) {
    auto [here, there] = MUST(io::stream_pair());
    EXPECT_TRUE(master_->send({Kind::gift, 0, 0, 0, 0, "tcp x"}, std::move(there)));
    const auto incoming = MUST(next());
    EXPECT_EQ(incoming.message.text, "tcp x");
    ASSERT_TRUE(incoming.passed.is_open());
    ASSERT_EQ(::write(incoming.passed.fd(), "hi", 2), 2);
    char text[2];
    EXPECT_EQ(::read(here.fd(), text, 2), 2);
}

TEST_F(MasterLineTest, SilenceEndsWithTheGivenSentence) {
    const auto late = worker_->next("nothing came", io::Deadline::after(5ms));
    EXPECT_EQ(late.code(), Errc::timed_out);
    EXPECT_EQ(late.error().sentence(), "nothing came");
}

TEST_F(MasterLineTest, EndOfTheOtherProcessIsNoticedAfterItsLastMessage) {
    EXPECT_TRUE(master_->send({Kind::failed, 0, 0, 7, 0, "why"}));
    master_->close();
    EXPECT_FALSE(master_->is_open());
    EXPECT_EQ(MUST(next()).message.text, "why");
    EXPECT_EQ(next().code(), Errc::closed);
    EXPECT_EQ(worker_->take().code(), Errc::closed);
}

TEST_F(MasterLineTest, MalformedMessagesAreSkipped) {
    auto [one, other] = MUST(io::MessageSocket::pair());
    io::MessageSocket raw(std::move(one));
    MasterLine line({}, std::move(other));
    EXPECT_TRUE(MUST(raw.try_send(as_bytes("not a message"))));
    EXPECT_TRUE(MUST(raw.try_send(engine::workers::write_message({Kind::take}))));
    EXPECT_EQ(MUST(line.next("late", io::Deadline::after(io::kSoon))).message.kind, Kind::take);
}

TEST_F(MasterLineTest, QueueIsSentWhenTheOtherEndReads) {
    fill(20);
    EXPECT_TRUE(master_->has_queued());
    io::Scope fibers("test");
    MUST(fibers.start("sender", [this](io::Deadline) { MUST(master_->flush_all(io::Deadline::after(io::kSoon))); }));
    while (master_->has_queued())
        MUST(next());
    while (MUST(worker_->take())) {
    }
    MUST(fibers.join(io::Deadline::after(io::kSoon)));
    EXPECT_FALSE(master_->has_queued());
}

TEST_F(MasterLineTest, ProcessThatDoesNotReadIsNotWaitedForLong) {
    fill(1);
    EXPECT_EQ(master_->flush_all(io::Deadline::after(5ms)).code(), Errc::timed_out);
    worker_->close();
    EXPECT_EQ(master_->flush_all(io::Deadline::after(io::kSoon)).code(), Errc::closed);
}

TEST_F(ShortLineTest, QueueIsBounded) {
    fill(3);
    EXPECT_TRUE(master_->is_full());
    EXPECT_FALSE(master_->send({Kind::take}));
    while (MUST(worker_->take())) {
    }
    MUST(master_->flush());
    EXPECT_FALSE(master_->is_full());
    EXPECT_TRUE(master_->send({Kind::take}));
}

TEST_F(MasterLineTest, WakeEndsAWait) {
    master_->wake();
    EXPECT_TRUE(master_->wait(io::Deadline::after(io::kSoon)).ok());
}

TEST_F(MasterLineTest, SharedMemoryComesFirst) {
    const auto memory = MUST(io::SharedMemory::create(SharedLimits::bytes_for(3)));
    EXPECT_EQ(worker_->shared_limits(), nullptr);
    EXPECT_TRUE(master_->send({Kind::tally, 1}, MUST(memory->handle())));
    MUST(worker_->take_tally("secret", io::Deadline::after(io::kSoon)));
    ASSERT_NE(worker_->shared_limits(), nullptr);
    EXPECT_TRUE(worker_->inherits());
    worker_->shared_limits()->set(SharedLimits::Sum::places, 12);
    SharedLimits first(memory->bytes(), 3, 1, {});
    EXPECT_EQ(first.others(SharedLimits::Sum::places), 12U) << "it is the same memory";
}

TEST_F(MasterLineTest, OtherFirstMessageIsMalformed) {
    EXPECT_TRUE(master_->send({Kind::take}));
    EXPECT_EQ(worker_->take_tally("secret", io::Deadline::after(io::kSoon)).code(), Errc::malformed);
    EXPECT_FALSE(worker_->inherits());
}

TEST_F(MasterLineTest, SharedMemoryOfAnotherSizeIsRefused) {
    const auto memory = MUST(io::SharedMemory::create(SharedLimits::bytes_for(2)));
    EXPECT_TRUE(master_->send({Kind::tally}, MUST(memory->handle())));
    EXPECT_FALSE(worker_->take_tally("secret", io::Deadline::after(io::kSoon)).ok());
}

}  // namespace
}  // namespace live::supervisor
