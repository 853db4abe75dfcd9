#include "io/fibers/pause.hpp"

#include <array>
#include <csignal>
#include <cstdint>
#include <ctime>
#include <thread>

#include <gtest/gtest.h>
#include <sys/eventfd.h>
#include <sys/wait.h>
#include <unistd.h>

#include "io/fibers/loop.hpp"
#include "io/fibers/loop_state.hpp"
#include "io/fibers/scope.hpp"
#include "io/fibers/wait_fixture.hpp"
#include "io/net/socket_pair_fixture.hpp"
#include "io/net/tcp_stream.hpp"
#include "io/net/udp_socket.hpp"

namespace live::io {
namespace {

TimePoint at(std::chrono::milliseconds time) { return TimePoint() + 1h + time; }

TEST(Pauses, PauseOfTheProcessIsNotSilence) {
    Pauses pauses;
    EXPECT_EQ(pauses.silence_from(at(0ms)), at(0ms));
    pauses.add(at(1'000ms), at(7'000ms));
    pauses.add(at(8'000ms), at(9'000ms));
    EXPECT_EQ(pauses.silence_from(at(0ms)), at(7'000ms));
    EXPECT_EQ(pauses.silence_from(at(3'000ms)), at(8'000ms)) << "heard in the middle of a pause";
    EXPECT_EQ(pauses.silence_from(at(7'500ms)), at(8'500ms));
    EXPECT_EQ(pauses.silence_from(at(9'000ms)), at(9'000ms));
    EXPECT_EQ(pauses.last_length(), 1s);
}

TEST(Pauses, KeepsTheLastOnes) {
    Pauses pauses;
    for (int i = 0; i < 40; ++i)
        pauses.add(at(i * 1'000ms), at(i * 1'000ms + 500ms));
    EXPECT_EQ(pauses.silence_from(at(0ms)), at(500ms * static_cast<int>(Pauses::kKept)));
    EXPECT_EQ(pauses.count(), 40U);
}

// Starts a process that stops this one, and resumes it later.
void stop_this_process(std::chrono::milliseconds time) {
    const pid_t self = ::getpid();
    const pid_t child = ::fork();
    if (child == 0) {
        ::kill(self, SIGSTOP);
        const timespec pause{time.count() / 1'000, time.count() % 1'000 * 1'000'000};
        ::nanosleep(&pause, nullptr);
        ::kill(self, SIGCONT);
        ::_exit(0);
    }
    ASSERT_GT(child, 0);
    int status = 0;
    while (::waitpid(child, &status, WNOHANG) == 0)
        MUST(sleep(Deadline::after(std::chrono::milliseconds(5))));
}

TEST(Pauses, TheLoopNotesAStoppedProcess) {
    const auto loop = MUST(Loop::create());
    const std::uint64_t before = pauses().count();
    const TimePoint heard = now();
    stop_this_process(900ms);
    ASSERT_GT(pauses().count(), before);
    EXPECT_GE(silence_from(heard), heard + 800ms);
    EXPECT_LE(silence_from(heard), now());
}

TEST(Pauses, ReadsInputBeforeADeadlinePasses) {
    const auto loop = MUST(Loop::create());
    auto [here, there] = socket_pair();
    TcpStream stream(Socket(here), {});
    Errc end = Errc::system;
    Scope scope("test");
    MUST(scope.start("reads", [&](Deadline) {
        std::array<std::uint8_t, 4> buffer{};
        const auto got = stream.read_some(buffer, Deadline::after(600ms));
        end = got.ok() ? Errc::closed : got.code();
    }));
    MUST(yield(Deadline::never()));
    std::thread writer([fd = there] {
        std::this_thread::sleep_for(std::chrono::milliseconds(50));
        EXPECT_EQ(::write(fd, "x", 1), 1);
    });
    // Not looked at until the deadline has passed.
    std::this_thread::sleep_for(std::chrono::milliseconds(900));
    writer.join();
    MUST(scope.join(Deadline::after(kSoon)));
    EXPECT_EQ(end, Errc::closed) << "it was read";
    ::close(there);
}

// Stops the loop once, just after a poll has returned, and sends a datagram meanwhile.
class StopAfterPoll final : public st::Engine::Waker {
public:
    StopAfterPoll(UdpSocket& from, const UdpSocket& to) : from_(from), to_(to) {
        MUST(st::loop_state().engine.set_waker(event_fd_, this));
        EXPECT_EQ(::eventfd_write(event_fd_, 1), 0);
    }
    ~StopAfterPoll() {
        st::loop_state().engine.clear_waker();
        ::close(event_fd_);
    }
    StopAfterPoll(const StopAfterPoll&) = delete;
    StopAfterPoll& operator=(const StopAfterPoll&) = delete;

    void on_wake() override {
        eventfd_t count = 0;
        if (::eventfd_read(event_fd_, &count) != 0)
            return;  // writable
        const std::array<std::uint8_t, 1> byte{};
        const std::array sent{GsoBatch{byte, 1, {MUST(parse_ip(to_.endpoint().ip)), to_.endpoint().port}, {}}};
        EXPECT_EQ(from_.send(sent), 1U);
        std::this_thread::sleep_for(std::chrono::milliseconds(900));
    }

private:
    int event_fd_ = ::eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK);
    UdpSocket& from_;
    const UdpSocket& to_;
};

// A stopped process stops at the return of a system call, which may be a poll that has seen nothing of what arrives meanwhile.
TEST(Pauses, PollsAgainAfterAStopBetweenThePollAndTheTimers) {
    const auto loop = MUST(Loop::create());
    constexpr std::size_t kBuffer = 1 << 16;
    const auto here = MUST(UdpSocket::bind({"127.0.0.1", 0}, kBuffer));
    const auto there = MUST(UdpSocket::bind({"127.0.0.1", 0}, kBuffer));
    std::size_t received = 0;
    Scope scope("test");
    MUST(scope.start("receives", [&](Deadline deadline) { received = MUST(here->receive(deadline)).size(); }));
    ReadFirst read_first;
    wait_until([&] { return here->is_read_dry(); });
    const StopAfterPoll stop(*there, *here);
    // Due in the middle of the stop.
    MUST(sleep(Deadline::after(300ms)));
    EXPECT_FALSE(here->is_read_dry() && received == 0) << "the datagram has not been polled";
    MUST(read_first.wait([&] { return here->is_read_dry(); }, Deadline::never()));
    EXPECT_EQ(received, 1U);
    MUST(scope.join(Deadline::after(kSoon)));
    EXPECT_GE(pauses().last_length(), Pauses::kMin);
}

}  // namespace
}  // namespace live::io
