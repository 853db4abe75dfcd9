"""Whether audio and video of a clip of clips.py are in step: how much later than its beep, which comes each second, the picture is whose painted
number belongs to that second. Of a file, or of what aiortc plays by WHEP, whose sender reports put both on one clock.

    in_step.py FILE|URL SECONDS

Prints one JSON line: `offset_ms` (of a file that of the encoders), how many pictures and beeps were seen, and the milliseconds of audio.
"""

import array
import asyncio
import cmath
import json
import math
import statistics
import sys
import time

import aioice.ice
import av
from aiortc import RTCConfiguration, RTCPeerConnection, RTCRtpReceiver, RTCSessionDescription
from aiortc.mediastreams import MediaStreamError
from aiortc.rtp import RtcpSrPacket

from client import connected, near_address, post

RATE, WINDOW, BEEP_HZ, FPS = 48_000, 240, 1760, 25
CELLS, CELL_PIXELS = 16, 20
# On a machine that is busy with other tests, seconds of media take many times as long to decode.
WAIT_S_MAX = 80


class Seen:
    """The times, in seconds, of pictures with the second that they show, and of windows of audio with what there is of the beep in them."""

    def __init__(self):
        self.starts: list[float] = []
        self.windows: list[tuple[float, float]] = []

    def picture(self, frame: av.VideoFrame, at: float) -> None:
        plane = frame.planes[0]
        row = bytes(plane)[CELL_PIXELS // 2 * plane.line_size:]
        number = sum(1 << (CELLS - 1 - i) for i in range(CELLS) if row[i * CELL_PIXELS + CELL_PIXELS // 2] > 128)
        self.starts.append(at - number / FPS)

    def audio(self, frame: av.AudioFrame, at: float) -> None:
        samples = array.array("h", bytes(frame.planes[0])[:frame.samples * 4])[::2]
        for first in range(0, len(samples) - WINDOW + 1, WINDOW):
            turn = [sample * FACTORS[i] for i, sample in enumerate(samples[first:first + WINDOW])]
            self.windows.append((at + first / RATE, abs(sum(turn))))

    def beeps(self) -> list[float]:
        """Their beginnings."""
        loud = max((power for _, power in self.windows), default=0) / 2
        pairs = zip(self.windows, self.windows[1:])
        return [at for (_, before), (at, power) in pairs if before < loud <= power and power > 0]

    def summary(self) -> dict:
        beeps = self.beeps()
        seen = {"pictures": len(self.starts), "beeps": len(beeps), "audio_ms": len(self.windows) * WINDOW * 1000 // RATE}
        if not beeps or not self.starts:
            return {"offset_ms": None} | seen
        start = statistics.median(math.remainder(one - self.starts[0], 1) for one in self.starts) + self.starts[0]
        offset = statistics.median(math.remainder(start - one, 1) for one in beeps)
        return {"offset_ms": 1000 * offset} | seen


FACTORS = [cmath.exp(-2j * math.pi * BEEP_HZ * i / RATE) for i in range(WINDOW)]


def of_file(path: str, seconds: float) -> dict:
    seen = Seen()
    with av.open(path) as file:
        resampler = av.AudioResampler(format="s16", layout="stereo", rate=RATE)
        for frame in file.decode(file.streams.video[0], file.streams.audio[0]):
            if frame.time > seconds:
                break
            if isinstance(frame, av.VideoFrame):
                seen.picture(frame, frame.time)
            else:
                for one in resampler.resample(frame):
                    seen.audio(one, one.time)
    return seen.summary()


def note_reports() -> None:
    handle = RTCRtpReceiver._handle_rtcp_packet  # pylint: disable=protected-access

    async def noted(receiver, packet):
        if isinstance(packet, RtcpSrPacket):
            receiver.report = (packet.sender_info.ntp_timestamp / 2**32, packet.sender_info.rtp_timestamp)
        await handle(receiver, packet)

    RTCRtpReceiver._handle_rtcp_packet = noted  # pylint: disable=protected-access


def sender_time(receiver, pts: int, hz: int) -> float:
    """On the clock of the reports. aiortc's times begin at 0."""
    at, ticks = receiver.report
    rtp = pts + receiver._RTCRtpReceiver__timestamp_mapper._origin  # pylint: disable=protected-access
    return at + ((rtp - ticks + (1 << 31)) % (1 << 32) - (1 << 31)) / hz


async def keep(track, frames: list) -> None:
    while True:
        try:
            frames.append(await track.recv())
        except MediaStreamError:
            return


async def of_whep(url: str, seconds: float) -> dict:
    near = near_address(url)
    aioice.ice.get_host_addresses = lambda use_ipv4, use_ipv6: [near]
    note_reports()
    peer = RTCPeerConnection(RTCConfiguration(iceServers=[]))
    frames, tasks = {"audio": [], "video": []}, []
    peer.on("track", lambda track: tasks.append(asyncio.ensure_future(keep(track, frames[track.kind]))))
    receivers = {kind: peer.addTransceiver(kind, direction="recvonly").receiver for kind in frames}
    await peer.setLocalDescription(await peer.createOffer())
    answer, _ = await asyncio.to_thread(post, url, peer.localDescription.sdp)
    await peer.setRemoteDescription(RTCSessionDescription(answer, "answer"))
    await connected(peer)
    deadline = time.monotonic() + WAIT_S_MAX
    enough = {"audio": 50 * seconds, "video": FPS * seconds}
    while time.monotonic() < deadline:
        if all(hasattr(receivers[kind], "report") and len(frames[kind]) >= enough[kind] for kind in frames):
            break
        await asyncio.sleep(0.1)
    else:
        reported = [kind for kind, one in receivers.items() if hasattr(one, "report")]
        raise SystemExit(f"after {WAIT_S_MAX} s: sender reports of {reported}, {len(frames['video'])} pictures, {len(frames['audio'])} frames of audio")
    seen = Seen()
    for frame in frames["video"]:
        seen.picture(frame, sender_time(receivers["video"], frame.pts, 90_000))
    for frame in frames["audio"]:
        seen.audio(frame, sender_time(receivers["audio"], frame.pts, RATE))
    await peer.close()
    await asyncio.gather(*tasks, return_exceptions=True)
    return seen.summary()


if __name__ == "__main__":
    place, length = sys.argv[1], float(sys.argv[2])
    print(json.dumps(asyncio.run(of_whep(place, length)) if place.startswith("http") else of_file(place, length)))
