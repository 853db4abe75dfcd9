"""A server of a key set, and HEAD of a live stream, which asks for admission only."""

import base64
import contextlib
import http.client
import json
import subprocess
import threading
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer

from live_server import LiveServer


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


def head(live: LiveServer, path: str) -> int:
    """A live stream need not exist for the answer to HEAD."""
    connection = http.client.HTTPConnection("127.0.0.1", live.ports["http"], timeout=30)
    try:
        connection.request("HEAD", path)
        return connection.getresponse().status
    finally:
        connection.close()
