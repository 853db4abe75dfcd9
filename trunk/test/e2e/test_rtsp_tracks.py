"""RTSP: several tracks of a kind, and data: ffmpeg publishes and plays several tracks of audio and video, and ONVIF metadata passes through as it
came."""

import contextlib
import re
import socket
import struct
import subprocess
import threading

import pytest
from camera import Camera, Habits, access_units, rtp, split
from live_server import installed, wait_until
from pull_stage import pull, wait_running
from rtsp_stage import Client, Publisher, clients, rtsp_url, start, streams, wait_published

pytestmark = pytest.mark.skipif(not installed("ffmpeg"), reason="no ffmpeg")

ONVIF = "vnd.onvif.metadata"
WITH_DATA = ("v=0\r\no=- 0 0 IN IP4 0.0.0.0\r\ns=x\r\nm=video 0 RTP/AVP 96\r\na=rtpmap:96 H264/90000\r\na=control:trackID=0\r\n"
             f"m=application 0 RTP/AVP 107\r\na=rtpmap:107 {ONVIF}/90000\r\na=fmtp:107 x-kind=events\r\na=control:trackID=1\r\n")
XML = [b"<tt:MetadataStream>" + b"a" * 900, b"b" * 300 + b"</tt:MetadataStream>"]


def probe(url: str) -> list[tuple]:
    said = subprocess.run(["ffprobe", "-v", "error", "-rtsp_transport", "tcp", "-show_entries", "stream=codec_type,codec_name,width,sample_rate", "-of", "csv", url],
                          capture_output=True, text=True, timeout=60, check=True).stdout
    return [tuple(line.split(",")[1:]) for line in said.splitlines()]


@pytest.mark.workers
def test_several_tracks_come_out_as_they_came(server, clip, tmp_path):
    both = tmp_path / "both.mkv"
    maps = "-map 0:v -map 0:a -map 1:v -map 1:a -c copy"
    subprocess.run(["ffmpeg", "-v", "error", "-i", clip("basic"), "-i", clip("second"), *maps.split(), str(both)], check=True, timeout=60)
    live = start(server)
    with Publisher(rtsp_url(live), both, options="-map 0 -c copy"):
        wait_published(live)
        expected = sorted([("h264", "video", "640"), ("aac", "audio", "44100"), ("h264", "video", "320"), ("aac", "audio", "44100")])
        got: list = []
        # A track is described once it has arrived.
        wait_until(lambda: got.append(sorted(probe(rtsp_url(live)))) or len(got[-1]) == 4, 30, lambda: got)
        assert [row[:2] for row in got[-1]] == [row[:2] for row in expected]
        assert sorted(row[2] for row in got[-1] if row[1] == "video") == ["320", "640"]
        for transport in ("tcp", "udp"):
            played = subprocess.run(["ffmpeg", "-nostdin", "-v", "error", "-rtsp_transport", transport, "-i", rtsp_url(live), "-map", "0", "-c", "copy", "-t", "3", "-f", "framecrc", "-"],
                                    capture_output=True, text=True, timeout=90, check=True)
            rows = [line.split(",")[0].strip() for line in played.stdout.splitlines() if not line.startswith("#")]
            counts = {track: rows.count(track) for track in "0123"}
            assert min(counts.values()) > 40 and not played.stderr, (transport, counts, played.stderr)
        # A player without several tracks has the first ones.
        assert streams(live)["cam"]["video"]["width"] == 640


class DataPublisher:
    """Publishes H.264 and ONVIF metadata over the connection, by hand."""

    def __init__(self, live, url: str):
        self.client, self.turn, self.sequences = Client(live), 0, [0, 0]
        assert self.client.request("ANNOUNCE", url, body=WITH_DATA, Content_Type="application/sdp")[0] == 200
        for track in range(2):
            transport = f"RTP/AVP/TCP;unicast;interleaved={2 * track}-{2 * track + 1};mode=record"
            status, headers, _ = self.client.request("SETUP", f"{url}/trackID={track}", Transport=transport)
            assert status == 200
        assert self.client.request("RECORD", url, Session=headers["session"].split(";")[0])[0] == 200

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.client.socket.close()

    def _send(self, track: int, payload: bytes, marker: bool, kind: int) -> None:
        packet = rtp(self.sequences[track], self.turn * 3600, payload, marker, kind, ssrc=7 + track)
        self.sequences[track] += 1
        self.client.socket.sendall(b"$" + bytes([2 * track]) + struct.pack(">H", len(packet)) + packet)

    def image(self) -> None:
        units = access_units()
        payloads = [part for nal in units[self.turn % len(units)] for part in split(nal)]
        for i, payload in enumerate(payloads):
            self._send(0, payload, i + 1 == len(payloads), 96)
        for i, part in enumerate(XML):
            self._send(1, part, i + 1 == len(XML), 107)
        self.turn += 1


def packets_of(client: Client, channel: int, count: int, feed) -> list[bytes]:
    """RTP packets of a channel; `feed` is called while there are too few."""
    found: list[bytes] = []
    while len(found) < count:
        feed()
        client.socket.settimeout(0.1)
        try:
            client._read()  # pylint: disable=protected-access
        except (TimeoutError, socket.timeout):
            continue
        while len(client.input) >= 4 and len(client.input) >= 4 + int.from_bytes(client.input[2:4], "big"):
            size = int.from_bytes(client.input[2:4], "big")
            if client.input[1] == channel:
                found.append(client.input[4:4 + size])
            client.input = client.input[4 + size:]
    return found


def test_data_passes_through_as_it_came(server):
    live = start(server)
    url = rtsp_url(live)
    with DataPublisher(live, url) as publisher:
        wait_until(lambda: publisher.image() or "cam" in streams(live) and streams(live)["cam"]["video"], 20, "it is published", step_s=0.04)
        wait_until(lambda: publisher.image() or streams(live)["cam"]["frames"] > 25, 20, "a second of it", step_s=0.04)
        with Client(live) as client:
            status, headers, body = client.request("DESCRIBE", url)
            assert status == 200
            assert re.search(rf"m=application 0 RTP/AVP (\d+)\r\na=rtpmap:\1 {ONVIF}/90000\r\na=fmtp:\1 x-kind=events\r\na=control:trackID=1\r\n", body), body
            for track in range(2):
                transport = f"RTP/AVP/TCP;unicast;interleaved={2 * track}-{2 * track + 1}"
                status, got, _ = client.request("SETUP", f"{headers['content-base']}trackID={track}", Transport=transport)
                assert status == 200
            assert client.request("PLAY", url, Session=got["session"].split(";")[0])[0] == 200
            packets = packets_of(client, 2, 8, publisher.image)
        first = next(i for i, packet in enumerate(packets) if packet[12:] == XML[0])
        for packet, part, marker in zip(packets[first:], XML * 3, [0, 1] * 3):
            assert packet[12:] == part and packet[1] >> 7 == marker
        assert packets[first][4:8] == packets[first + 1][4:8], "one document, one timestamp"
        # RTMP players are not sent it.
        played = subprocess.Popen(["ffmpeg", "-nostdin", "-v", "error", "-i", live.url("cam"), "-frames:v", "10", "-f", "framecrc", "-"], stdout=subprocess.PIPE,
                                  stderr=subprocess.PIPE, text=True)
        wait_until(lambda: publisher.image() or played.poll() is not None, 40, "ffmpeg has 10 frames", step_s=0.04)
        assert played.returncode == 0 and played.stderr.read() == ""


@contextlib.contextmanager
def publishing(publisher: DataPublisher):
    """Images and data at their rate, meanwhile."""
    over = threading.Event()

    def run() -> None:
        while not over.wait(0.04):
            publisher.image()

    thread = threading.Thread(target=run)
    thread.start()
    try:
        yield
    finally:
        over.set()
        thread.join()


def played_data(live, workers: set | None = None) -> list[bytes]:
    """Packets of the data track, which is described once it has arrived. Adds the worker of the only RTSP player to `workers`."""
    url, said = rtsp_url(live), []
    with Client(live) as client:
        wait_until(lambda: said.append(client.request("DESCRIBE", url)) or "m=application" in said[-1][2], 30, lambda: said[-1])
        _, headers, body = said[-1]
        assert f"{ONVIF}/90000" in body and "x-kind=events" in body, body
        track = body[body.index("m=application"):].split("a=control:")[1].split("\r\n")[0]
        status, got, _ = client.request("SETUP", headers["content-base"] + track, Transport="RTP/AVP/TCP;unicast;interleaved=2-3")
        assert status == 200
        assert client.request("PLAY", url, Session=got["session"].split(";")[0])[0] == 200
        packets = packets_of(client, 2, 8, lambda: None)
        if workers is not None:
            workers.update(one["worker"] for one in clients(live, "rtsp-play"))
        return packets


def check_documents(packets: list[bytes]) -> None:
    first = next(i for i, packet in enumerate(packets) if packet[12:] == XML[0])
    for packet, part, marker in zip(packets[first:], XML * 3, [0, 1] * 3):
        assert packet[12:] == part and packet[1] >> 7 == marker
    assert packets[first][4:8] == packets[first + 1][4:8], "one document, one timestamp"
    assert packets[first + 2][4:8] != packets[first][4:8]


@pytest.mark.parametrize("protocol", ["rtmp", "flv"])
def test_data_reaches_edges(server, protocol):
    origin = start(server)
    place = f"127.0.0.1:{origin.ports['rtmp']}" if protocol == "rtmp" else f"http://127.0.0.1:{origin.ports['http']}"
    edge = start(server, vhost=f"cluster {{ mode remote; origin {place}; }}")
    with DataPublisher(origin, rtsp_url(origin)) as publisher, publishing(publisher):
        wait_published(origin)
        check_documents(played_data(edge))


def test_data_reaches_the_players_of_each_worker(server, monkeypatch):
    monkeypatch.setenv("SRS_WORKERS", "2")
    live = start(server)
    live.wait_log("2 workers serve", 20)
    with DataPublisher(live, rtsp_url(live)) as publisher, publishing(publisher):
        wait_published(live)
        served: set = set()
        for _ in range(40):  # connections spread by chance
            wait_until(lambda: not clients(live, "rtsp-play"), 20, "the previous player has left")
            check_documents(played_data(live, served))
            if len(served) == 2:
                break
        assert len(served) == 2


def with_metadata(text: str) -> str:
    return text + f"m=application 0 RTP/AVP 107\r\na=rtpmap:107 {ONVIF}/90000\r\na=control:trackID=9\r\n"


@pytest.mark.parametrize("all_tracks", ["on", "off"])
def test_the_metadata_of_a_camera_is_pulled_by_option(server, all_tracks):
    with Camera(Habits(sdp=with_metadata)) as camera:
        live = pull(server, camera, options=f"transport tcp; all_tracks {all_tracks};")
        wait_running(live)
        asked = [request.url.rsplit("/", 1)[1] for request in camera.requests if request.method == "SETUP"]
        assert ("trackID=9" in asked) == (all_tracks == "on"), asked
        if all_tracks == "off":
            live.wait_log(f"(data {ONVIF}) is not published")
