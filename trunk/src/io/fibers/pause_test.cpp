#include "io/fibers/pause.hpp"

#include <csignal>
#include <ctime>
#include <thread>

#include <gtest/gtest.h>
#include <sys/wait.h>
#include <unistd.h>

#include "io/fibers/loop.hpp"
#include "io/fibers/scope.hpp"
#include "io/fibers/wait_fixture.hpp"
#include "io/net/socket_pair_fixture.hpp"
#include "io/net/tcp_stream.hpp"

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

}  // namespace
}  // namespace live::io
