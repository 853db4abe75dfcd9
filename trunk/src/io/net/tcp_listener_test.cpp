#include "io/net/tcp_listener.hpp"

#include <array>
#include <vector>

#include <fcntl.h>
#include <gtest/gtest.h>
#include <sys/resource.h>
#include <unistd.h>

#include "io/fibers/loop.hpp"
#include "io/fibers/scope.hpp"
#include "io/fibers/wait_fixture.hpp"

namespace live::io {
namespace {

class TcpListenerTest : public testing::Test {
protected:
    std::unique_ptr<Loop> loop_ = MUST(Loop::create());
    std::unique_ptr<TcpListener> listener_ = MUST(TcpListener::listen({"127.0.0.1", 0}));
};

TEST_F(TcpListenerTest, ATakenPortIsAConflict) {
    EXPECT_NE(listener_->endpoint().port, 0);
    EXPECT_EQ(TcpListener::listen(listener_->endpoint()).code(), Errc::conflict);
}

TEST_F(TcpListenerTest, ReportsAForeignLocalAddress) { EXPECT_EQ(TcpListener::listen({"203.0.113.7", 0}).code(), Errc::system); }

TEST_F(TcpListenerTest, BothFamiliesShareAPort) {
    const auto six = TcpListener::listen({"::1", listener_->endpoint().port});
    if (!six.ok())
        GTEST_SKIP() << "no IPv6 here: " << six.error().text();
    const auto client = MUST(TcpStream::connect((*six)->endpoint(), Deadline::after(kSoon)));
    const auto server = MUST((*six)->accept(Deadline::after(kSoon)));
    EXPECT_EQ(server->peer_ip(), "::1");
}

TEST_F(TcpListenerTest, AcceptTimesOutAndIsCancelledAndClosed) {
    EXPECT_EQ(listener_->accept(Deadline::after(1ms)).code(), Errc::timed_out);
    Scope first("first");
    Errc end = Errc::system;
    MUST(first.start("accept", [&](Deadline) { end = listener_->accept(Deadline::never()).code(); }));
    MUST(yield(Deadline::never()));
    MUST(first.stop(Deadline::after(kSoon)));
    EXPECT_EQ(end, Errc::cancelled);
    Scope second("second");
    MUST(second.start("accept", [&](Deadline) { end = listener_->accept(Deadline::never()).code(); }));
    MUST(yield(Deadline::never()));
    listener_->close();
    MUST(second.join(Deadline::after(kSoon)));
    EXPECT_EQ(end, Errc::closed);
}

TEST_F(TcpListenerTest, APeerThatLeavesBeforeItIsAcceptedDoesNoHarm) {
    for (int i = 0; i < 3; ++i) {
        const auto client = MUST(TcpStream::connect(listener_->endpoint(), Deadline::after(kSoon)));
        const linger hard{1, 0};  // RST instead of FIN.
        ::setsockopt(client->native_handle(), SOL_SOCKET, SO_LINGER, &hard, sizeof hard);
    }
    const auto client = MUST(TcpStream::connect(listener_->endpoint(), Deadline::after(kSoon)));
    for (int i = 0; i < 4; ++i)
        EXPECT_TRUE(listener_->accept(Deadline::after(kSoon)).ok());
}

// All descriptors but the listener's spare are in use: waiting peers are closed at once, and when one is free, accept continues.
TEST_F(TcpListenerTest, AFullDescriptorTableClosesWaitingPeersAndPasses) {
    const auto first = MUST(TcpStream::connect(listener_->endpoint(), Deadline::after(kSoon)));
    const auto second = MUST(TcpStream::connect(listener_->endpoint(), Deadline::after(kSoon)));
    const auto third = MUST(TcpStream::connect(listener_->endpoint(), Deadline::after(kSoon)));
    std::array<std::uint8_t, 8> buffer{};
    // A sanitizer needs descriptors for the first call of a type's function.
    EXPECT_EQ(first->read_some(buffer, Deadline::after(1ms)).code(), Errc::timed_out);
    rlimit before{};
    ASSERT_EQ(::getrlimit(RLIMIT_NOFILE, &before), 0);
    std::vector<int> taken;
    const int highest = ::open("/dev/null", O_RDONLY | O_CLOEXEC);
    taken.push_back(highest);
    const rlimit tight{static_cast<rlim_t>(highest) + 1, before.rlim_max};
    ASSERT_EQ(::setrlimit(RLIMIT_NOFILE, &tight), 0);
    for (int fd = ::open("/dev/null", O_RDONLY | O_CLOEXEC); fd >= 0; fd = ::open("/dev/null", O_RDONLY | O_CLOEXEC))
        taken.push_back(fd);

    // How many connections one call refuses before its deadline depends on the machine.
    const auto limit = Deadline::after(kSoon);
    while (listener_->refused() < 3 && !limit.expired())
        EXPECT_EQ(listener_->accept(Deadline::after(30ms)).code(), Errc::timed_out);
    EXPECT_EQ(listener_->refused(), 3U);
    EXPECT_EQ(first->read_some(buffer, Deadline::after(kSoon)).code(), Errc::closed);

    for (const int fd : taken)
        ::close(fd);
    ASSERT_EQ(::setrlimit(RLIMIT_NOFILE, &before), 0);
    const auto fourth = MUST(TcpStream::connect(listener_->endpoint(), Deadline::after(kSoon)));
    EXPECT_TRUE(listener_->accept(Deadline::after(kSoon)).ok());
}

}  // namespace
}  // namespace live::io
