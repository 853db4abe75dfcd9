"""Servers that answer as the HTTP API and /streams.json do, with the content of a test."""

import contextlib
import json
import re
import threading
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer

from live_server import free_port

HOSTILE = "<img src=x onerror=alert(1)>"


class JsonServer(BaseHTTPRequestHandler):
    """Answers GET with the result of told(), to pages of every origin."""

    def told(self, name: str) -> dict:
        raise NotImplementedError

    def do_GET(self):  # pylint: disable=invalid-name
        name = self.path.split("?")[0].strip("/").rsplit("/", 1)[-1]
        body = json.dumps({"code": 0, **self.told(name)}).encode()
        self.send_response(200)
        self.send_header("Content-Type", "application/json")
        self.send_header("Access-Control-Allow-Origin", "*")
        self.end_headers()
        self.wfile.write(body)

    def log_message(self, *_):
        pass


@contextlib.contextmanager
def serving(handler):
    with ThreadingHTTPServer(("127.0.0.1", free_port()), handler) as server:
        threading.Thread(target=server.serve_forever, daemon=True).start()
        try:
            yield server.server_port
        finally:
            server.shutdown()


class HostileApi(JsonServer):
    """An API, and a list of streams, whose every text wants to be HTML. The server itself refuses such names; a page must not rely on
    that."""

    formats = [{"format": "rtmp", "url": f"rtmp://h/{HOSTILE}"}, {"format": "flv", "url": f"http://h/{HOSTILE}.flv"},
               {"format": "hls", "url": "javascript:alert(1)"}, {"format": HOSTILE, "url": HOSTILE}, {"format": "whep", "url": HOSTILE}]
    stream = {"id": HOSTILE, "name": HOSTILE, "vhost": HOSTILE, "app": HOSTILE, "tcUrl": HOSTILE, "url": HOSTILE, "clients": 2, "fps": 25,
              "kbps": {"recv_30s": 1, "send_30s": 1}, "publish": {"active": True, "cid": HOSTILE}, "formats": formats,
              "viewers": [{"type": HOSTILE, "count": 3}], "health": [{"level": HOSTILE, "code": HOSTILE, "text": HOSTILE}],
              "role": "edge", "origin": {"url": HOSTILE, "state": HOSTILE, "last_error": HOSTILE, "rtt_ms": HOSTILE},
              "video": {"codec": HOSTILE, "profile": HOSTILE, "width": 1, "height": 1}, "audio": {"codec": HOSTILE, "profile": HOSTILE},
              "track_list": [{"kind": HOSTILE, "id": number, "language": HOSTILE, "name": HOSTILE, "audio": {"codec": HOSTILE}} for number in (0, 1)]}
    client = {"id": HOSTILE, "type": HOSTILE, "ip": HOSTILE, "url": HOSTILE, "pageUrl": "javascript:alert(1)", "tcUrl": HOSTILE, "kbps": {}}
    system = {"conn_srs": 1, "mem_ram_kbyte": 1, "cpus_online": HOSTILE, "srs_sample_time": 1}
    answers = {"streams": [stream], "clients": [client], "vhosts": [{"id": HOSTILE, "name": HOSTILE, "hls": {"enabled": True}}],
               "summaries": {"ok": True, "now_ms": 1, "self": {"version": HOSTILE, "argv": HOSTILE, "pid": HOSTILE}, "system": system}}
    point = {"time": 1, "recv_kbps": HOSTILE, "viewers": [{"type": HOSTILE, "count": 1}]}
    history = {"interval": 10, "points": [point], "id": HOSTILE, "publisher": HOSTILE, "viewers": [{"type": HOSTILE, "count": 1}],
               "events": [{"time": 1, "event": HOSTILE, "client": HOSTILE, "text": HOSTILE}]}
    warnings = {"warnings": [{"time": 1, "level": HOSTILE, "text": HOSTILE, "times": 2}]}
    memory = {"kinds": {HOSTILE: {"objects": 1, "bytes": 1}}}
    clusters = {"cluster": {"nodes": [{"id": HOSTILE, "host": HOSTILE, "state": HOSTILE}]}}
    site = {"streams": [stream], "version": HOSTILE, "publish": [{"format": "rtmp", "url": f"rtmp://h/live/{HOSTILE}"}], "next": HOSTILE, "api": {"url": None}}

    def told(self, name: str) -> dict:
        data = {"summaries": self.answers["summaries"], "history": self.history, "memory": self.memory, "clusters": self.clusters}
        if re.match("/api/v1/streams/[^?]", self.path):
            return {"server": HOSTILE, "stream": self.stream}
        if self.path == "/api/v1/warnings":
            data["warnings"] = self.warnings
        body = self.site if name == "streams.json" else {"data": data[name]} if name in data else {name: self.answers.get(name)}
        return {"server": HOSTILE, "service": HOSTILE, **body}
