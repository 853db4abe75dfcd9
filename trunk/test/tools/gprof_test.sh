#!/bin/sh
# gprof: Ctrl-C writes gmon.out, and `gprof -b` names our functions and their callers, also in fibers.
. "$(dirname -- "$0")/tool.sh"
needs gprof ffmpeg curl
quick_flavour gprof --gprof=on
rm -f gmon.out
serve ./objs/srs -c live.conf
publish
crowd 1000 8
verdict "1000 players" $? crowd.log
play 3
unpublish
stop
verdict "the server ends well" $status server.log
gprof -b ./objs/srs gmon.out >gprof.txt 2>gprof.err
verdict "gprof -b ./objs/srs gmon.out" $? gprof.err
holds "our hot functions are named" gprof.txt 'Call graph' 'live::session::Cohort::send_to_members' 'live::media::' 'live::io::FanSender::send'
finish
