#!/bin/sh
# Cross-compiles for aarch64 and runs the unit tests under qemu-user. Not part of the default tests: an emulator takes minutes. Debian
# only; Ubuntu serves foreign architectures from another mirror. Ends with `N passed, N failed`.
#   test-arm64.sh [OBJS]
# ARM64_FILTER: which tests, as gtest's filter.
set -u
. "$(dirname -- "$0")/common.sh"
objs=${1:-$trunk/objs}
tree=$objs/arm64

"$trunk/scripts/install-packages.sh" arm64 || die "0 passed, 1 failed"
emulator=$(command -v qemu-aarch64 || command -v qemu-aarch64-static) || die "qemu-user is missing"

# The development package of this library exists once only, for the native architecture: its headers serve, the link name does not.
mkdir -p "$tree/lib"
for library in /usr/lib/aarch64-linux-gnu/libhttp_parser.so.*; do
    if [ -e "$library" ]; then ln -sf "$library" "$tree/lib/libhttp_parser.so"; fi
done

configure_tree "$tree" -DLIVE_TESTS=ON "-DCMAKE_TOOLCHAIN_FILE=$trunk/cmake/aarch64.cmake" "-DCMAKE_PREFIX_PATH=$tree" \
    "-DLIVE_EXTRA_LDFLAGS=-L$tree/lib" || die "0 passed, 1 failed"
build_tree "$tree" srs_utest || die "0 passed, 1 failed"
# Whole programs of ours, too, when there are any: -v runs the start of the process.
programs=$(ninja -C "$tree" -t targets all 2>/dev/null | sed -n 's/^\(srs\): phony$/\1/p')
if [ -n "$programs" ]; then build_tree "$tree" srs || die "0 passed, 1 failed"; fi

# The emulator has no perf counters and fewer guarantees about time; tests must not depend on either.
timeout 1800 "$emulator" -L /usr/aarch64-linux-gnu -E LD_LIBRARY_PATH=/usr/lib/aarch64-linux-gnu "$tree/srs_utest" --gtest_brief=1 \
    "--gtest_filter=${ARM64_FILTER:-*}" >"$tree/utest.log" 2>&1
status=$?
grep -vE '^\[(=====|-----)' "$tree/utest.log"
passed=$(sed -n 's/^\[  PASSED  \] \([0-9]*\) test.*/\1/p' "$tree/utest.log" | tail -n 1)
failed=$(sed -n 's/^ *\([0-9]*\) FAILED TEST.*/\1/p' "$tree/utest.log" | tail -n 1)
passed=${passed:-0} failed=${failed:-0}
if [ $status != 0 ] && [ "$failed" = 0 ]; then failed=1; fi
if [ -n "$programs" ]; then
    if "$emulator" -L /usr/aarch64-linux-gnu -E LD_LIBRARY_PATH=/usr/lib/aarch64-linux-gnu "$tree/srs" -v; then
        passed=$((passed + 1))
    else
        failed=$((failed + 1))
    fi
fi
say "$passed passed, $failed failed"
[ "$failed" = 0 ] && [ $status = 0 ]
