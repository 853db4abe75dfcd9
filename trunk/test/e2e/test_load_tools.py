"""The load programs against our server and against nginx: their counts match the sent media, and failures are reported."""

import http.server
import json
import re
import socketserver
import subprocess
import threading
import time
from collections import Counter

import pytest

from live_server import free_port, wait_until
from load_tools import Nginx, tool
from players import wait_playable
from rtmp_client import COMMAND, amf0, encode_message

FLV = "http_remux { enabled on; mount [vhost]/[app]/[stream].flv; } min_latency on;"
REPORT = re.compile(r"^\[\d{4}-\d\d-\d\d \d\d:\d\d:\d\d\.\d{3}\] \[report\] \[\d+\] threads:(\d+) alive:(\d+) duration:(\d+) tduration:\d+ "
                    r"nread:[\d.]+ nwrite:[\d.]+ tasks:(\d+) etasks:(\d+) stasks:\d+ estasks:\d+$", re.MULTILINE)


@pytest.fixture(name="nginx")
def fixture_nginx(tmp_path):
    one = Nginx(tmp_path / "nginx")
    yield one
    one.stop()


def assert_played(result: dict, clients: int) -> None:
    """All clients played everything, without a gap, and the publisher's stamps arrived."""
    metrics = result["metrics"]
    assert result["clients"] == result["alive"] == clients and result["failed"] == 0
    assert metrics["first_frame_ms"]["count"] == clients and metrics["gaps"]["max"] == 0
    # Except for media that is late at the end on a busy machine.
    assert metrics["delivered"]["min"] > 0.5, metrics["delivered"]
    assert metrics["delay_ms"]["count"] > 25 * clients, metrics["delay_ms"]
    assert 0 < metrics["delay_ms"]["p50"] < 1000, metrics["delay_ms"]
    fields = result["client_fields"]
    assert sum(client[fields.index("bytes")] for client in result["per_client"]) == result["bytes_in"]


def test_players_count_the_bytes_that_the_server_sent(server, clip, load):
    live = server(FLV)
    publisher = load("sb_rtmp_publish", "-c", 1, "-s", 0, "-r", live.url("cam_{i}"), "-i", clip("fat"), "--stamp")
    wait_until(lambda: live.api("/api/v1/streams/")["streams"], 20, "the stream is there")
    http = f"127.0.0.1:{live.ports['http']}/live/cam_0.flv"
    urls = {"sb_rtmp_load": live.url("cam_0"), "sb_flv_load": f"http://{http}"}
    players = [load(name, "-c", 4, "--ramp", 20, "-r", url, "--seconds", 4, "-m", 1) for name, url in urls.items()]
    websocket = load("sb_flv_load", "-c", 4, "-s", 0, "-r", f"ws://{http}", "--seconds", 4)
    results = [one.result() for one in [*players, websocket]]
    for result in results:
        assert_played(result, 4)
    reports = REPORT.findall(players[0].said)
    # One a second, but for those that a busy machine leaves out.
    assert len(reports) >= 2 and int(reports[0][2]) < 3 and reports[-1][:2] == ("4", "4"), players[0].said
    got = sum(result["bytes_in"] for result in results)

    def sent() -> int:
        return live.api("/api/v1/streams/")["streams"][0]["send_bytes"]
    # The server adds up what its clients have used now and then.
    wait_until(lambda: abs(sent() - got) < 0.02 * got, 15, f"the server has sent {got} bytes to within 2 %")
    publisher.stop()
    published = publisher.result()
    assert published["failed"] == 0 and published["metrics"]["late_ms"]["count"] == 1


class Driven:
    """A load program that obeys words, and what it answers."""

    def __init__(self, name: str, *words):
        self.process = subprocess.Popen([tool(name), *(str(word) for word in words), "-s", "0", "-t", "1", "--driven"], stdin=subprocess.PIPE,
                                        stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)

    def said(self, event: str) -> dict:
        line = json.loads(self.process.stdout.readline())
        assert line["event"] == event
        return line

    def tell(self, word: str) -> None:
        self.process.stdin.write(word + "\n")
        self.process.stdin.flush()

    def end(self) -> dict:
        self.tell("quit")
        line = self.said("final")
        assert self.process.communicate(timeout=20)[0] == "" and self.process.returncode == 0
        return line


    def report(self) -> dict:
        self.tell("report")
        return self.said("report")


def test_players_that_are_driven_account_for_every_byte(server, clip):
    """Players first, then a publisher: the first player of each kind takes the stream apart, the others have as many bytes."""
    live = server(FLV)
    http = f"http://127.0.0.1:{live.ports['http']}/live/cam.flv"
    players = [Driven("sb_rtmp_load_fast", "-c", 4, "-r", live.url("cam"), "--witnesses", 1), Driven("sb_flv_load", "-c", 4, "-r", http, "--witnesses", 1)]
    for one in players:
        ready = one.said("ready")
        assert (ready["open"], ready["failed"]) == (4, 0)
    publisher = Driven("sb_rtmp_publish", "-r", live.url("cam"), "-i", clip("fat"), "--ahead", 0)
    publisher.said("ready")
    for one in [*players, publisher]:
        one.tell("mark")
    time.sleep(4)
    windows = [one.report() for one in [publisher, *players]]
    published = publisher.end()
    assert windows[0]["late_ms_max"] < 5000 and published["media_bytes"] > 100_000
    for one, window in zip(players, windows[1:]):
        # The windows are apart by what a busy machine keeps a process waiting; the sums at the end are exact.
        assert window["window_bytes"] == pytest.approx(4 * windows[0]["window_bytes"], rel=0.6)
        wait_until(lambda each=one: (now := each.report())["media_bytes"] == published["media_bytes"] and now["bytes_min"] >= now["first_bytes"] - 64,
                   15, "all of it has come")
        got = one.end()
        assert got["failed"] == got["times_went_back"] == 0
        assert [got[what] for what in ("media_bytes", "audio_messages", "video_messages")] == [
            published[what] for what in ("media_bytes", "audio_messages", "video_messages")]
        assert got["bytes_min"] >= got["first_bytes"] - 64 and got["bytes_max"] <= got["first_bytes"] + 64
        assert got["total_bytes"] > 4 * published["media_bytes"]


def test_driven_players_say_how_late_each_frame_was(server, clip):
    live = server(FLV)
    publisher = Driven("sb_rtmp_publish", "-r", live.url("cam"), "-i", clip("basic"), "--stamp")
    publisher.said("ready")
    players = Driven("sb_rtmp_load", "-c", 5, "-r", live.url("cam"))
    players.said("ready")
    time.sleep(0.5)
    publisher.tell("mark")
    before = publisher.report()["stamps"]
    players.tell("mark")
    players.report()
    after = publisher.report()["stamps"]
    wait_until(lambda: publisher.report()["stamps"] > 50, 15, "frames")
    stamps = publisher.end()["stamps"]
    # The players' mark was somewhere between the two reports.
    wait_until(lambda: (now := players.report())["frames"] >= stamps - after and now["frames_incomplete"] == 0, 15, "all frames have come")
    got = players.end()
    assert stamps > 40 and stamps - after <= got["frames"] <= stamps - before and got["frames_incomplete"] == 0
    assert 0 < got["newest_ms_p50"] <= got["slowest_ms_p50"] <= got["slowest_ms_max"] < 5000


def test_publishers_pace_themselves_and_leave_politely(server, clip, load):
    live = server()
    began = time.monotonic()
    publishers = load("sb_rtmp_publish", "-c", 20, "-s", 0, "-r", live.url("cam_{i}"), "-i", clip("basic"))
    enough = 2.5 * 380_000 / 8

    def streams() -> list[dict]:
        return live.api("/api/v1/streams/?count=50")["streams"]

    wait_until(lambda: len(streams()) == 20 and all(one["recv_bytes"] > enough for one in streams()), 30, "seconds of twenty streams")
    publishers.stop()
    result = publishers.result()
    seconds = time.monotonic() - began
    assert result["failed"] == 0 and result["clients"] == 20
    # At most 300 ms ahead of the clip's own rate, which is about 500 kbps.
    assert result["bytes_out"] / 20 < (seconds + 0.5) * 620_000 / 8
    assert result["bytes_out"] / 20 > enough
    wait_until(lambda: not any(one["publish"]["active"] for one in streams()), 15, "nobody publishes")


def test_against_nginx(nginx, clip, load):
    publisher = load("sb_rtmp_publish", "-c", 1, "-s", 0, "-r", f"rtmp://127.0.0.1:{nginx.rtmp}/live/cam", "-i", clip("fat"), "--stamp")
    wait_playable(f"rtmp://127.0.0.1:{nginx.rtmp}/live/cam", 20)
    assert_played(load("sb_rtmp_load", "-c", 5, "-s", 0.2, "-r", f"rtmp://127.0.0.1:{nginx.rtmp}/live/cam", "--seconds", 3).result(), 5)
    publisher.stop()
    assert publisher.result()["failed"] == 0

    page = nginx.folder / "html" / "page"
    page.write_bytes(b"x" * 1_000_000)
    files = load("sb_http_load", "-c", 5, "-t", 4, "-s", 0, "-r", f"http://127.0.0.1:{nginx.http}/page").result()
    assert (files["tasks"], files["failed"]) == (20, 0)
    assert 20_000_000 < files["bytes_in"] < 20_000_000 * 1.02

    subprocess.run(["ffmpeg", "-nostdin", "-loglevel", "error", "-i", clip("basic"), "-c", "copy", "-f", "hls", "-hls_time", "2", "-hls_list_size",
                    "0", nginx.folder / "html" / "vod.m3u8"], check=True)
    size = sum(path.stat().st_size for path in (nginx.folder / "html").glob("*.ts"))
    count = len(list((nginx.folder / "html").glob("*.ts")))
    hls = load("sb_hls_load", "-o", "-c", 3, "-t", 2, "-s", 0, "-d", 0, "-r", f"http://127.0.0.1:{nginx.http}/vod.m3u8").result()
    assert (hls["failed"], hls["fragments"], hls["fragments_failed"]) == (0, 3 * 2 * count, 0)
    assert 6 * size < hls["bytes_in"] < 6 * size * 1.02


def test_hls_files_of_our_server(server, clip, load):
    live = server()
    html = live.folder / "html"
    html.mkdir(exist_ok=True)
    subprocess.run(["ffmpeg", "-nostdin", "-loglevel", "error", "-i", clip("basic"), "-c", "copy", "-f", "hls", "-hls_time", "2", "-hls_list_size",
                    "0", html / "vod.m3u8"], check=True)
    size = sum(path.stat().st_size for path in html.glob("*.ts"))
    hls = load("sb_hls_load", "-o", "-c", 3, "-t", 1, "-s", 0, "-d", 0, "-r", f"http://127.0.0.1:{live.ports['http']}/vod.m3u8").result()
    assert hls["failed"] == 0 and 3 * size < hls["bytes_in"] < 3 * size * 1.02


class LiveHls(http.server.BaseHTTPRequestHandler):
    """A live playlist with a new segment a second, sessions by hls_ctx, chunked bodies, and a redirect in front of all of it."""
    protocol_version = "HTTP/1.1"
    began = 0.0
    asked: list[str] = []

    def log_message(self, *_):  # pylint: disable=arguments-differ
        pass

    def answer(self, body: bytes, status: int = 200) -> None:
        self.send_response(status)
        self.send_header("Transfer-Encoding", "chunked")
        self.end_headers()
        for at in range(0, len(body), 700):
            part = body[at:at + 700]
            self.wfile.write(f"{len(part):x}\r\n".encode() + part + b"\r\n")
        self.wfile.write(b"0\r\n\r\n")

    def do_GET(self):  # pylint: disable=invalid-name
        self.asked.append(self.path)
        if self.path == "/moved.m3u8":
            self.send_response(302)
            self.send_header("Location", "/live/cam.m3u8")
            self.send_header("Content-Length", "0")
            self.end_headers()
        elif self.path == "/live/cam.m3u8":
            self.answer(b"#EXTM3U\n#EXT-X-STREAM-INF:BANDWIDTH=1\ncam.m3u8?hls_ctx=abc\n")
        elif self.path == "/live/cam.m3u8?hls_ctx=abc":
            newest = 10 + int(time.monotonic() - self.began)
            segments = "".join(f"#EXTINF:1.000,\ncam-{n}.ts?hls_ctx=abc\n" for n in range(newest - 4, newest + 1))
            self.answer(f"#EXTM3U\n#EXT-X-TARGETDURATION:1\n#EXT-X-MEDIA-SEQUENCE:{newest - 4}\n{segments}".encode())
        elif re.fullmatch(r"/live/cam-\d+\.ts\?hls_ctx=abc", self.path):
            self.answer(b"G" * 5000)
        else:
            self.answer(b"nothing here", 404)


@pytest.fixture(name="live_hls")
def fixture_live_hls():
    LiveHls.began, LiveHls.asked = time.monotonic(), []
    one = http.server.ThreadingHTTPServer(("127.0.0.1", free_port()), LiveHls)
    thread = threading.Thread(target=one.serve_forever, daemon=True)
    thread.start()
    yield f"http://127.0.0.1:{one.server_address[1]}"
    one.shutdown()
    one.server_close()
    thread.join(5)


def test_live_hls_follows_redirects_variants_and_sessions(live_hls, load):
    result = load("sb_hls_load", "-c", 2, "-s", 0, "-r", f"{live_hls}/moved.m3u8", "--seconds", 5, "--buffer", 0.5).result()
    assert result["failed"] == 0 and result["metrics"]["gaps"]["max"] == 0
    # Three segments at once, then one a second.
    assert 2 * 5 <= result["fragments"] <= 2 * 9, result["fragments"]
    asked = Counter(int(re.search(r"cam-(\d+)", path)[1]) for path in LiveHls.asked if ".ts" in path)
    assert max(asked.values()) == 2, "each client asks for each segment once"
    # A list may change between the two clients, at the beginning and at the end.
    assert {number for number, count in asked.items() if count == 1} <= {min(asked), max(asked)}, asked
    assert LiveHls.asked.count("/live/cam.m3u8") == 2, "the variant is followed once"


class Redirector(socketserver.BaseRequestHandler):
    """An RTMP server that knows one answer to connect: elsewhere (302, as clusters tell their players)."""
    elsewhere = ""

    def handle(self):
        self.request.settimeout(10)
        hello = self.exactly(1 + 1536)
        self.request.sendall(b"\x03" + bytes(1536) + hello[1:])
        self.exactly(1536)
        self.request.recv(4096)  # connect
        why = {"level": "error", "code": "NetConnection.Connect.Rejected", "description": "elsewhere",
               "ex": {"code": 302, "redirect": self.elsewhere}}
        self.request.sendall(encode_message(COMMAND, 0, amf0("_error") + amf0(1) + amf0(None) + amf0(why), stream_id=0, chunk_size=128))
        self.request.recv(4096)  # the client leaves

    def exactly(self, count: int) -> bytes:
        got = b""
        while len(got) < count:
            more = self.request.recv(count - len(got))
            assert more, "the client has gone"
            got += more
        return got


def test_rtmp_follows_redirects(server, clip, load):
    live = server(FLV)
    publisher = load("sb_rtmp_publish", "-c", 1, "-s", 0, "-r", live.url("cam"), "-i", clip("basic"))
    wait_until(lambda: live.api("/api/v1/streams/")["streams"], 20, "the stream is there")
    Redirector.elsewhere = live.url("cam").rsplit("/", 1)[0]
    with socketserver.ThreadingTCPServer(("127.0.0.1", free_port()), Redirector) as away:
        threading.Thread(target=away.serve_forever, daemon=True).start()
        url = f"rtmp://127.0.0.1:{away.server_address[1]}/live/cam"
        one = load("sb_rtmp_load", "-c", 3, "-s", 0, "-r", url, "--seconds", 2)
        result = one.result()
        assert result["alive"] == 3 and result["failed"] == 0 and "redirected to " + live.url("cam") in one.log
        Redirector.elsewhere = url  # round and round
        lost = load("sb_rtmp_load", "-c", 1, "-t", 1, "-s", 0, "-e", 0, "-r", url, "--seconds", 2)
        assert lost.result(status=1)["failed"] == 1 and "more than 5 redirects" in lost.log
        away.shutdown()
    publisher.stop()
    publisher.result()


@pytest.mark.parametrize("name,url,sentence", [
    ("sb_rtmp_load", "rtmp://127.0.0.1:{closed}/live/cam", "refused"),
    ("sb_http_load", "{hls}/nowhere", "status 404"),
    ("sb_hls_load", "{hls}/live/cam-1.ts?hls_ctx=abc", "no playlist"),
    ("sb_flv_load", "{hls}/live/cam-1.ts?hls_ctx=abc", "not begin with FLV"),
    ("sb_rtmp_load", "http://127.0.0.1/live/cam", "not an rtmp"),
])
def test_a_client_that_fails_is_reported_and_counted(live_hls, load, name, url, sentence):
    one = load(name, "-c", 2, "-t", 1, "-s", 0, "-e", 0, "-r", url.format(hls=live_hls, closed=free_port()))
    result = one.result(status=1)
    assert result["failed"] == 2
    assert re.search(rf"\[error\] .*{sentence}.* errno=\d+\(", one.log), one.log


def test_a_refused_publisher_fails(server, clip, load):
    live = server()
    first = load("sb_rtmp_publish", "-s", 0, "-r", live.url("cam"), "-i", clip("basic"))
    wait_until(lambda: live.api("/api/v1/streams/")["streams"], 20, "the stream is there")
    second = load("sb_rtmp_publish", "-s", 0, "-t", 1, "-e", 0, "-r", live.url("cam"), "-i", clip("basic"))
    assert second.result(status=1)["failed"] == 1
    assert "the server refuses: NetStream.Publish" in second.log
    first.stop()
    assert first.result()["failed"] == 0


@pytest.mark.parametrize("arguments,sentence", [
    (["--clents", "5"], "there is no option --clents"),
    (["-c", "many", "-r", "rtmp://h/a/s"], "--clients: found \"many\", expected a number from 1 to 65000"),
    (["-r", "rtmp://h/a/s", "--csv", "/nowhere/at/all.csv"], "opening /nowhere/at/all.csv: No such file or directory"),
])
def test_a_wrong_option_is_reported(arguments, sentence):
    done = subprocess.run([tool("sb_rtmp_load"), *arguments], capture_output=True, text=True, check=False, timeout=20)
    assert done.returncode == 2
    assert sentence in done.stderr


def test_without_a_url_there_is_help():
    for name in ("sb_rtmp_load", "sb_rtmp_load_fast", "sb_rtmp_publish", "sb_http_load", "sb_hls_load", "sb_flv_load", "sb_rtc_load"):
        done = subprocess.run([tool(name)], capture_output=True, text=True, check=False, timeout=20)
        assert done.returncode == 0 and "params url=," in done.stdout and f"Usage: {name} -r URL" in done.stdout
