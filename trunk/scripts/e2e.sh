#!/bin/sh
# The whole server with real clients: runs test/e2e with the first Python that has pytest, better with hypothesis.
#   e2e.sh OBJS [pytest arguments]
set -u
. "$(dirname -- "$0")/common.sh"
objs=$1
shift
python=$(python_with pytest,hypothesis || python_with pytest) || die "pytest is missing: $trunk/scripts/install-packages.sh test"
[ -x "$objs/srs" ] || die "there is no $objs/srs: make"
"$trunk/scripts/make-source.sh" || exit 1
export SRS_BINARY="$objs/srs"
cd "$trunk/.." || exit 1
"$python" -m pytest -q -p no:cacheprovider trunk/test/e2e "$@"
