#include "supervisor/process/daemon.hpp"

#include <gtest/gtest.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cstdlib>
#include <functional>
#include <string>

namespace live::supervisor {
namespace {

TEST(Daemon, HintNamesTheLog) {
    EXPECT_NE(daemon_hint("./objs/srs.log").find("tail -n 30 -f ./objs/srs.log\n"), std::string::npos);
}

// A child of the test daemonizes and reports its state over a pipe.
TEST(Daemon, HasNoTerminalAndLeadsNoSession) {
    int ends[2];
    ASSERT_EQ(::pipe(ends), 0);
    const pid_t parent = ::fork();
    ASSERT_GE(parent, 0);
    if (parent == 0) {
        auto side = detach_from_terminal();
        if (!side.ok())
            ::_exit(2);
        if (side->side == Detached::Side::parent)
            ::_exit(side->status);
        side->report.report_success();
        const bool good = ::getsid(0) != ::getpid() && ::isatty(STDOUT_FILENO) == 0 && ::write(STDOUT_FILENO, "x", 1) == 1;
        const char answer = good ? 'y' : 'n';
        ::_exit(::write(ends[1], &answer, 1) == 1 ? 0 : 1);
    }
    ::close(ends[1]);
    int status = 0;
    ASSERT_EQ(::waitpid(parent, &status, 0), parent);
    EXPECT_TRUE(WIFEXITED(status));
    EXPECT_EQ(WEXITSTATUS(status), 0) << "the parent ends with success while the daemon serves";
    char answer = '?';
    EXPECT_EQ(::read(ends[0], &answer, 1), 1);
    EXPECT_EQ(answer, 'y');
    ::close(ends[0]);
}

// Returns the result that the original process receives from a daemon that runs `start`.
Detached outcome_of(const std::function<void(StartReport&)>& start) {
    int ends[2];
    EXPECT_EQ(::pipe(ends), 0);
    const pid_t parent = ::fork();
    if (parent == 0) {
        auto detached = detach_from_terminal();
        if (!detached.ok())
            ::_exit(2);
        if (detached->side == Detached::Side::daemon) {
            start(detached->report);
            ::_exit(3);
        }
        const std::string& sentence = detached->sentence;
        const bool written = ::write(ends[1], sentence.data(), sentence.size()) == static_cast<ssize_t>(sentence.size());
        ::_exit(written ? detached->status : 4);
    }
    ::close(ends[1]);
    int status = 0;
    EXPECT_EQ(::waitpid(parent, &status, 0), parent);
    Detached outcome;
    outcome.status = WIFEXITED(status) ? WEXITSTATUS(status) : -1;
    char text[256];
    for (ssize_t count = 0; (count = ::read(ends[0], text, sizeof text)) > 0;)
        outcome.sentence.append(text, static_cast<std::size_t>(count));
    ::close(ends[0]);
    return outcome;
}

TEST(Daemon, ParentReportsSuccess) {
    const Detached outcome = outcome_of([](StartReport& report) { report.report_success(); });
    EXPECT_EQ(outcome.status, 0);
    EXPECT_EQ(outcome.sentence, "");
}

TEST(Daemon, ParentReportsTheFailure) {
    const Detached outcome = outcome_of([](StartReport& report) { report.report_failure(235, "the port is taken"); });
    EXPECT_EQ(outcome.status, 235);
    EXPECT_EQ(outcome.sentence, "the port is taken");
}

TEST(Daemon, DeathWithoutReportIsAFailure) {
    const Detached outcome = outcome_of([](StartReport&) {});
    EXPECT_EQ(outcome.status, EXIT_FAILURE);
    EXPECT_EQ(outcome.sentence, "the server died while it started");
}

}  // namespace
}  // namespace live::supervisor
