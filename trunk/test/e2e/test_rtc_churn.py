"""WebRTC sessions that come and go: what they cost must go with them."""

import pytest

from live_server import wait_until
from rtmp_client import Publisher

pytestmark = pytest.mark.workers


def counted(live) -> dict:
    return {kind: count["objects"] for kind, count in live.api("/api/v1/memory")["data"]["kinds"].items()
            if kind.startswith(("sessions_", "rt")) or kind in ("sources", "packets", "wire_slabs", "fibers", "connections")}


@pytest.mark.long
def test_five_hundred_sessions_come_and_go_and_leave_nothing(server, clip, load):
    """Players of a WHIP stream and of an RTMP stream, in rounds of fifty, with a new WHIP publisher each round."""
    live = server(vhost="rtc { enabled on; rtmp_to_rtc on; rtc_to_rtmp on; }", root="rtc_server { enabled on; listen 127.0.0.1:$udp; }")
    api, picture = live.ports["api"], clip("basic")
    whip, whep = (f"http://127.0.0.1:{api}/rtc/v1/{kind}/?app=live&stream=" for kind in ("whip", "whep"))
    camera = Publisher(live.ports["rtmp"], "cam", picture)
    camera.start()

    def come_and_go() -> None:
        publisher = load("sb_rtc_load", "-c", 1, "-i", picture, "--silence", "-s", 0, "-r", whip + "web", "--seconds", 8)
        wait_until(lambda: counted(live)["sessions_rtc-publish"] == 1, 5, "it publishes")
        rounds = [load("sb_rtc_load", "-c", 25, "--ramp", 50, "-r", whep + stream, "--seconds", 3) for stream in ("web", "cam")]
        wait_until(lambda: counted(live)["sessions_rtc-play"] == 50, 10, "all play")
        for players in rounds:
            result = players.result()
            assert result["failed"] == 0, result
        publisher.result()
        wait_until(lambda: counted(live)["rtc_engines"] == 0, 15, "all have gone")

    def at_rest() -> tuple[dict, int]:
        wait_until(lambda: counted(live)["sources"] == 1, 20, "the stream of the WHIP publisher has gone")
        kinds = counted(live)
        kinds.pop("packets"), kinds.pop("wire_slabs")  # of the RTMP stream, which continues
        return kinds, live.api("/api/v1/memory")["data"]["kinds"]["tls_sessions"]["bytes"]

    # The first two fill pools and caches.
    come_and_go()
    come_and_go()
    before, openssl = at_rest()
    resident = live.resident_kib()
    for _ in range(10):
        come_and_go()
    after, openssl_now = at_rest()
    assert after == before
    assert openssl_now - openssl < 100_000, "a DTLS session holds 70,000 bytes: none has stayed"
    assert live.resident_kib() - resident < 6 * 1024
    camera.stop()
    live.assert_alive()
