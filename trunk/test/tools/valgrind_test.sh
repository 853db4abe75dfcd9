#!/bin/sh
# valgrind's incremental leak check: calibrate, stream, stop, check. Nothing more may be lost than before; a planted leak is named.
. "$(dirname -- "$0")/tool.sh"
needs valgrind ffmpeg curl
flavour valgrind --valgrind=on --simulator=on
checks=0
# check: asks for a check and waits for its summary; what it said is in check.txt.
check() {
    before=$(wc -l <server.log)
    checks=$((checks + 1))
    api 'valgrind?check=added' >reply.json || return 1
    for _ in $(seq 60); do
        if [ "$(grep -c 'LEAK SUMMARY' server.log)" -ge $checks ]; then break; fi
        sleep 0.5
    done
    sleep 1
    tail -n "+$((before + 1))" server.log >check.txt
}
stream() {
    publish
    play 4
    unpublish
}

serve valgrind --leak-check=full --show-leak-kinds=all ./objs/srs -c live.conf
stream
for _ in 1 2 3 4 5; do
    check
    grep -qE 'definitely lost: .*\(\+0\) bytes' check.txt && grep -qE 'still reachable: .*\(\+0\) bytes' check.txt && break
done
holds "the reply names the call" reply.json '"check":"added"' 'VALGRIND_DO_ADDED_LEAK_CHECK'
holds "the log names the request" server.log 'query check=added'
stream
sleep 5
check
holds "after another publish and two more players nothing more is lost" check.txt 'definitely lost: 0 \(\+0\) bytes' 'possibly lost: .*\(\+0\) bytes'
api 'fault?kind=leak' >/dev/null
check
holds "a planted leak is named" check.txt 'definitely lost: 4,321 \(\+4,321\) bytes in 1 \(\+1\) blocks' planted_leak
stop
lacks "no other error" server.log 'Invalid (read|write)|uninitialised'
finish
