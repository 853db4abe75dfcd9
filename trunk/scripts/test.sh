#!/bin/sh
# Everything there is to test, on a bare Debian 12 or Ubuntu 24.04: installs missing packages, builds, runs every test. The last line is
# `N passed, N failed`; the exit status is 0 only when nothing failed. Each step's words are in objs/logs/test-STEP.log.
#
#   test.sh [--long] [STEP...]       only these: build e2e asan conf valgrind configure unit fuzz memcheck lint
#
# --long is for a machine that is free at night: configurations are built too, the end-to-end tests that take minutes run, simulations and
# property tests take all their seeds and hours, memcheck runs the unit tests of all rooms instead of wire and engine, and there are two steps
# more: `stalls`, the unit tests in processes that stand still again and again, and `tools`, each profiler and memory tool on a server of
# its flavour.
# FUZZ_SECONDS (1; with --long 60): for each fuzz target. FUZZ_SEED (1): 0 takes a new one each time; a test should not depend on its luck.
set -u
long='' quick=--quick units=units
if [ "${1:-}" = --long ]; then
    long=--long quick='' units=all-units FUZZ_SECONDS=${FUZZ_SECONDS:-60}
    shift
fi
export quick units FUZZ_SEED="${FUZZ_SEED:-1}" FUZZ_SECONDS="${FUZZ_SECONDS:-1}"
# Simulations and property tests: all their rounds, src/base/rounds_fixture.hpp.
[ -z "$long" ] || export LIVE_NIGHT=1
. "$(dirname -- "$0")/common.sh"
cd "$trunk" || exit 1
steps=${*:-build e2e asan conf valgrind configure unit fuzz memcheck lint${long:+ stalls tools}}
objs=$trunk/objs
logs=$objs/logs
total_passed=0 total_failed=0 lines=
began=$(date +%s)
mkdir -p "$logs"

# Numbers from the last `N passed` and `N failed` of a log, in any order.
count_in() { grep -oE "[0-9]+ $1" "$2" | tail -n 1 | cut -d' ' -f1; }

# step NAME KIND command...: KIND `counts` takes its numbers from the command's last lines, `one` counts as one test.
step() {
    name=$1 kind=$2
    shift 2
    case " $steps " in *" $name "*) ;; *) return 0 ;; esac
    log=$logs/test-$name.log
    start=$(date +%s)
    printf '== %s\n' "$name"
    if [ -f "$logs/beside-$name.status" ]; then
        status=$(cat "$logs/beside-$name.status")
        took="$(cat "$logs/beside-$name.seconds") s beside others"
    else
        if "$@" >"$log" 2>&1 </dev/null; then status=0; else status=$?; fi
        took="$(($(date +%s) - start)) s"
    fi
    passed=0 failed=0
    if [ "$kind" = counts ]; then
        tail -n 5 "$log" >"$log.end"
        passed=$(count_in passed "$log.end") failed=$(count_in failed "$log.end")
        errors=$(count_in 'errors?' "$log.end")
        skipped=$(count_in skipped "$log.end")
        rm -f "$log.end"
        passed=${passed:-0} failed=$((${failed:-0} + ${errors:-0}))
    elif [ $status = 0 ]; then
        passed=1
    fi
    # A step that ended badly failed, whatever it counted; one that tested nothing did too.
    if [ $failed = 0 ] && { [ $status != 0 ] || [ "$passed" = 0 ]; }; then failed=1; fi
    total_passed=$((total_passed + passed)) total_failed=$((total_failed + failed))
    if [ $failed != 0 ]; then
        tail -n 80 "$log" | sed 's/^/    /'
        say "   FAILED (status $status): $log"
    fi
    line="$passed passed, $failed failed${skipped:+, $skipped skipped} in $took"
    say "   $line"
    lines="$lines$name: $line
"
    skipped=
}

finish() {
    say ""
    printf '%s' "$lines"
    say "all steps took $(($(date +%s) - began)) s"
    say "$total_passed passed, $total_failed failed"
    [ $total_failed = 0 ] && [ $total_passed != 0 ]
    exit $?
}

build_release() {
    # The classic way, with the defaults; a folder configured otherwise is left as its owner wants it.
    if [ ! -f Makefile ] || [ ! -f objs/build/CMakeCache.txt ]; then ./configure --werror=on --jobs="$JOBS" || return 1; fi
    make server && ./objs/srs -v
}

# Every shipped conf is valid; parts that others include are not confs, and full.conf only documents.
check_confs() {
    good=0 bad=0
    for conf in conf/*.conf; do
        case $conf in *.vhost.conf | conf/full.conf) continue ;; esac
        if ./objs/srs -t -c "$conf" >"$logs/conf.log" 2>&1 && grep -q 'is successful' "$logs/conf.log"; then
            good=$((good + 1))
        else
            bad=$((bad + 1))
            echo "$conf:"
            cat "$logs/conf.log"
        fi
    done
    echo "$good passed, $bad failed"
    [ $bad = 0 ]
}

"$trunk/scripts/install-packages.sh" test || {
    say "packages could not be installed"
    say "0 passed, 1 failed"
    exit 1
}
step build one build_release
case " $steps " in
    *" build "*) if [ ! -x objs/srs ]; then say "without a server nothing else can run"; finish; fi ;;
esac
# The end-to-end tests wait more than they work. Beside them, with the CPU time that they leave, runs everything else but `conf`.
rm -f "$logs"/beside-*
case " $steps " in
    *" e2e "*)
        # shellcheck disable=SC2086 # several words
        setsid scripts/beside-e2e.sh "$objs" $steps >"$logs/beside-e2e.log" 2>&1 </dev/null &
        ;;
esac
# shellcheck disable=SC2086 # a word or none
step e2e counts scripts/e2e.sh "$objs" $long
step conf counts check_confs
start=$(date +%s)
wait
lines="${lines}what ran beside these: $(($(date +%s) - start)) s more
"
step asan counts scripts/asan.sh "$objs"
step valgrind counts scripts/valgrind.sh "$objs" server
# shellcheck disable=SC2086 # a word or none
step configure counts test/build/configure_test.sh $quick
step unit counts scripts/unit.sh "$objs"
step fuzz counts scripts/fuzz.sh "$objs" "$FUZZ_SECONDS"
step memcheck counts scripts/valgrind.sh "$objs" "$units"
step lint counts scripts/lint.sh "$objs"
step stalls counts env -u LIVE_NIGHT STALLS=1 scripts/unit.sh "$objs" --gtest_filter='*'
step tools counts scripts/test-tools.sh
finish
