#!/bin/sh
# Line and branch coverage of each room by its unit tests, from gcov's own output. Fails below a floor of tools/cover-floors.txt.
#   cover.sh OBJS [FOLDER]     FOLDER: below src, such as wire/ts; lists its lines that no test reaches
set -u
. "$(dirname -- "$0")/common.sh"
tree=$1/cover
configure_tree "$tree" -DLIVE_TESTS=ON -DLIVE_COVER=ON || exit 1
build_tree "$tree" srs_utest || exit 1
find "$tree" -name '*.gcda' -exec rm -f {} +
"$tree/srs_utest" --gtest_brief=1 || exit 1
python3 "$trunk/tools/cover.py" "$trunk" "$tree" ${2:+"$2"}
