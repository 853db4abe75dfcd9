#!/usr/bin/env python3
"""A sample callback server: receives the HTTP requests of the media server, prints them, and accepts them.

Start it, then the media server with conf/http.hooks.callback.conf (or http.heartbeat.conf, forward.backend.conf):

    python3 research/api-server/server.py
    ./objs/srs -c conf/http.hooks.callback.conf

It needs Python 3.9 and no packages. It is a starting point for your own service; README.md lists the resources.
"""

import argparse
import json
import ssl
import sys
import threading
import time
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer

BODY_BYTES_MAX = 1 << 20
KEPT_MAX = 1000  # entries of each list

# The actions that a resource receives, and whether they begin or end an entry of its list.
RESOURCES = {
    "/api/v1/clients": {"on_connect": "begin", "on_close": "end"},
    "/api/v1/streams": {"on_publish": "begin", "on_unpublish": "end"},
    "/api/v1/sessions": {"on_play": "begin", "on_stop": "end"},
    "/api/v1/dvrs": {"on_dvr": "note"},
    "/api/v1/hls": {"on_hls": "note"},
    "/api/v1/snapshots": {"on_publish": "begin", "on_unpublish": "end"},
    "/api/v1/proxy": {},
    "/api/v1/servers": {},
    "/api/v1/forward": {"on_forward": "note"},
}
OK = {"code": 0, "data": None}


class Refused(Exception):
    """A refusal: the status and the JSON object of the response."""

    def __init__(self, status: int, code: int, message: str):
        super().__init__(message)
        self.status, self.answer = status, {"code": code, "msg": message}


class Service:
    """The received events, and the responses to them."""

    def __init__(self, deny: dict, forward: list):
        self.deny, self.forward = deny, forward
        self.lists = {path: {} for path in RESOURCES}
        self.lock = threading.Lock()  # every connection has a thread

    def listed(self, path: str) -> list:
        with self.lock:
            return list(self.lists[path].values())

    def told(self, path: str, event: dict) -> dict:
        """Handles one POST and returns the response."""
        with self.lock:
            return self._told(path, event)

    def _told(self, path: str, event: dict) -> dict:
        if path == "/api/v1/servers":  # a heartbeat
            self.keep(path, event.get("device_id") or event.get("ip", ""), event)
            return OK
        action = event.get("action", "")
        what = RESOURCES[path].get(action)
        if RESOURCES[path] and what is None:
            raise Refused(400, 1, f"{path} is not told about {action!r}")
        if action in self.deny:
            raise Refused(200, 403, self.deny[action])
        if what == "end":
            self.lists[path].pop(event.get("client_id"), None)
        else:
            self.keep(path, event.get("client_id", ""), event)
        if action == "on_forward":
            return {"code": 0, "data": {"urls": [self.fill_in(url, event) for url in self.forward]}}
        return OK

    def keep(self, path: str, key: str, event: dict) -> None:
        entries = self.lists[path]
        entries.pop(key, None)
        entries[key] = {**event, "received_at": round(time.time(), 3)}
        while len(entries) > KEPT_MAX:
            entries.pop(next(iter(entries)))

    @staticmethod
    def fill_in(url: str, event: dict) -> str:
        return url.replace("[app]", event.get("app", "")).replace("[stream]", event.get("stream", ""))


class Handler(BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"
    service: Service

    def do_POST(self):  # pylint: disable=invalid-name
        path = self.path.split("?")[0].rstrip("/")
        try:
            event = self.read_event()
            print(time.strftime("%H:%M:%S"), self.path, json.dumps(event, ensure_ascii=False), flush=True)
            if path not in RESOURCES:
                raise Refused(404, 404, "there is no such resource")
            self.answer(200, self.service.told(path, event))
        except Refused as no:
            self.answer(no.status, no.answer)

    def do_GET(self):  # pylint: disable=invalid-name
        path = self.path.split("?")[0].rstrip("/")
        if path.startswith("/api/v1/hls/"):  # on_hls_notify: a new fragment, named in the path
            print(time.strftime("%H:%M:%S"), "GET", self.path, flush=True)
            self.answer(200, OK)
        elif path in RESOURCES:
            self.answer(200, {"code": 0, "data": self.service.listed(path)})
        elif path in ("", "/api", "/api/v1"):
            self.answer(200, {"code": 0, "data": {"urls": sorted(RESOURCES)}})
        else:
            self.answer(404, {"code": 404, "msg": "there is no such resource"})

    def read_event(self) -> dict:
        length = self.headers.get("Content-Length", "")
        if not length.isdigit() or int(length) > BODY_BYTES_MAX:
            self.close_connection = True
            raise Refused(413, 1, "a body needs a length, and not too much of it")
        try:
            event = json.loads(self.rfile.read(int(length)))
        except ValueError as error:
            raise Refused(400, 1, f"the body is not JSON: {error}") from None
        if not isinstance(event, dict):
            raise Refused(400, 1, "the body is not an object")
        return event

    def answer(self, status: int, value: dict) -> None:
        body = json.dumps(value).encode()
        self.send_response(status)
        self.send_header("Content-Type", "application/json")
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)

    def log_message(self, *_):  # events are printed already
        pass


def parse_arguments() -> argparse.Namespace:
    parser = argparse.ArgumentParser(description="A sample callback server; see README.md beside it.")
    parser.add_argument("port", nargs="?", type=int, default=8085)
    parser.add_argument("--host", default="127.0.0.1", help="address to listen on")
    parser.add_argument("--deny", action="append", default=[], metavar="ACTION[=WHY]", help="refuse this action, such as on_play=closed")
    parser.add_argument("--forward", action="append", default=[], metavar="URL",
                        help="answer of on_forward, such as rtmp://127.0.0.1:19350/[app]/[stream]; may be given several times")
    parser.add_argument("--tls", nargs=2, metavar=("CERT", "KEY"), help="HTTPS with these PEM files")
    return parser.parse_args()


def main() -> int:
    arguments = parse_arguments()
    deny = {action: why or "not permitted" for action, _, why in (text.partition("=") for text in arguments.deny)}
    Handler.service = Service(deny, arguments.forward)
    server = ThreadingHTTPServer((arguments.host, arguments.port), Handler)
    server.daemon_threads = True
    schema = "http"
    if arguments.tls:
        context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
        context.load_cert_chain(*arguments.tls)
        server.socket = context.wrap_socket(server.socket, server_side=True)
        schema = "https"
    print(f"listening for callbacks at {schema}://{arguments.host}:{server.server_port}/api/v1", flush=True)
    try:
        server.serve_forever()
    except KeyboardInterrupt:
        pass
    return 0


if __name__ == "__main__":
    sys.exit(main())
