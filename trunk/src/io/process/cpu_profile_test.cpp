#include "io/process/cpu_profile.hpp"

#include <algorithm>
#include <csignal>
#include <string>

#include <gtest/gtest.h>

#include "io/fibers/loop.hpp"
#include "io/fibers/scope.hpp"
#include "io/fibers/wait_fixture.hpp"
#include "io/process/symbol_table.hpp"

namespace live::io {

// Not in the unnamed namespace: the test looks for their names.
[[gnu::noinline]] void burn_in_a_profile() {
    // No call: inside a leaf function of a library the caller is missing from the chain.
    volatile unsigned turns = 0;
    while (turns < 1'000'000)
        turns = turns + 1;
}

namespace {

struct CpuProfileTest : testing::Test {
    ~CpuProfileTest() override { MUST(scope.stop(Deadline::after(kSoon))); }
    void start_burner() {
        MUST(scope.start("burner", [](Deadline deadline) {
            do
                burn_in_a_profile();
            while (yield(deadline).ok());
        }));
    }

    std::unique_ptr<Loop> loop = MUST(Loop::create());
    Scope scope{"test"};
};

TEST_F(CpuProfileTest, UnwindsFiberStackToFirstFrame) {
    start_burner();
    CpuProfile profile;
    // A busy machine may give this process no time at all.
    for (int tries = 0; tries < 20 && profile.samples == 0; ++tries)
        profile = MUST(profile_cpu(300ms, Deadline::after(kSoon)));
    ASSERT_GT(profile.samples, 0U);
    const SymbolTable symbols;
    std::size_t whole = 0;
    for (std::size_t at = 0; at < profile.words.size(); at += profile.words[at + 1] + 2) {
        EXPECT_GE(profile.words[at], 1U);
        ASSERT_LE(profile.words[at + 1], CpuProfile::kDepthMax);
        bool burns = false;
        std::string outermost;
        for (std::size_t i = 0; i < profile.words[at + 1]; ++i) {
            outermost = symbols.name_of(profile.words[at + 2 + i] - (i == 0 ? 0 : 1));
            burns = burns || outermost == "live::io::burn_in_a_profile()";
        }
        whole += burns && outermost == "live_fiber_entry" ? 1 : 0;
    }
    EXPECT_GE(whole * 2, profile.samples);
}

TEST_F(CpuProfileTest, WaitingIsNotSeen) {
    const CpuProfile profile = MUST(profile_cpu(50ms, Deadline::after(kSoon)));
    EXPECT_LE(profile.samples, 2U);
}

TEST_F(CpuProfileTest, OnlyOneIsTakenAtATime) {
    MUST(scope.start("first", [](Deadline deadline) { static_cast<void>(profile_cpu(1min, deadline)); }));
    MUST(yield(Deadline::never()));
    EXPECT_EQ(profile_cpu(1ms, Deadline::never()).code(), Errc::conflict);
    scope.cancel();
    MUST(scope.join(Deadline::after(kSoon)));
    EXPECT_TRUE(profile_cpu(1ms, Deadline::never()).ok()) << "the first one's end was noticed";
}

TEST_F(CpuProfileTest, AnotherProfilersSignalIsLeftToIt) {
    struct sigaction before {};
    struct sigaction other {};
    other.sa_handler = [](int) {};
    ASSERT_EQ(::sigaction(SIGPROF, &other, &before), 0);
    EXPECT_EQ(profile_cpu(1ms, Deadline::never()).code(), Errc::conflict);
    ASSERT_EQ(::sigaction(SIGPROF, &before, &other), 0);
    EXPECT_NE(other.sa_handler, SIG_DFL) << "its handler has stayed";
    EXPECT_TRUE(profile_cpu(1ms, Deadline::never()).ok());
}

TEST(SymbolTable, NamesSymbolsAndUnknownAddresses) {
    const SymbolTable symbols;
    EXPECT_EQ(symbols.name_of(reinterpret_cast<std::uintptr_t>(&burn_in_a_profile)), "live::io::burn_in_a_profile()");
    EXPECT_EQ(symbols.name_of(0x10), "0x10");
}

}  // namespace
}  // namespace live::io
