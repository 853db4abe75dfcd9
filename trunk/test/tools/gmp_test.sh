#!/bin/sh
# The heap profile of gperftools: profiles are written when a stop begins and at the end, and pprof shows the functions that hold the memory.
. "$(dirname -- "$0")/tool.sh"
needs google-pprof ffmpeg curl
quick_flavour quick --gperf=on --gmp=on
rm -f gperf.srs.gmp*
serve ./objs/srs -c live.conf
publish
play 4
stop
unpublish
verdict "the server ends well" $status server.log
ls gperf.srs.gmp* >files.txt 2>&1
holds "profiles are written" files.txt 'gperf\.srs\.gmp.*\.heap'
./objs/pprof --text objs/srs gperf.srs.gmp* >gmp.txt 2>gmp.err
verdict "./objs/pprof --text" $? gmp.err
holds "our functions are named, and who holds the stream's media" gmp.txt 'live::media::' 'live::session::'
finish
