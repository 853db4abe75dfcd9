#!/bin/sh
# Faults on purpose under AddressSanitizer, in a small program and in the server itself, on the flavour of the unit tests: test/tools
# has the tests. Ends with `N passed, N failed`.
#   asan.sh [OBJS]
set -u
. "$(dirname -- "$0")/common.sh"
objs=${1:-$trunk/objs}
passed=0 failed=0
configure_checked "$objs" || die "0 passed, 1 failed"
build_tree "$tree" srs planted_faults || die "0 passed, 1 failed"
FAULTS_TREE=$tree "$trunk/test/tools/coroutine_tools_test.sh" "$objs" asan >"$tree/faults.log" 2>&1
add_counts "$tree/faults.log" $?
TOOLS_SERVER=$tree/srs TOOLS_OBJS=$objs/tools-quick "$trunk/test/tools/asan_test.sh" >"$tree/server.log" 2>&1
add_counts "$tree/server.log" $?
say "$passed passed, $failed failed"
[ $failed = 0 ]
