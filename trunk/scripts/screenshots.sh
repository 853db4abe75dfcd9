#!/bin/sh
# Takes a screenshot of each page and state, light and dark, from 320 to 1920 px, for people to look at. The tests of the pages take them.
#
#   screenshots.sh FOLDER [pytest arguments]        SRS_BINARY (objs/srs) is the server
set -eu
. "$(dirname -- "$0")/common.sh"
[ -n "${1:-}" ] || die "the folder is missing: screenshots.sh FOLDER"
mkdir -p "$1"
LIVE_SHOTS=$(cd "$1" && pwd)
export LIVE_SHOTS SRS_BINARY="${SRS_BINARY:-$trunk/objs/srs}"
shift
python=$(python_with pytest) || die "pytest is missing: $trunk/scripts/install-packages.sh test"
cd "$trunk/test/e2e"
"$python" -m pytest -q -p no:cacheprovider test_pages*.py test_manual.py test_newcomer.py \
    test_openapi.py::test_the_page_shows_all_endpoints test_tracks.py::test_the_api_and_the_page_of_the_stream_list_all_tracks "$@"
say "$(find "$LIVE_SHOTS" -name '*.png' | wc -l) screenshots in $LIVE_SHOTS"
