"""A WebRTC client that shares no code with a browser: aiortc. Publishes a picture that changes and a tone by WHIP, or plays by WHEP.

    client.py whip URL H264|VP8              until its input ends
    client.py whep URL H264|VP8 SECONDS      from the first picture on; a busy machine may take longer for so much media

Prints one JSON line of what it sent or got. `digests`: of the slices of H.264 and the frames of Opus, as they were encoded.
"""

import array
import asyncio
import fractions
import json
import math
import socket
import sys
import time
import urllib.parse
import urllib.request
import zlib

import aioice.ice
import aiortc.codecs.h264
import aiortc.codecs.opus
import av
from aiortc import MediaStreamTrack, RTCConfiguration, RTCPeerConnection, RTCRtpSender, RTCSessionDescription, VideoStreamTrack
from aiortc.mediastreams import MediaStreamError

CONNECT_S_MAX = 20
LATE_S_MAX = 10
RATE = 48_000
SAMPLES = RATE // 50

DIGESTS: dict[str, list[int]] = {"audio": [], "video": []}


def near_address(url: str) -> str:
    """Ours on the way to that server. aioice leaves loopback out, where most tests are at home."""
    place = urllib.parse.urlsplit(url)
    with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as probe:
        probe.connect((place.hostname, place.port))
        return probe.getsockname()[0]


def note_slices(units) -> list[bytes]:
    units = list(units)
    DIGESTS["video"] += [zlib.crc32(unit) for unit in units if unit[0] & 31 in (1, 5)]
    return units


def note_what_is_coded() -> None:
    """Between the codecs and RTP, in both directions."""
    h264, opus = aiortc.codecs.h264, aiortc.codecs.opus
    split, packetize = h264.H264Encoder._split_bitstream, h264.H264Encoder._packetize
    decode_video, decode_audio, encode_audio = h264.H264Decoder.decode, opus.OpusDecoder.decode, opus.OpusEncoder.encode
    h264.H264Encoder._packetize = staticmethod(lambda units: packetize(note_slices(units)))

    def video(decoder, frame):
        note_slices(split(frame.data))
        return decode_video(decoder, frame)

    def audio(decoder, frame):
        DIGESTS["audio"].append(zlib.crc32(frame.data))
        return decode_audio(decoder, frame)

    def encoded(encoder, *arguments):
        payloads, timestamp = encode_audio(encoder, *arguments)
        DIGESTS["audio"] += [zlib.crc32(payload) for payload in payloads]
        return payloads, timestamp

    h264.H264Decoder.decode, opus.OpusDecoder.decode, opus.OpusEncoder.encode = video, audio, encoded


class Picture(VideoStreamTrack):
    """Thirty a second; each is of one grey, brighter than the one before."""

    sent = 0

    async def recv(self):
        pts, time_base = await self.next_timestamp()
        frame = av.VideoFrame(320, 180, "yuv420p")
        for number, plane in enumerate(frame.planes):
            plane.update(bytes([40 + self.sent % 160 if number == 0 else 128]) * plane.buffer_size)
        frame.pts, frame.time_base = pts, time_base
        self.sent += 1
        return frame


class Tone(MediaStreamTrack):
    """450 Hz: nine whole waves a frame."""

    kind = "audio"
    sent = 0
    began = None
    wave = array.array("h", (round(8000 * math.sin(2 * math.pi * 450 * i / RATE)) for i in range(SAMPLES))).tobytes()

    async def recv(self):
        self.began = self.began or time.monotonic()
        await asyncio.sleep(max(0, self.began + self.sent / 50 - time.monotonic()))
        frame = av.AudioFrame(format="s16", layout="mono", samples=SAMPLES)
        frame.planes[0].update(self.wave)
        frame.pts, frame.sample_rate, frame.time_base = self.sent * SAMPLES, RATE, fractions.Fraction(1, RATE)
        self.sent += 1
        return frame


class Got:
    """What came of one track."""

    def __init__(self):
        self.frames = self.loudness = self.width = 0
        self.shades, self.times, self.arrivals = set(), [], []

    async def read(self, track):
        while True:
            try:
                frame = await track.recv()
            except MediaStreamError:
                return
            self.frames += 1
            self.times.append(frame.time)
            self.arrivals.append(time.monotonic())
            if track.kind == "audio":
                samples = array.array("h", bytes(frame.planes[0])[:frame.samples * 2])
                self.loudness = max(self.loudness, max(samples))
            else:
                self.width = frame.width
                self.shades.add(bytes(frame.planes[0])[0])

    def summary(self) -> dict:
        """`gap` is what is missing between two frames, `pause` how long the next one was waited for."""
        gap, pause = (max((after - before for before, after in zip(all_, all_[1:])), default=0) for all_ in (self.times, self.arrivals))
        return {"frames": self.frames, "width": self.width, "shades": len(self.shades), "loudness": self.loudness, "gap": gap, "pause": pause}


def post(url: str, sdp: str) -> tuple[str, str]:
    request = urllib.request.Request(url, data=sdp.encode(), headers={"Content-Type": "application/sdp"}, method="POST")
    with urllib.request.urlopen(request, timeout=CONNECT_S_MAX) as answer:
        return answer.read().decode(), urllib.parse.urljoin(url, answer.headers["Location"])


async def connected(peer) -> None:
    deadline = time.monotonic() + CONNECT_S_MAX
    while peer.connectionState != "connected":
        if time.monotonic() > deadline or peer.connectionState in ("failed", "closed"):
            raise SystemExit(f"not connected: {peer.connectionState}, ICE {peer.iceConnectionState}")
        await asyncio.sleep(0.02)


async def play(video: Got, audio: Got, seconds: float) -> None:
    deadline = time.monotonic() + CONNECT_S_MAX
    while not video.frames:
        if time.monotonic() > deadline:
            raise SystemExit("no picture came")
        await asyncio.sleep(0.02)
    await asyncio.sleep(seconds)
    deadline = time.monotonic() + LATE_S_MAX
    while (video.frames < 22 * seconds or audio.frames < 40 * seconds) and time.monotonic() < deadline:
        await asyncio.sleep(0.1)


async def run(kind: str, url: str, codec: str, seconds: float = 0) -> dict:
    near = near_address(url)
    aioice.ice.get_host_addresses = lambda use_ipv4, use_ipv6: [near]
    note_what_is_coded()
    peer = RTCPeerConnection(RTCConfiguration(iceServers=[]))
    got = {"audio": Got(), "video": Got()}
    tasks = []
    tracks = {"audio": Tone(), "video": Picture()}
    peer.on("track", lambda track: tasks.append(asyncio.ensure_future(got[track.kind].read(track))))
    for name, track in tracks.items():
        direction, what = ("sendonly", track) if kind == "whip" else ("recvonly", name)
        transceiver = peer.addTransceiver(what, direction=direction)
        if name == "video":
            known = RTCRtpSender.getCapabilities("video").codecs
            transceiver.setCodecPreferences([one for one in known if one.name.upper() == codec])
    await peer.setLocalDescription(await peer.createOffer())
    answer, session = await asyncio.to_thread(post, url, peer.localDescription.sdp)
    began = time.monotonic()
    await peer.setRemoteDescription(RTCSessionDescription(answer, "answer"))
    await connected(peer)
    took = time.monotonic() - began
    await (asyncio.to_thread(sys.stdin.read) if kind == "whip" else play(got["video"], got["audio"], seconds))
    sent = {name: track.sent for name, track in tracks.items()}
    await asyncio.to_thread(lambda: urllib.request.urlopen(urllib.request.Request(session, method="DELETE"), timeout=20).close())
    await peer.close()
    await asyncio.gather(*tasks, return_exceptions=True)
    return {"connect_s": took, "digests": DIGESTS, **(sent if kind == "whip" else {name: one.summary() for name, one in got.items()})}


if __name__ == "__main__":
    print(json.dumps(asyncio.run(run(*sys.argv[1:4], *map(float, sys.argv[4:])))))
