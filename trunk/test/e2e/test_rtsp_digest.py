"""RTSP: Digest authentication of players and publishers. ffmpeg and GStreamer use it without sending the password; a recorded response is refused;
users have plain passwords or hashes for Digest, and one with another hash is asked for Basic."""

import contextlib
import hashlib
import re
import signal
import socket
import subprocess
import threading

import pytest
from access_site import ACCESS, PORTS, ffmpeg_reads, is_published, run, user
from every_form import running
from live_server import LiveServer, installed, wait_until
from players import FfmpegPublisher
from rtsp_stage import Client, Publisher, rtsp_url

pytestmark = [pytest.mark.workers, pytest.mark.skipif(not installed("ffmpeg"), reason="no ffmpeg")]
needs_gstreamer = pytest.mark.skipif(not installed("gst-launch-1.0"), reason="no GStreamer (install-packages.sh players)")
HASHES = {"MD5": hashlib.md5, "SHA-256": hashlib.sha256}
HA1 = "ha1:" + ":".join(make(b"viewer:streams:s3cret").hexdigest() for make in HASHES.values())
USERS = user("sender", "plain:s3cret", "publish live/cam") + user("viewer", HA1, "play live/cam")
HASHED = user("other", "sha256:ungWv48Bz+pBQUDeXa4iI7ADYaOWF3qctBD/YfIAFa0=", "play live/cam")


class Wire:
    """Passes connections on to a port, and keeps what the clients send."""

    def __init__(self, to: int):
        self.to, self.sent = to, bytearray()
        self.listener = socket.create_server(("127.0.0.1", 0))
        self.port = self.listener.getsockname()[1]
        threading.Thread(target=self._accept, daemon=True).start()

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.listener.close()

    def _accept(self) -> None:
        with contextlib.suppress(OSError):
            while True:
                client, _ = self.listener.accept()
                server = socket.create_connection(("127.0.0.1", self.to))
                threading.Thread(target=self._pass, args=(client, server, self.sent), daemon=True).start()
                threading.Thread(target=self._pass, args=(server, client, None), daemon=True).start()

    @staticmethod
    def _pass(source: socket.socket, sink: socket.socket, kept) -> None:
        with contextlib.suppress(OSError), source, sink:
            while piece := source.recv(65536):
                if kept is not None and len(kept) < 100_000:
                    kept += piece
                sink.sendall(piece)
            sink.shutdown(socket.SHUT_WR)

    def assert_digest(self, *methods: str) -> None:
        text = self.sent.decode(errors="replace")
        for method in methods:
            assert re.search(rf"^{method} rtsp:[^\n]*\n([^\n]+\n)*Authorization: Digest username=", text, re.MULTILINE), text[:4000]
        assert "s3cret" not in text and "Authorization: Basic" not in text


def response_to(challenge: str, url: str, method: str = "DESCRIBE", name: str = "viewer", password: str = "s3cret", qop: bool = True) -> str:
    """The Authorization header of RFC 7616, or without `qop` that of RFC 2069."""
    given = dict(re.findall(r'(\w+)="?([^",]+)"?', challenge.removeprefix("Digest ")))
    digest = lambda text: HASHES[given["algorithm"]](text.encode()).hexdigest()  # noqa: E731
    secret, request = digest(f"{name}:{given['realm']}:{password}"), digest(f"{method}:{url}")
    nonce, middle = given["nonce"], "00000001:c0ffee:auth:" if qop else ""
    more = ', qop=auth, nc=00000001, cnonce="c0ffee"' if qop else ""
    response = digest(f"{secret}:{nonce}:{middle}{request}")
    return (f'Digest username="{name}", realm="{given["realm"]}", nonce="{nonce}", uri="{url}", algorithm={given["algorithm"]}, '
            f'response="{response}"{more}')


def challenges(client: Client, url: str, **headers: str) -> list[str]:
    """Of a DESCRIBE that is answered by 401: SHA-256, MD5, Basic."""
    client.request("OPTIONS", url)
    client.socket.sendall(f"DESCRIBE {url} RTSP/1.0\r\nCSeq: 50\r\n{''.join(f'{name}: {value}{chr(13)}{chr(10)}' for name, value in headers.items())}\r\n".encode())
    text = b""
    while b"\r\n\r\n" not in text:
        text += client.socket.recv(4096)
    assert text.startswith(b"RTSP/1.0 401 "), text
    return re.findall(r"WWW-Authenticate: ([^\r]+)", text.decode())


@pytest.mark.parametrize("qop", [True, False], ids=["counter", "no counter"])
@pytest.mark.parametrize("index", [0, 1], ids=["SHA-256", "MD5"])
def test_a_response_is_right_once(server, clip, index, qop):
    live = server(vhost=ACCESS, root=PORTS + USERS)
    url = rtsp_url(live)
    with Publisher(url.replace("://", "://sender:s3cret@"), clip("basic")):
        wait_until(lambda: is_published(live, "cam"), 20, "the stream is live")
        with Client(live) as client:
            offered = challenges(client, url)
            assert [one.split(" ")[0] for one in offered] == ["Digest", "Digest", "Basic"] and "stale" not in offered[index]
            recorded = response_to(offered[index], url, qop=qop)
            assert client.request("DESCRIBE", url, Authorization=recorded)[0] == 200
        with Client(live) as thief:
            again = challenges(thief, url, Authorization=recorded)
            assert "stale=true" in again[index], "the nonce is of another connection"
            assert thief.request("DESCRIBE", url, Authorization=response_to(again[index], url, qop=qop))[0] == 200, "a client with the password goes on"
        with Client(live) as other:
            # For another stream, and as another user.
            wrong = response_to(challenges(other, url)[index], url.replace("/cam", "/more"), qop=qop)
            assert "stale" not in challenges(other, url, Authorization=wrong)[index]
            forbidden = response_to(challenges(other, url)[index], url, name="sender", qop=qop)
            assert other.request("DESCRIBE", url, Authorization=forbidden)[0] == 403
    assert "s3cret" not in live.log()


def test_wrong_digests_are_refused_and_slowed_down(server):
    live = server(vhost=ACCESS, root=PORTS + USERS)
    url = rtsp_url(live)
    statuses = []
    # Each wrong one doubles the pause of the address.
    for attempt in range(30):
        with Client(live) as client:
            header = response_to(challenges(client, url)[1], url, name=("viewer", "unknown")[attempt % 2], password="guess")
            statuses.append(client.request("DESCRIBE", url, Authorization=header)[0])
        if statuses[-1] == 503:
            break
    assert statuses[0] == 401 and statuses[-1] == 503 and set(statuses) == {401, 503}, statuses
    with Client(live) as client:
        assert client.request("DESCRIBE", url, Authorization='Digest username="viewer"')[0] == 400
    live.wait_log("wrong name or password, ip=127.0.0.1")


def test_hashed_passwords_are_asked_for_by_basic(server):
    live = server(vhost=ACCESS, root=PORTS + USERS + HASHED)
    with Client(live) as client:
        assert challenges(client, rtsp_url(live)) == ['Basic realm="streams"']


def test_hashes_for_digest_serve_other_protocols_too(server, clip, tmp_path):
    assert run(LiveServer(tmp_path / "hash", "listen 1935;"), "hash", "--digest", "viewer", given="s3cret\n") == HA1
    live = server(vhost=ACCESS, root=PORTS + USERS)
    with FfmpegPublisher(live.url("cam?user=sender&pass=s3cret"), clip("basic")):
        wait_until(lambda: is_published(live, "cam"), 20, "the stream is live")
        assert ffmpeg_reads(live.url("cam?user=viewer&pass=s3cret"))
        assert not ffmpeg_reads(live.url("cam?user=viewer&pass=guess"))


def test_ffmpeg_uses_digest(server, clip):
    live = server(vhost=ACCESS, root=PORTS + USERS)
    with Wire(live.ports["rtsp"]) as wire:
        with Publisher(f"rtsp://sender:s3cret@127.0.0.1:{wire.port}/live/cam", clip("basic")):
            wait_until(lambda: is_published(live, "cam"), 20, "the stream is live")
            wire.assert_digest("ANNOUNCE")
            with Wire(live.ports["rtsp"]) as second:
                assert ffmpeg_reads(f"rtsp://viewer:s3cret@127.0.0.1:{second.port}/live/cam")
                second.assert_digest("DESCRIBE", "SETUP", "PLAY")


@needs_gstreamer
def test_gstreamer_uses_digest(server, clip):
    live = server(vhost=ACCESS, root=PORTS + USERS)
    with Wire(live.ports["rtsp"]) as wire:
        sink = ["rtspclientsink", f"location=rtsp://sender:s3cret@127.0.0.1:{wire.port}/live/cam", "protocols=tcp"]
        source = ["videotestsrc", "is-live=true", "!", "video/x-raw,width=320,height=240", "!", "x264enc", "tune=zerolatency", "key-int-max=10", "!", "h264parse", "!"]
        with running(["gst-launch-1.0", "-q", *source, *sink]):
            wait_until(lambda: is_published(live, "cam"), 30, "the stream is live")
            wire.assert_digest("ANNOUNCE")
            with Wire(live.ports["rtsp"]) as second:
                played = subprocess.run(["gst-launch-1.0", "-q", "rtspsrc", f"location=rtsp://viewer:s3cret@127.0.0.1:{second.port}/live/cam", "protocols=tcp",
                                         "!", "fakesink", "num-buffers=20"], capture_output=True, text=True, timeout=60, check=False)
                assert played.returncode == 0, played.stderr
                second.assert_digest("DESCRIBE", "PLAY")


def test_a_reload_changes_the_offer(server, clip):
    live = server(vhost=ACCESS, root=PORTS + USERS + HASHED)
    with FfmpegPublisher(live.url("cam?user=sender&pass=s3cret"), clip("basic")):
        wait_until(lambda: is_published(live, "cam"), 20, "the stream is live")
        live.conf_path.write_text(live.conf_path.read_text().replace(HASHED.strip(), ""))
        live.process.send_signal(signal.SIGHUP)
        live.wait_log("reload finished, code=0", 15)
        with Client(live) as client:
            offered = challenges(client, rtsp_url(live))
            assert len(offered) == 3
            assert client.request("DESCRIBE", rtsp_url(live), Authorization=response_to(offered[0], rtsp_url(live)))[0] == 200
