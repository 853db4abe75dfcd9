#!/bin/sh
# Do the memory tools see through fiber stacks? Runs planted_faults under valgrind and AddressSanitizer: nothing may be reported for the
# clean run, each planted fault must be reported with the fiber's own frames. Also the debugger: tools/gdb/co.py must list every parked
# fiber with its stack. Ends with `N passed, N failed`.
#   coroutine_tools_test.sh [OBJS [valgrind|asan|gdb]...]
# FAULTS_TREE: a build folder that has planted_faults of the right flavour (default: built in one of its own in OBJS).
set -u
here=$(CDPATH='' cd -- "$(dirname -- "$0")" && pwd)
. "$here/../../scripts/common.sh"
trunk=$(cd "$here/../.." && pwd)  # common.sh means its own callers' place
objs=${1:-$trunk/objs}
[ $# = 0 ] || shift
own_tree=$objs/valgrind-tools
passed=0 failed=0
log=$(mktemp)
trap 'rm -f "$log"' EXIT

verdict() { # NAME GOOD
    if [ "$2" = yes ]; then
        passed=$((passed + 1))
    else
        failed=$((failed + 1))
        say "FAILED: $1"
        sed 's/^/    /' "$log" | tail -n 60
    fi
}

# clean NAME command...: succeeds and prints nothing that looks like a report.
clean() {
    name=$1
    shift
    good=no
    if timeout 120 "$@" >"$log" 2>&1 && ! grep -qE 'ERROR: |WARNING: |Invalid (read|write)|are definitely lost|uninitialised|switching stacks' "$log"; then good=yes; fi
    verdict "$name" $good
}

# reports NAME PATTERN... -- command...: its output contains every pattern.
reports() {
    name=$1
    shift
    patterns=
    while [ "$1" != -- ]; do
        patterns="$patterns$1
"
        shift
    done
    shift
    timeout 120 "$@" >"$log" 2>&1
    good=yes
    while IFS= read -r pattern; do
        [ -z "$pattern" ] || grep -qE "$pattern" "$log" || { good=no; say "not reported: $pattern"; }
    done <<PATTERNS
$patterns
PATTERNS
    verdict "$name" $good
}

# The fiber's frames, from the fault down to where the fiber began.
frames='planted::plant.*
FiberMain::run
live_fiber_entry'

faults_in() { configure_tree "$@" && build_tree "$1" planted_faults; } # TREE [CMake arguments]

test_valgrind() {
    command -v valgrind >/dev/null 2>&1 || { say "valgrind is not installed"; return; }
    tree=${FAULTS_TREE:-$own_tree}
    [ -n "${FAULTS_TREE:-}" ] || faults_in "$tree" || { verdict "valgrind build" no; return; }
    program=$tree/planted_faults
    memcheck="valgrind --leak-check=full --show-leak-kinds=definite --errors-for-leak-kinds=definite --error-exitcode=99"
    # shellcheck disable=SC2086
    {
        clean "valgrind: clean" $memcheck "$program" clean
        clean "valgrind: exit while fibers are parked" $memcheck "$program" exit_while_parked
        reports "valgrind: leak" '4,321 bytes in 1 blocks are definitely lost' planted_leak "$frames" -- $memcheck "$program" leak
        reports "valgrind: use after free" 'Invalid write of size 1' planted_use_after_free "$frames" 'free.d' -- \
            $memcheck "$program" use_after_free
        reports "valgrind: uninitialised" 'Conditional jump or move depends on uninitialised' planted_uninitialised "$frames" -- \
            $memcheck "$program" uninitialised
        reports "valgrind: stack overflow" 'SIGSEGV|Invalid write' planted_stack_overflow -- $memcheck "$program" stack_overflow
    }
}

test_asan() {
    tree=${FAULTS_TREE:-$objs/asan-tools}
    [ -n "${FAULTS_TREE:-}" ] || faults_in "$tree" -DLIVE_SANITIZE=ON || { verdict "asan build" no; return; }
    program=$tree/planted_faults
    clean "asan: clean" env ASAN_OPTIONS=detect_leaks=1 "$program" clean
    clean "asan: clean with fake stacks" env ASAN_OPTIONS=detect_leaks=1:detect_stack_use_after_return=1 "$program" clean
    clean "asan: exit while fibers are parked" env ASAN_OPTIONS=detect_leaks=1 "$program" exit_while_parked
    reports "asan: leak" 'LeakSanitizer: detected memory leaks' '4321 byte' planted_leak "$frames" -- \
        env ASAN_OPTIONS=detect_leaks=1 "$program" leak
    reports "asan: use after free" 'heap-use-after-free' planted_use_after_free "$frames" 'freed by thread' -- "$program" use_after_free
    reports "asan: stack overflow" 'stack-overflow' planted_stack_overflow -- "$program" stack_overflow
}

test_gdb() {
    command -v gdb >/dev/null 2>&1 || { say "gdb is not installed"; return; }
    [ -x "$own_tree/planted_faults" ] || return
    reports "gdb: fibers and their stacks" '[0-9]+ fibers' 'holds.*scope faults' 'live::io::sleep' 'live_fiber_entry' 'faulty.*running' -- \
        gdb -q -batch -ex 'set breakpoint pending on' -ex 'break live::planted::plant' -ex run -ex "source $trunk/tools/gdb/co.py" -ex 'co-list' -ex 'co-bt' \
        -ex 'bt' --args "$own_tree/planted_faults" clean
    # 1 is the newest fiber, "faulty", which runs; "holds" is among the first ones, and parked. Going on must be from where it was.
    reports "gdb: into a fiber and back" 'holds .* [0-9.]+ s old' '#[0-9]+ .*live::io::sleep' 'FiberMain::run' 'back in .*planted::plant' '^done' -- \
        gdb -q -batch -ex 'set breakpoint pending on' -ex 'break live::planted::plant' -ex run -ex "source $trunk/tools/gdb/co.py" \
        -ex 'python gdb.execute("co-switch %d" % [text_of(f["name"]) for f in fibers()].index("holds"))' -ex bt -ex co-back \
        -ex 'python print("back in", gdb.selected_frame().name())' -ex 'co-switch 0' -ex continue --args "$own_tree/planted_faults" clean
}

for part in ${*:-valgrind asan gdb}; do "test_$part"; done
say "$passed passed, $failed failed"
[ $failed = 0 ] && [ $passed != 0 ]
