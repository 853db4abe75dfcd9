#!/bin/sh
# From a clone to a running server with a stream in it: installs missing packages, configures, builds, makes doc/source.flv, starts
# the server on conf/demo.conf, which publishes that file to itself in a loop, and prints the addresses to open. Ctrl-C stops it.
#
#   run.sh [CONF]           CONF: another conf file, relative to trunk
#
# The server's own lines go to objs/run.log.
set -eu
. "$(dirname -- "$0")/common.sh"
cd "$trunk"
conf=${1:-conf/demo.conf}
[ -f "$conf" ] || die "no conf file trunk/$conf"
log=objs/run.log

build() {
    # Processor seconds of a build from nothing, from measurements, spread over the cores, and the packages before it.
    [ -x objs/srs ] || say "The first build takes about $(((400 / JOBS + 59) / 60 + 1)) minutes with $JOBS cores and a network; later starts take seconds."
    "$trunk/scripts/install-packages.sh" run
    # A folder that was configured by hand stays as it is.
    if [ ! -f Makefile ] || [ ! -f objs/build/CMakeCache.txt ]; then
        mkdir -p objs/logs
        ./configure --jobs="$JOBS" >objs/logs/run-configure.log 2>&1 || { cat objs/logs/run-configure.log >&2; exit 1; }
    fi
    tty=0
    if [ -t 1 ]; then tty=1; fi
    # The load programs, which `make` builds too, are not needed here.
    { cmake --build objs/build -j "$JOBS" --target srs 2>&1 || echo "build failed"; } | tee objs/logs/run-build.log |
        awk -v tty=$tty -v what=Building -f scripts/progress.awk
    if tail -n 1 objs/logs/run-build.log | grep -qx 'build failed'; then
        grep -E -A 12 'FAILED|error:|ninja: ' objs/logs/run-build.log | head -n 60 >&2
        die "the build failed: objs/logs/run-build.log"
    fi
}

# Every directive of the conf as `path value...`, a line each: `vhost.hls.enabled on`. Included files are not read.
flat_conf() {
    sed 's/#.*//' "$conf" | tr '\t\n' '  ' | sed 's/[{};]/ & /g' | tr -s ' ' '\n' | awk '
        function join(from,    text, i) { text = ""; for (i = from; i <= words; i++) text = text " " word[i]; return text }
        $0 == "" { next }
        $0 == ";" { if (words) print path word[1] join(2); words = 0; next }
        $0 == "{" { kept[depth++] = path; path = path word[1] "."; words = 0; next }
        $0 == "}" { path = kept[--depth]; words = 0; next }
        { word[++words] = $0 }'
}
value_of() { printf '%s\n' "$directives" | sed -n "s/^$1 //p" | head -n 1; }
is_on() { [ "$(value_of "$1")" = on ]; }

# port, ip:port or [v6]:port becomes host:port for a client on this machine; only the first listener is used.
reachable() {
    set -- "${1%% *}" "$2"
    case $1 in
        '') echo "127.0.0.1:$2" ;;
        0.0.0.0:* | \[::\]:*) echo "127.0.0.1:${1##*:}" ;;
        *:*) echo "$1" ;;
        *) echo "127.0.0.1:$1" ;;
    esac
}
answers() { curl -fs -m 2 -o /dev/null "$1" 2>/dev/null; }
# Asking for the playlist itself would be a viewer.
lists_hls() { curl -fs -m 2 "http://$http/streams.json" 2>/dev/null | grep -q '"[l-]*hls"'; }

# wait_for SECONDS COMMAND...: until it is true, the server has gone, or the time is over.
wait_for() {
    tries=$(($1 * 5))
    shift
    until "$@"; do
        tries=$((tries - 1))
        if [ $tries -le 0 ] || ! kill -0 "$server" 2>/dev/null; then return 1; fi
        sleep 0.2
    done
}

# This machine's address in its network, when the pages listen there too.
own_address() {
    case $(value_of http_server.listen) in
        127.* | \[::1\]* | localhost:*) return ;;
    esac
    hostname -I 2>/dev/null | tr ' ' '\n' | grep -v ':' | head -n 1
}

line() { printf '  %-12s%-58s%s\n' "$1" "$2" "$3"; }

print_addresses() {
    say ""
    say "The server runs, pid $server. Open:"
    if is_on http_server.enabled; then
        line page "http://$http/" "what is live, and a player, in a browser"
        line console "http://$http/console/" "streams, clients, numbers"
    fi
    line RTMP "rtmp://$rtmp/live/livestream" "ffplay, mpv, VLC, OBS"
    if is_on srt_server.enabled && is_on vhost.srt.enabled; then
        line SRT "'srt://$srt?streamid=live/livestream'" "ffplay, OBS; publish: #!::r=live/mine,m=publish"
    fi
    if is_on rtsp_server.enabled && is_on vhost.rtsp.enabled; then
        line RTSP "rtsp://$rtsp/live/livestream" "ffplay, mpv, GStreamer, recorders; publish: rtsp://$rtsp/live/mine"
    fi
    if is_on http_server.enabled; then
        if is_on vhost.http_remux.enabled; then line FLV "http://$http/live/livestream.flv" ""; fi
        if is_on vhost.hls.enabled; then
            if is_on vhost.hls.hls_ll; then name=LL-HLS; else name=HLS; fi
            line $name "http://$http/live/livestream.m3u8" "$(if [ $name = LL-HLS ]; then echo "any HLS player"; fi)"
        fi
        if is_on vhost.dash.enabled; then line DASH "http://$http/live/livestream.mpd" ""; fi
        if is_on rtc_server.enabled && is_on vhost.rtc.enabled; then
            line "WebRTC" "http://$http/players/whep.html" "play (WHEP), in a browser"
            line "" "http://$http/players/whip.html?stream=mine" "publish a camera or the screen (WHIP)"
        fi
    fi
    if is_on http_api.enabled; then line API "http://$api/api/v1/versions" ""; fi
    address=$(own_address)
    if is_on http_server.enabled && [ -n "$address" ]; then
        say "From another machine:  http://$address:${http##*:}/"
    fi
    say "Publish your own:      ffmpeg -re -i trunk/doc/source.flv -c copy -f flv rtmp://$rtmp/live/mine"
    say "The server's log:      trunk/$log"
    say "Ctrl-C stops it."
}

build
"$trunk/scripts/make-source.sh"
directives=$(flat_conf)
rtmp=$(reachable "$(value_of listen)" 1935)
http=$(reachable "$(value_of http_server.listen)" 8080)
api=$(reachable "$(value_of http_api.listen)" 1985)
srt=$(reachable "$(value_of srt_server.listen)" 10080)
rtsp=$(reachable "$(value_of rtsp_server.listen)" 554)

./objs/srs -t -c "$conf" >"$log" 2>&1 || { cat "$log" >&2; die "the conf file is not valid"; }
SRS_DAEMON=off SRS_SRS_LOG_TANK=console ./objs/srs -c "$conf" >"$log" 2>&1 &
server=$!
stopping=no
stop() {
    stopping=yes
    kill -TERM "$server" 2>/dev/null || true
}
trap stop INT TERM HUP

failed() {
    tail -n 5 "$log" >&2
    kill -TERM "$server" 2>/dev/null || true
    die "$1; its log is trunk/$log"
}
if is_on http_api.enabled; then
    wait_for 30 answers "http://$api/api/v1/versions" || [ $stopping = yes ] || failed "the server does not answer at http://$api/api/v1/versions"
fi
# The demonstration's stream comes from a child of the server; its list of segments is there after the first of them.
if is_on http_server.enabled && is_on vhost.ingest.enabled && is_on vhost.hls.enabled; then
    wait_for 20 lists_hls || true
fi
if kill -0 "$server" 2>/dev/null && [ $stopping = no ]; then print_addresses; fi

status=0
while kill -0 "$server" 2>/dev/null; do
    wait "$server" && status=0 || status=$?
done
if [ $stopping = yes ]; then
    say "Stopped."
    exit 0
fi
tail -n 5 "$log" >&2
warn "the server has ended; its log is trunk/$log"
exit "$status"
