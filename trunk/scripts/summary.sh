#!/bin/sh
# Prints after a build the built programs and the next commands.
#   summary.sh OBJS
set -eu
objs=$1
green=$(printf '\033[32m') plain=$(printf '\033[0m')
case $objs in
    "$PWD"/*) objs=.${objs#"$PWD"} ;;
esac
[ -x "$objs/srs" ] || exit 0
version=$("$objs/srs" -v 2>/dev/null || echo unknown)
cat <<TEXT
${green}The build is ok.${plain}
  server         $objs/srs, version $version, $(du -h -L "$objs/srs" | cut -f1)
  options        $(cat "$objs/.options" 2>/dev/null || echo "not configured")

Try:
  $objs/srs -c conf/console.conf        in this terminal, Ctrl-C stops it
  $objs/srs -c conf/srs.conf            as a daemon; ./etc/init.d/srs status
  make source                             makes doc/source.flv, then
  ffmpeg -re -i doc/source.flv -c copy -f flv rtmp://127.0.0.1/live/livestream
  ffplay rtmp://127.0.0.1/live/livestream
  curl http://127.0.0.1:1985/api/v1/versions
TEXT
# The purpose of this flavour; doc/performance.md shows each with its output.
options=" $(cat "$objs/.options" 2>/dev/null) "
hint() { case $options in *" --$1=on "*) printf '%s\n' "$2" ;; esac; }
hint gcp "  kill -2 \$(cat objs/srs.pid); $objs/pprof --text $objs/srs gperf.srs.gcp*    CPU profile; --svg for a picture"
hint gmp "  kill -2 \$(cat objs/srs.pid); $objs/pprof --text $objs/srs gperf.srs.gmp*    who holds the memory"
hint gmc "  env PPROF_PATH=$objs/pprof HEAPCHECK=normal $objs/srs -c conf/console.conf 2>gmc.log    leaks, told at the end"
hint gmd "  env TCMALLOC_PAGE_FENCE=1 $objs/srs -c conf/console.conf    stops at the line that writes out of bounds"
hint gprof "  kill -2 \$(cat objs/srs.pid); gprof -b $objs/srs gmon.out"
hint valgrind "  valgrind --leak-check=full --show-leak-kinds=all $objs/srs -c conf/console.conf; curl http://127.0.0.1:1985/api/v1/valgrind?check=added"
hint sanitizer "  ASAN_OPTIONS=halt_on_error=1:detect_leaks=1 $objs/srs -c conf/console.conf"
if [ -x "$objs/srs_utest" ]; then echo "  $objs/srs_utest                       the unit tests"; fi
