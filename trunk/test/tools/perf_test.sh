#!/bin/sh
# perf on the ordinary build: the hot functions live and recorded, whole call stacks by frame pointers and by dwarf, through the fibers.
. "$(dirname -- "$0")/tool.sh"
needs perf ffmpeg curl
ordinary_flavour "${1:-}"
serve ./objs/srs -c live.conf
publish
gather 1000 90
# It reads keys: without an end of them, it would draw its menu for ever.
sleep 8 | timeout -s TERM 7 perf top --stdio -d 3 -p "$server" >top.txt 2>top.err
holds "perf top -p names our functions" top.txt 'PerfTop' 'live::|io_uring|tcp_sendmsg|_copy_from_iter'
perf record -q -o perf.data -p "$server" -- sleep 2 >perf.log 2>&1
verdict "perf record -p" $? perf.log
perf report -i perf.data --stdio >perf.txt 2>perf.err
holds "perf report" perf.txt '^ +[0-9.]+%  srs'
for how in fp dwarf; do
    rm -f perf.data
    perf record -q -o perf.data -F 500 -a --call-graph $how -p "$server" -- sleep 4 >perf.log 2>&1
    verdict "perf record -a --call-graph $how -p" $? perf.log
    perf report -i perf.data --call-graph --stdio >"perf-$how.txt" 2>perf.err
    verdict "perf report --call-graph --stdio" $? perf.err
    # The outermost frame of each sample of the loop's thread.
    perf script -i perf.data -F comm,tid,ip,sym 2>/dev/null | awk -v pid="$server" '
        NF == 2 && $1 == "srs" { mine = $2 == pid; last = ""; next }
        NF >= 2 && mine { last = $2 }
        NF == 0 && mine && last != "" { ++all; ++roots[last] }
        END { for (root in roots) print roots[root], root; print all + 0, "all" }' | sort -rn >"roots-$how.txt"
    whole=$(awk '$2 ~ /^(live_fiber_entry|_start|__libc_start_main.*|__libc_start_call_main|main)$/ { n += $1 } END { print n + 0 }' "roots-$how.txt")
    all=$(awk '$2 == "all" { print $1 }' "roots-$how.txt")
    say "$how: $whole of $all stacks begin where a fiber or the process begins"
    verdict "stacks are whole by $how" "$([ "$all" -ge 20 ] && [ $((whole * 100)) -ge $((all * 90)) ]; echo $?)" "roots-$how.txt"
    holds "from a send down to where a fiber begins" "perf-$how.txt" 'Cohort::send_to_members' 'FiberMain::run' 'live_fiber_entry'
done
kill -INT "$(pgrep -P $load)"  # it is a shell that waits for the program
wait $load
unpublish
stop
verdict "the server ends well" $status server.log
finish
