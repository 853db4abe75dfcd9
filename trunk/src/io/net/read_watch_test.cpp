#include "io/net/read_watch.hpp"

#include <array>

#include <gtest/gtest.h>

#include "io/fibers/loop.hpp"
#include "io/fibers/wait_fixture.hpp"
#include "io/net/tcp_listener.hpp"

namespace live::io {
namespace {

struct Calls final : ReadWatch::Listener {
    void on_readable() override { ++count; }
    int count = 0;
};

class ReadWatchTest : public testing::Test {
protected:
    ReadWatchTest() {
        client_ = MUST(TcpStream::connect(listener_->endpoint(), Deadline::after(kSoon)));
        server_ = MUST(listener_->accept(Deadline::after(kSoon)));
    }
    void send() {
        const std::array<std::uint8_t, 1> byte{'x'};
        MUST(client_->write_all(std::array{as_part(byte)}, Deadline::after(kSoon)));
    }

    std::unique_ptr<Loop> loop_ = MUST(Loop::create());
    std::unique_ptr<TcpListener> listener_ = MUST(TcpListener::listen({"127.0.0.1", 0}));
    std::unique_ptr<TcpStream> client_;
    std::unique_ptr<TcpStream> server_;
    Calls calls_;
    std::array<std::uint8_t, 64> buffer_{};
};

TEST_F(ReadWatchTest, CallsOnceWhenThereIsInput) {
    ReadWatch watch(calls_);
    ASSERT_TRUE(watch.begin(*server_));
    EXPECT_EQ(calls_.count, 0);
    send();
    wait_until([this] { return calls_.count == 1; });
    EXPECT_EQ(MUST(server_->read_some(buffer_, Deadline::after(kSoon))), 1U);
    send();
    MUST(server_->wait_readable(Deadline::after(kSoon)));
    EXPECT_EQ(calls_.count, 1);
}

TEST_F(ReadWatchTest, MayBeginAgain) {
    for (int i = 1; i <= 3; ++i) {
        ReadWatch watch(calls_);
        ASSERT_TRUE(watch.begin(*server_));
        send();
        wait_until([&] { return calls_.count == i; });
        EXPECT_EQ(MUST(server_->try_read(buffer_)), 1U);
        EXPECT_EQ(server_->try_read(buffer_).code(), Errc::need_more);
    }
}

TEST_F(ReadWatchTest, InputThatIsThereIsNotAwaited) {
    send();
    MUST(server_->wait_readable(Deadline::after(kSoon)));
    ReadWatch watch(calls_);
    EXPECT_FALSE(watch.begin(*server_));
    server_->close();
    EXPECT_FALSE(watch.begin(*server_));
    EXPECT_EQ(calls_.count, 0);
}

TEST_F(ReadWatchTest, TheEndAndACloseAreReported) {
    ReadWatch watch(calls_);
    ASSERT_TRUE(watch.begin(*server_));
    client_.reset();
    wait_until([this] { return calls_.count == 1; });
    EXPECT_EQ(server_->try_read(buffer_).code(), Errc::closed);

    auto other = MUST(TcpStream::connect(listener_->endpoint(), Deadline::after(kSoon)));
    const auto served = MUST(listener_->accept(Deadline::after(kSoon)));
    ReadWatch second(calls_);
    ASSERT_TRUE(second.begin(*served));
    served->close();
    EXPECT_EQ(calls_.count, 2);
}

TEST_F(ReadWatchTest, ADestroyedWatchIsSilent) {
    {
        ReadWatch watch(calls_);
        ASSERT_TRUE(watch.begin(*server_));
    }
    send();
    EXPECT_EQ(MUST(server_->read_some(buffer_, Deadline::after(kSoon))), 1U);
    EXPECT_EQ(calls_.count, 0);
}

}  // namespace
}  // namespace live::io
