# Shared by the tests of the tools; sourced, never run. A test configures and builds its flavour in a folder of its own, as a
# user would, runs the server there, has a stream published and played, stops it as in the guide, and checks the tool's output.
# shellcheck shell=sh
# Sets: trunk, work (the flavour's folder, also the current one), port, passed and failed.
# TOOLS_OBJS    where the folders are made (objs/tools)
# TOOLS_SERVER  a server of the right flavour that is there already: nothing is configured and built then
# TOOLS_PORT    the first of four ports (24835)
here=$(CDPATH='' cd -- "$(dirname -- "$0")" && pwd)
trunk=$(CDPATH='' cd -- "$here/../.." && pwd)
JOBS=${JOBS:-$(nproc)}
port=${TOOLS_PORT:-24835}
# Common headers that are compiled once may be cached too.
export CCACHE_SLOPPINESS=pch_defines,time_macros
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
    if grep -qE -- "$3" "$2"; then
        grep -E -m 5 -- "$3" "$2"
        verdict "$1" 1 "$2"
    else
        verdict "$1" 0
    fi
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
    mkdir -p "$work/objs"
    cd "$work" || exit 1
    if [ -n "${TOOLS_SERVER:-}" ]; then
        ln -sf "$TOOLS_SERVER" objs/srs
    else
        built=build.log
        build "$@" || { verdict "build with $*" 1 build.log; finish; }
    fi
    write_conf console
}

# ordinary_flavour: the one that ./configure and make give; taken from OBJS, the script's first argument, where it is configured there.
ordinary_flavour() {
    if grep -qE '^LIVE_CONFIGURE_USER:STRING=(none|--jobs=[0-9]+)$' "$1/build/CMakeCache.txt" 2>/dev/null && cmake --build "$1/build" -j "$JOBS" --target srs >/dev/null; then
        TOOLS_SERVER=$1/srs
    fi
    flavour release
}

# quick_flavour: the same with less optimisation and debug information, in about half the time. Those that differ in few files have one
# name, and so one folder: only these files are compiled anew.
quick_flavour() {
    quick=yes
    flavour "$@"
}

# build [configure options]: in the current folder. Keeps the objects of other options: ninja rebuilds changed ones.
build() {
    SRS_WORKDIR=$trunk "$trunk/configure" --jobs="$JOBS" --clean=off "$@" >"${built:=build.log}" 2>&1 </dev/null || return 1
    if [ "${quick:-no}" = yes ]; then
        cmake -DLIVE_QUICK_BUILD=ON objs/build >>"$built" 2>&1 || return 1
    fi
    # Only the server, not the load tools beside it.
    cmake --build objs/build -j "$JOBS" --target srs >>"$built" 2>&1 </dev/null
}

# write_conf TANK: where the log goes, console or file.
write_conf() {
    cat >live.conf <<CONF
listen 127.0.0.1:$port;
daemon off;
srs_log_tank $1;
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
        if [ $tries -ge 240 ] || ! kill -0 $server 2>/dev/null; then
            verdict "the server starts" 1 server.log
            finish
        fi
        sleep 0.25
    done
}

api() { curl -fsS -m 10 "http://127.0.0.1:$((port + 1))/api/v1/$1"; }

# publish: begins to send the sample stream, and waits until it is there.
publish() {
    "$trunk/scripts/make-source.sh" >/dev/null || { verdict "the sample stream" 1; finish; }
    ffmpeg -nostdin -loglevel error -re -stream_loop -1 -i "$trunk/doc/source.flv" -c copy -f flv "rtmp://127.0.0.1:$port/live/livestream" \
        >publish.log 2>&1 &
    clients="$clients $!"
    tries=0
    until api streams/ 2>/dev/null | grep -q '"publish":{"active":true' || [ $tries -ge 60 ]; do
        tries=$((tries + 1))
        sleep 0.25
    done
    [ $tries -lt 60 ] || verdict "the stream is published" 1 publish.log
}

# play SECONDS: two players, one by RTMP and one by HTTP-FLV, to their ends.
play() {
    timeout $(($1 + 60)) ffmpeg -nostdin -loglevel error -i "http://127.0.0.1:$((port + 2))/live/livestream.flv" -t "$1" -c copy -f null - \
        >flv.log 2>&1 &
    other=$!
    timeout $(($1 + 60)) ffmpeg -nostdin -loglevel error -i "rtmp://127.0.0.1:$port/live/livestream" -t "$1" -c copy -f null - >rtmp.log 2>&1
    verdict "a player by RTMP" $? rtmp.log
    wait $other
    verdict "a player by HTTP-FLV" $? flv.log
}

# crowd N SECONDS: that many players of the stream, read by one program: work enough for a profile. Its status is the program's.
crowd() {
    crowd_program && "$fast" -c "$1" -r "rtmp://127.0.0.1:$port/live/livestream" --ramp 2000 --seconds "$2" >crowd.log 2>&1
}

# crowd_program: the ordinary build of sb_rtmp_load_fast, in `fast`; without one it is built beside the flavours.
crowd_program() {
    for fast in "$trunk/objs/sb_rtmp_load_fast" "$work/../load/objs/sb_rtmp_load_fast"; do
        [ ! -x "$fast" ] || return 0
    done
    mkdir -p "$work/../load/objs" && (
        cd "$work/../load" && SRS_WORKDIR=$trunk "$trunk/configure" --jobs="$JOBS" --clean=off >build.log 2>&1 </dev/null &&
            cmake --build objs/build -j "$JOBS" --target sb_rtmp_load_fast >>build.log 2>&1 </dev/null
    )
}

# gather N SECONDS: a crowd in the background, its pid in `load`; continues when all players are connected.
gather() {
    crowd_program
    crowd "$@" &
    load=$!
    tries=0
    until [ "$(api vhosts/ 2>/dev/null | grep -o '"clients":[0-9]*' | head -n 1 | cut -d: -f2)0" -ge "${1}0" ] || [ $tries -ge 120 ]; do
        tries=$((tries + 1))
        sleep 0.25
    done
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

# Interrupted: stops the started processes, and nothing counts as passed.
trap 'failed=1; finish' INT TERM
