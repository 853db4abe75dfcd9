#!/bin/sh
# From a clone to a running server with a stream in it: installs missing packages, configures, builds, makes doc/source.flv, starts
# the server on conf/demo.conf, which plays that file into itself in a loop, and says what to open. Ctrl-C stops it.
#
#   run.sh [CONF]           CONF: another conf file, relative to trunk
set -eu
. "$(dirname -- "$0")/common.sh"
cd "$trunk"
conf=${1:-conf/demo.conf}
[ -f "$conf" ] || die "no conf file trunk/$conf"

"$trunk/scripts/install-packages.sh" run
if [ ! -f Makefile ] || [ ! -f objs/build/CMakeCache.txt ]; then ./configure --jobs="$JOBS"; fi
make server
"$trunk/scripts/make-source.sh"

# The value of the first `listen` of the block $1 of the conf; the block "" is the root.
listen_of() {
    awk -v block="$1" '
        { line = $0; sub(/#.*/, "", line) }
        depth == 0 && block == "" && line ~ /^[ \t]*listen[ \t]/ || depth == 1 && inside && line ~ /^[ \t]*listen[ \t]/ {
            split(line, word, /[ \t;]+/); for (i = 1; i <= 4; i++) if (word[i] == "listen") { print word[i + 1]; exit } }
        depth == 0 && block != "" && line ~ "^[ \t]*" block "[ \t]*\\{" { inside = 1 }
        { depth += gsub(/\{/, "{", line) - gsub(/\}/, "}", line); if (depth == 0) inside = 0 }' "$conf"
}
# port, ip:port or [v6]:port becomes host:port for a client on this machine.
reachable() {
    case $1 in
        '') echo "127.0.0.1:$2" ;;
        0.0.0.0:* | \[::\]:*) echo "127.0.0.1:${1##*:}" ;;
        *:*) echo "$1" ;;
        *) echo "127.0.0.1:$1" ;;
    esac
}
api=$(reachable "$(listen_of http_api)" 1985)
rtmp=$(reachable "$(listen_of '')" 1935)
http=$(reachable "$(listen_of http_server)" 8080)

./objs/srs -t -c "$conf" || die "the conf file is not valid"
./objs/srs -c "$conf" &
server=$!
stopping=no
stop() {
    stopping=yes
    kill -TERM "$server" 2>/dev/null || true
}
trap stop INT TERM HUP

tries=0
until curl -fsS -m 2 -o objs/logs/versions.json "http://$api/api/v1/versions" 2>/dev/null; do
    kill -0 "$server" 2>/dev/null || die "the server stopped; its log says why (srs_log_file of $conf)"
    tries=$((tries + 1))
    if [ $tries -ge 60 ]; then
        kill -TERM "$server" 2>/dev/null
        die "the server does not answer at http://$api/api/v1/versions"
    fi
    sleep 0.5
done

say ""
say "The server runs, pid $server. Open:"
say "  RTMP       rtmp://$rtmp/live/livestream         ffplay, mpv, VLC, OBS"
if curl -fsS -m 2 -o /dev/null "http://$http/" 2>/dev/null; then
    say "  page       http://$http/                        what is live, and a player, in a browser"
    say "  FLV        http://$http/live/livestream.flv"
fi
say "  API        http://$api/api/v1/versions"
say "Publish your own: ffmpeg -re -i doc/source.flv -c copy -f flv rtmp://$rtmp/live/mine"
say "Ctrl-C stops it."

status=0
while kill -0 "$server" 2>/dev/null; do
    wait "$server" && status=0 || status=$?
done
if [ $stopping = yes ]; then status=0; fi
exit $status
