#!/bin/sh
# The commands of the guides with a default build and the system's programs: strace, priority, affinity, sockets.
. "$(dirname -- "$0")/tool.sh"
needs strace taskset renice top ffmpeg curl
ordinary_flavour "${1:-}"
serve ./objs/srs -c live.conf
publish
gather 200 12
timeout -s INT 4 strace -f -c -o strace.txt -p "$server" >strace.err 2>&1
holds "strace -c -p" strace.txt '% time +seconds' 'epoll_(p)?wait' 'io_uring_enter|sendmsg|writev'
[ "$(cat objs/srs.pid)" = "$server" ]
verdict "objs/srs.pid" $? objs/srs.pid
taskset -p 0xfe "$(cat objs/srs.pid)" >taskset.txt 2>&1 && taskset -a -p 0xfe "$(cat objs/srs.pid)" >>taskset.txt 2>&1 &&
    taskset -pc 1 "$(cat objs/srs.pid)" >>taskset.txt 2>&1
verdict "taskset, of one thread and of all" $? taskset.txt
holds "the server stays on processor 1" taskset.txt "new affinity list: 1$"
# More than the default needs rights.
nice=5
[ "$(id -u)" != 0 ] || nice=-15
renice -n $nice -p "$server" >renice.txt 2>&1
verdict "renice" $? renice.txt
top -b -n1 -p "$server" >top.txt 2>&1
holds "top shows it" top.txt "^ *$server .* $nice .* srs *$"
cat /proc/softirqs >softirqs.txt
holds "/proc/softirqs" softirqs.txt NET_RX
wait $load
verdict "the players got the stream all the while" $? crowd.log
unpublish
stop
verdict "the server ends well" $status server.log
finish
