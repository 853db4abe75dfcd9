"""SRT against libsrt where it is hard: new keys while a stream runs, both ways; its handshake of version 4, encrypted too; and a link beyond its limits,
where as much is given up as libsrt gives up."""

import json
import subprocess
import time

import play_check
import pytest
from live_server import free_port, wait_until
from players import FfmpegPublisher
from srt_stage import PATIENT, SECRET, Sender, client, http, needs_tools, publish, pytestmark, srt_url, start, streams, wait_published  # noqa: F401
from srt_streams import FORWARD, counters_are_whole
from udp_link import UdpLink

REFRESH = 60  # packets; ten times as many at least are sent


class WatchedLink(UdpLink):
    """Counts the keys of data packets that change, and the messages with keys."""

    def __init__(self, server_port: int, **options):
        super().__init__(free_port(), server_port, **options)
        self.port = self.front.getsockname()[1]
        self.keys: dict[tuple, int] = {}  # by where they go
        self.changes = self.key_messages = self.plain = 0

    def _pass(self, out, address, datagram):
        if datagram[:4] == b"\xff\xff\x00\x03":
            self.key_messages += 1
        elif len(datagram) > 16 and not datagram[0] & 0x80 and not datagram[4] & 4:  # not a retransmission
            key = datagram[4] >> 3 & 3
            self.plain += key == 0
            self.changes += self.keys.get(address, key) != key
            self.keys[address] = key
        super()._pass(out, address, datagram)


def test_libsrt_changes_its_keys_while_it_publishes(server, clip):
    live = start(server, root=f'passphrase "{SECRET}";')
    keys = {"passphrase": SECRET, "pbkeylen": 16, "kmrefreshrate": REFRESH, "kmpreannounce": REFRESH // 3}
    with WatchedLink(live.ports["srt"]) as link, publish(live, clip("basic"), port=link.port, **keys):
        wait_published(live)
        played = play_check.play(http(live, "cam.flv"), 5)
        wait_until(lambda: link.changes >= 3, 20, lambda: f"{link.changes} changes of the key")
        figures = client(live, "srt-publish")["srt"]
    assert played.problems() == []
    assert link.key_messages >= 3 and link.plain == 0 and figures["drop"] == 0, figures


@needs_tools
def test_libsrt_follows_our_new_keys(server, clip, tmp_path):
    port, file = free_port(), tmp_path / "taken.ts"
    with open(file, "wb") as out:
        taker = subprocess.Popen(["srt-live-transmit", "-q", f"srt://127.0.0.1:{port}?mode=listener&latency=1000&passphrase={SECRET}", "file://con"],
                                 stdout=out, stderr=subprocess.DEVNULL)
    try:
        with WatchedLink(port) as link:
            live = server(FORWARD % f"srt://127.0.0.1:{link.port}?latency=1000&passphrase={SECRET}&kmrefreshrate={REFRESH}&kmpreannounce={REFRESH // 3}")
            with FfmpegPublisher(live.url("cam"), clip("basic")):
                wait_until(lambda: link.changes >= 5, 40, lambda: f"{link.changes} changes of the key")
                size = file.stat().st_size
                wait_until(lambda: file.stat().st_size > size + 100_000, 20, "it gets more of the stream")
    finally:
        taker.kill()
        taker.wait()
    data = file.read_bytes()
    data = data[:len(data) // 188 * 188]
    assert set(data[::188]) == {0x47} and counters_are_whole(data) and link.plain == 0


class OldLink(UdpLink):
    """The server's first response to the client is that of version 4: libsrt then continues with that version."""

    INDUCTION = b"\x00\x00\x00\x01"

    def _pass(self, out, address, datagram):
        if out is self.front and datagram[:2] == b"\x80\x00" and datagram[36:40] == self.INDUCTION:
            datagram = datagram[:16] + b"\x00\x00\x00\x04\x00\x00\x00\x02" + datagram[24:]
        self.versions.add(datagram[16:20] if datagram[:2] == b"\x80\x00" and datagram[36:40] == b"\xff\xff\xff\xff" else None)
        super()._pass(out, address, datagram)

    versions: set = set()


@pytest.mark.parametrize("bits", [128, pytest.param(0, marks=pytest.mark.long), pytest.param(256, marks=pytest.mark.long)])
def test_libsrt_publishes_in_version_4(server, clip, bits):
    """It has no stream id in that version, and sends its key after the handshake."""
    root = 'default_streamid "#!::r=live/cam,m=publish"; default_mode publish;'
    live = start(server, root=root + (f' passphrase "{SECRET}";' if bits else ""))
    keys = f"&passphrase={SECRET}&pbkeylen={bits // 8}" if bits else ""
    with OldLink(free_port(), live.ports["srt"]) as link, Sender(f"srt://127.0.0.1:{link.front.getsockname()[1]}?latency=300000{keys}", clip("basic")):
        link.versions = set()
        wait_published(live)
        # Data that overtakes the key cannot be decrypted: then video starts at the next key frame.
        wait_until(lambda: streams(live)["cam"]["video"], 20, "video")
        played = play_check.play(http(live, "cam.flv"), 3)
        figures = client(live, "srt-publish")["srt"]
    assert link.versions == {b"\x00\x00\x00\x04", None}, "conclusions"
    assert played.problems() == []
    assert (figures["encrypted"], figures["key_bits"]) == (bits > 0, bits) and figures["peer_version"].startswith("1."), figures


@pytest.mark.parametrize("bits", [192, pytest.param(0, marks=pytest.mark.long)])
def test_libsrt_plays_in_version_4(server, clip, bits):
    """It gets the key after the handshake, as long as the server wants it."""
    root = 'default_streamid "#!::r=live/cam,m=request";'
    live = start(server, root=root + (f' passphrase "{SECRET}"; pbkeylen {bits // 8};' if bits else ""))
    keys = f"&passphrase={SECRET}" if bits else ""
    with FfmpegPublisher(live.url("cam"), clip("basic")), OldLink(free_port(), live.ports["srt"]) as link:
        wait_published(live)
        url = f"srt://127.0.0.1:{link.front.getsockname()[1]}?latency={PATIENT['latency']}"
        assert play_check.play(url + keys, 3).problems() == []
        if bits:
            assert play_check.play(url + "&passphrase=another passphrase", 3).frames == []
            wait_until(lambda: "its passphrase is another" in live.log(), 20, "it is sent away")


class Transmit:
    """srt-live-transmit, with the figures of its library. Use as a context."""

    def __init__(self, source: str, target: str, folder, name: str, **options):
        self.figures = folder / f"{name}.json"
        self.process = subprocess.Popen(["srt-live-transmit", "-q", "-f", "-s", "100", "-pf", "json", "-statsout", str(self.figures), "-chunk:1316", source, target],
                                        stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL, **options)

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.process.kill()
        self.process.wait()

    def last(self) -> dict:
        lines = self.figures.read_text().splitlines()
        return json.loads(next(line.rstrip(",") for line in reversed(lines) if line.startswith("{") and line.rstrip(",").endswith("}")))


@needs_tools
@pytest.mark.long
@pytest.mark.alone
@pytest.mark.parametrize("latency, loss, seconds", [(120, 0.1, 25), (250, 0.1, 75), (120, 0.25, 25)])
def test_a_link_beyond_its_limits_loses_as_much_as_libsrt(server, clip, tmp_path, latency, loss, seconds):
    """Its sender, 100 ms of round trip, and its receiver or ours. How many packets are never delivered is luck, of some thirty or more."""
    port, delay_s = free_port(), 0.05
    live = start(server, root=f"latency {latency};")
    link = {"loss": 0.0, "delay_s": delay_s}
    query = f"&latency={latency}&peerlatency={latency}&rcvlatency={latency}"
    file = tmp_path / "long.ts"
    subprocess.run(["ffmpeg", "-v", "error", "-stream_loop", str(seconds // 10), "-i", str(clip("fat")), "-c", "copy", "-f", "mpegts", str(file)], check=True, timeout=60)
    with Transmit(f"srt://127.0.0.1:{port}?mode=listener{query}", "file://con", tmp_path, "taker") as taker, \
            UdpLink(free_port(), port, **link) as theirs, UdpLink(free_port(), live.ports["srt"], **link) as ours:
        to = {"libsrt": f"srt://127.0.0.1:{theirs.front.getsockname()[1]}?streamid=x{query}",
              "ours": f"srt://127.0.0.1:{ours.front.getsockname()[1]}?streamid=#!::r=live/cam,m=publish{query}"}
        with Feed(to["libsrt"], file, tmp_path, "to_libsrt") as to_libsrt, Feed(to["ours"], file, tmp_path, "to_ours") as to_ours:
            wait_published(live)
            wait_until(lambda: taker.figures.exists(), 20, "it is taken")
            theirs.loss = ours.loss = loss
            time.sleep(seconds)
            theirs.loss = ours.loss = 0
            time.sleep(2)
            sent, told = to_ours.last(), client(live, "srt-publish")["srt"]
            theirs_sent, got = to_libsrt.last(), taker.last()
    print(json.dumps({"server": told, "its sender": sent["send"], "libsrt": got["recv"], "libsrt's sender": theirs_sent["send"]}))
    assert_near("lost", told["loss"], got["recv"]["packetsLost"], 1.4)
    # Seen with 250 ms: 30 and 37 here, 65 there both times.
    assert_near("dropped", told["drop"], got["recv"]["packetsDropped"], 2, fewer=4 if latency == 250 else None)
    # The sender receives repeated loss reports, some of which are lost too.
    assert told["loss"] * 0.6 < sent["send"]["packetsLost"], (told, sent)
    assert told["retrans"] <= sent["send"]["packetsRetransmitted"], (told, sent)
    assert_near("retransmitted", sent["send"]["packetsRetransmitted"], theirs_sent["send"]["packetsRetransmitted"], 2)
    assert abs(told["rtt_ms"] - sent["link"]["rtt"]) < 30, (told, sent)
    assert streams(live)


def assert_near(what: str, ours: int, theirs: int, factor: float, fewer: float | None = None) -> None:
    assert theirs >= 20 and theirs / (fewer or factor) <= ours <= theirs * factor, f"{what}: {ours}, libsrt {theirs}"


class Feed(Transmit):
    """Of a file, in real time: ffmpeg writes it to UDP."""

    def __init__(self, url: str, file, folder, name: str):
        port = free_port()
        super().__init__(f"udp://127.0.0.1:{port}?mode=listener", url, folder, name)
        self.source = subprocess.Popen(["ffmpeg", "-nostdin", "-v", "error", "-re", "-i", str(file), "-c", "copy", "-f", "mpegts",
                                        f"udp://127.0.0.1:{port}?pkt_size=1316"], stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL)

    def __exit__(self, *_):
        self.source.kill()
        self.source.wait()
        super().__exit__()
