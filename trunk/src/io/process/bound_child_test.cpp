#include "io/process/bound_child.hpp"

#include <array>
#include <csignal>
#include <string>

#include <gtest/gtest.h>
#include <sys/wait.h>
#include <unistd.h>

#include "io/fibers/loop.hpp"
#include "io/fibers/wait_fixture.hpp"
#include "io/process/child_process.hpp"
#include "io/process/pipe.hpp"

namespace live::io {
namespace {

class BoundChildTest : public testing::Test {
protected:
    // The text that the child writes until it closes the pipe.
    static std::string all_of(PipeReader& reader) {
        std::string text;
        std::array<std::uint8_t, 4096> block{};
        for (;;) {
            const auto got = reader.read_some(block, Deadline::after(kSoon));
            if (!got.ok()) {
                EXPECT_EQ(got.code(), Errc::closed);
                return text;
            }
            text += as_text(Bytes(block).first(*got));
        }
    }

    std::unique_ptr<Loop> loop_ = MUST(Loop::create());
};

TEST_F(BoundChildTest, HasThePipesAndNothingElse) {
    auto [input, its_input] = MUST(open_pipe_to_child(1 << 16));
    auto [errors, its_errors] = MUST(open_pipe_from_child(1 << 16));
    auto [first, its_first] = MUST(open_pipe_from_child(1 << 16));
    auto [second, its_second] = MUST(open_pipe_from_child(1 << 16));
    const int leaked = ::dup(STDOUT_FILENO);  // without O_CLOEXEC
    const auto child = MUST(ChildProcess::spawn(
        {.arguments = {"/bin/sh", "-c", "cat; echo one >&3; echo two >&4; echo three >&2; exec ls /proc/self/fd >&3"},
         .ends_with_us = true,
         .input = its_input.fd(),
         .errors = its_errors.fd(),
         .handles = {its_first.fd(), its_second.fd()}}));
    ::close(leaked);
    its_input.close();
    its_errors.close();
    its_first.close();
    its_second.close();
    MUST(input.write_all(as_bytes("ignored"), Deadline::after(kSoon)));
    input.close();
    EXPECT_EQ(all_of(first), "one\n0\n1\n2\n3\n4\n5\n") << "5 is the folder that ls reads";
    EXPECT_EQ(all_of(second), "two\n");
    EXPECT_EQ(all_of(errors), "three\n");
    EXPECT_TRUE(MUST(child->wait(Deadline::after(kSoon))).success());
}

TEST_F(BoundChildTest, LeadsItsOwnGroupAndIsStoppedAsAGroup) {
    auto [out, its_out] = MUST(open_pipe_from_child(1 << 16));
    const auto child = MUST(ChildProcess::spawn({.arguments = {"/bin/sh", "-c", "sleep 60 & echo $! >&3; exec 3>&-; wait"},
                                                 .ends_with_us = true,
                                                 .handles = {its_out.fd()}}));
    its_out.close();
    EXPECT_EQ(::getpgid(child->pid()), child->pid());
    // The grandchild has inherited the pipe before the shell closed its own end, so the pipe ends with the group.
    std::array<std::uint8_t, 32> number{};
    MUST(out.read_some(number, Deadline::after(kSoon)));
    MUST(child->stop(Deadline::after(kSoon)));
    EXPECT_EQ(out.read_some(number, Deadline::after(kSoon)).code(), Errc::closed);
}

TEST_F(BoundChildTest, EndsWithTheProcessThatStartedIt) {
    std::array<int, 2> ends{};
    ASSERT_EQ(::pipe(ends.data()), 0);
    const pid_t parent = ::fork();
    if (parent == 0) {
        // The child holds the pipe open for as long as it lives.
        std::string program = "/bin/sh";
        std::string flag = "-c";
        std::string script = "echo >&3; exec sleep 60";
        std::array<char*, 4> arguments{program.data(), flag.data(), script.data(), nullptr};
        ChildOptions options;
        options.arguments = {program};
        options.handles = {ends[1]};
        pid_t pid = -1;
        static_cast<void>(start_bound_child(options, "/dev/null", arguments.data(), environ, pid));
        ::close(ends[1]);
        ::pause();
        ::_exit(0);
    }
    ::close(ends[1]);
    char byte = 0;
    ASSERT_EQ(::read(ends[0], &byte, 1), 1);  // the child runs
    ::kill(parent, SIGKILL);
    ::waitpid(parent, nullptr, 0);
    EXPECT_EQ(::read(ends[0], &byte, 1), 0);
    ::close(ends[0]);
}

TEST_F(BoundChildTest, ReportsAProgramThatCannotRun) {
    const auto start = [](const char* program) {
        return ChildProcess::spawn({.arguments = {program}, .ends_with_us = true}).code();
    };
    EXPECT_EQ(start("/no/such/program"), Errc::not_found);
    EXPECT_EQ(start("no-such-program-in-the-path"), Errc::not_found);
    EXPECT_EQ(start("/dev/null"), Errc::denied);
    EXPECT_EQ(::waitpid(-1, nullptr, WNOHANG), -1) << "a failed start leaves no process";
}

TEST_F(BoundChildTest, AFullPipeWaits) {
    auto [input, its_input] = MUST(open_pipe_to_child(1 << 12));
    const auto child = MUST(ChildProcess::spawn({.arguments = {"sleep", "60"}, .ends_with_us = true, .input = its_input.fd()}));
    its_input.close();
    const std::string much(1 << 20, 'x');
    EXPECT_EQ(input.write_all(as_bytes(much), Deadline::after(20ms)).code(), Errc::timed_out);
    MUST(child->stop(Deadline::after(kSoon)));
    EXPECT_EQ(input.write_all(as_bytes(much), Deadline::after(kSoon)).code(), Errc::closed);
}

}  // namespace
}  // namespace live::io
