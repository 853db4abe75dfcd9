#!/bin/sh
# The CPU profile of gperftools: Ctrl-C writes gperf.srs.gcp, and pprof shows call chains that go through the fibers.
. "$(dirname -- "$0")/tool.sh"
needs google-pprof dot ffmpeg curl
quick_flavour quick --gperf=on --gcp=on
rm -f gperf.srs.gcp*
# Small batches, so that sending is some of the work.
serve env CPUPROFILE_FREQUENCY=500 SRS_VHOST_PLAY_MW_LATENCY=40 ./objs/srs -c live.conf
holds "the release rate is told" server.log 'tcmalloc: set release-rate 1\.00=>0\.80'
publish
crowd 1000 8
verdict "1000 players" $? crowd.log
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
# cumulative NAME: the share of samples, in whole percent, that have this function in their chain.
cumulative() { awk -v name="$1" '$NF == name || index($0, name) { sub("%", "", $5); print int($5); exit }' cum.txt; }
# at_least PERCENT NAME
at_least() {
    share=$(cumulative "$2")
    say "$2: ${share:-0} %"
    verdict "at least $1 % of the chains go through $2" "$([ "${share:-0}" -ge "$1" ]; echo $?)" cum.txt
}
at_least 80 live_fiber_entry
at_least 60 live::io::FiberMain::run
at_least 5 live::session::Cohort::send_to_members
./objs/pprof --svg ./objs/srs gperf.srs.gcp >gcp.svg 2>>gcp.err
holds "./objs/pprof --svg" gcp.svg '</svg>' 'live' 'FiberMain'
finish
