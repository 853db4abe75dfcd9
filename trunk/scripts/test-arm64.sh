#!/bin/sh
# Cross-compiles for aarch64 and runs the unit tests under qemu-user. Not part of the default tests: an emulator takes minutes. Debian
# only; Ubuntu serves foreign architectures from another mirror. Ends with `N passed, N failed`.
#   test-arm64.sh [OBJS]
# ARM64_FILTER: which tests, as gtest's filter. Left out: death tests (they run the program again, which an emulator in user mode
# cannot), those of the daemon, and two that read of /proc/self/stat what the emulator leaves at 0 there.
set -u
. "$(dirname -- "$0")/common.sh"
objs=${1:-$trunk/objs}
tree=$objs/arm64

"$trunk/scripts/install-packages.sh" arm64 || die "0 passed, 1 failed"
emulator=$(command -v qemu-aarch64 || command -v qemu-aarch64-static) || die "qemu-user is missing"

configure_tree "$tree" -DLIVE_TESTS=ON -DLIVE_QUICK_BUILD=ON "-DCMAKE_TOOLCHAIN_FILE=$trunk/cmake/aarch64.cmake" || die "0 passed, 1 failed"
build_tree "$tree" srs_utest || die "0 passed, 1 failed"
# Whole programs of ours, too, when there are any: -v runs the start of the process.
programs=$(ninja -C "$tree" -t targets all 2>/dev/null | sed -n 's/^\(srs\): phony$/\1/p')
if [ -n "$programs" ]; then build_tree "$tree" srs || die "0 passed, 1 failed"; fi

# With the C library of the packages and its own loader: the cross compiler's loader beside it cannot start a thread.
run_foreign() {
    timeout --signal=KILL "$1" "$emulator" "$tree/$2" ${3:+"$3"} ${4:+"$4"} </dev/null
}

without='*DeathTest*:*Abort*:Daemon.*'
without=$without:SystemApiTest.TheProcessHasEveryFieldOfTheKernel:MetricsApiTest.HasEveryNameOfTheFamilyWithItsType
# A part for each core.
part=0
while [ $part -lt "$JOBS" ]; do
    {
        export GTEST_TOTAL_SHARDS="$JOBS" GTEST_SHARD_INDEX="$part"
        run_foreign 3000 srs_utest --gtest_brief=1 "--gtest_filter=${ARM64_FILTER:-*}-$without" >"$tree/utest.$part.log" 2>&1
        echo $? >"$tree/utest.$part.status"
    } &
    part=$((part + 1))
done
wait
passed=0 failed=0
while [ $part -gt 0 ]; do
    part=$((part - 1))
    log=$tree/utest.$part.log
    grep -vE '^\[(=====|-----)' "$log"
    good=$(sed -n 's/^\[  PASSED  \] \([0-9]*\) test.*/\1/p' "$log" | tail -n 1)
    bad=$(sed -n 's/^ *\([0-9]*\) FAILED TEST.*/\1/p' "$log" | tail -n 1)
    if [ "$(cat "$tree/utest.$part.status")" != 0 ] && [ "${bad:-0}" = 0 ]; then bad=1; fi
    passed=$((passed + ${good:-0})) failed=$((failed + ${bad:-0}))
done
if [ -n "$programs" ]; then
    if run_foreign 60 srs -v; then
        passed=$((passed + 1))
    else
        failed=$((failed + 1))
    fi
fi
say "$passed passed, $failed failed"
[ "$failed" = 0 ] && [ "$passed" != 0 ]
