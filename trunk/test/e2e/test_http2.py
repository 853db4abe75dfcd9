"""HTTP/2 on the HTTPS ports: files, the API, live streams and HLS by curl, hyper-h2 and Chromium, three attacks beside good players, and h2spec."""

import contextlib
import json
import os
import re
import shutil
import subprocess
import tempfile
import threading
import time
import urllib.request
from pathlib import Path

import pytest

import live_server
from cached_venv import cache_folder
from http_streams import VIDEO, read_tags
from http2_client import Http2Client, raw_continuation, raw_reset, raw_window
from live_server import wait_until
from page_site import needs_libraries
from players import FfmpegPublisher, wait_playable
from rtc_offer import offer

HERE = Path(__file__).resolve().parent
CONF = """
listen 127.0.0.1:$rtmp; max_connections 1000; daemon off; srs_log_tank console; pid $folder/srs.pid; {root}
http_api {{ enabled on; listen 127.0.0.1:$api; https {{ enabled on; listen 127.0.0.1:$apis; {files} {more} }} }}
http_server {{ enabled on; listen 127.0.0.1:$http; dir $folder/html; https {{ enabled on; listen 127.0.0.1:$https; {files} {more} }} }}
exporter {{ enabled on; listen 127.0.0.1:$metrics; }}
rtc_server {{ enabled on; listen $udp; candidate 127.0.0.1; }}
vhost __defaultVhost__ {{
    rtc {{ enabled on; rtmp_to_rtc on; }}
    http_remux {{ enabled on; mount [vhost]/[app]/[stream].flv; }}
    hls {{ enabled on; hls_ll on; hls_fragment 1; hls_window 12; hls_path $folder/html; }}
}}
"""
BIG = bytes(range(256)) * 4096
CANCEL, REFUSED_STREAM, CALM = 8, 7, 11


@pytest.fixture(name="site")
def fixture_site(server, certificate):
    """site() starts a server with a page of 12 bytes and a file of 1 MiB."""
    key, cert = certificate

    def start(more: str = "", root: str = "", **options) -> live_server.LiveServer:
        live = server(conf=CONF.format(files=f"key {key}; cert {cert};", more=more, root=root), **options)
        (live.folder / "html").mkdir(exist_ok=True)
        (live.folder / "html/page.html").write_text("hello, world")
        (live.folder / "html/big.bin").write_bytes(BIG)
        return live

    return start


def curl(live, path: str, *arguments, port: str = "https", limit_s: int = 20) -> tuple[int, str, dict, bytes]:
    """Status, version of HTTP, fields and body."""
    url = f"https://127.0.0.1:{live.ports[port]}{path}"
    with tempfile.TemporaryDirectory() as folder:
        command = ["curl", "-sk", "--http2", "-m", str(limit_s), "-D", f"{folder}/head", "-o", f"{folder}/body", "-w", "%{http_code} %{http_version}",
                   *arguments, url]
        done = subprocess.run(command, capture_output=True, text=True, timeout=limit_s + 10, check=False)
        assert done.returncode == 0, f"curl {done.returncode}: {done.stderr}\n{live.log()[-1500:]}"
        status, version = done.stdout.split()
        lines = Path(f"{folder}/head").read_text().splitlines()
        fields = {name.strip().lower(): value.strip() for name, value in (line.split(":", 1) for line in lines if ":" in line)}
        body = Path(f"{folder}/body")
        return int(status), version, fields, body.read_bytes() if body.exists() else b""


def metrics(live) -> str:
    with urllib.request.urlopen(f"http://127.0.0.1:{live.ports['metrics']}/metrics", timeout=10) as answer:
        return answer.read().decode()


def metric(live, name: str) -> float:
    return float(re.search(rf"^{re.escape(name)} (\S+)$", metrics(live), re.M).group(1))


def test_curl_gets_files_as_over_http1(site):
    live = site()
    status, version, fields, body = curl(live, "/page.html")
    assert (status, version, body) == (200, "2", b"hello, world")
    assert fields["content-length"] == "12" and fields["content-type"].startswith("text/html") and "server" in fields
    assert not {"connection", "transfer-encoding", "keep-alive"} & set(fields)
    assert curl(live, "/big.bin")[3] == BIG
    status, version, old, body = curl(live, "/page.html", "--http1.1")
    assert (status, version, body) == (200, "1.1", b"hello, world")
    assert set(old) - {"connection"} == set(fields)
    status, _, fields_of_head, _ = curl(live, "/page.html", "-I")
    assert status == 200 and fields_of_head["content-length"] == "12"
    assert curl(live, "/page.html", "-r", "7-11")[::3] == (206, b"world")
    assert curl(live, "/big.bin", "-r", "1000-300000")[3] == BIG[1000:300001]
    assert curl(live, "/page.html", "-H", f"If-None-Match: {fields['etag']}")[::3] == (304, b"")
    assert curl(live, "/none.html")[0] == 404
    assert curl(live, "/page.html", "-X", "DELETE")[0] == 405
    assert curl(live, "/page.html", "-H", "X: " + "y" * 40_000)[0] == 431
    assert curl(live, "/" + "p" * 9_000)[0] == 414
    assert metric(live, "millrace_http2_requests_total") == 10
    assert re.search(r"HTTP #\d+ 127.0.0.1:\d+ GET https://127.0.0.1:\d+/page.html.*status=200", live.log())


def test_a_client_is_served_http1_when_http2_is_off(site):
    live = site("http2 off;")
    assert curl(live, "/page.html")[:2] == (200, "1.1")
    live.conf_path.write_text(live.conf_path.read_text().replace("http2 off;", "http2 on;"))
    live.process.send_signal(1)
    wait_until(lambda: curl(live, "/page.html")[:2] == (200, "2"), 10, "HTTP/2 after a reload")


def test_many_requests_share_one_connection(site):
    live = site()
    with Http2Client(live.ports["https"]) as client:
        streams = [client.request("/big.bin" if i % 10 == 0 else "/page.html") for i in range(100)]
        for i, stream in enumerate(streams):
            assert client.wait(stream) == (200, BIG if i % 10 == 0 else b"hello, world")
        assert metric(live, "millrace_http2_connections") == 1
        assert client.goaway is None


def test_a_client_without_windows_gets_one_window_and_holds_nobody_up(site):
    live = site()
    with Http2Client(live.ports["https"], opens_windows=False) as slow, Http2Client(live.ports["https"]) as other:
        stalled = [slow.request("/big.bin") for _ in range(5)]
        slow.read_until(lambda: sum(len(slow.bodies.get(one, b"")) for one in stalled) == 65_535)
        assert other.get("/big.bin") == (200, BIG)
        while slow.read(0.3):  # the heads of the others
            pass
        assert sum(len(body) for body in slow.bodies.values()) == 65_535
        slow.opens_windows = True
        for one in stalled:
            if one in slow.bodies:
                slow.h2.acknowledge_received_data(len(slow.bodies[one]), one)
        slow.flush()
        for one in stalled:
            assert slow.wait(one) == (200, BIG)


def test_the_api_answers_and_bodies_are_bounded(site):
    live = site()
    status, version, _, body = curl(live, "/api/v1/versions", port="apis")
    assert (status, version, json.loads(body)["code"]) == (200, "2", 0)
    status, _, fields, _ = curl(live, "/api/v1/versions", "-X", "OPTIONS", port="apis")
    assert status == 200
    with Http2Client(live.ports["apis"]) as client:
        refused = client.request("/rtc/v1/whip/?app=live&stream=none", "POST", b"x" * (1 << 20) + b"y", content_type="application/sdp")
        client.read_until(lambda: refused in client.heads)
        assert client.heads[refused][":status"] == "413"
        awaited = client.request("/api/v1/versions", "POST", b"{}", expect="100-continue")
        client.wait(awaited)
        assert client.interim == ["100"]


def test_whip_and_whep_over_http2(site):
    live = site()
    with Http2Client(live.ports["apis"]) as client:
        status, answer = client.wait(client.request("/rtc/v1/whip/?app=live&stream=web", "POST", offer("sendonly").encode(), content_type="application/sdp"))
        assert status == 201 and answer.startswith(b"v=0")
        location = client.heads[1]["location"]
        assert client.wait(client.request(location, "DELETE"))[0] == 200
        status, answer = client.wait(client.request("/rtc/v1/whep/?app=live&stream=web", "POST", offer("recvonly").encode(), content_type="application/sdp"))
        assert status == 201 and b"a=sendonly" in answer


def test_live_flv_plays_with_flow_control_and_is_kicked(site, clip):
    live = site()
    with FfmpegPublisher(live.url("cam"), clip("basic")), Http2Client(live.ports["https"]) as client:
        wait_playable(live.url("cam"))
        playing = [client.request("/live/cam.flv") for _ in range(3)]
        client.read_until(lambda: all(len(client.bodies.get(one, b"")) > 200_000 for one in playing))
        for one in playing:
            assert client.heads[one][":status"] == "200" and "transfer-encoding" not in client.heads[one]
            assert client.bodies[one].startswith(b"FLV")
            times = [tag.timestamp for tag in read_tags(client.bodies[one])[1] if tag.type == VIDEO]
            assert len(times) > 10 and times == sorted(times)
        players = [one for one in live.api("/api/v1/clients/")["clients"] if one["type"] == "flv-play"]
        assert len(players) == 3 and len({one["id"] for one in players}) == 3
        request = urllib.request.Request(f"http://127.0.0.1:{live.ports['api']}/api/v1/clients/{players[0]['id']}", method="DELETE")
        urllib.request.urlopen(request, timeout=10).close()
        client.read_until(lambda: len(client.resets) == 1)
        assert set(client.resets.values()) == {CANCEL}
        left = [one for one in playing if one not in client.resets]
        had = {one: len(client.bodies[one]) for one in left}
        client.read_until(lambda: all(len(client.bodies[one]) > had[one] + 50_000 for one in left))
    wait_until(lambda: not [one for one in live.api("/api/v1/clients/")["clients"] if one["type"] == "flv-play"], 10, "the players are gone")


def test_a_live_stream_ends_with_its_publisher(site, clip):
    live = site()
    with Http2Client(live.ports["https"]) as client:
        with FfmpegPublisher(live.url("cam"), clip("basic")):
            wait_playable(live.url("cam"))
            playing = client.request("/live/cam.flv")
            client.read_until(lambda: len(client.bodies.get(playing, b"")) > 50_000)
        client.read_until(lambda: playing in client.ended, 40)
        assert client.get("/page.html") == (200, b"hello, world")


def test_low_latency_playlists_wait_beside_each_other(site, clip):
    live = site()
    with FfmpegPublisher(live.url("cam"), clip("basic")), Http2Client(live.ports["https"]) as client:
        def playlist() -> str:
            status, body = client.get("/live/cam.m3u8")
            text = body.decode()
            if status == 200 and "EXT-X-STREAM-INF" in text:
                media = [line for line in text.splitlines() if line and not line.startswith("#")][0]
                status, body = client.get(media if media.startswith("/") else f"/live/{media}")
                text = body.decode()
                playlist.path = media if media.startswith("/") else f"/live/{media}"
            return text if status == 200 else ""

        wait_until(lambda: "EXT-X-PART:" in playlist(), 30, "parts")
        text = playlist()
        first = int(re.search(r"EXT-X-MEDIA-SEQUENCE:(\d+)", text).group(1))
        newest = first + len(re.findall(r"^#EXTINF", text, re.M))
        join = "&" if "?" in playlist.path else "?"
        waiting = [client.request(f"{playlist.path}{join}_HLS_msn={newest}") for _ in range(3)]
        assert client.get("/page.html") == (200, b"hello, world")
        for one in waiting:
            status, body = client.wait(one)
            assert status == 200 and b"EXT-X-PART" in body
        parts = re.findall(r'URI="([^"]+)"', playlist())
        folder = playlist.path.rsplit("/", 1)[0]
        fetched = [client.request(uri if uri.startswith("/") else f"{folder}/{uri}") for uri in parts[-4:]]
        assert all(client.wait(one)[0] == 200 for one in fetched)


def test_an_answer_does_not_wait_for_a_body_that_nobody_reads(site):
    live = site()
    with Http2Client(live.ports["https"]) as client:
        refused = client.request("/page.html", "PUT", bytes(4 << 20))
        client.read_until(lambda: refused in client.heads)
        assert client.heads[refused][":status"] in ("405", "413")
        assert client.get("/page.html") == (200, b"hello, world")


class Bystander:
    """A player of a live stream and a client that asks for a file over and over, while something happens."""

    def __init__(self, live):
        self.live, self.stop, self.answers, self.errors = live, threading.Event(), 0, []
        self.thread = threading.Thread(target=self._run, daemon=True)

    def _run(self):
        try:
            with Http2Client(self.live.ports["https"]) as client:
                playing = client.request("/live/cam.flv")
                while not self.stop.is_set():
                    had = len(client.bodies.get(playing, b""))
                    assert client.get("/page.html") == (200, b"hello, world")
                    client.read_until(lambda: len(client.bodies.get(playing, b"")) > had)  # pylint: disable=cell-var-from-loop
                    self.answers += 1
                assert client.goaway is None and not client.resets
        except (AssertionError, OSError) as error:
            self.errors.append(repr(error))

    def __enter__(self):
        self.thread.start()
        wait_until(lambda: self.answers > 0 or self.errors, 20, "the bystander plays")
        return self

    def __exit__(self, *_):
        had = self.answers
        wait_until(lambda: self.answers > had or self.errors, 20, "the bystander still plays")
        self.stop.set()
        self.thread.join(30)
        assert not self.errors, self.errors


def rapid_reset(client: Http2Client):
    for stream in range(1, 4_001, 2):
        yield client.raw_headers(stream, "/live/cam.flv") + raw_reset(stream)


def header_block_without_an_end(client: Http2Client):
    yield client.raw_headers(1, "/page.html", flags=("END_STREAM",))
    for _ in range(2_000):
        yield raw_continuation(1, b"\x00\x01x\x01y" * 100)


def made_you_reset(client: Http2Client):
    for stream in range(1, 4_001, 2):
        yield client.raw_headers(stream, "/live/cam.flv") + raw_window(stream, 0x7fffffff)


@pytest.mark.parametrize("attack, kind", [(rapid_reset, "client_resets"), (header_block_without_an_end, "continuations"),
                                          (made_you_reset, "server_resets")])
def test_an_attack_ends_its_own_connection_alone(site, clip, attack, kind):
    live = site()
    with FfmpegPublisher(live.url("cam"), clip("basic")):
        wait_playable(live.url("cam"))
        with Bystander(live):
            for _ in range(3):
                with Http2Client(live.ports["https"]) as client:
                    client.read_until(lambda: client.h2.remote_settings.max_concurrent_streams == 100)  # pylint: disable=cell-var-from-loop
                    for frames in attack(client):
                        client.send(frames)
                        if client.is_closed or (client.read(0) and client.goaway is not None):
                            break
                    client.read_until(lambda: client.goaway is not None or client.is_closed)  # pylint: disable=cell-var-from-loop
                    assert client.goaway in (CALM, None)
        assert metric(live, f'millrace_http2_floods_total{{kind="{kind}"}}') == 3
        wait_until(lambda: metric(live, "millrace_http2_connections") == 0, 20, "no connection is left")
    assert live.log().count("HTTP/2 client 127.0.0.1") >= 3


def test_handlers_of_reset_requests_count_until_they_return(site, clip):
    """Requests that wait for a segment far ahead are reset: while they wait, their places are taken, so that resets make no room for more work."""
    live = site()
    with FfmpegPublisher(live.url("cam"), clip("basic")), Http2Client(live.ports["https"]) as client:
        wait_until(lambda: (live.folder / "html/live/cam.m3u8").exists() or client.get("/live/cam.m3u8")[0] == 200, 30, "a playlist")
        for _ in range(150):
            stream = client.request("/live/silent.flv")
            client.h2.reset_stream(stream, CANCEL)
            client.flush()
        client.read(0.2)
        assert client.get("/page.html") == (200, b"hello, world")
    wait_until(lambda: metric(live, "millrace_http2_connections") == 0, 20, "no connection is left")


def test_requests_beside_others_take_places(site):
    """max_connections holds for requests at the same time, however many connections they come on."""
    live = site()
    wait_until(lambda: metric(live, "millrace_connections") == 1, 10, "only the scrape is connected")
    with Http2Client(live.ports["https"], opens_windows=False) as client:
        streams = [client.request("/big.bin") for _ in range(20)]
        client.read_until(lambda: all(one in client.heads for one in streams))
        assert {client.heads[one][":status"] for one in streams} == {"200"}
        # The requests of the scrape before may not have ended yet.
        wait_until(lambda: metric(live, "millrace_connections") == 1 + 20, 10, "each request takes a place")
    wait_until(lambda: metric(live, "millrace_connections") == 1, 10, "all places are free")


def test_a_new_certificate_and_a_stop_send_goaway(server, certificate, tmp_path, clip):
    key, cert = tmp_path / "now.key", tmp_path / "now.crt"
    shutil.copy(certificate[0], key)
    shutil.copy(certificate[1], cert)
    live = server(conf=CONF.format(files=f"key {key}; cert {cert};", more="", root=""))
    (live.folder / "html").mkdir(exist_ok=True)
    (live.folder / "html/page.html").write_text("hello, world")
    played = tmp_path / "played.flv"
    with FfmpegPublisher(live.url("cam"), clip("basic")), Http2Client(live.ports["https"]) as client:
        wait_playable(live.url("cam"))
        assert client.get("/page.html")[0] == 200
        with subprocess.Popen(["curl", "-sk", "--http2", "-o", played, f"https://127.0.0.1:{live.ports['https']}/live/cam.flv"]) as curl_playing:
            wait_until(lambda: played.exists() and played.stat().st_size > 0, 20, "media")
            subprocess.run(["openssl", "req", "-x509", "-newkey", "rsa:2048", "-nodes", "-days", "2", "-subj", "/CN=new", "-keyout", key, "-out", cert],
                           capture_output=True, check=True, timeout=60)
            live.wait_log("has a new certificate", 30)
            client.h2.ping(b"12345678")
            client.flush()
            client.read_until(lambda: client.goaway == 0)
            had = played.stat().st_size
            wait_until(lambda: played.stat().st_size > had + 50_000, 20, "media after the new certificate")
            assert curl_playing.poll() is None
            curl_playing.kill()
        with Http2Client(live.ports["https"]) as idle:
            assert idle.get("/page.html")[0] == 200
            live.process.send_signal(3)  # SIGQUIT: gracefully
            idle.read_until(lambda: idle.goaway == 0)
            idle.read_until(lambda: idle.is_closed)


def test_an_idle_connection_gets_goaway_although_it_pings(site, request):
    if not request.config.getoption("--long"):
        pytest.skip("--long: takes 15 s")
    live = site()
    with Http2Client(live.ports["https"]) as client:
        assert client.get("/page.html")[0] == 200
        began = time.monotonic()
        while not client.is_closed and time.monotonic() < began + 40:
            with contextlib.suppress(Exception):
                client.h2.ping(b"12345678")
                client.flush()
            client.read(1)
        assert client.is_closed and client.goaway == 0


def h2spec_program() -> Path:
    """h2spec, built once from Go's module proxy: its version and those of what it needs are in h2spec/go.mod."""
    program = cache_folder() / "h2spec-v2.2.1"
    if program.exists():
        return program
    assert shutil.which("go"), "no Go: install-packages.sh test"
    with tempfile.TemporaryDirectory(prefix="h2spec-") as work:
        for name in ("go.mod", "go.sum"):
            shutil.copy(HERE / "h2spec" / name, work)
        environment = {**os.environ, "GOPATH": f"{work}/path", "GOMODCACHE": f"{work}/path/pkg/mod", "GOCACHE": f"{work}/cache",
                       "GOFLAGS": "-modcacherw -mod=mod", "GOTOOLCHAIN": "local", "CGO_ENABLED": "0"}
        done = subprocess.run(["go", "build", "-o", f"{work}/h2spec", "github.com/summerwind/h2spec/cmd/h2spec"], cwd=work, env=environment,
                              capture_output=True, text=True, timeout=900, check=False)
        assert done.returncode == 0, f"h2spec could not be built: {done.stderr.strip()[-500:]}"
        program.parent.mkdir(parents=True, exist_ok=True)
        shutil.copy(f"{work}/h2spec", f"{program}.{os.getpid()}")
        os.replace(f"{program}.{os.getpid()}", program)
    return program


def test_h2spec(site):
    live = site()
    done = subprocess.run([h2spec_program(), "-t", "-k", "-S", "-h", "127.0.0.1", "-p", str(live.ports["https"]), "-P", "/page.html", "-o", "5"],
                          capture_output=True, text=True, timeout=300, check=False)
    tail = done.stdout[-6_000:]
    assert done.returncode == 0, tail
    passed, skipped, failed = (int(re.search(rf"(\d+) {word}", done.stdout).group(1)) for word in ("passed", "skipped", "failed"))
    assert failed == 0 and skipped <= 1 and passed >= 140, tail


PAGE = """<!DOCTYPE html><video id=video muted playsinline></video><script src="/hls.js"></script><script>
window.errors = [];
const hls = new Hls({lowLatencyMode: true});
hls.on(Hls.Events.ERROR, (_, one) => { if (one.fatal) errors.push(one.details); });
hls.loadSource('/live/cam.m3u8');
hls.attachMedia(document.getElementById('video'));
document.getElementById('video').play();
window.protocols = () => performance.getEntriesByType('resource').map((one) => one.nextHopProtocol);
</script>"""


def test_chromium_plays_hls_over_http2(site, clip, chromium, html):
    live = site()
    needs_libraries(html)
    shutil.copy(html / "players/js/hls.js", live.folder / "html/hls.js")
    (live.folder / "html/play.html").write_text(PAGE)
    with FfmpegPublisher(live.url("cam"), clip("basic")):
        with Http2Client(live.ports["https"]) as client:
            wait_until(lambda: client.get("/live/cam.m3u8")[0] == 200, 30, "a playlist")
        page = chromium.page(ignoreHTTPSErrors=True).goto(f"https://127.0.0.1:{live.ports['https']}/play.html")
        page.wait("document.getElementById('video').currentTime > 3", 40)
        assert page.value("errors") == []
        used = page.value("protocols()")
        assert len(used) > 5 and set(used) == {"h2"}, used
        page.close()
