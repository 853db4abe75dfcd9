#!/bin/sh
# Cross-compiles for aarch64 and runs the unit tests under qemu-user. Not part of the default tests: an emulator takes minutes. Debian
# only; Ubuntu serves foreign architectures from another mirror. Ends with `N passed, N failed`.
#   test-arm64.sh [OBJS]
# ARM64_FILTER: which tests, as gtest's filter. Left out, and said: death tests (they run the program again, which an emulator in user
# mode cannot), those of the daemon, and tests that start threads where this emulator cannot start any.
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

run_foreign() {
    timeout --signal=KILL "$1" "$emulator" -L /usr/aarch64-linux-gnu -E LD_LIBRARY_PATH=/usr/lib/aarch64-linux-gnu "$tree/$2" \
        ${3:+"$3"} ${4:+"$4"} </dev/null
}

without='*DeathTest*:*Abort*:Daemon.*'
cat >"$tree/thread.c" <<'C'
#include <pthread.h>
static void* body(void* p) { return p; }
int main(void) {
    pthread_t thread;
    return pthread_create(&thread, 0, body, 0) != 0 || pthread_join(thread, 0) != 0;
}
C
aarch64-linux-gnu-gcc "$tree/thread.c" -o "$tree/thread" -pthread || die "0 passed, 1 failed"
if ! (run_foreign 20 thread) >/dev/null 2>&1; then
    say "this emulator cannot start a thread on this kernel: tests of the worker threads are left out"
    without="$without:OffLoop*:*WorkerPool*:*Resolve*:*Tls*:*File*:StaticHandler*:MetricsApi*:SystemApi*:ServerHandlers*"
fi
run_foreign 1200 srs_utest --gtest_brief=1 "--gtest_filter=${ARM64_FILTER:-*}-$without" >"$tree/utest.log" 2>&1
status=$?
grep -vE '^\[(=====|-----)' "$tree/utest.log"
passed=$(sed -n 's/^\[  PASSED  \] \([0-9]*\) test.*/\1/p' "$tree/utest.log" | tail -n 1)
failed=$(sed -n 's/^ *\([0-9]*\) FAILED TEST.*/\1/p' "$tree/utest.log" | tail -n 1)
passed=${passed:-0} failed=${failed:-0}
if [ $status != 0 ] && [ "$failed" = 0 ]; then failed=1; fi
if [ -n "$programs" ]; then
    if run_foreign 60 srs -v; then
        passed=$((passed + 1))
    else
        failed=$((failed + 1))
    fi
fi
say "$passed passed, $failed failed"
[ "$failed" = 0 ] && [ $status = 0 ]
