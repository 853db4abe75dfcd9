// A library that throws may be on a fiber's stack while it waits. The C++ runtime keeps its caught exceptions per OS thread, so
// they are swapped at a switch. Only this file is compiled with exceptions (cmake/io.cmake).
#include <memory>
#include <stdexcept>
#include <string>
#include <vector>

#include <gtest/gtest.h>

#include "io/loop.hpp"
#include "io/scope.hpp"

namespace live::io {
namespace {

class ExceptionSwitch : public testing::Test {
protected:
    std::unique_ptr<Loop> loop_ = MUST(Loop::create());
};

// Two fibers leave their catch blocks in the order that would corrupt a shared list.
TEST_F(ExceptionSwitch, EachFiberKeepsTheExceptionItHasCaught) {
    Scope scope("test");
    std::vector<std::string> rethrown;
    for (const int millis : {1, 3, 2}) {
        MUST(scope.start("catcher", [&rethrown, millis](Deadline) {
            const std::string mine = "exception " + std::to_string(millis);
            try {
                try {
                    throw std::runtime_error(mine);
                } catch (const std::exception& outer) {
                    MUST(sleep(Deadline::after(std::chrono::milliseconds(millis))));
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
    MUST(scope.join(Deadline::after(10s)));
    EXPECT_EQ(rethrown, (std::vector<std::string>{"exception 1", "exception 2", "exception 3"}));
}

// A destructor that waits during stack unwinding.
TEST_F(ExceptionSwitch, AnExceptionInFlightStaysWithItsFiber) {
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
    MUST(scope.join(Deadline::after(10s)));
    EXPECT_TRUE(caught);
}

}  // namespace
}  // namespace live::io
