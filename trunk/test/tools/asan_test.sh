#!/bin/sh
# AddressSanitizer in the server itself: quiet by default, leaks and bad accesses named with the fiber's frames when asked, the way
# by LD_PRELOAD, the static runtime, and reports in the server's log.
. "$(dirname -- "$0")/tool.sh"
needs ffmpeg curl
quick_flavour asan --sanitizer=on --simulator=on
"$trunk/configure" -h | grep asan >help.txt
verdict "configure -h shows three lines about asan" "$([ "$(wc -l <help.txt)" = 3 ]; echo $?)" help.txt

report='ERROR: |WARNING: |runtime error'
serve ./objs/srs -c live.conf
publish
play 3
unpublish
api 'fault?kind=leak' >/dev/null
verdict "a leak is planted" $? server.log
stop
verdict "by default a leak does not end it with an error" $status server.log
lacks "and it says nothing" server.log "$report"

serve env ASAN_OPTIONS=halt_on_error=1:detect_leaks=1:alloc_dealloc_mismatch=1 ./objs/srs -c live.conf
publish
play 3
unpublish
stop
verdict "detect_leaks=1: a clean run is clean" $status server.log
lacks "and nothing is reported" server.log "$report"

serve env ASAN_OPTIONS=halt_on_error=1:detect_leaks=1 ./objs/srs -c live.conf
api 'fault?kind=leak' >/dev/null
stop
holds "detect_leaks=1 names a planted leak" server.log 'detected memory leaks' '4321 byte' planted_leak live_fiber_entry

for kind in use_after_free overflow; do
    case $kind in overflow) says=heap-buffer-overflow ;; *) says=heap-use-after-free ;; esac
    serve env ASAN_OPTIONS=halt_on_error=0 ./objs/srs -c live.conf
    api "fault?kind=$kind" >/dev/null
    holds "$kind is reported with the fiber's frames" server.log $says planted_$kind 'faults\.hpp:[0-9]+' live_fiber_entry
    api versions >/dev/null
    verdict "with halt_on_error=0 the server goes on" $? server.log
    stop
done
serve env ASAN_OPTIONS=halt_on_error=1 ./objs/srs -c live.conf
api 'fault?kind=use_after_free' >/dev/null 2>&1
wait "$server"
verdict "with halt_on_error=1 it does not" "$([ $? != 0 ]; echo $?)" server.log
server=''

# The library that it is linked with, and as the guide says it: a library that is not there preloads nothing.
for library in "$(ldd objs/srs | awk '/libasan/ { print $3 }')" "$(find /usr -name libasan.so.5 2>/dev/null)"; do
    serve env LD_PRELOAD="$library" ./objs/srs -c live.conf
    stop
    verdict "LD_PRELOAD=$library" $status server.log
    lacks "LD_PRELOAD=$library is quiet" server.log "$report"
done
# What follows needs builds of its own.
[ -z "${TOOLS_SERVER:-}" ] || finish

build --sanitizer=on --simulator=on --sanitizer-static=on --sanitizer-log=on
verdict "build with the static runtime, reports to the log" $? build.log
ldd ./objs/srs >ldd.txt
lacks "the runtime is part of the program" ldd.txt 'libasan'
write_conf file
rm -f objs/srs.log
serve env ASAN_OPTIONS=halt_on_error=0:detect_leaks=1 ./objs/srs -c live.conf
api 'fault?kind=use_after_free' >/dev/null
mv objs/srs.log objs/srs.log.1
kill -USR1 "$server"
sleep 1
api 'fault?kind=leak' >/dev/null
stop
holds "sanitizer-log=on: reports are in the log" objs/srs.log.1 heap-use-after-free planted_use_after_free
holds "also when it was reopened, and after the last line" objs/srs.log 'srs terminated' 'detected memory leaks' planted_leak
lacks "and nowhere else" server.log 'AddressSanitizer|LeakSanitizer'
finish
