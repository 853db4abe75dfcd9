#!/bin/sh
# Line and branch coverage of each room by its unit tests, from gcov's own output. Floors, from tools/cover-floors.txt, may only rise.
#   cover.sh OBJS
set -u
. "$(dirname -- "$0")/common.sh"
tree=$1/cover
configure_tree "$tree" -DLIVE_TESTS=ON -DLIVE_COVER=ON || exit 1
build_tree "$tree" srs_utest || exit 1
find "$tree" -name '*.gcda' -exec rm -f {} +
"$tree/srs_utest" --gtest_brief=1 || exit 1
python3 "$trunk/tools/cover.py" "$trunk" "$tree"
