"""A callback server for tests: records each request, and answers each path as configured by the test: at once, late, or with a refusal."""

import json
import ssl
import threading
import time
from collections.abc import Callable
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer

from live_server import wait_until


@dataclass
class Event:
    at: float
    method: str
    path: str  # with its query
    version: str
    headers: dict
    body: dict

    @property
    def action(self) -> str:
        return self.body.get("action", "")


@dataclass
class Answer:
    body: str = "0"
    status: int = 200
    after_s: float = 0


class _Listener(ThreadingHTTPServer):
    daemon_threads = True
    request_queue_size = 128  # Of five, the sixth connection at once is tried again a second later.

    def handle_error(self, *_):
        """A client that has gone is no news here."""


@dataclass
class HookServer:
    """Use as a context. `answers` maps a path, or an action, to an Answer; everything else is answered with 0, or as `judge` decides from the event."""

    certificate: tuple | None = None  # (key, cert) for HTTPS
    answers: dict = field(default_factory=dict)
    events: list = field(default_factory=list)
    judge: Callable[["Event"], "Answer"] | None = None

    def __post_init__(self):
        outer = self
        self.stopping = threading.Event()

        class Handler(BaseHTTPRequestHandler):
            protocol_version = "HTTP/1.1"

            def do_POST(self):  # pylint: disable=invalid-name
                raw = self.rfile.read(int(self.headers.get("Content-Length") or 0))
                body = json.loads(raw) if raw else {}
                outer.events.append(Event(time.monotonic(), self.command, self.path, self.request_version, dict(self.headers), body))
                answer = outer.answers.get(self.path) or outer.answers.get(body.get("action")) or (
                    outer.judge(outer.events[-1]) if outer.judge else Answer())
                if answer.after_s and outer.stopping.wait(answer.after_s):
                    return
                text = answer.body.encode()
                self.send_response(answer.status)
                self.send_header("Content-Length", str(len(text)))
                self.end_headers()
                self.wfile.write(text)

            do_GET = do_PUT = do_POST

            def log_message(self, *_):
                pass

        self.http = _Listener(("127.0.0.1", 0), Handler)
        if self.certificate:
            key, cert = self.certificate
            context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
            context.load_cert_chain(cert, key)
            self.http.socket = context.wrap_socket(self.http.socket, server_side=True)

    def __enter__(self):
        threading.Thread(target=self.http.serve_forever, kwargs={"poll_interval": 0.05}, daemon=True).start()
        return self

    def __exit__(self, *_):
        self.stopping.set()
        self.http.shutdown()
        self.http.server_close()

    @property
    def port(self) -> int:
        return self.http.server_address[1]

    def url(self, path: str, host: str = "127.0.0.1") -> str:
        return f"{'https' if self.certificate else 'http'}://{host}:{self.port}{path}"

    def conf(self) -> str:
        """http_hooks with every callback that exists, each at a path of its own name."""
        names = ("on_connect", "on_close", "on_publish", "on_unpublish", "on_play", "on_stop")
        return "http_hooks { enabled on; " + " ".join(f"{name} {self.url('/' + name)};" for name in names) + " }\n"

    def of(self, client_id: str) -> list:
        return [e for e in self.events if e.body.get("client_id") == client_id]

    def actions(self, client_id: str | None = None) -> list[str]:
        return [e.action for e in self.events if client_id is None or e.body.get("client_id") == client_id]

    def first(self, action: str) -> Event:
        return next(e for e in self.events if e.action == action)

    def wait_for(self, action: str, count: int = 1, limit_s: float = 10) -> Event:
        """Until this action has come so often; gives the last of them."""
        wait_until(lambda: self.actions().count(action) >= count, limit_s, f"{count} {action}; got {self.actions()}")
        return [e for e in self.events if e.action == action][count - 1]
