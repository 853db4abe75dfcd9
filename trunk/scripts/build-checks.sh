#!/bin/sh
# Builds what those of the steps `unit`, `asan`, `fuzz` and `valgrind` of test.sh need that are named, at the lowest priority. They build
# again, so that it is they that say what does not compile.
#   build-checks.sh OBJS STEP...
set -u
. "$(dirname -- "$0")/common.sh"
objs=$1
shift
# Of a session of its own (setsid), so that this is for nobody else: with groups of sessions, nice counts only within one.
[ ! -w /proc/self/autogroup ] || echo 19 >/proc/$$/autogroup 2>/dev/null
renice -n 19 $$ >/dev/null 2>&1
case " $* " in *" unit "* | *" asan "* | *" fuzz "*) configure_checked "$objs" && build_tree "$tree" srs_utest fuzzers srs planted_faults ;; esac
case " $* " in *" valgrind "*) configure_ordinary "$objs" && build_tree "$tree" srs_tools srs_utest planted_faults ;; esac
