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

configure_tree "$tree" -DLIVE_TESTS=ON -DLIVE_VALGRIND=ON "-DLIVE_OPTIMISE=$TEST_FLAVOUR" || die "0 passed, 1 failed"
build_tree "$tree" srs srs_utest || die "0 passed, 1 failed"
memcheck="valgrind --quiet --leak-check=full --show-leak-kinds=definite --errors-for-leak-kinds=definite --error-exitcode=99"
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
# a table of children), that fill the descriptor table (it keeps some for itself), or that exhaust a bound by brute force. All of
# them run under AddressSanitizer.
apart="*Bench*:*Stress*:*Slow*:*DeathTest*:ChildProcessTest.*:IngestServiceTest.*:Daemon.*:TcpListenerTest.AFullDescriptorTable*"
# shellcheck disable=SC2086
timeout 600 $memcheck "$tree/srs_utest" --gtest_brief=1 --gtest_filter="-$apart" >"$tree/utest.log" 2>&1
verdict "unit tests" $? "$tree/utest.log"

work=$(mktemp -d)
server='' publisher=''
cleanup() {
    [ -z "$publisher" ] || kill "$publisher" 2>/dev/null
    [ -z "$server" ] || kill "$server" 2>/dev/null
    rm -rf "$work"
}
trap cleanup EXIT
"$trunk/scripts/make-source.sh" || die "0 passed, 1 failed"
cat >"$work/srs.conf" <<CONF
listen 127.0.0.1:$port;
daemon off;
srs_log_tank console;
pid $work/srs.pid;
max_connections 100;
http_api { enabled on; listen 127.0.0.1:$((port + 1)); }
vhost __defaultVhost__ { }
CONF
cd "$trunk" || exit 1
# shellcheck disable=SC2086
timeout -s TERM 120 $memcheck "$tree/srs" -c "$work/srs.conf" >"$work/server.log" 2>&1 &
server=$!
tries=0
until curl -fsS -m 2 -o /dev/null "http://127.0.0.1:$((port + 1))/api/v1/versions" 2>/dev/null || [ $tries -ge 60 ]; do
    tries=$((tries + 1))
    sleep 0.5
done
ffmpeg -nostdin -loglevel error -re -stream_loop -1 -t 15 -i doc/source.flv -c copy -f flv "rtmp://127.0.0.1:$port/live/valgrind" >"$work/publish.log" 2>&1 &
publisher=$!
sleep 2
timeout 30 ffmpeg -nostdin -loglevel error -i "rtmp://127.0.0.1:$port/live/valgrind" -t 6 -f null - >"$work/play.log" 2>&1
verdict "play for 6 s" $? "$work/play.log"
# Twice: the second player meets what the first one left behind.
timeout 30 ffmpeg -nostdin -loglevel error -i "rtmp://127.0.0.1:$port/live/valgrind" -t 2 -c copy -f null - >"$work/play.log" 2>&1
verdict "play again" $? "$work/play.log"
kill "$publisher" 2>/dev/null
wait "$publisher" 2>/dev/null
publisher=''
sleep 1
# The child of timeout is the server; timeout passes the signal on.
kill -TERM "$server" 2>/dev/null
wait "$server"
status=$?
server=''
# timeout reports 124 for its own kill only; a server that stops when told ends with 0.
if grep -qE 'Invalid (read|write)|uninitialised|definitely lost' "$work/server.log"; then status=99; fi
verdict "the server" $status "$work/server.log"
say "$passed passed, $failed failed"
[ $failed = 0 ]
