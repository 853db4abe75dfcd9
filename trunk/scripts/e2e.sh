#!/bin/sh
# The whole server with real clients: runs test/e2e with the first Python that has pytest, better with hypothesis and xdist.
#   e2e.sh OBJS [pytest arguments]
set -u
. "$(dirname -- "$0")/common.sh"
objs=$1
shift
python=$(python_with pytest,hypothesis,xdist || python_with pytest,hypothesis || python_with pytest) || die "pytest is missing: $trunk/scripts/install-packages.sh test"
[ -x "$objs/srs" ] || die "there is no $objs/srs: make"
"$trunk/scripts/make-source.sh" || exit 1
"$trunk/test/media/install-new-ffmpeg.sh" >/dev/null || say "HEVC, AV1 and Opus over RTMP are skipped"
export SRS_BINARY="$objs/srs"
cd "$trunk/.." || exit 1
# Most tests wait more than they work: more of them at a time than there are cores, where pytest can. Those that measure time (`alone`)
# come after them, one by one.
run() { "$python" -m pytest -q -p no:cacheprovider --durations=25 --durations-min=8 "$@"; }
if ! "$python" -c 'import xdist' >/dev/null 2>&1; then
    run trunk/test/e2e "$@"
    exit
fi
log=$objs/logs/e2e-part.log
mkdir -p "$objs/logs"
passed=0 failed=0 skipped=0 tested=
# part MARK pytest arguments...: the tests that are marked so.
part() {
    mark=$1
    shift
    { run -m "$mark" "$@"; echo "status $?"; } 2>&1 | tee "$log"
    status=$(sed -n 's/^status //p' "$log")
    # 5: there are no such tests.
    if [ "$status" != 5 ]; then tested=yes; fi
    counts=$(grep -E ' in [0-9.]+s' "$log" | tail -n 1)
    number() { echo "$counts" | grep -oE "[0-9]+ $1" | cut -d' ' -f1 | grep . || echo 0; }
    bad=$(($(number failed) + $(number error)))
    if [ "$status" != 0 ] && [ "$status" != 5 ] && [ $bad = 0 ]; then bad=1; fi
    passed=$((passed + $(number passed))) failed=$((failed + bad)) skipped=$((skipped + $(number skipped)))
}
part 'not alone' -n $((cores + 3)) --dist loadfile trunk/test/e2e "$@"
part alone trunk/test/e2e "$@"
rm -f "$log"
say "$passed passed, $failed failed, $skipped skipped"
[ -n "$tested" ] && [ $failed = 0 ]
