#!/bin/sh
# perf on the ordinary build: whole call stacks by frame pointers and by dwarf, through the fibers.
. "$(dirname -- "$0")/tool.sh"
needs perf ffmpeg curl
flavour release
serve ./objs/srs -c live.conf
publish
for how in fp dwarf; do
    crowd 1000 8 &
    load=$!
    sleep 2
    rm -f perf.data
    perf record -q -o perf.data -F 500 -e cpu-clock --call-graph $how -p "$server" -- sleep 4 >perf.log 2>&1
    verdict "perf record --call-graph $how" $? perf.log
    perf report -i perf.data --call-graph --stdio >"perf-$how.txt" 2>perf.err
    verdict "perf report --call-graph --stdio" $? perf.err
    holds "whole stacks by $how: from a send down to where a fiber begins" "perf-$how.txt" 'live::' 'FiberMain::run|live_fiber_entry'
    wait $load
done
unpublish
stop
verdict "the server ends well" $status server.log
finish
