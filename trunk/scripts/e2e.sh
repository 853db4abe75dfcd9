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
# Most tests wait more than they work: two files more at a time than there are cores, where pytest can.
beside=
if "$python" -c 'import xdist' >/dev/null 2>&1; then beside="-n $((cores + 2)) --dist loadfile"; fi
# shellcheck disable=SC2086 # several words
"$python" -m pytest -q -p no:cacheprovider --durations=25 --durations-min=8 $beside trunk/test/e2e "$@"
