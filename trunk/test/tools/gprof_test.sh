#!/bin/sh
# gprof: Ctrl-C writes gmon.out, and `gprof -b` names our functions, those of fibers too.
. "$(dirname -- "$0")/tool.sh"
needs gprof ffmpeg curl
flavour gprof --gprof=on
rm -f gmon.out
serve ./objs/srs -c live.conf
publish
crowd 300 6
play 3
unpublish
stop
verdict "the server ends well" $status server.log
gprof -b ./objs/srs gmon.out >gprof.txt 2>gprof.err
verdict "gprof -b ./objs/srs gmon.out" $? gprof.err
holds "our functions are named" gprof.txt 'Call graph' 'live::session::' 'live::media::' 'live::io::'
finish
