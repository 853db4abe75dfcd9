#include "main/daemon.hpp"

#include <gtest/gtest.h>
#include <sys/wait.h>
#include <unistd.h>

#include <string>

namespace live::main_ {
namespace {

TEST(Daemon, TheHintNamesTheLog) {
    EXPECT_NE(daemon_hint("./objs/srs.log").find("tail -n 30 -f ./objs/srs.log\n"), std::string::npos);
}

// A child of the test goes to the background and tells over a pipe what it has become.
TEST(Daemon, IsInASessionThatItDoesNotLeadAndHasNoTerminal) {
    int ends[2];
    ASSERT_EQ(::pipe(ends), 0);
    const pid_t parent = ::fork();
    ASSERT_GE(parent, 0);
    if (parent == 0) {
        const auto side = detach_from_terminal();
        if (!side.ok())
            ::_exit(2);
        if (*side == DaemonSide::parent)
            ::_exit(0);
        const bool good = ::getsid(0) != ::getpid() && ::isatty(STDOUT_FILENO) == 0 && ::write(STDOUT_FILENO, "x", 1) == 1;
        const char answer = good ? 'y' : 'n';
        ::_exit(::write(ends[1], &answer, 1) == 1 ? 0 : 1);
    }
    ::close(ends[1]);
    int status = 0;
    ASSERT_EQ(::waitpid(parent, &status, 0), parent);
    EXPECT_TRUE(WIFEXITED(status));
    EXPECT_EQ(WEXITSTATUS(status), 0) << "the parent ends with success while the daemon goes on";
    char answer = '?';
    EXPECT_EQ(::read(ends[0], &answer, 1), 1);
    EXPECT_EQ(answer, 'y');
    ::close(ends[0]);
}

}  // namespace
}  // namespace live::main_
