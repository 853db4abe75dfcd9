#!/bin/sh
# gdb on the ordinary build: tools/gdb/co.py lists the coroutines of a server that runs, with their stacks, and visits one.
. "$(dirname -- "$0")/tool.sh"
needs gdb ffmpeg curl
ordinary_flavour "${1:-}"
serve ./objs/srs -c live.conf
publish
ffmpeg -nostdin -loglevel error -i "rtmp://127.0.0.1:$port/live/livestream" -c copy -f null - >rtmp.log 2>&1 &
clients="$clients $!"
sleep 2
gdb -q -batch -p "$server" -ex "source $trunk/tools/gdb/co.py" -ex co-list -ex co-bt >gdb.txt 2>&1
verdict "gdb attaches" $? gdb.txt
holds "fibers, their names, states, ages and stacks" gdb.txt '[0-9]+ fibers' 'rtmp-listener .*waiting.* [0-9.]+ s old' 'live::session::rtmp' \
    'live_fiber_entry'
number=$(awk '$2 == "rtmp-listener" { print $1; exit }' gdb.txt)
gdb -q -batch -p "$server" -ex "source $trunk/tools/gdb/co.py" -ex "co-switch $number" -ex bt -ex 'frame function live::session::next_connection' \
    -ex 'print listener' -ex co-back >switch.txt 2>&1
holds "inside one: its stack and its variables" switch.txt 'TcpListener::accept' 'live_fiber_entry' '\$1 = .*TcpListener'
api versions >/dev/null
verdict "the server goes on" $? server.log
unpublish
stop
verdict "and ends well" $status server.log
finish
