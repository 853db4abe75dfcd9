#!/bin/sh
# AddressSanitizer in the server itself: quiet by default, leaks and bad accesses named with the fiber's frames when asked, and the
# way by LD_PRELOAD.
. "$(dirname -- "$0")/tool.sh"
needs ffmpeg curl
flavour asan --sanitizer=on --simulator=on --extra-flags=-O1
"$trunk/configure" -h | grep asan >help.txt
verdict "configure -h shows three lines about asan" "$([ "$(wc -l <help.txt)" = 3 ]; echo $?)" help.txt

report='ERROR: |WARNING: |runtime error'
serve ./objs/srs -c live.conf
publish
play 3
unpublish
api 'fault?kind=leak' >/dev/null
stop
verdict "by default a leak does not end it with an error" $status server.log
lacks "and it says nothing" server.log "$report"

serve env ASAN_OPTIONS=halt_on_error=1:detect_leaks=1 ./objs/srs -c live.conf
publish
play 3
unpublish
stop
verdict "detect_leaks=1: a clean run is clean, with fibers parked" $status server.log
lacks "and nothing is reported" server.log "$report"

serve env ASAN_OPTIONS=halt_on_error=1:detect_leaks=1 ./objs/srs -c live.conf
api 'fault?kind=leak' >/dev/null
stop
holds "detect_leaks=1 names a planted leak" server.log 'detected memory leaks' '4321 byte' planted_leak live_fiber_entry

serve env ASAN_OPTIONS=halt_on_error=0 ./objs/srs -c live.conf
api 'fault?kind=use_after_free' >/dev/null
holds "a use after free is reported with the fiber's frames" server.log heap-use-after-free planted_use_after_free live_fiber_entry
api versions >/dev/null
verdict "with halt_on_error=0 the server goes on" $? server.log
stop

runtime=$(g++ -print-file-name=libasan.so)
serve env LD_PRELOAD="$runtime" ASAN_OPTIONS=detect_leaks=0 ./objs/srs -c live.conf
stop
verdict "LD_PRELOAD of the runtime works" $status server.log
finish
