#include "io/net/message_socket.hpp"

#include <gtest/gtest.h>

#include <array>

#include <unistd.h>

#include "io/fibers/loop.hpp"
#include "io/fibers/wait_fixture.hpp"

namespace live::io {
namespace {

class MessageSocketTest : public ::testing::Test {
protected:
    MessageSocketTest() {
        auto [one, other] = MUST(MessageSocket::pair());
        a_ = std::make_unique<MessageSocket>(std::move(one));
        b_ = std::make_unique<MessageSocket>(std::move(other));
    }

    std::unique_ptr<Loop> loop_ = MUST(Loop::create());
    std::unique_ptr<MessageSocket> a_;
    std::unique_ptr<MessageSocket> b_;
    std::array<std::uint8_t, 64> buffer_{};
};

TEST_F(MessageSocketTest, KeepsMessagesApart) {
    EXPECT_EQ(b_->try_receive(buffer_).code(), Errc::need_more);
    EXPECT_TRUE(MUST(a_->try_send(as_bytes("one"))));
    EXPECT_TRUE(MUST(a_->try_send(as_bytes("three"))));
    ASSERT_TRUE(MUST(b_->wait(Interest::readable, nullptr, Deadline::after(kSoon))).readable);
    EXPECT_EQ(MUST(b_->try_receive(buffer_)).size, 3U);
    EXPECT_EQ(MUST(b_->try_receive(buffer_)).size, 5U);
    EXPECT_EQ(b_->try_receive(buffer_).code(), Errc::need_more);
    a_->close();
    ASSERT_TRUE(MUST(b_->wait(Interest::readable, nullptr, Deadline::after(kSoon))).readable);
    EXPECT_EQ(b_->try_receive(buffer_).code(), Errc::closed);
    EXPECT_EQ(b_->try_send(as_bytes("x")).code(), Errc::closed);
}

TEST_F(MessageSocketTest, ReceivesTheLastMessageOfAPeerThatReadNothing) {
    EXPECT_TRUE(MUST(b_->try_send(as_bytes("never read"))));
    EXPECT_TRUE(MUST(a_->try_send(as_bytes("why"))));
    a_->close();
    EXPECT_EQ(MUST(b_->try_receive(buffer_)).size, 3U);
    EXPECT_EQ(b_->try_receive(buffer_).code(), Errc::closed);
}

TEST_F(MessageSocketTest, PassesAConnection) {
    auto [here, there] = MUST(stream_pair());
    EXPECT_TRUE(MUST(a_->try_send(as_bytes("link"), there.fd())));
    there.close();
    auto received = MUST(b_->try_receive(buffer_));
    ASSERT_TRUE(received.passed.is_open());
    const auto near = stream_of(std::move(here));
    const auto far = stream_of(std::move(received.passed));
    EXPECT_TRUE(near->set_no_delay(true).ok()) << "there is nothing to delay";
    EXPECT_TRUE(near->set_not_sent_lowat(65536).ok());
    const std::array parts{as_part(as_bytes("hello"))};
    ASSERT_TRUE(near->write_all(parts, Deadline::after(kSoon)).ok());
    EXPECT_EQ(MUST(far->read_some(buffer_, Deadline::after(kSoon))), 5U);
    near->close();
    EXPECT_EQ(far->read_some(buffer_, Deadline::after(kSoon)).code(), Errc::closed);
}

TEST_F(MessageSocketTest, ReportsAFullQueue) {
    const std::vector<std::uint8_t> message(4096);
    std::size_t sent = 0;
    while (MUST(a_->try_send(message)))
        ASSERT_LT(++sent, 10'000U);
    EXPECT_GT(sent, 10U);
    while (b_->try_receive(buffer_).ok()) {
    }
    EXPECT_TRUE(MUST(a_->wait(Interest::writable, nullptr, Deadline::after(kSoon))).writable);
    EXPECT_TRUE(MUST(a_->try_send(message)));
}

TEST_F(MessageSocketTest, AdoptsOnlyItsKind) {
    auto [stream, other] = MUST(stream_pair());
    EXPECT_EQ(MessageSocket::adopt(stream.fd()).code(), Errc::system);
    EXPECT_EQ(MessageSocket::adopt(-1).code(), Errc::system);
}

}  // namespace
}  // namespace live::io
