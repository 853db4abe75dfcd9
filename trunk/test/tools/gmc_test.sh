#!/bin/sh
# The heap checker of gperftools: a clean run says so at its end, a planted leak is named.
. "$(dirname -- "$0")/tool.sh"
needs google-pprof ffmpeg curl
flavour gperf --gperf=on --gmc=on --simulator=on
export PPROF_PATH=./objs/pprof HEAPCHECK=normal
serve ./objs/srs -c live.conf
publish
play 3
unpublish
stop
holds "a clean run says so" server.log 'No leaks found'
verdict "and ends well" $status server.log
serve ./objs/srs -c live.conf
api 'fault?kind=leak' >/dev/null
verdict "a leak is planted" $? server.log
stop
holds "a planted leak is named" server.log 'Leak check _main_ detected' '4321|4\.2' 'planted_leak'
finish
