// A library that throws may be on a fiber's stack while it waits. The C++ runtime keeps its caught exceptions per OS thread, so
// they are swapped at a switch. Only this file is compiled with exceptions (cmake/io.cmake).
#include <algorithm>
#include <array>
#include <memory>
#include <stdexcept>
#include <string>
#include <vector>

#include <gtest/gtest.h>

#include "io/fibers/loop.hpp"
#include "io/fibers/scope.hpp"
#include "io/fibers/wait_fixture.hpp"

namespace live::io {
namespace {

class ExceptionSwitch : public testing::Test {
protected:
    std::unique_ptr<Loop> loop_ = MUST(Loop::create());
};

// Fibers leave their catch blocks in another order than they entered them, which would corrupt a shared list.
TEST_F(ExceptionSwitch, EachFiberKeepsTheExceptionItHasCaught) {
    Scope scope("test");
    std::array<Signal, 3> may_leave;
    std::vector<std::string> rethrown;
    for (std::size_t at = 0; at < may_leave.size(); ++at) {
        MUST(scope.start("catcher", [&, at](Deadline) {
            const std::string mine = "exception " + std::to_string(at);
            try {
                try {
                    throw std::runtime_error(mine);
                } catch (const std::exception& outer) {
                    MUST(wait(may_leave[at], Deadline::never()));
                    EXPECT_EQ(outer.what(), mine);
                    try {
                        throw std::logic_error("inner");
                    } catch (const std::logic_error&) {
                        MUST(yield(Deadline::never()));
                    }
                    throw;  // must be this fiber's own
                }
            } catch (const std::exception& error) {
                rethrown.emplace_back(error.what());
            }
            EXPECT_EQ(std::uncaught_exceptions(), 0);
        }));
    }
    wait_until([&] { return std::ranges::all_of(may_leave, &Signal::has_waiter); });
    for (const std::size_t at : {0U, 2U, 1U})
        may_leave[at].raise();
    MUST(scope.join(Deadline::after(kSoon)));
    EXPECT_EQ(rethrown, (std::vector<std::string>{"exception 0", "exception 2", "exception 1"}));
}

// A destructor that waits during stack unwinding.
TEST_F(ExceptionSwitch, KeepsExceptionsPerFiber) {
    struct Waits {
        ~Waits() {
            EXPECT_EQ(std::uncaught_exceptions(), 1);
            MUST(sleep(Deadline::after(2ms)));
            EXPECT_EQ(std::uncaught_exceptions(), 1);
        }
    };
    Scope scope("test");
    bool caught = false;
    MUST(scope.start("thrower", [&](Deadline) {
        try {
            const Waits waits;
            throw std::runtime_error("flying");
        } catch (const std::runtime_error&) {
            caught = true;
        }
    }));
    MUST(scope.start("witness", [](Deadline) {
        MUST(sleep(Deadline::after(1ms)));
        EXPECT_EQ(std::uncaught_exceptions(), 0);
    }));
    MUST(scope.join(Deadline::after(kSoon)));
    EXPECT_TRUE(caught);
}

}  // namespace
}  // namespace live::io
