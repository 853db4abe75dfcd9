#!/bin/sh
# A newcomer's first hour, on a machine that has nothing (scripts/fresh-machine.sh RELEASE newcomer), or from bare roots that it makes here.
#
#   newcomer.sh                               the README's words to a picture in Chromium on another machine; daemon, container entry point and init
#                                             script are started, failed on purpose and stopped the way people do. Builds with run.sh
#   newcomer.sh source|package|image...       each way of doc/manual/install.md from a bare root to a picture in Chromium, and the stop: Ctrl-C, systemctl
#                                             stop in a booted systemd, and podman stop of the image that buildah makes of the Dockerfile
#
# As root. Ends with pytest's counts. Minutes each; FRESH_CCACHE=DIR shows that compiler cache to the builds.
set -eu
. "$(dirname -- "$0")/../../scripts/common.sh"
cd "$trunk"
ways=
while [ $# -gt 0 ]; do
    case $1 in
        source | package | image) ways="${ways:+$ways or }$1" ;;
        -h | --help) sed -n '2,/^set/s/^# \{0,1\}//p' "$0"; exit 0 ;;
        *) break ;;
    esac
    shift
done
"$trunk/scripts/install-packages.sh" test ${ways:+newcomer}
if [ ! -x objs/srs ]; then
    if [ ! -f Makefile ]; then ./configure --jobs="$JOBS" >/dev/null; fi
    make server
fi
"$trunk/scripts/make-source.sh"
export SRS_BINARY="${SRS_BINARY:-$trunk/objs/srs}"
python=$(python_with pytest) || die "pytest is missing"
cd test/e2e
if [ -n "$ways" ]; then
    exec "$python" -m pytest -q -rs -s -p no:cacheprovider --long test_newcomer_ways.py -k "$ways" "$@"
fi
exec "$python" -m pytest -q -p no:cacheprovider test_newcomer.py test_run_script.py test_start.py test_stop.py \
    $(if [ -f test_container.py ]; then echo test_container.py; fi) "$@"
