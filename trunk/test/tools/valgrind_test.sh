#!/bin/sh
# valgrind's memcheck on the server: clean while streams are published and played, and the incremental leak check: calibrate, stream,
# stop, check. Nothing more may be lost than before; a planted leak is named.
#   valgrind_test.sh [OBJS]     where the load tools are: objs
. "$(dirname -- "$0")/tool.sh"
rtc_load=${1:-$trunk/objs}/sb_rtc_load
needs valgrind ffmpeg curl "$rtc_load"
quick_flavour quick --valgrind=on --simulator=on
sed -i 's/^vhost __defaultVhost__ {/& hls { enabled on; hls_fragment 1; hls_window 3; hls_dispose 1; } rtc { enabled on; rtmp_to_rtc on; rtc_to_rtmp on; stun_timeout 5; }/' live.conf
echo "rtc_server { enabled on; listen 127.0.0.1:$((port + 3)); }" >>live.conf
errors='Invalid (read|write)|uninitialised|switching stacks|are definitely lost'
checks=0
# check: requests a check and waits for its summary; its output is in check.txt.
check() {
    before=$(wc -l <server.log)
    checks=$((checks + 1))
    api 'valgrind?check=added' >reply.json || return 1
    for _ in $(seq 120); do
        if [ "$(grep -c 'LEAK SUMMARY' server.log)" -ge $checks ]; then break; fi
        sleep 0.25
    done
    sleep 1
    tail -n "+$((before + 1))" server.log >check.txt
}
# gone: waits until the server has forgotten the stream and its players; those of HLS only stay away.
gone() {
    for _ in $(seq 80); do
        if ! api memory | grep -qE '"(sources|sessions_hls-play|rtc_engines)":\{"objects":[1-9]'; then break; fi
        sleep 0.5
    done
    sleep 1
}
play_hls() {
    url="http://127.0.0.1:$((port + 2))/live/livestream.m3u8"
    for _ in $(seq 60); do
        if curl -fs -m 5 "$url?hls_ctx=watcher1" | grep -q EXTINF; then break; fi
        sleep 0.25
    done
    timeout 60 ffmpeg -nostdin -loglevel error -i "$url" -t 2 -c copy -f null - >hls.log 2>&1
    verdict "a player by HLS" $? hls.log
}
# until_it OUTPUT PATTERN COMMAND...: again while the pattern is not in the output, as one attempt may be too short on a busy machine. The
# status is that of the last attempt.
until_it() {
    output=$1 pattern=$2
    shift 2
    for _ in 1 2 3 4 5; do
        "$@" >"$output" 2>&1
        tried=$?
        if grep -qE -- "$pattern" "$output"; then break; fi
    done
    return $tried
}
# play_rtc: two players of the RTMP stream, a publisher and a player of its own, and a handshake of the server with itself.
play_rtc() {
    rtc="http://127.0.0.1:$((port + 1))/rtc/v1"
    media=' 0 failed; [0-9.]*[1-9][0-9.]* Mbps in'
    "$rtc_load" -c 1 -s 0 -i "$trunk/doc/source.flv" --silence -r "$rtc/whip/?app=live&stream=rtc" --seconds 60 >whip.log 2>&1 &
    whip=$!
    until_it whep.log "$media" "$rtc_load" -c 2 -s 0 -r "$rtc/whep/?app=live&stream=livestream" --seconds 5
    verdict "players of the RTMP stream by WebRTC" $? whep.log
    until_it whep2.log "$media" "$rtc_load" -c 1 -s 0 -r "$rtc/whep/?app=live&stream=rtc" --seconds 4
    verdict "a player by WebRTC" $? whep2.log
    holds "they got media" whep.log "$media"
    holds "it got media" whep2.log "$media"
    kill -INT $whip
    wait $whip
    verdict "a publisher by WebRTC" $? whip.log
    until_it doctor.json '"ok":true' api doctor/rtc
    holds "a handshake with itself" doctor.json '"ok":true'
}
stream() {
    publish
    play 4
    play_hls
    play_rtc
    unpublish
    gone
}

# Reported blocks count as errors, and after a thousand errors valgrind reports no more.
serve valgrind --error-limit=no --leak-check=full --show-leak-kinds=all ./objs/srs -c live.conf
stream
for _ in 1 2 3 4 5; do
    check
    grep -qE 'definitely lost: .*\(\+0\) bytes' check.txt && grep -qE 'still reachable: .*\(\+0\) bytes' check.txt && break
done
holds "the reply names the call" reply.json '"check":"added"' 'VALGRIND_DO_ADDED_LEAK_CHECK'
holds "the log names the request" server.log 'query check=added'
stream
check
holds "after a stream by RTMP, HTTP-FLV, HLS and WebRTC nothing more is lost" check.txt \
    'definitely lost: 0 \(\+0\) bytes' 'indirectly lost: 0 \(\+0\) bytes' 'possibly lost: .*\(\+0\) bytes'
lacks "and memcheck has found nothing" server.log "$errors"
api 'fault?kind=leak' >/dev/null
verdict "a leak is planted" $? server.log
check
holds "a planted leak is named" check.txt 'definitely lost: 4,321 \(\+4,321\) bytes in 1 \(\+1\) blocks' planted_leak FaultHandler::handle 'http::Acceptor::serve'
api 'fault?kind=use_after_free' >/dev/null
holds "so is a use after free" server.log 'Invalid write of size 1' planted_use_after_free FaultHandler::handle
stop
verdict "the server ends well" $status server.log
finish
