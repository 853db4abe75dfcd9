#!/bin/sh
# The debug allocator of gperftools: with a fence behind each block, a planted overflow stops at the bad line.
. "$(dirname -- "$0")/tool.sh"
needs gdb ffmpeg curl
quick_flavour quick --gperf=on --gmd=on --simulator=on
unset TCMALLOC_PAGE_FENCE
serve ./objs/srs -c live.conf
stop
holds "without TCMALLOC_PAGE_FENCE it says what is missing" server.log 'TCMALLOC_PAGE_FENCE=1 is not set'
export TCMALLOC_PAGE_FENCE=1
serve ./objs/srs -c live.conf
publish
play 3
unpublish
stop
verdict "without a fault it runs and ends well" $status server.log
# The fence is a page that cannot be touched: the process ends at the write, and a debugger shows where.
serve gdb -q -batch -ex 'handle SIGINT nostop pass' -ex run -ex bt --args ./objs/srs -c live.conf
curl -s -m 20 "http://127.0.0.1:$((port + 1))/api/v1/fault?kind=overflow" >/dev/null
kill -INT "$(cat objs/srs.pid)" 2>/dev/null  # should it have survived
wait "$server"
server=''
holds "a planted overflow stops at the bad line" server.log 'SIGSEGV' 'planted_overflow' 'faults.hpp:[0-9]+' 'live_fiber_entry'
finish
