#!/bin/sh
# What test.sh does beside its end-to-end tests, which wait more than they work, at the lowest priority: builds what those of the steps
# `unit`, `asan`, `fuzz` and `valgrind` need that are named, and fuzzes. The others build again, so that it is they that say what does not
# compile; what fuzz.sh said is left in objs/logs/beside-fuzz.log, its status in beside-fuzz.status.
#   beside-e2e.sh OBJS FUZZ_SECONDS STEP...
set -u
. "$(dirname -- "$0")/common.sh"
objs=$1 seconds=$2
shift 2
# In a session of its own (setsid), so that this is for nobody else: with a group for each session, nice counts only within one.
[ ! -w /proc/$$/autogroup ] || echo 19 >/proc/$$/autogroup
renice -n 19 $$ >/dev/null 2>&1
case " $* " in *" unit "* | *" asan "* | *" fuzz "*) configure_checked "$objs" && build_tree "$tree" srs_utest fuzzers srs planted_faults ;; esac
case " $* " in *" valgrind "*) configure_ordinary "$objs" && build_tree "$tree" srs_tools srs_utest planted_faults ;; esac
case " $* " in *" fuzz "*)
    "$trunk/scripts/fuzz.sh" "$objs" "$seconds" >"$objs/logs/beside-fuzz.log" 2>&1
    echo $? >"$objs/logs/beside-fuzz.status"
    ;;
esac
