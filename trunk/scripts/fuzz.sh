#!/bin/sh
# Runs the fuzz targets: all, or those named, each for some seconds, starting from test/corpus/NAME. A find is written there,
# as crash-*, oom-* or timeout-*, and replayed by every `make test` from then on. libFuzzer keeps its corpus in objs/checked/corpus.
# Ends with `N passed, N failed`, a target being one.
#   fuzz.sh OBJS SECONDS [NAME...]
# FUZZ_SEED (0, a new one each time): the same seed tries the same inputs first.
set -u
. "$(dirname -- "$0")/common.sh"
objs=$1 seconds=$2
shift 2
passed=0 failed=0
configure_checked "$objs" || die "0 passed, 1 failed"

targets=
for name in "$@"; do targets="$targets fuzz_$name"; done
# shellcheck disable=SC2086 # one word a target
build_tree "$tree" ${targets:-fuzzers} || die "0 passed, 1 failed"
[ -n "$targets" ] || targets=$(fuzz_targets)
[ -n "$targets" ] || die "no fuzz targets"

# One target for its seconds; leaves finds/NAME.passed unless it failed.
fuzz_one() {
    name=${1#fuzz_}
    learned=$tree/corpus/$name
    kept=$trunk/test/corpus/$name
    finds=$tree/finds/$name
    rm -rf "$finds"
    mkdir -p "$finds" "$learned"
    seeds=
    if [ -d "$kept" ]; then seeds=$kept; fi
    if timeout $((seconds + 60)) "$tree/$1" -max_total_time="$seconds" -timeout=10 -rss_limit_mb=2048 -max_len=65536 -seed="${FUZZ_SEED:-0}" \
        -print_final_stats=0 -artifact_prefix="$finds/" "$learned" ${seeds:+"$seeds"} >"$tree/$1.log" 2>&1; then
        [ -t 1 ] && say "$name: $(grep -c . "$tree/$1.log") lines, $(tail -n 1 "$tree/$1.log")"
        : >"$finds.passed"
    fi
}

rm -f "$tree"/finds/*.passed
mkdir -p "$tree/finds"
each_of "$targets" fuzz_one

for target in $targets; do
    name=${target#fuzz_}
    if [ -f "$tree/finds/$name.passed" ]; then
        passed=$((passed + 1))
        continue
    fi
    failed=$((failed + 1))
    warn "$name: a find, kept in test/corpus/$name"
    mkdir -p "$trunk/test/corpus/$name"
    cp "$tree/finds/$name"/* "$trunk/test/corpus/$name/" 2>/dev/null
    grep -A 25 -E 'ERROR|runtime error|CHECK' "$tree/$target.log" | head -n 40 >&2
done
say "$passed passed, $failed failed"
[ $failed = 0 ]
