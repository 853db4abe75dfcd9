#!/bin/sh
# The heap checker of gperftools: a clean run is reported at its end, and a planted leak is named.
. "$(dirname -- "$0")/tool.sh"
needs google-pprof ffmpeg curl
quick_flavour quick --gperf=on --gmc=on --simulator=on
unset HEAPCHECK
serve ./objs/srs -c live.conf
stop
holds "without HEAPCHECK it says what is missing" server.log 'HEAPCHECK is not set'
export PPROF_PATH=./objs/pprof HEAPCHECK=normal
serve ./objs/srs -c live.conf
publish
play 3
unpublish
stop
verdict "a clean run ends well" $status server.log
holds "and says so" server.log 'No leaks found'
serve ./objs/srs -c live.conf
api 'fault?kind=leak' >/dev/null
verdict "a leak is planted" $? server.log
stop USR1
holds "SIGUSR1 stops this build" server.log 'srs terminated'
holds "a planted leak is named" server.log 'Leak check _main_ detected leaks of 4321 bytes in 1 objects' 'planted_leak'
finish
