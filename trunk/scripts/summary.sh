#!/bin/sh
# Says after a build what was built and what to try next.
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
if [ -x "$objs/srs_utest" ]; then echo "  $objs/srs_utest                       the unit tests"; fi
