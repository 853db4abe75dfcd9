#!/bin/sh
# A newcomer's first hour: README's words are followed to a picture in Chromium on another machine; daemon, container entry point and init
# script are started, failed on purpose and stopped the way people do, with a publisher connected and recordings running. Builds with
# run.sh, as the README says, and ends with pytest's counts. The default test has the same tests; this is for a machine that has nothing
# (scripts/fresh-machine.sh RELEASE newcomer). As root: it makes network namespaces of its own.
set -eu
. "$(dirname -- "$0")/../../scripts/common.sh"
cd "$trunk"
"$trunk/scripts/install-packages.sh" test
if [ ! -x objs/srs ]; then
    if [ ! -f Makefile ]; then ./configure --jobs="$JOBS" >/dev/null; fi
    make server
fi
"$trunk/scripts/make-source.sh"
export SRS_BINARY="$trunk/objs/srs"
python=$(python_with pytest) || die "pytest is missing"
cd test/e2e
exec "$python" -m pytest -q -p no:cacheprovider test_newcomer.py test_run_script.py test_start.py test_stop.py \
    $(if [ -f test_container.py ]; then echo test_container.py; fi) "$@"
