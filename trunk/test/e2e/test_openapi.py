"""The API's description, /api/v1/openapi.json, against the answers of servers: every endpoint, every declared status, every member; and the page
that shows it."""

import os
import secrets
import socket
import subprocess
import urllib.request
from pathlib import Path
from urllib.parse import parse_qs

import pytest

import live_server
from api_description import Answer, Description, Operation, ask
from cached_venv import python_with
from live_server import OnePort, conf, wait_until
from page_site import AUDIT, fixture_site  # noqa: F401
from rtc_offer import offer
from rtmp_client import Player, Publisher

HERE = Path(__file__).resolve().parent
ROOT = ("exporter { enabled on; listen 127.0.0.1:$api; }\nrtc_server { enabled on; listen 127.0.0.1:$udp; }\n"
        "srt_server { enabled on; listen 127.0.0.1:$srt; }\n"
        "stream_caster { enabled on; caster gb28181; listen 127.0.0.1:$gb; output rtmp://127.0.0.1/live/[stream]; "
        "zlm_api { enabled on; secret s3cret; } }\n")
VHOST = ("http_remux { enabled on; mount [vhost]/[app]/[stream].flv; }\nrtc { enabled on; rtmp_to_rtc on; }\nsrt { enabled on; }\n"
         "dvr { enabled on; dvr_path $folder/rec/[stream].mp4; }\nforward { enabled on; destination 127.0.0.1:9; }\n"
         "ingest dead { enabled on; input { type stream; url rtsp://127.0.0.1:9/x; } engine { enabled off; output rtmp://127.0.0.1:[port]/live/dead; } }\n")
RAW_API = "raw_api { enabled on; allow_reload on; }"
SDP = {"Content-Type": "application/sdp"}
STRANGER = {"Origin": "http://example.com"}
# Statuses that this test does not cause, with the test that does, or the reason.
EXCUSED = {
    "POST /api/v1/upgrade": {200: "test_upgrade", 409: "test_upgrade", 500: "test_upgrade"},
    "POST /api/v1/drain": {200: "ends the server; test_stop"},
    "GET /api/v1/snapshot/{app}/{stream}.jpg": {200: "test_snapshot", 415: "test_snapshot", 500: "snapshot_handler_test", 503: "snapshot_handler_test",
                                                403: "snapshot_handler_test"},
    "GET /api/v1/thumbnail/{app}/{stream}.jpg": {200: "thumbnail_handler_test", 415: "snapshot_handler_test", 500: "snapshot_handler_test",
                                                 503: "snapshot_handler_test"},
    "GET /readyz": {503: "test_stop"},
    "GET /api/v1/doctor/{protocol}": {503: "the server stops"},
    "GET /api/v1/profile": {409: "profile_handler_test", 503: "the server stops"},
    "GET /metrics": {404: "metrics_handlers_test"},
    "GET /metrics/streams": {404: "metrics_handlers_test"},
    "GET /streams.json": {404: "stream_list_handler_test"},
    "GET /api/v1/recordings/files": {200: "test_recordings"},
    "DELETE /api/v1/recordings/files": {200: "test_recordings", 503: "the server stops"},
    "POST /api/v1/streams/{id}/clip": {200: "test_clips", 503: "too many at once"},
    **{f"{call} /api/v1/recordings/pin": {503: "the server stops"} for call in ("PUT", "DELETE")},
}
OF_OTHER_SERVERS = {302: "test_edge_redirects", 307: "test_edge_redirects", 409: "test_rtc_offers", 503: "test_rtc_offers", 403: "test_rtc_offers",
                    404: "test_rtc_offers"}


def one_server(server, api: str = RAW_API):
    """All endpoints on one port."""
    ports = OnePort()
    return server(conf=conf(VHOST, ROOT).replace("http_api { enabled on;", f"http_api {{ enabled on; {api}"), ports=ports)


def raw_answer(port: int, request: bytes) -> Answer:
    with socket.create_connection(("127.0.0.1", port), 10) as client:
        client.sendall(request)
        client.shutdown(socket.SHUT_WR)  # Else the server reads on for a moment before it closes.
        client.settimeout(10)
        data = b""
        while block := client.recv(65536):
            data += block
    head, _, body = data.partition(b"\r\n\r\n")
    first, *lines = head.decode().split("\r\n")
    headers = dict(line.split(": ", 1) for line in lines)
    return Answer(int(first.split()[1]), {name.lower(): value for name, value in headers.items()}, body)


def refused_requests(operation: Operation) -> dict[int, bytes]:
    """A request for each refusal that is declared for all endpoints."""
    start = f"{operation.method.upper()} {operation.target()}".encode()
    tail = b" HTTP/1.1\r\nHost: 127.0.0.1\r\nConnection: close\r\n"
    return {400: start + b" HTTP/1.1\r\nConnection: close\r\n\r\n",
            413: start + tail + b"Content-Length: 99999999\r\n\r\n",
            414: start + b"?" + b"a" * 70_000 + tail + b"\r\n",
            431: start + tail + b"A: " + b"b" * 70_000 + b"\r\n\r\n"}


# The session of PATCH lasts only so long, and DELETE ends a player.
ORDER = ("patch", "post", "put", "get", "delete")


def place_of(operation: Operation) -> float:
    """A session of a GB28181 device lasts ten seconds without it."""
    return 1.5 if operation.name == "DELETE /gb/v1/publish/" else ORDER.index(operation.method)


class Stage:
    """A server with clients, and requests for it: by operation, (status, names of the path, query, headers, body) of each."""

    def __init__(self, live):
        self.live, self.port = live, live.ports["api"]
        self.description = Description(self.port)
        # Pages have this address where they share the port.
        self.operations = [one for one in self.description.operations if one.path != "/"]

    def requests(self) -> dict[str, list[tuple]]:
        clients = self.live.api("/api/v1/clients/?count=100")["clients"]
        player = next(one for one in clients if not one["publish"])
        stream, vhost = clients[0]["stream"], clients[0]["vhost"]
        body = ('{"sdp": %s, "streamurl": "webrtc://127.0.0.1/live/new"}' % repr(offer()).replace("'", '"')).encode()
        known = {
            "GET /api/v1/vhosts/{id}": [(200, {"id": vhost})],
            "GET /api/v1/streams/{id}": [(200, {"id": stream})],
            "POST /api/v1/streams/{id}/clip": [(404, {"id": stream}, {}, {}, b'{"before": 1}'), (400, {"id": stream}, {}, {}, b"x"),
                                               (404, {"id": "vid-none"}, {}, {}, b'{"before": 1}'), (403, {"id": stream}, {}, STRANGER)],
            "POST /api/v1/streams/{id}/events": [(200, {"id": stream}, {}, {}, b'{"cue": "in"}'), (400, {"id": stream}, {}, {}, b"x"),
                                                 (404, {"id": "vid-none"}, {}, {}, b'{"cue": "in"}'), (403, {"id": stream}, {}, STRANGER)],
            "POST /api/v1/streams/{id}/subtitles": [(200, {"id": stream}, {"language": "en", "delay": "1"}, {}, b"WEBVTT\n"), (400, {"id": stream}, {}, {}, b"x"),
                                                    (404, {"id": "vid-none"}, {}, {}, b"WEBVTT\n"), (403, {"id": stream}, {}, STRANGER)],
            "GET /api/v1/clients/{id}": [(200, {"id": player["id"]})],
            "DELETE /api/v1/clients/{id}": [(200, {"id": player["id"]}), (404,), (403, {}, {}, STRANGER)],
            "GET /api/v1/clients/": [(200, {}, {"stream": stream, "count": "1"})],
            "GET /api/v1/history": [(200, {}, {"stream": "/live/cam"}), (404, {}, {"stream": "/live/none"}), (400, {}, {"since": "x"}),
                                    (200, {}, {"since": "1"})],
            "GET /streams.json": [(200, {}, {"stream": "/live/cam"})],
            "GET /api/v1/raw": [(200, {}, {"rpc": "raw"}), (200, {}, {"rpc": "reload-fetch"}), (400, {}, {"rpc": "x"}), (403, {}, {"rpc": "query"}),
                                (403, {}, {"rpc": "reload"}, STRANGER)],
            "GET /api/v1/clusters": [(200, {}, {"vhost": "__defaultVhost__", "app": "live", "stream": "cam"}), (200, {}, {"app": "a", "stream": "b"})],
            "POST /api/v1/drain": [(403, {}, {}, STRANGER)],
            "POST /api/v1/upgrade": [(403, {}, {}, STRANGER)],
            "GET /api/v1/upgrade": [(200, {}, {"own": "1"})],
            "GET /api/v1/snapshot/{app}/{stream}.jpg": [(404,)],
            "GET /api/v1/memory": [(400, {}, {"since": "x"}), (200, {}, {"mark": "1"}), (200, {}, {"since": "mark"}),
                                   (403, {}, {"mark": "1"}, STRANGER)],
            "GET /api/v1/profile": [(200, {}, {"seconds": "1", "format": "folded"}), (400, {}, {"format": "x"}), (403, {}, {}, STRANGER)],
            "GET /api/v1/valgrind": [(403, {}, {}, STRANGER)],
            "GET /api/v1/fault": [(400,), (403, {}, {}, STRANGER)],
            "GET /api/v1/tcmalloc": [(200, {}, {"page": "summary"})],
            "GET /api/v1/doctor/{protocol}": [(200, {"protocol": "rtc"}), (200, {"protocol": "srt"}), (404,)],
            "GET /api/v1/fibers": [(200, {}, {"count": "100"}), (400, {}, {"count": "0"})],
            "GET /api/v1/recordings/files": [(404, {}, {"stream": "/live/none"}), (400,), (400, {}, {"stream": "/live/cam", "begin": "x"})],
            # DELETE of files answers 404 to the first.
            **{call: [(200, {}, {"stream": "/live/none", "begin": "2026-01-01T00:00:00Z", "end": "2026-01-01T01:00:00Z"}), (400,),
                           (403, {}, {}, STRANGER)]
               for call in ("DELETE /api/v1/recordings/files", "PUT /api/v1/recordings/pin", "DELETE /api/v1/recordings/pin")},
            "POST /rtc/v1/play/": [(200, {}, {}, {}, b"{}"), (200, {}, {}, {}, b"x")],
            "POST /rtc/v1/publish/": [(200, {}, {}, {}, b"{}"), (200, {}, {}, {}, body)],
            "POST /gb/v1/publish/": [(200, {}, {}, {}, b"{}"), (200, {}, {}, {}, b'{"id": "gb1", "ssrc": "47190001"}'), (403, {}, {}, STRANGER)],
            "DELETE /gb/v1/publish/": [(200, {}, {"id": "gb1"}), (404,), (403, {}, {}, STRANGER)],
            **{f"GET /index/api/{call}RtpServer": [(200, {}, {"secret": "s3cret", "stream_id": "gb2", "port": "0", "dst_url": "127.0.0.1", "dst_port": "9"})]
               for call in ("open", "connect", "close", "list")},
            **{f"POST /index/api/{call}RtpServer": [(200,), (403, {}, {}, STRANGER)] for call in ("open", "connect", "close", "list")},
            "POST /rtc/v1/whip/": [(201, {}, {"app": "live", "stream": "own"}, SDP, offer().encode()), (415, {}, {}, {"Content-Type": "text/plain"}, b"x"),
                                   (400, {}, {"app": "live", "stream": "x"}, SDP, b"x")],
        }
        whip = ask(self.port, "POST", "/rtc/v1/whip/?app=live&stream=one", SDP, offer().encode())
        place = parse_qs(whip.headers["location"].split("?", 1)[1])
        session = {name: place[name][0] for name in ("token", "session")}
        for name in ("whip", "whep", "whip-play"):
            known[f"PATCH /rtc/v1/{name}/"] = [(204, {}, session), (401, {}, {**session, "token": "x"}), (404, {}, {"token": "x", "session": "x"}),
                                               (412, {}, session, {"If-Match": '"x"'}), (415, {}, session, {"Content-Type": "text/plain"}),
                                               (422, {}, session, {"If-Match": "*"})]
            known[f"DELETE /rtc/v1/{name}/"] = [(401,), (200, {}, {"token": "x", "session": "x"})]
        for name in ("whep", "whip-play"):
            known[f"POST /rtc/v1/{name}/"] = [(201, {}, {"app": "live", "stream": "cam"}, SDP, offer("recvonly").encode()),
                                              (415, {}, {}, {"Content-Type": "text/plain"}, b"x"), (400, {}, {"app": "live", "stream": "x"}, SDP, b"x")]
        return known


def asked(stage: Stage, operation: Operation, expected: int, names=None, query=None, headers=None, body=None) -> int:
    """Sends it, checks the answer against the description, and returns its status."""
    del expected
    answer = ask(stage.port, operation.method, operation.target(names, query), headers, body)
    operation.check(answer)
    return answer.status


@pytest.fixture(name="stage")
def fixture_stage(server, clip):
    live = one_server(server)
    publisher = Publisher(live.ports["rtmp"], "cam", clip("basic"))
    publisher.start()
    player = Player(live.ports["rtmp"], "cam")
    player.start()
    wait_until(lambda: len(live.api("/api/v1/clients/")["clients"]) == 2, 15, "a publisher and a player")
    yield Stage(live)
    player.stop()
    publisher.stop()
    live.assert_alive()


@pytest.mark.workers(always=True)
def test_every_declared_status_comes_and_every_answer_is_declared(stage):
    known = stage.requests()
    missing = []
    for operation in sorted(stage.operations, key=place_of):
        seen = set()
        for status, request in refused_requests(operation).items():
            answer = raw_answer(stage.port, request)
            operation.check(answer)
            assert answer.status == status, f"{operation}: {answer.status} instead of {status}"
            seen.add(status)
        plain = [] if operation.name in known and operation.method != "get" else [(200,)]
        for request in [*plain, *known.get(operation.name, [])]:
            seen.add(asked(stage, operation, *request))
        excused = set(EXCUSED.get(operation.name, {})) | (set(OF_OTHER_SERVERS) if operation.name.startswith("POST /rtc/v1/wh") else set())
        if 401 in operation.statuses():
            excused.add(401)  # the next test
        if "worker" in operation.parameters("query"):
            excused |= {404, 503}  # with several workers
        missing += [f"{operation}: {status}" for status in operation.statuses() - seen - excused]
    assert not missing, f"declared, and never answered: {missing}"
    assert len(stage.description.operations) > 45


def test_the_index_of_the_apis_own_port(server):
    live = server(root=ROOT)
    for operation in Description(live.ports["api"]).operations:
        if operation.path in ("/", "/api/", "/api/v1/"):
            operation.check(ask(live.ports["api"], "GET", operation.path))
    Description(live.ports["http"])  # It is there too.


def test_guarded_endpoints_are_those_that_declare_it(server):
    auth = f"auth {{ enabled on; token {secrets.token_hex(8)}; rtc_bearer_enabled on; }}"
    live = server(conf=conf(VHOST, ROOT), ports=OnePort())
    description = Description(live.ports["api"])
    live.stop()
    guarded = live_server.LiveServer(live.folder / "guarded", conf(VHOST, ROOT).replace("http_api { enabled on;", "http_api { enabled on; " + auth), OnePort())
    guarded.start(ready=False)
    try:
        wait_until(lambda: live_server.can_connect(guarded.ports["api"]), 20, "the API listens")
        for operation in (one for one in description.operations if one.path != "/"):
            answer = ask(guarded.ports["api"], operation.method, operation.target())
            operation.check(answer)
            assert (answer.status == 401) == (401 in operation.statuses()), f"{operation}: {answer.status}"
    finally:
        guarded.kill()


def test_properties_of_all_answers(stage, request):
    hypothesis = pytest.importorskip("hypothesis", reason="hypothesis is missing: install-packages.sh test")
    from hypothesis import strategies as st  # pylint: disable=import-outside-toplevel
    values = st.one_of(st.integers(-2, 300).map(str), st.integers().map(str), st.text(max_size=20),
                       st.sampled_from(["", "mark", "raw", "reload-fetch", "live", "cam", "*", "1e9", "%", "a" * 300, "__defaultVhost__", "rtc"]))
    harmless = [one for one in stage.operations if one.name not in ("POST /api/v1/drain", "POST /api/v1/upgrade", "GET /api/v1/profile")]
    is_long = request.config.getoption("--long")

    @hypothesis.settings(max_examples=4000 if is_long else 400, deadline=None, database=None, suppress_health_check=list(hypothesis.HealthCheck))
    @hypothesis.seed(secrets.randbits(32) if is_long else 0)
    @hypothesis.given(st.data())
    def property_of_answers(data):
        operation = data.draw(st.sampled_from(harmless))
        names = {name: data.draw(values) or "x" for name in operation.parameters("path")}
        query = {name: data.draw(values) for name in operation.parameters("query") if data.draw(st.booleans())}
        body = data.draw(st.sampled_from([None, b"", b"{}", b"v=0\r\n", b'{"sdp": "x", "streamurl": 1}'])) if "requestBody" in operation.json else None
        kinds = [*operation.json.get("requestBody", {}).get("content", {}), "text/plain"]
        headers = {} if body is None else {"Content-Type": data.draw(st.sampled_from(kinds))}
        if any("/" in name or name in (".", "..") for name in names.values()) and operation.path.endswith("{id}"):
            return
        operation.check(ask(stage.port, operation.method, operation.target(names, query), headers, body))

    property_of_answers()


HOOKS = """
import schemathesis

def close(schema):
    if isinstance(schema, dict):
        if "properties" in schema and "additionalProperties" not in schema and "type" in schema:
            schema["additionalProperties"] = False
        for inner in schema.values():
            close(inner)
    elif isinstance(schema, list):
        for inner in schema:
            close(inner)

@schemathesis.hook
def before_load_schema(context, raw_schema):
    for item in raw_schema["paths"].values():
        for operation in item.values():
            if isinstance(operation, dict):
                close(operation["responses"])
    close(raw_schema["components"]["schemas"])

@schemathesis.serializer("application/sdp", "application/trickle-ice-sdpfrag")
def text(context, value):
    return str(value).encode(errors="replace")
"""


def test_schemathesis_finds_no_500_and_no_undeclared_answer(stage, request, tmp_path):
    python = python_with("schemathesis", HERE / "schemathesis/requirements.txt", "schemathesis")
    (tmp_path / "hooks.py").write_text(HOOKS)
    count = "200" if request.config.getoption("--long") else "4"
    checks = "not_a_server_error,status_code_conformance,content_type_conformance,response_schema_conformance,response_headers_conformance"
    command = [python, "-m", "schemathesis.cli", "run", f"http://127.0.0.1:{stage.port}/api/v1/openapi.json", "--checks", checks, "--max-examples", count,
               "--phases", "examples,coverage,fuzzing" if request.config.getoption("--long") else "fuzzing", "--seed", "1", "--workers", "1",
               "--exclude-path", "/", "--exclude-path", "/api/v1/profile", "--exclude-operation-id", "post_api_v1_drain", "--exclude-operation-id", "post_api_v1_upgrade",
               "--generation-database", "none", "--no-color"]
    done = subprocess.run([str(word) for word in command], cwd=tmp_path, env={**os.environ, "SCHEMATHESIS_HOOKS": "hooks", "PYTHONPATH": str(tmp_path)},
                          capture_output=True, text=True, timeout=1800, check=False)
    assert done.returncode == 0, done.stdout[-6000:] + done.stderr[-2000:]
    assert "No issues found" in done.stdout or " passed" in done.stdout, done.stdout[-2000:]
    stage.live.assert_alive()


def test_the_page_shows_all_endpoints(site):
    one = site()
    for base in (None, one.api):
        for width, scheme in ((320, "light"), (1280, "dark")):
            page = one.open("/api/", base, viewport={"width": width, "height": 860}, colorScheme=scheme)
            page.wait("document.querySelectorAll('.endpoint').length > 40")
            page.wait("document.querySelectorAll('nav a:not([hidden])').length === 6")
            page.value("for (const one of document.querySelectorAll('.endpoint')) if (one.id.match(/clients|clusters|whip$/)) one.open = true")
            page.wait("document.querySelectorAll('.endpoint table').length > 10")
            assert page.value(AUDIT) == [] and page.barriers() == []
            page.shot(f"api-{width}", whole=True)
    page.value("document.getElementById('filter').value = 'snapshot'; document.getElementById('filter').dispatchEvent(new Event('input'))")
    assert page.text("#said") == "1 endpoint"
    # Scripts get the list.
    with urllib.request.urlopen(one.api + "/api/", timeout=5) as answer:
        assert answer.headers["Content-Type"].startswith("application/json") and answer.headers.get_all("Vary") == ["Origin, Accept"]
