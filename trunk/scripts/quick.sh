#!/bin/sh
# A quick check of a change, a minute and a half after a change of one file: the server, the unit tests of the folders with
# changes under the sanitizers, lint of changed files, and five end-to-end tests. Ends with `N passed, N failed`.
#   quick.sh [OBJS]
# Changed files are those that differ from the last commit or, without any, those changed by the last commit.
set -u
. "$(dirname -- "$0")/common.sh"
objs=${1:-$trunk/objs}
logs=$objs/logs
mkdir -p "$logs"
cd "$trunk" || exit 1
passed=0 failed=0

changed=$({ git diff --name-only --relative HEAD; git ls-files -o --exclude-standard; } | sort -u)
[ -n "$changed" ] || changed=$(git diff --name-only --relative HEAD~1 HEAD)
folders=$(printf '%s\n' "$changed" | grep -E '^src/.*\.[ch]pp$' | xargs -r -n 1 dirname | sort -u)
# The suites of these folders, by the names that their tests have.
suites=$(for folder in $folders; do
    cat "$folder"/*_test.cpp 2>/dev/null | sed -nE 's/^TEST(_[FP])?\((\w+),.*/\2.*:*\/\2.*/p'
done | sort -u | paste -sd: -)

# take NAME command...: leaves its words, its status and its seconds.
take() {
    name=$1
    shift
    start=$(date +%s)
    "$@" >"$logs/quick-$name.log" 2>&1 </dev/null
    echo "$? $(($(date +%s) - start))" >"$logs/quick-$name.end"
}
# report NAME: its last `N passed, N failed` counts; without such a line it is one test.
report() {
    log=$logs/quick-$1.log
    read -r status seconds <"$logs/quick-$1.end"
    step_passed=$(grep -oE '[0-9]+ passed' "$log" | tail -n 1 | cut -d' ' -f1)
    step_failed=$(grep -oE '[0-9]+ (failed|error)' "$log" | tail -n 1 | cut -d' ' -f1)
    if [ "$status" = 0 ]; then step_passed=${step_passed:-1}; elif [ "${step_failed:-0}" = 0 ]; then step_failed=1; fi
    passed=$((passed + ${step_passed:-0})) failed=$((failed + ${step_failed:-0}))
    [ "$status" = 0 ] || tail -n 40 "$log" | sed 's/^/    /'
    say "$1: ${step_passed:-0} passed, ${step_failed:-0} failed in $seconds s"
}

began=$(date +%s)
# Two compilers for one changed file, each on a core.
if [ -n "$suites" ]; then take unit scripts/unit.sh "$objs" "--gtest_filter=$suites" & fi
take build make -s server
report build
# The end-to-end tests wait more than they work.
tests='test_publish_and_play_by_tls or test_joining_later_starts_at_zero or test_head_makes_no_player'
tests="$tests or test_fragments_are_whole_and_join or test_whip_answers_follow_rfc_9725"
take e2e scripts/e2e.sh "$objs" -k "$tests" &
take lint scripts/lint.sh "$objs"
wait
if [ -n "$suites" ]; then report unit; else say "unit: no source changed"; fi
report e2e
report lint
say "all of it took $(($(date +%s) - began)) s"
say "$passed passed, $failed failed"
[ $failed = 0 ]
