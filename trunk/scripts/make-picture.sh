#!/bin/sh
# Writes doc/pictures/millrace.png, the picture in the README: the landing page and the player of a server that runs conf/demo.conf, seen
# by Chromium. Needs a built server and the packages of the end-to-end tests. The server runs in a network of its own, so the usual ports
# are free.
#
#   make-picture.sh [FILE]
set -eu
. "$(dirname -- "$0")/common.sh"
cd "$trunk"
[ -x objs/srs ] || die "there is no objs/srs: build it first (make server)"
"$trunk/scripts/make-source.sh"
"$trunk/scripts/make-pages.sh" objs/nginx/html
mkdir -p doc/pictures
python=$(python_with pytest) || die "pytest is missing: $trunk/scripts/install-packages.sh test"
exec "$python" test/e2e/make_picture.py "${1:-doc/pictures/millrace.png}"
