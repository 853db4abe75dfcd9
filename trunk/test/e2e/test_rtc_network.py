"""WebRTC over a bad network: real UDP between Chromium and the server, of which some is lost and all is late."""

import json
import time

import pytest

import players
from live_server import free_port, wait_until
from rtc_site import fixture_site  # noqa: F401
from udp_link import UdpLink

pytestmark = pytest.mark.one_worker("the link stands before one port, and each worker has its own")

ROOT = "rtc_server { enabled on; listen 127.0.0.1:$udp; candidate 127.0.0.1:%d; api_as_candidates off; }"
# A repair on each of the two hops takes two round trips of 100 ms at worst, and the next one may be lost again.
GAP_MS_MAX = 1000
VHOST = "rtc { enabled on; rtmp_to_rtc on; }"

# Opens a connection that stays; the page's own pages do not give theirs away.
OPEN = """(async () => {
    window.connection = new RTCPeerConnection();
    if ('%(kind)s' === 'whip') {
        const stream = await navigator.mediaDevices.getUserMedia({ audio: true, video: { width: 640, height: 360, frameRate: 25 } });
        for (const track of stream.getTracks()) connection.addTransceiver(track, { direction: 'sendonly', streams: [stream] });
    } else {
        const video = document.createElement('video');
        video.srcObject = new MediaStream();
        connection.ontrack = ({ track }) => video.srcObject.addTrack(track);
        for (const kind of ['audio', 'video']) connection.addTransceiver(kind, { direction: 'recvonly' });
        document.body.append(video);
        video.muted = true;
        video.play().catch(() => {});
        window.gap = 0;  // the longest time in ms that one picture stayed
        let last = 0;
        const shown = (now) => { if (last) gap = Math.max(gap, now - last); last = now; video.requestVideoFrameCallback(shown); };
        video.requestVideoFrameCallback(shown);
    }
    await connection.setLocalDescription();
    const answer = await fetch('/rtc/v1/%(kind)s/?app=live&stream=cam',
        { method: 'POST', headers: { 'Content-Type': 'application/sdp' }, body: connection.localDescription.sdp });
    await connection.setRemoteDescription({ type: 'answer', sdp: await answer.text() });
    return answer.status;
})()"""

STATS = """(async () => {
    const reports = [...(await connection.getStats()).values()].filter((one) => /^(in|out)bound-rtp$/.test(one.type));
    return JSON.stringify(Object.fromEntries(reports.map((one) => [one.kind, one])));
})()"""


def stats(page, kind: str = "video") -> dict:
    return json.loads(page.value(STATS)).get(kind, {})


def connect(one, kind: str):
    page = one.open("address.js", "x")
    assert page.value(OPEN % {"kind": kind}) == 201
    wait_until(lambda: page.value("connection.connectionState") == "connected", 30, "ICE and DTLS are done")
    return page


def judge(page, seconds: float, share: float, count):
    """`count` gives how many pictures there were to be shown up to now: of those of `seconds`, `share` are shown, and at no time does it stop."""
    wait_until(lambda: stats(page).get("framesDecoded", 0) > 10, 20, "pictures")
    page.value("gap = 0")
    first, sent, last, heard = stats(page), count(), 0, stats(page, "audio")["packetsReceived"]
    begin = time.monotonic()
    while time.monotonic() < begin + seconds:
        time.sleep(1)
        wait_until(lambda: stats(page)["framesDecoded"] > last + 5, 5, "it goes on")
        last = stats(page)["framesDecoded"]
    end = stats(page)
    shown = end["framesDecoded"] - first["framesDecoded"]
    assert shown >= share * (count() - sent), (shown, count() - sent, end)
    assert 0 < page.value("gap") < GAP_MS_MAX and end["framesDropped"] - first["framesDropped"] < 5, end
    # Chromium asks for no audio again (its offers have no NACK for it), so that both hops' losses stay.
    assert stats(page, "audio")["packetsReceived"] - heard > 0.8 * 50 * seconds


@pytest.mark.alone
def test_whip_and_whep_at_five_percent_loss(site):
    """Both ends are behind the link. They shake hands at 20 % loss."""
    port = free_port()
    one = site(vhost=VHOST, root=ROOT % port)
    with UdpLink(port, one.live.ports["udp"], loss=0.2, delay_s=0.05, dtls_losses_max=2) as link:
        publisher = connect(one, "whip")
        player = connect(one, "whep")
        link.loss = 0.05
        time.sleep(1)
        judge(player, 4, 0.9, lambda: stats(publisher)["framesEncoded"])
        wait_until(lambda: min(stats(publisher)["nackCount"], stats(player)["nackCount"]) > 0 and link.lost > 20, 20, "losses that are repaired")


@pytest.mark.long
@pytest.mark.parametrize("seed", [1, 2, 3])
def test_minutes_at_five_percent_loss(site, clip, seed):
    """A stream that came by RTMP, for so long that what is lost for good would show."""
    port = free_port()
    one = site(vhost=VHOST, root=ROOT % port)
    with players.FfmpegPublisher(one.live.url("cam"), clip("basic")), \
            UdpLink(port, one.live.ports["udp"], loss=0.2, delay_s=0.05, seed=seed, dtls_losses_max=2) as link:
        players.wait_playable(one.live.url("cam"))
        player = connect(one, "whep")
        link.loss = 0.05
        time.sleep(1)
        judge(player, 40, 0.95, lambda: one.live.api("/api/v1/streams/")["streams"][0]["frames"])
