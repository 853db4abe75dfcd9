#!/bin/sh
# Unit tests and simulations of every room under ASan and UBSan, then every fuzz target over its stored inputs in test/corpus.
# Ends with `N passed, N failed`.
#   unit.sh [OBJS [gtest arguments]]
set -u
. "$(dirname -- "$0")/common.sh"
objs=${1:-$trunk/objs}
[ $# -gt 0 ] && shift
tree=$objs/asan
passed=0 failed=0

configure_tree "$tree" -DLIVE_TESTS=ON -DLIVE_SANITIZE=ON -DLIVE_QUICK_BUILD=ON -DLIVE_SIMULATOR=ON || die "0 passed, 1 failed"
build_tree "$tree" srs_utest replays || die "0 passed, 1 failed"

export ASAN_OPTIONS="detect_leaks=1:detect_stack_use_after_return=0:halt_on_error=1:abort_on_error=0:${ASAN_OPTIONS:-}"
export UBSAN_OPTIONS="print_stacktrace=1:halt_on_error=1:${UBSAN_OPTIONS:-}"
timeout 900 "$tree/srs_utest" --gtest_brief=1 "$@" >"$tree/utest.log" 2>&1
status=$?
grep -vE '^\[(=====|-----|  PASSED)' "$tree/utest.log"
passed=$(sed -n 's/^\[  PASSED  \] \([0-9]*\) test.*/\1/p' "$tree/utest.log" | tail -n 1)
failed=$(sed -n 's/^ *\([0-9]*\) FAILED TEST.*/\1/p' "$tree/utest.log" | tail -n 1)
passed=${passed:-0} failed=${failed:-0}
# A crash or a leak report after the last test fails the run although no test says so.
if [ $status != 0 ] && [ "$failed" = 0 ]; then
    warn "srs_utest ended with status $status"
    failed=1
fi

if [ $# = 0 ]; then
    for program in "$tree"/replay/replay_*; do
        [ -x "$program" ] || continue
        name=${program##*/replay_}
        stored=
        if [ -d "$trunk/test/corpus/$name" ]; then stored=$trunk/test/corpus/$name; fi
        if timeout 300 "$program" ${stored:+"$stored"} >"$tree/replay.log" 2>&1; then
            passed=$((passed + 1))
        else
            failed=$((failed + 1))
            warn "replay of test/corpus/$name failed:"
            tail -n 30 "$tree/replay.log" >&2
        fi
    done
fi
say "$passed passed, $failed failed"
[ "$failed" = 0 ] && [ $status = 0 ]
