#!/bin/sh
# The work of test.sh beside its end-to-end tests, which mostly wait, at the lowest priority: builds the targets of other steps,
# and takes those of the steps `fuzz`, `unit`, `asan`, `memcheck`, `valgrind`, `configure` and `lint` that are named. Of each step is left objs/logs/test-STEP.log, and in
# beside-STEP.status and beside-STEP.seconds how it ended and how long it took. The step that needs a target reports its compile errors.
#   beside-e2e.sh OBJS STEP...     with FUZZ_SECONDS, quick (--quick or empty) and units (the word for valgrind.sh)
set -u
. "$(dirname -- "$0")/common.sh"
objs=$1
shift
wanted=" $* "
# In a separate session (setsid): with a scheduler group per session, nice counts only within one.
[ ! -w /proc/$$/autogroup ] || echo 19 >/proc/$$/autogroup
renice -n 19 $$ >/dev/null 2>&1

# take STEP command...
take() {
    name=$1
    shift
    case "$wanted" in *" $name "*) ;; *) return 0 ;; esac
    began=$(date +%s)
    "$@" >"$objs/logs/test-$name.log" 2>&1 </dev/null
    status=$?
    echo $(($(date +%s) - began)) >"$objs/logs/beside-$name.seconds"
    echo $status >"$objs/logs/beside-$name.status"
}

case "$wanted" in *" unit "* | *" asan "* | *" fuzz "*) configure_checked "$objs" && build_tree "$tree" srs_utest fuzzers srs planted_faults ;; esac
# Two at a time, as each waits now and then.
(
    take fuzz "$trunk/scripts/fuzz.sh" "$objs" "$FUZZ_SECONDS"
    # A fuzz target begins with its stored inputs: they are not replayed a second time.
    case "$wanted" in *" fuzz "*) all='--gtest_filter=*' ;; *) all='' ;; esac
    take unit "$trunk/scripts/unit.sh" "$objs" ${all:+"$all"}
    take asan "$trunk/scripts/asan.sh" "$objs"
) &
# shellcheck disable=SC2154 # test.sh's
take memcheck "$trunk/scripts/valgrind.sh" "$objs" "$units"
take valgrind "$trunk/scripts/valgrind.sh" "$objs" server
# shellcheck disable=SC2086 # a word or none
take configure "$trunk/test/build/configure_test.sh" ${quick-}
take lint "$trunk/scripts/lint.sh" "$objs"
wait
