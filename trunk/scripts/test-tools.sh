#!/bin/sh
# The tests of the profilers and memory tools: each builds its own flavour of the server, below OBJS/tools; the ordinary one is taken from
# OBJS. All of them take up to 25 minutes on two cores. test.sh runs those that its own builds allow: asan and valgrind. Ends with `N passed, N failed`.
#   test-tools.sh [OBJS [TOOL...]]     tools: gdb perf system valgrind coroutines gcp gmp gmd gmc gprof asan; without any, all
set -u
. "$(dirname -- "$0")/common.sh"
objs=${1:-$trunk/objs}
[ $# = 0 ] || shift
"$trunk/scripts/install-packages.sh" test profile || die "0 passed, 1 failed"
mkdir -p "$objs/logs"
TOOLS_OBJS=$objs/tools
export TOOLS_OBJS JOBS
total_passed=0 total_failed=0
began=$(date +%s)
# Those of one flavour one after the other.
for tool in ${*:-gdb perf system valgrind coroutines gcp gmp gmd gmc gprof asan}; do
    case $tool in coroutines) script=coroutine_tools_test.sh ;; *) script=${tool}_test.sh ;; esac
    log=$objs/logs/test-tools-$tool.log
    start=$(date +%s)
    "$trunk/test/tools/$script" "$objs" >"$log" 2>&1
    status=$?
    passed=0 failed=0
    add_counts "$log" $status >"$log.words"
    [ $failed = 0 ] || tail -n 60 "$log.words" | sed 's/^/    /'
    say "$tool: $passed passed, $failed failed in $(($(date +%s) - start)) s"
    total_passed=$((total_passed + passed)) total_failed=$((total_failed + failed))
done
say "all of it took $(($(date +%s) - began)) s"
say "$total_passed passed, $total_failed failed"
[ $total_failed = 0 ] && [ $total_passed != 0 ]
