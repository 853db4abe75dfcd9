"""A server with WebRTC and the pages, and pages opened on it in Chromium."""

import shutil

import pytest

import browser as browsers

RTC = "rtc { enabled on; }"
ROOT = "rtc_server { enabled on; listen 127.0.0.1:$udp; }"


class Site:
    """A server with WebRTC and the pages, and pages opened on it."""

    def __init__(self, live, chromium, html):
        self.live, self.chromium = live, chromium
        shutil.copytree(html, live.folder / "html", dirs_exist_ok=True)
        self.opened = []

    def open(self, page: str, stream: str, more: str = "") -> browsers.Page:
        opened = self.chromium.page()
        self.opened.append(opened)
        return opened.goto(f"http://127.0.0.1:{self.live.ports['http']}/players/{page}?stream={stream}&autostart=true{more}")

    def publish(self, stream: str, more: str = "") -> browsers.Page:
        page = self.open("whip.html", stream, more)
        page.wait("document.getElementById('state').textContent === 'Live'", 20)
        return page

    def play(self, stream: str, more: str = "") -> browsers.Page:
        page = self.open("whep.html", stream, more)
        page.wait("document.getElementById('state').textContent === 'Playing'", 20)
        return page

    def close(self):
        for page in self.opened:
            page.close()


@pytest.fixture(name="site")
def fixture_site(server, chromium, html):
    made = []

    def start(vhost=RTC, root=ROOT) -> Site:
        made.append(Site(server(vhost=vhost, root=root), chromium, html))
        return made[-1]

    yield start
    for site in made:
        site.close()


FRAMES = "document.getElementById('video').getVideoPlaybackQuality().totalVideoFrames"


TO_RTC = "rtc { enabled on; rtmp_to_rtc on; }"
# Plays over WHEP for four seconds, or until a busy browser has four seconds of media, and returns what was received; `gap` is the longest
# time in ms that one picture stayed.
LISTEN = """(async () => {
    const connection = new RTCPeerConnection();
    const stream = new MediaStream();
    connection.ontrack = ({ track }) => stream.addTrack(track);
    connection.addTransceiver('audio', { direction: 'recvonly' });
    connection.addTransceiver('video', { direction: 'recvonly' });
    await connection.setLocalDescription(await connection.createOffer());
    const answer = await fetch('/rtc/v1/whep/?app=live&stream=%s',
        { method: 'POST', headers: { 'Content-Type': 'application/sdp' }, body: connection.localDescription.sdp });
    await connection.setRemoteDescription({ type: 'answer', sdp: await answer.text() });
    const video = document.createElement('video');
    document.body.append(video);
    video.srcObject = stream;
    video.play().catch(() => {});
    let gap = 0, last = 0;
    const shown = (now) => { gap = last ? Math.max(gap, now - last) : 0; last = now; video.requestVideoFrameCallback(shown); };
    video.requestVideoFrameCallback(shown);
    const found = {};
    const isEnough = () => found.video?.framesDecoded > 80 && found.audio?.packetsReceived > 170;
    for (let tries = 0; tries === 0 || (tries < 30 && !isEnough()); tries++) {
        await new Promise((done) => setTimeout(done, tries ? 500 : 4000));
        const reports = [...(await connection.getStats()).values()];
        for (const one of reports.filter((report) => report.type === 'inbound-rtp'))
            found[one.kind] = { ...one, codec: reports.find((report) => report.id === one.codecId)?.mimeType };
    }
    connection.close();
    found.gap = gap;
    return JSON.stringify(found);
})()"""
