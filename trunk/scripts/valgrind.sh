#!/bin/sh
# The unit tests, and a server that is published to and played from for some seconds, under valgrind's memcheck: no error, nothing
# definitely lost. Builds its own flavour, which tells valgrind about coroutine stacks. Ends with `N passed, N failed`.
#   valgrind.sh [OBJS]
set -u
. "$(dirname -- "$0")/common.sh"
objs=${1:-$trunk/objs}
tree=$objs/valgrind
port=${VALGRIND_PORT:-24935}
passed=0 failed=0
command -v valgrind >/dev/null 2>&1 || die "valgrind is missing: $trunk/scripts/install-packages.sh test"

configure_tree "$tree" -DLIVE_TESTS=ON -DLIVE_VALGRIND=ON -DLIVE_QUICK_BUILD=ON || die "0 passed, 1 failed"
build_tree "$tree" srs srs_utest || die "0 passed, 1 failed"
memcheck="valgrind --leak-check=full --show-leak-kinds=definite --errors-for-leak-kinds=definite --error-exitcode=99"
suppressions=$trunk/test/valgrind.supp
if [ -f "$suppressions" ]; then memcheck="$memcheck --suppressions=$suppressions"; fi

verdict() { # NAME STATUS LOG
    if [ "$2" = 0 ]; then
        passed=$((passed + 1))
    else
        failed=$((failed + 1))
        say "valgrind: $1 failed with status $2"
        tail -n 60 "$3"
    fi
}

# Not under valgrind: tests that start programs (it lets posix_spawn report no failure, knows no pidfd_open, and takes minutes for
# a table of children), that fill the descriptor table (it keeps some for itself), that look at where time goes (most of it is its
# own), or that exhaust a bound by brute force. All of them run under AddressSanitizer.
apart="*Bench*:*Stress*:*Slow*:*DeathTest*:ChildProcessTest.*:IngestServiceTest.*:Daemon.*:TcpListenerTest.AFullDescriptorTable*"
apart="$apart:CpuProfileTest.*"
# shellcheck disable=SC2086
timeout 600 $memcheck --quiet "$tree/srs_utest" --gtest_brief=1 --gtest_filter="-$apart" >"$tree/utest.log" 2>&1
verdict "unit tests" $? "$tree/utest.log"

work=$(mktemp -d)
server='' publisher=''
cleanup() {
    [ -z "$publisher" ] || kill "$publisher" 2>/dev/null
    [ -z "$server" ] || kill "$server" 2>/dev/null
    rm -rf "$work"
}
trap cleanup EXIT
publish() {
    ffmpeg -nostdin -loglevel error -re -stream_loop -1 -t 15 -i doc/source.flv -c copy -f flv "rtmp://127.0.0.1:$port/live/valgrind" \
        >"$work/publish.log" 2>&1 &
    publisher=$!
    sleep 2
}
stop_publisher() {
    kill "$publisher" 2>/dev/null
    wait "$publisher" 2>/dev/null
    publisher=''
}
# check_added N: the Nth leak check of the server, some seconds after the last client, when its source is gone.
check_added() {
    sleep 6
    curl -fsS -m 10 -o /dev/null "http://127.0.0.1:$((port + 1))/api/v1/valgrind?check=added"
    tries=0
    until [ "$(grep -c 'LEAK SUMMARY' "$work/server.log")" -ge "$1" ] || [ $tries -ge 40 ]; do
        tries=$((tries + 1))
        sleep 0.5
    done
    sleep 1
}
"$trunk/scripts/make-source.sh" || die "0 passed, 1 failed"
cat >"$work/srs.conf" <<CONF
listen 127.0.0.1:$port;
daemon off;
srs_log_tank console;
pid $work/srs.pid;
access_log $work/access.log;
max_connections 100;
http_api { enabled on; listen 127.0.0.1:$((port + 1)); }
vhost __defaultVhost__ { }
CONF
cd "$trunk" || exit 1
# shellcheck disable=SC2086
timeout -s TERM 180 $memcheck "$tree/srs" -c "$work/srs.conf" >"$work/server.log" 2>&1 &
server=$!
tries=0
until curl -fsS -m 2 -o /dev/null "http://127.0.0.1:$((port + 1))/api/v1/versions" 2>/dev/null || [ $tries -ge 60 ]; do
    tries=$((tries + 1))
    sleep 0.5
done
publish
timeout 30 ffmpeg -nostdin -loglevel error -i "rtmp://127.0.0.1:$port/live/valgrind" -t 6 -f null - >"$work/play.log" 2>&1
verdict "play for 6 s" $? "$work/play.log"
# Twice: the second player meets what the first one left behind.
timeout 30 ffmpeg -nostdin -loglevel error -i "rtmp://127.0.0.1:$port/live/valgrind" -t 2 -c copy -f null - >"$work/play.log" 2>&1
verdict "play again" $? "$work/play.log"
stop_publisher
# What does a stream leave behind? Calibrate when one has gone, stream once more, compare.
check_added 1
publish
timeout 30 ffmpeg -nostdin -loglevel error -i "rtmp://127.0.0.1:$port/live/valgrind" -t 2 -c copy -f null - >"$work/play.log" 2>&1
stop_publisher
check_added 2
lost=$(awk '/LEAK SUMMARY/ { n = 0 } /(definitely|indirectly|possibly) lost: .*\(\+0\) bytes/ { ++n } END { print n + 0 }' "$work/server.log")
[ "$lost" = 3 ] && grep -q 'query check=added' "$work/server.log"
verdict "nothing more is lost after another stream" $? "$work/server.log"
# The child of timeout is the server; timeout passes the signal on.
kill -TERM "$server" 2>/dev/null
wait "$server"
status=$?
server=''
# timeout reports 124 for its own kill only; a server that stops when told ends with 0.
if grep -qE 'Invalid (read|write)|uninitialised|are definitely lost' "$work/server.log"; then status=99; fi
verdict "the server" $status "$work/server.log"
say "$passed passed, $failed failed"
[ $failed = 0 ]
