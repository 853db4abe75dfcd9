#!/bin/sh
# The tests of the profilers and memory tools: each builds its own flavour of the server and takes minutes. Not a part of test.sh.
# Ends with `N passed, N failed`.
#   test-tools.sh [OBJS [TOOL...]]     tools: asan valgrind gprof gcp gmd gmc gmp perf gdb coroutines; without any, all
set -u
. "$(dirname -- "$0")/common.sh"
objs=${1:-$trunk/objs}
[ $# = 0 ] || shift
"$trunk/scripts/install-packages.sh" test profile || die "0 passed, 1 failed"
mkdir -p "$objs/logs"
TOOLS_OBJS=$objs/tools
export TOOLS_OBJS JOBS
total_passed=0 total_failed=0
for tool in ${*:-gdb perf gprof gcp gmp gmc gmd valgrind asan coroutines}; do
    case $tool in coroutines) script=coroutine_tools_test.sh ;; *) script=${tool}_test.sh ;; esac
    log=$objs/logs/test-tools-$tool.log
    start=$(date +%s)
    "$trunk/test/tools/$script" "$objs" >"$log" 2>&1
    status=$?
    passed=$(grep -oE '[0-9]+ passed' "$log" | tail -n 1 | cut -d' ' -f1)
    failed=$(grep -oE '[0-9]+ failed' "$log" | tail -n 1 | cut -d' ' -f1)
    passed=${passed:-0} failed=${failed:-0}
    if [ $status != 0 ] && [ "$failed" = 0 ]; then failed=1; fi
    [ "$failed" = 0 ] || grep -vE '^[0-9]+ passed' "$log" | tail -n 60 | sed 's/^/    /'
    say "$tool: $passed passed, $failed failed in $(($(date +%s) - start)) s"
    total_passed=$((total_passed + passed)) total_failed=$((total_failed + failed))
done
say "$total_passed passed, $total_failed failed"
[ $total_failed = 0 ] && [ $total_passed != 0 ]
