"""The API by users and tokens with roles, its audit log; keys from a URL; the PROXY protocol; a flood of wrong passwords."""

import base64
import contextlib
import http.client
import json
import re
import signal
import socket
import struct
import subprocess
import threading
import time
import urllib.error
import urllib.request
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer

import pytest
from access_site import ACCESS, get, is_published, run, start_ffmpeg, token, user
from live_server import ROOT_CONF, LiveServer, wait_until


def call(live: LiveServer, path: str, method: str = "GET", **headers: str) -> int:
    asked = urllib.request.Request(f"http://127.0.0.1:{live.ports['api']}{path}", method=method,
                                   headers={name.replace("_", "-"): value for name, value in headers.items()})
    try:
        with urllib.request.urlopen(asked, timeout=8) as answer:
            return answer.status
    except urllib.error.HTTPError as error:
        return error.code


def basic(name: str, password: str) -> str:
    return "Basic " + base64.b64encode(f"{name}:{password}".encode()).decode()


class GuardedServer(LiveServer):
    """Its API needs a password."""

    def api(self, path: str, limit_s: float = 3) -> dict:
        asked = urllib.request.Request(f"http://{self.host}:{self.ports['api']}{path}", headers={"Authorization": basic("boss", "boss pass")})
        with urllib.request.urlopen(asked, timeout=limit_s) as answer:
            return json.load(answer)


def test_the_api_has_roles_and_an_audit_log(tmp_path):
    site = LiveServer(tmp_path / "hash", "listen 1935;")
    users = "".join(user(name, run(site, "hash", given=f"{name} pass\n"), *rights)
                    for name, rights in (("boss", ["api.admin"]), ("viewer", ["api.read"]), ("scraper", ["metrics"]), ("player", ["play"])))
    assert "http_api {" in ROOT_CONF
    text = ROOT_CONF.replace("http_api {", "http_api { auth { enabled on; } audit_log $folder/audit.log; ") + users + "vhost __defaultVhost__ {" + ACCESS + "}"
    live = GuardedServer(tmp_path / "server", text)
    live.start()
    try:
        streams, kick = "/api/v1/streams", "/api/v1/clients/nobody"
        assert call(live, streams) == 401
        assert [call(live, streams, Authorization=basic(name, f"{name} pass")) for name in ("boss", "viewer", "scraper", "player")] == [200, 200, 403, 401]
        assert [call(live, kick, "DELETE", Authorization=basic(name, f"{name} pass")) for name in ("boss", "viewer")] == [404, 403]
        assert call(live, streams, Authorization="Bearer viewer:viewer pass") == 200
        assert call(live, streams, Authorization="Bearer " + token(live, "--api", "read")) == 200
        assert call(live, kick, "DELETE", Authorization="Bearer " + token(live, "--api", "read")) == 403
        assert call(live, kick + "?token=secret1", "DELETE", Authorization="Bearer " + token(live, "--api", "admin", "--subject", "ops")) == 404
        assert call(live, streams, Authorization="Bearer " + token(live, "--play", "live/*")) == 401
        assert call(live, streams, Authorization=basic("viewer", "wrong")) == 401
        wait_until(lambda: (live.folder / "audit.log").read_text().count("\n") == 4, 10, "the actions are in the audit log")
        lines = [json.loads(line) for line in (live.folder / "audit.log").read_text().splitlines()]
        assert [(line["caller"], line["method"], line["status"]) for line in lines] == [
            ("user boss", "DELETE", 404), ("user viewer", "DELETE", 403), ("token of ", "DELETE", 403), ("token of ops", "DELETE", 404)]
        assert all(line["ip"] == "127.0.0.1" for line in lines) and "secret1" not in str(lines)
        live.stop()
    finally:
        live.kill()


class Issuer:
    """Serves a key set, or something else: `mode` is the function that answers."""

    def __init__(self, keys: bytes):
        outer = self
        self.keys, self.asked, self.mode = keys, 0, self.right
        self.stopping = threading.Event()

        class Handler(BaseHTTPRequestHandler):
            def do_GET(self):  # pylint: disable=invalid-name
                outer.asked += 1
                with contextlib.suppress(OSError):
                    outer.mode(self)

            def log_message(self, *_):
                pass

        self.http = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
        self.http.daemon_threads = True
        threading.Thread(target=self.http.serve_forever, daemon=True).start()
        self.url = f"http://127.0.0.1:{self.http.server_address[1]}/jwks"

    def answer(self, request, body: bytes, status: int = 200) -> None:
        request.send_response(status)
        request.send_header("Content-Length", str(len(body)))
        request.end_headers()
        request.wfile.write(body)

    def right(self, request) -> None:
        self.answer(request, self.keys)

    def lies(self, request) -> None:
        self.answer(request, b"<html>")

    def is_empty(self, request) -> None:
        self.answer(request, b'{"keys":[]}')

    def fails(self, request) -> None:
        self.answer(request, b"", 500)

    def hangs(self, _request) -> None:
        self.stopping.wait(60)

    def is_huge(self, request) -> None:
        request.send_response(200)
        request.end_headers()
        for _ in range(100):
            request.wfile.write(b" " * 1_000_000)

    def close(self) -> None:
        self.stopping.set()
        self.http.shutdown()
        self.http.server_close()


def key_set(private) -> bytes:
    """Of an RSA key."""
    modulus = subprocess.run(["openssl", "rsa", "-in", str(private), "-noout", "-modulus"], capture_output=True, text=True, check=True, timeout=20).stdout
    number = bytes.fromhex(modulus.strip().partition("=")[2])
    return json.dumps({"keys": [{"kty": "RSA", "n": base64.urlsafe_b64encode(number).decode().rstrip("="), "e": "AQAB", "alg": "RS256"}]}).encode()


@pytest.mark.parametrize("mode", ["lies", "is_empty", "fails", "hangs", "is_huge"])
def test_a_key_set_is_read_from_its_url_and_kept(server, tmp_path, mode):
    private = tmp_path / "private.pem"
    subprocess.run(["openssl", "genpkey", "-algorithm", "RSA", "-pkeyopt", "rsa_keygen_bits:2048", "-out", str(private)], capture_output=True, check=True, timeout=60)
    signer = LiveServer(tmp_path / "signer", "listen 1935; vhost __defaultVhost__ { access { enabled on; key_file %s; } }" % private)
    play = "/live/open.flv?token=" + token(signer, "--play", "live/*")
    issuer = Issuer(key_set(private))
    try:
        issuer.mode = getattr(issuer, mode)
        live = server(vhost=f"access {{ enabled on; jwks {issuer.url}; }} http_remux {{ enabled on; mount [vhost]/[app]/[stream].flv; }}")
        wait_until(lambda: issuer.asked > 0, 20, "the server asks for its keys")
        memory = live.resident_kib()
        if mode != "hangs":
            live.wait_log("the key set")
            assert get(live, play)[0] == 403
        assert live.resident_kib() < memory + 20_000
        issuer.mode = issuer.right
        issuer.stopping.set()
        # It asks again after 10 s.
        live.wait_log("has 1 keys", 40)
        assert head(live, play) == 200
        asked = issuer.asked
        for _ in range(20):
            assert get(live, "/live/open.flv?token=" + "eyJhbGciOiJSUzI1NiIsImtpZCI6IngifQ.e30.AA")[0] == 403
        assert issuer.asked <= asked + 2, "an unknown key asks at most every 10 s"
        issuer.mode = getattr(issuer, mode) if mode != "hangs" else issuer.lies
        live.process.send_signal(signal.SIGHUP)
        wait_until(lambda: issuer.asked > asked, 40, "the server asks again")
        assert head(live, play) == 200, "the previous set is kept"
    finally:
        issuer.close()


def head(live: LiveServer, path: str) -> int:
    """A live stream need not exist for the answer to HEAD."""
    connection = http.client.HTTPConnection("127.0.0.1", live.ports["http"], timeout=8)
    try:
        connection.request("HEAD", path)
        return connection.getresponse().status
    finally:
        connection.close()


def proxied(live: LiveServer, header: bytes, source: str = "127.0.0.9") -> bytes:
    """The answer of the HTTP port to a connection of the proxy `source`."""
    with socket.create_connection(("127.0.0.1", live.ports["http"]), timeout=8, source_address=(source, 0)) as connection:
        connection.sendall(header + b"GET /live/none.flv HTTP/1.1\r\nHost: a\r\nConnection: close\r\n\r\n")
        answer = b""
        with contextlib.suppress(OSError):
            while part := connection.recv(4096):
                answer += part
        return answer


def test_a_trusted_proxy_passes_on_the_address_of_its_client(server):
    live = server(vhost="security { enabled on; deny play 203.0.113.7; allow play all; } http_remux { enabled on; mount [vhost]/[app]/[stream].flv; }",
                  root="limits { trusted 127.0.0.9; proxy_protocol on; }")
    text = b"PROXY TCP4 203.0.113.7 192.0.2.1 51544 80\r\n"
    binary = b"\r\n\r\n\0\r\nQUIT\n\x21\x11" + struct.pack(">H", 12) + bytes([203, 0, 113, 7, 192, 0, 2, 1]) + struct.pack(">HH", 51544, 80)
    for header in (text, binary):
        assert proxied(live, header).startswith(b"HTTP/1.1 403"), "the rules see the client"
    live.wait_log("203.0.113.7")
    assert proxied(live, b"") == b"", "a proxy without a header is not served"
    live.wait_log("refused the proxy 127.0.0.9")
    assert proxied(live, text, "127.0.0.8").startswith(b"HTTP/1.1 400"), "a stranger's header is no header"


def test_wrong_passwords_disturb_nobody(server, clip, tmp_path):
    """As many as 4 threads can send, from one address and from others: the stream of a player loses nothing, memory stays."""
    site = LiveServer(tmp_path / "hash", "listen 1935;")
    live = server(vhost=ACCESS, root="srt_server { enabled off; } limits { connections_per_ip 100000; new_connections_per_ip 100000; }" +
                  user("alice", run(site, "hash", given="alice pass\n"), "publish", "play"))
    sender = start_ffmpeg(clip, live.url("cam?user=alice&pass=alice%20pass"))
    try:
        wait_until(lambda: is_published(live, "cam"), 20, "the stream is live")
        player = subprocess.Popen(["ffmpeg", "-nostdin", "-loglevel", "warning", "-i", live.url("cam?user=alice&pass=alice%20pass"), "-t", "8", "-c", "copy",
                                   "-f", "framemd5", str(tmp_path / "frames.txt")], stdin=subprocess.DEVNULL, stderr=subprocess.PIPE, text=True)
        memory, sent = live.resident_kib(), []

        def flood(index: int) -> None:
            connection = http.client.HTTPConnection("127.0.0.1", live.ports["http"], timeout=20, source_address=(f"127.0.1.{index}", 0))
            count = 0
            while player.poll() is None:
                connection.request("GET", "/live/cam.flv", headers={"Authorization": basic("alice", f"wrong {count}")})
                answer = connection.getresponse()
                answer.read()
                assert answer.status in (401, 503), answer.status
                count += 1
            sent.append(count)

        threads = [threading.Thread(target=flood, args=(index,)) for index in range(1, 5)]
        start = time.monotonic()
        for thread in threads:
            thread.start()
        said = player.communicate(timeout=60)[1]
        for thread in threads:
            thread.join()
        print(f"{sum(sent) / (time.monotonic() - start):.0f} wrong passwords a second")
        assert sum(sent) > 50
        frames = [line for line in (tmp_path / "frames.txt").read_text().splitlines() if not line.startswith("#")]
        times = [int(line.split(",")[1]) for line in frames if line.split(",")[0].strip() == "0"]
        gaps = [after - before for before, after in zip(times, times[1:])]
        assert gaps and max(gaps) <= 2 * min(gap for gap in gaps if gap > 0), (max(gaps), said)
        assert live.resident_kib() < memory + 120_000, "two hashes of 19 MiB, and little else"
        metrics = live.api("/api/v1/summaries")
        assert metrics["code"] == 0
        assert not re.search(r"wrong \d+", live.log()), "no password is in the log"
    finally:
        sender.kill()
        sender.wait()
