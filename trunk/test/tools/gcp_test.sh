#!/bin/sh
# The CPU profile of gperftools: Ctrl-C writes gperf.srs.gcp, and pprof shows call chains that go through the fibers.
. "$(dirname -- "$0")/tool.sh"
needs google-pprof dot ffmpeg curl
flavour gperf --gperf=on --gcp=on
rm -f gperf.srs.gcp*
serve env CPUPROFILE_FREQUENCY=500 ./objs/srs -c live.conf
publish
crowd 1000 8
play 3
api 'tcmalloc?page=summary' >summary.txt
verdict "tcmalloc page=summary" $? server.log
holds "the allocator's text" summary.txt 'MALLOC:'
api 'tcmalloc?page=detail' >detail.json
holds "the allocator's figures" detail.json '"current_allocated_bytes":[1-9]' '"heap_size":[1-9]' '"release_rate"'
unpublish
stop
verdict "the server ends well" $status server.log
./objs/pprof --text objs/srs gperf.srs.gcp* >gcp.txt 2>gcp.err
verdict "./objs/pprof --text" $? gcp.err
holds "our functions are named" gcp.txt 'live::'
./objs/pprof --text --cum objs/srs gperf.srs.gcp* >cum.txt 2>>gcp.err
holds "the chains begin where a fiber or the loop does" cum.txt 'live_fiber_entry|FiberMain::run'
./objs/pprof --svg ./objs/srs gperf.srs.gcp >gcp.svg 2>>gcp.err
holds "./objs/pprof --svg" gcp.svg '</svg>' 'live'
finish
