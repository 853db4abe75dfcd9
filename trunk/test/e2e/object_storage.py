"""Object storage for tests: moto or seaweedfs, and in front of it a proxy that checks every signature by botocore, refuses requests as S3 does, and
cuts connections at random places."""

import json
import os
import random
import re
import signal
import ssl
import subprocess
import threading
import time
from collections import Counter
from http.client import HTTPConnection
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path

from cached_venv import python_with
from live_server import can_connect, free_port, wait_until

HERE = Path(__file__).resolve().parent
KEY, SECRET, BUCKET = "AKIDTEST", "secret/of+the=test", "recordings"
KEYS = f"access_key_id {KEY}; secret_access_key {SECRET};"
# Recomputes the signature of each request by botocore: a line of JSON in, "same" or what it should have been out.
VERIFY = """
import json, sys
from botocore.auth import S3SigV4Auth
from botocore.awsrequest import AWSRequest
from botocore.credentials import Credentials
class Auth(S3SigV4Auth):
    def payload(self, request):
        return request.headers["x-amz-content-sha256"]
for line in sys.stdin:
    asked = json.loads(line)
    request = AWSRequest(asked["method"], "http://" + asked["host"] + asked["target"], headers=asked["headers"])
    request.context["timestamp"] = asked["headers"]["x-amz-date"]
    auth = Auth(Credentials(sys.argv[1], sys.argv[2]), "s3", sys.argv[3])
    signature = auth.signature(auth.string_to_sign(request, auth.canonical_request(request)), request)
    print("same" if signature == asked["signature"] else auth.canonical_request(request).replace(chr(10), "|"), flush=True)
"""


def python() -> Path:
    return python_with("object-storage", HERE / "s3_servers/requirements.txt", "moto and seaweedfs")


class Storage:
    """One of the two servers. Objects are read without the proxy."""

    def __init__(self, folder: Path, kind: str = "moto"):
        self.folder, self.kind, self.port = folder, kind, free_port()
        self.folder.mkdir(parents=True, exist_ok=True)
        self.process = None
        self.start()

    def start(self) -> None:
        if self.kind == "moto":
            command = [python(), HERE / "s3_servers/serve_moto.py", self.port, KEY, SECRET]
        else:
            identity = {"identities": [{"name": "test", "credentials": [{"accessKey": KEY, "secretKey": SECRET}], "actions": ["Admin", "Read", "List", "Tagging", "Write"]}]}
            (self.folder / "s3.json").write_text(json.dumps(identity))
            ports = [free_port() for _ in range(3)]
            command = [python().parent / "weed", "server", "-ip=127.0.0.1", "-ip.bind=127.0.0.1", f"-dir={self.folder}", "-s3", f"-s3.port={self.port}",
                       f"-s3.config={self.folder}/s3.json", f"-master.port={ports[0]}", f"-volume.port={ports[1]}", f"-filer.port={ports[2]}",
                       f"-master.port.grpc={free_port()}", f"-volume.port.grpc={free_port()}", f"-filer.port.grpc={free_port()}", f"-s3.port.grpc={free_port()}",
                       "-volume.max=20", "-master.volumeSizeLimitMB=64", "-master.volumePreallocate=false"]
        with open(self.folder / "log.txt", "ab") as log:
            self.process = subprocess.Popen([str(word) for word in command], stdout=log, stderr=subprocess.STDOUT, cwd=self.folder,
                                            env={**os.environ, "AWS_ACCESS_KEY_ID": KEY, "AWS_SECRET_ACCESS_KEY": SECRET})
        wait_until(lambda: can_connect(self.port), 60, lambda: (self.folder / "log.txt").read_text()[-500:])
        wait_until(lambda: self.ask("create_bucket") or self.ask("head_bucket"), 60, lambda: (self.folder / "log.txt").read_text()[-500:], 0.5)

    def kill(self) -> None:
        self.process.send_signal(signal.SIGKILL)
        self.process.wait()

    def ask(self, call: str, **arguments):
        """A call of botocore's client; None when it fails."""
        script = ("import json, sys, hashlib\nimport botocore.session\n"
                  "client = botocore.session.get_session().create_client('s3', region_name='us-east-1', endpoint_url=sys.argv[1], aws_access_key_id=sys.argv[2], aws_secret_access_key=sys.argv[3])\n"
                  "answer = getattr(client, sys.argv[4])(Bucket=sys.argv[5], **json.loads(sys.argv[6]))\n"
                  "body = answer.pop('Body', None)\n"
                  "answer['md5'] = hashlib.md5(body.read()).hexdigest() if body else ''\n"
                  "print(json.dumps(answer, default=str))\n")
        done = subprocess.run([str(word) for word in (python(), "-c", script, f"http://127.0.0.1:{self.port}", KEY, SECRET, call, BUCKET, json.dumps(arguments))],
                              capture_output=True, text=True, timeout=60, check=False)
        return json.loads(done.stdout) if done.returncode == 0 else None

    def objects(self) -> dict[str, int]:
        """The sizes by key."""
        return {one["Key"]: one["Size"] for one in (self.ask("list_objects_v2") or {}).get("Contents", [])}

    def md5_of(self, key: str) -> str:
        return self.ask("get_object", Key=key)["md5"]

    def open_uploads(self) -> list:
        return (self.ask("list_multipart_uploads") or {}).get("Uploads", [])

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.kill()


class Gate:
    """In front of a storage. `rule` maps (method, target) to None, or what happens instead: ("refuse", status, code), ("cut", bytes of the request's
    body), ("deaf", ): done, but without an answer. With a `certificate`, a key file and a certificate file, it takes TLS only."""

    def __init__(self, storage: Storage, rule=None, clock_s: int = 0, certificate: tuple | None = None):
        self.rule, self.clock_s, self.storage = rule, clock_s, storage
        self.requests: list = []
        self.wrong: list = []
        self.done: Counter = Counter()
        self.lock = threading.Lock()
        self.verifier = subprocess.Popen([str(python()), "-c", VERIFY, KEY, SECRET, "us-east-1"], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True)
        outer = self

        class Handler(BaseHTTPRequestHandler):
            protocol_version = "HTTP/1.1"

            def handle_expect_100(self):
                return True  # it is for do() to say

            def do(self):  # pylint: disable=invalid-name
                self.close_connection = True
                outer.requests.append((self.command, self.path))
                happens = outer.refusal_of(self) or (outer.rule and outer.rule(self.command, self.path))
                if happens and happens[0] == "refuse":
                    return self.refuse(*happens[1:])
                if "Expect" in self.headers:
                    self.send_response_only(100)
                    self.end_headers()
                size = int(self.headers.get("Content-Length") or 0)
                if happens and happens[0] == "cut":
                    self.rfile.read(min(size, happens[1]))
                    return None
                body = self.rfile.read(size)
                if len(body) < size:
                    return None
                answer, text = outer.pass_on(self, body)
                outer.done[(self.command, self.path)] += answer.status < 300
                if happens and happens[0] == "deaf":
                    return None
                self.send_response(answer.status)
                for name, value in answer.getheaders():
                    if name.lower() not in ("connection", "transfer-encoding", "content-length", "date", "server"):
                        self.send_header(name, value)
                length = answer.getheader("Content-Length") if self.command == "HEAD" else str(len(text))
                if length is not None:
                    self.send_header("Content-Length", length)
                self.end_headers()
                if self.command != "HEAD":
                    self.wfile.write(text)
                return None

            do_GET = do_PUT = do_POST = do_HEAD = do_DELETE = do

            def date_time_string(self, timestamp=None):
                return super().date_time_string((timestamp or time.time()) + outer.clock_s)

            def refuse(self, status: int, code: str) -> None:
                text = f"<?xml version='1.0'?><Error><Code>{code}</Code><Message>of the test</Message></Error>".encode()
                self.send_response(status)
                self.send_header("Content-Length", str(len(text)))
                self.end_headers()
                if self.command != "HEAD":
                    self.wfile.write(text)

            def log_message(self, *_):
                pass

        class Listener(ThreadingHTTPServer):
            daemon_threads = True
            request_queue_size = 64

            def handle_error(self, *_):
                """Cut connections are no news here."""

        self.http = Listener(("127.0.0.1", 0), Handler)
        self.port = self.http.server_address[1]
        if certificate:
            context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
            context.load_cert_chain(certificate[1], certificate[0])
            self.http.socket = context.wrap_socket(self.http.socket, server_side=True, do_handshake_on_connect=False)
        threading.Thread(target=self.http.serve_forever, daemon=True).start()

    def pass_on(self, handler, body: bytes):
        headers = {name: value for name, value in handler.headers.items() if name.lower() not in ("expect", "connection")}
        connection = HTTPConnection("127.0.0.1", self.storage.port, timeout=60)
        connection.request(handler.command, handler.path, body, headers)
        answer = connection.getresponse()
        return answer, answer.read()

    def refusal_of(self, handler):
        """As S3 refuses a wrong key, a wrong time and a wrong signature."""
        found = re.fullmatch(r"AWS4-HMAC-SHA256 Credential=([^/]+)/\d{8}/([^/]+)/s3/aws4_request,SignedHeaders=([^,]+),Signature=([0-9a-f]{64})",
                             handler.headers.get("Authorization", ""))
        if not found or found[1] != KEY:
            return ("refuse", 403, "InvalidAccessKeyId")
        asked_at = time.mktime(time.strptime(handler.headers["x-amz-date"], "%Y%m%dT%H%M%SZ")) - time.timezone
        if abs(asked_at - (time.time() + self.clock_s)) > 900:
            return ("refuse", 403, "RequestTimeTooSkewed")
        fields = {name: handler.headers[name] for name in found[3].split(";") if name != "host"}
        line = json.dumps({"method": handler.command, "host": handler.headers["Host"], "target": handler.path, "headers": fields, "signature": found[4]})
        with self.lock:
            self.verifier.stdin.write(line + "\n")
            self.verifier.stdin.flush()
            verdict = self.verifier.stdout.readline().strip()
        if verdict == "same":
            return None
        self.wrong.append((handler.command, handler.path, verdict))
        return ("refuse", 403, "SignatureDoesNotMatch")

    def writes(self) -> Counter:
        """How often an object was completed or put, by key."""
        written: Counter = Counter()
        for (method, target), count in self.done.items():
            key, _, query = target.partition("?")
            if (method == "PUT" and "partNumber" not in query) or (method == "POST" and query.startswith("uploadId=")):
                written[key] += count
        return written

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.http.shutdown()
        self.verifier.kill()
        self.verifier.wait()


def chaos(seed: int, refused: float = 0.1, cut: float = 0.1, deaf: float = 0.05):
    """Happens to so many of the requests."""
    chance = random.Random(seed)

    def rule(_method, _target):
        drawn = chance.random()
        if drawn < refused:
            return ("refuse", 503, "SlowDown")
        if drawn < refused + cut:
            return ("cut", chance.randrange(200_000))
        return ("deaf",) if drawn < refused + cut + deaf else None
    return rule
