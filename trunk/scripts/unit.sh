#!/bin/sh
# Unit tests and simulations of every room under ASan and UBSan, then every fuzz target over its stored inputs in test/corpus.
# Ends with `N passed, N failed`.
#   unit.sh [OBJS [--gtest_filter=...]]     with a filter no fuzz targets
# STALLS=SEED: every test program stands still for moments (test/tools/stall.py). A test that fails depends on a machine's speed.
set -u
. "$(dirname -- "$0")/common.sh"
objs=${1:-$trunk/objs}
[ $# -gt 0 ] && shift
passed=0 failed=0
configure_checked "$objs" || die "0 passed, 1 failed"
fuzzers=fuzzers
[ $# = 0 ] || fuzzers=
build_tree "$tree" srs_utest $fuzzers || die "0 passed, 1 failed"

export ASAN_OPTIONS="detect_leaks=1:detect_stack_use_after_return=0:halt_on_error=1:abort_on_error=0:${ASAN_OPTIONS:-}"
export UBSAN_OPTIONS="print_stacktrace=1:halt_on_error=1:${UBSAN_OPTIONS:-}"

# In parts, as some tests take a minute and most no time.
parts=$((8 * JOBS))
rm -f "$tree"/utest-*.status "$tree"/*.replay.status
filter=${1:-}
part() {
    GTEST_TOTAL_SHARDS=$parts GTEST_SHARD_INDEX=$1 timeout 900 ${STALLS:+"$trunk/test/tools/stall.py" "$STALLS.$1"} "$tree/srs_utest" --gtest_brief=1 ${filter:+"$filter"} >"$tree/utest-$1.log" 2>&1
    echo "$?" >"$tree/utest-$1.status"
}
each_of "$(seq 0 $((parts - 1)))" part
for at in $(seq 0 $((parts - 1))); do
    log=$tree/utest-$at.log
    status=$(cat "$tree/utest-$at.status")
    grep -vE '^\[(=====|-----|  PASSED)' "$log"
    share_passed=$(sed -n 's/^\[  PASSED  \] \([0-9]*\) test.*/\1/p' "$log" | tail -n 1)
    share_failed=$(sed -n 's/^ *\([0-9]*\) FAILED TEST.*/\1/p' "$log" | tail -n 1)
    # A crash or a leak report after the last test fails the run although no test failed.
    if [ "$status" != 0 ] && [ "${share_failed:-0}" = 0 ]; then
        warn "srs_utest ended with status $status"
        share_failed=1
    fi
    passed=$((passed + ${share_passed:-0})) failed=$((failed + ${share_failed:-0}))
done

# libFuzzer, given files, runs these and nothing else.
replay() {
    find "$trunk/test/corpus/${1#fuzz_}" -type f -print0 2>/dev/null | timeout 300 xargs -0 "$tree/$1" -timeout=60 "$tree/empty" >"$tree/$1.replay.log" 2>&1
    echo "$?" >"$tree/$1.replay.status"
}
if [ $# = 0 ]; then
    : >"$tree/empty"
    targets=$(fuzz_targets)
    each_of "$targets" replay
    for target in $targets; do
        if [ "$(cat "$tree/$target.replay.status")" = 0 ]; then
            passed=$((passed + 1))
        else
            failed=$((failed + 1))
            warn "replay of test/corpus/${target#fuzz_} failed:"
            tail -n 30 "$tree/$target.replay.log" >&2
        fi
    done
fi
# At night, also the vectors that Go's module proxy has.
if [ $# = 0 ] && [ -n "${LIVE_NIGHT:-}" ]; then
    if ! command -v go >/dev/null; then
        warn "without go, the vectors of Wycheproof are not tested"
    elif timeout 300 "$trunk/scripts/wycheproof.sh" "$tree/srs_utest" >"$tree/wycheproof.log" 2>&1; then
        passed=$((passed + 1))
    else
        failed=$((failed + 1))
        warn "wycheproof.sh failed:"
        tail -n 30 "$tree/wycheproof.log" >&2
    fi
fi
say "$passed passed, $failed failed"
[ "$failed" = 0 ]
