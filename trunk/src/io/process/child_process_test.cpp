#include "io/process/child_process.hpp"

#include <array>
#include <csignal>
#include <cstdio>
#include <cstdlib>
#include <string>

#include <gtest/gtest.h>
#include <sys/wait.h>
#include <unistd.h>

#include "io/fibers/loop.hpp"
#include "io/fibers/scope.hpp"
#include "io/fibers/wait_fixture.hpp"
#include "io/process/signal_pipe.hpp"

namespace live::io {
namespace {

class ChildProcessTest : public testing::Test {
protected:
    ~ChildProcessTest() override { ::unlink(output_.c_str()); }

    // A shell stands in for any program; the class itself never uses one.
    std::unique_ptr<ChildProcess> spawn(const std::string& script) {
        return MUST(ChildProcess::spawn({.arguments = {"/bin/sh", "-c", script}, .output_path = output_}));
    }
    std::string output() const {
        std::string text;
        if (FILE* file = std::fopen(output_.c_str(), "r")) {
            std::array<char, 256> block{};
            text.assign(block.data(), std::fread(block.data(), 1, block.size(), file));
            std::fclose(file);
        }
        return text;
    }

    std::unique_ptr<Loop> loop_ = MUST(Loop::create());
    std::string output_ = "/tmp/live_child_process_test." + std::to_string(::getpid());
};

TEST_F(ChildProcessTest, ItsExitCodeAndOutputAreSeen) {
    const auto child = spawn("echo out; echo err >&2; exit 3");
    const ChildExit end = MUST(child->wait(Deadline::after(kSoon)));
    EXPECT_EQ(end.code, 3);
    EXPECT_FALSE(end.success());
    EXPECT_EQ(end.text(), "exited with 3");
    EXPECT_EQ(output(), "out\nerr\n");
    EXPECT_EQ(MUST(child->wait(Deadline::never())).code, 3);
}

TEST_F(ChildProcessTest, ArgumentsAreNotInterpreted) {
    const auto child = MUST(ChildProcess::spawn({.arguments = {"printf", "%s|%s", "$HOME; ls", "a b"}, .output_path = output_}));
    EXPECT_TRUE(MUST(child->wait(Deadline::after(kSoon))).success());
    EXPECT_EQ(output(), "$HOME; ls|a b");
}

TEST_F(ChildProcessTest, ReportsAMissingProgram) {
    auto missing = ChildProcess::spawn({.arguments = {"/no/such/program"}, .output_path = ""});
    // posix_spawn(3) reports the failure by the child's exit code where the two share no memory: under user-mode emulators.
    if (missing.ok() && MUST((*missing)->wait(Deadline::after(kSoon))).code == 127)
        GTEST_SKIP() << "posix_spawn does not report a failed exec here";
    EXPECT_EQ(missing.code(), Errc::not_found);
    EXPECT_EQ(ChildProcess::spawn({.arguments = {}, .output_path = ""}).code(), Errc::malformed);
    EXPECT_EQ(ChildProcess::spawn({.arguments = {"/bin/sh"}, .output_path = "/no/such/folder/log"}).code(), Errc::not_found);
    EXPECT_EQ(ChildProcess::spawn({.arguments = {"/dev/null"}, .output_path = ""}).code(), Errc::denied);
}

TEST_F(ChildProcessTest, WaitingTimesOutWhileItRuns) {
    const auto child = spawn("exec sleep 60");
    EXPECT_EQ(child->wait(Deadline::after(2ms)).code(), Errc::timed_out);
    EXPECT_EQ(MUST(child->stop(Deadline::after(kSoon))).signal, SIGTERM);
}

TEST_F(ChildProcessTest, OneThatIgnoresTheRequestIsKilled) {
    const auto child = spawn("trap '' TERM; echo ready; while :; do sleep 1; done");
    const auto limit = Deadline::after(kSoon);
    while (output() != "ready\n" && !limit.expired())
        MUST(sleep(Deadline::after(1ms)));
    EXPECT_EQ(MUST(child->stop(Deadline::after(5ms))).signal, SIGKILL);
}

TEST_F(ChildProcessTest, ItsWholeGroupIsStopped) {
    const auto child = spawn("sleep 60 & echo $!; wait");
    const auto limit = Deadline::after(kSoon);
    while (output().empty() && !limit.expired())
        MUST(sleep(Deadline::after(1ms)));
    const pid_t grandchild = static_cast<pid_t>(std::strtol(output().c_str(), nullptr, 10));
    ASSERT_GT(grandchild, 0);
    MUST(child->stop(Deadline::after(kSoon)));
    // Gone, or a zombie that has not been reaped yet.
    while (::kill(grandchild, 0) == 0 && !limit.expired()) {
        const std::string path = "/proc/" + std::to_string(grandchild) + "/stat";
        FILE* file = std::fopen(path.c_str(), "r");
        char state = 'X';
        if (file != nullptr && std::fscanf(file, "%*d %*s %c", &state) != 1)
            state = '?';
        if (file != nullptr)
            std::fclose(file);
        if (state == 'Z' || state == 'X')
            break;
        MUST(sleep(Deadline::after(1ms)));
    }
    EXPECT_FALSE(limit.expired());
}

TEST_F(ChildProcessTest, DestroyingItKillsIt) {
    auto child = spawn("exec sleep 60");
    const pid_t pid = child->pid();
    child.reset();
    EXPECT_EQ(::kill(pid, 0), -1);
}

TEST_F(ChildProcessTest, AReleasedChildContinues) {
    auto child = spawn("exec sleep 60");
    const pid_t pid = child->pid();
    child->detach();
    child.reset();
    EXPECT_EQ(::kill(pid, SIGKILL), 0);
    EXPECT_EQ(::waitpid(pid, nullptr, 0), pid);
}

TEST_F(ChildProcessTest, SignalsReachAFiberAndNotTheChild) {
    const auto signals = MUST(SignalPipe::create(std::array{SIGUSR2, SIGHUP}));
    EXPECT_EQ(signals->next_signal(Deadline::after(1ms)).code(), Errc::timed_out);
    ::kill(::getpid(), SIGUSR2);
    EXPECT_EQ(MUST(signals->next_signal(Deadline::after(kSoon))), SIGUSR2);
    Scope scope("test");
    int got = 0;
    MUST(scope.start("waits", [&](Deadline) { got = MUST(signals->next_signal(Deadline::after(kSoon))); }));
    MUST(yield(Deadline::never()));
    ::kill(::getpid(), SIGHUP);
    MUST(scope.join(Deadline::after(kSoon)));
    EXPECT_EQ(got, SIGHUP);
    // Blocked in this process, not in the child.
    const auto child = spawn("kill -HUP $$; exit 7");
    EXPECT_EQ(MUST(child->wait(Deadline::after(kSoon))).signal, SIGHUP);
}

}  // namespace
}  // namespace live::io
