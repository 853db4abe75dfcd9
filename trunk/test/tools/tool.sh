# Shared by the tests of the tools; sourced, never run. A test builds its flavour in a folder of its own by configure and make, as a
# user would, runs the server there, has a stream published and played, stops it as the guide says, and looks at the tool's output.
# shellcheck shell=sh
# Sets: trunk, work (the flavour's folder, also the current one), port, passed and failed.
here=$(CDPATH='' cd -- "$(dirname -- "$0")" && pwd)
trunk=$(CDPATH='' cd -- "$here/../.." && pwd)
JOBS=${JOBS:-$(nproc)}
port=${TOOLS_PORT:-24835}
passed=0 failed=0 server='' clients=''

say() { printf '%s\n' "$*"; }

finish() {
    # shellcheck disable=SC2086 # pids are words
    [ -z "$clients$server" ] || kill $clients $server 2>/dev/null
    wait
    say "$passed passed, $failed failed"
    [ $failed = 0 ] && [ $passed != 0 ]
    exit $?
}

# verdict NAME STATUS [LOG]
verdict() {
    if [ "$2" = 0 ]; then
        passed=$((passed + 1))
    else
        failed=$((failed + 1))
        say "FAILED: $1"
        [ -z "${3:-}" ] || tail -n 40 "$3" | sed 's/^/    /'
    fi
}

# holds NAME FILE PATTERN...: every pattern is somewhere in the file.
holds() {
    name=$1 file=$2
    shift 2
    good=0
    for pattern in "$@"; do
        grep -qE -- "$pattern" "$file" || { good=1; say "not in $(basename "$file"): $pattern"; }
    done
    verdict "$name" $good "$file"
}

# lacks NAME FILE PATTERN
lacks() {
    if grep -qE -- "$3" "$2"; then verdict "$1" 1 "$2"; else verdict "$1" 0; fi
}

# needs PROGRAM...: without them there is nothing to test, and that is a failure: install-packages.sh profile installs them.
needs() {
    for program in "$@"; do
        command -v "$program" >/dev/null 2>&1 || { verdict "$program is installed" 1; finish; }
    done
}

# flavour NAME [configure options]: builds it below TOOLS_OBJS, or objs/tools, and goes there.
flavour() {
    work=${TOOLS_OBJS:-$trunk/objs/tools}/$1
    shift
    mkdir -p "$work"
    cd "$work" || exit 1
    if ! { SRS_WORKDIR=$trunk "$trunk/configure" --jobs="$JOBS" "$@" && make; } >build.log 2>&1 </dev/null; then
        verdict "build with $*" 1 build.log
        finish
    fi
    cat >live.conf <<CONF
listen 127.0.0.1:$port;
daemon off;
srs_log_tank console;
max_connections 2000;
http_api { enabled on; listen 127.0.0.1:$((port + 1)); }
http_server { enabled on; listen 127.0.0.1:$((port + 2)); }
vhost __defaultVhost__ { http_remux { enabled on; mount [vhost]/[app]/[stream].flv; } }
CONF
}

# serve COMMAND...: the server in the background, its words in server.log; waits until it answers. The command must be the server
# itself or exec it, so that the signals of stop() reach it.
serve() {
    "$@" >server.log 2>&1 </dev/null &
    server=$!
    tries=0
    until api versions >/dev/null 2>&1; do
        tries=$((tries + 1))
        if [ $tries -ge 120 ] || ! kill -0 $server 2>/dev/null; then
            verdict "the server starts" 1 server.log
            finish
        fi
        sleep 0.5
    done
}

api() { curl -fsS -m 10 "http://127.0.0.1:$((port + 1))/api/v1/$1"; }

# publish: begins to send the sample stream, and waits until it is there.
publish() {
    "$trunk/scripts/make-source.sh" >/dev/null || { verdict "the sample stream" 1; finish; }
    ffmpeg -nostdin -loglevel error -re -stream_loop -1 -i "$trunk/doc/source.flv" -c copy -f flv "rtmp://127.0.0.1:$port/live/livestream" \
        >publish.log 2>&1 &
    clients="$clients $!"
    sleep 2
}

# play SECONDS: two players, one by RTMP and one by HTTP-FLV, to their ends.
play() {
    ffmpeg -nostdin -loglevel error -i "http://127.0.0.1:$((port + 2))/live/livestream.flv" -t "$1" -c copy -f null - >flv.log 2>&1 &
    other=$!
    timeout $(($1 + 60)) ffmpeg -nostdin -loglevel error -i "rtmp://127.0.0.1:$port/live/livestream" -t "$1" -c copy -f null - >rtmp.log 2>&1
    verdict "a player by RTMP" $? rtmp.log
    wait $other
    verdict "a player by HTTP-FLV" $? flv.log
}

# crowd N SECONDS: that many players of the stream, read by one program: work enough for a profile.
crowd() {
    bench=$trunk/tools/bench
    g++ -O2 -std=c++20 -o crowd "$bench/rtmp_load.cpp" "$bench/common.cpp" "$bench/clip.cpp" "$bench/rtmp_client.cpp" || { verdict "the load" 1; return; }
    ./crowd --mode rtmp --port "$port" --app live --stream livestream --clients "$1" --seconds "$2" >crowd.log 2>&1
}

unpublish() {
    # shellcheck disable=SC2086
    [ -z "$clients" ] || { kill -INT $clients; wait $clients; } 2>/dev/null
    clients=''
}

# stop [SIGNAL]: as Ctrl-C does, or by the signal; its exit status is in `status`.
stop() {
    kill "-${1:-INT}" "$server" 2>/dev/null
    wait "$server"
    status=$?
    server=''
}

# Interrupted: what was started is stopped all the same, and nothing counts as passed.
trap 'failed=1; finish' INT TERM
