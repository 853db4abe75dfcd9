"""HTTP requests that hypothesis makes up, and answers read by the letter of RFC 9110 and 9112: for tests of what holds for every request.

A request's framing is true, so that an answer is owed to it; those whose framing lies are in test_http_bad_input.py. Its target and
its fields are anything: endpoints with the ids of real clients, mutations of them, odd values.
"""

import json
import re
import socket
from dataclasses import dataclass, field
from urllib.parse import quote

from hypothesis import strategies as st

ANSWERS_WITHIN_S = 10
CANARY = "zQ9\"'<&x>"  # Must not come back as it is, in no kind of text.
SECOND = b"GET /api/v1/versions HTTP/1.1\r\nHost: a\r\n\r\n"
# Of requests that are not understood; behind them the connection ends.
REFUSALS = {400, 408, 413, 414, 417, 431, 501, 505}

# All but profile, which takes as long as it is asked to.
NAMES = """versions summaries rusages self_proc_stats system_proc_stats meminfos authors features requests vhosts vhosts/ streams streams/ clients
           clients/ raw clusters perf tcmalloc valgrind signal fibers memory tests/requests tests/errors tests/redirects""".split()
ENDPOINTS = ["/", "/api/", "/api/v1/", *(f"/api/v1/{name}" for name in NAMES),
             "/api/v1/vhosts/{vhost}", "/api/v1/streams/{stream}", "/api/v1/clients/{publisher}", "/api/v1/clients/{player}",
             "/metrics", "/metrics/streams", "/healthz", "/readyz", "/console", "/console/",
             *(f"/rtc/v1/{name}/" for name in ("play", "publish", "whip", "whep", "nack")),
             "/live/cam.flv", "/live/nobody.flv", "/page.html", "/sub", "/sub/a.mp4", "/no-such-file"]
OF_OTHER_BUILDS = {f"/api/v1/{name}" for name in ("perf", "tcmalloc", "valgrind", "signal")}
# Parameters, beside callback= and method=, that a part of a path means something to.
PARAMETERS = {"streams": "start count match", "clients": "start count", "vhosts": "start count", "raw": "rpc", "metrics": "match", "tcmalloc": "page",
              "valgrind": "check", "signal": "signo", "memory": "since mark", "clusters": "ip vhost app stream coworker",
              ".mp4": "range bytes", ".flv": "start vhost domain", "rtc": "app stream eip candidate codec action token session"}


def _insert(piece: bytes):
    return lambda path, at: path[:at] + piece + path[at:]


_PIECES = [b"%00", b"\x00", b"%0d%0aX:%20y", b"%0a", b"\t", b"//", b"/./", b"/../", b"%2e%2e/", b"%2E%2e%2F", b"..", b"\\", b"%5c", b"%", b"%zz",
           b"\xc3\xa9", b"%c3%a9", b"%c3%28", b"\xff", b"%ff", b"\x7f", b";a=b", b"#x", b"?", b"&", b"*", b"@", b" ", b"a" * 300, b"a" * 9000,
           CANARY.encode(), quote(CANARY).encode(), quote("\u202e\U0001f3a5").encode(), b".flv", b".html", b"1"]
CHANGES = [*map(_insert, _PIECES),
           lambda path, at: b"".join(b"%%%02x" % letter for letter in path[:at]) + path[at:],
           lambda path, at: b"/" + b"".join(b"%%%02X" % letter for letter in path[1:]),
           lambda path, at: path[:at], lambda path, at: path[at:], lambda path, _: path.upper(), lambda path, _: path.rstrip(b"/"),
           lambda path, _: path + b"/", lambda path, _: b"/" + path, lambda path, _: b"http://h:1" + path, lambda path, _: path * 2,
           lambda path, _: b"*"]


def _without(letters: bytes):
    return lambda data: bytes(letter for letter in data if letter not in letters)


_numbers = st.one_of(st.integers(-3, 30), st.integers(), st.sampled_from([2**31, 2**32, 2**63 - 1, 2**63, -2**63, 2**64, 10**30])).map(str)
_texts = st.one_of(
    _numbers, st.text(max_size=20),
    st.sampled_from(["", "+5", " 5", "5 ", "0x10", "1e9", "1.5", "NaN", "true", "null", "[]", "*", "*" * 300, "*a" * 120, "?", CANARY,
                     "GET", "PUT", "POST", "DELETE", "get", "raw", "reload", "reload-fetch", "query", "update", "/live/*", "__defaultVhost__",
                     "cb", "a.b_c$1", "a-b", "a" * 64, "a" * 65, "alert(1)//", "a;b", "0-9", "-5", "9-", "bytes=0-", "a" * 5000]))
_WAYS = [lambda text: quote(text, safe="").encode(), lambda text: quote(text).encode(), lambda text: text.encode()]
_written = st.builds(lambda text, way: _without(b"\r\n ")(way(text)), _texts, st.sampled_from(_WAYS))
_callbacks = st.sampled_from(["cb", CANARY, "alert(1)//", "a" * 65, "a;b", "a-b", "\u00e9", "\r\nX: y", ""])
_calls = st.one_of(_callbacks.map(lambda name: b"callback=" + quote(name).encode()),
                   st.sampled_from([b"callback=cb", b"callback=cb&method=DELETE", b"callback=cb&method=POST"]))


def _queries(endpoint: str):
    own = [name for part, names in PARAMETERS.items() if part in endpoint for name in names.split()]
    values = {name: st.one_of(_numbers.map(str.encode), _written) if name in ("start", "count") else _written for name in own or ["x"]}
    pairs = st.one_of([value.map((name.encode() + b"=").__add__) for name, value in values.items()])
    parameters = st.one_of(pairs, _calls, st.sampled_from([b"rpc=raw", b"rpc=reload", b"rpc=reload-fetch"]) if own == ["rpc"] else pairs, _written)
    return st.one_of(st.sampled_from([b"", b"?", b"??", b"?&&=", b"?" + b"a&" * 200]), pairs.map(lambda pair: b"?" + pair),
                     st.lists(parameters, min_size=1, max_size=4).map(lambda some: b"?" + b"&".join(some)))


@st.composite
def targets(draw, endpoint: str) -> bytes:
    path = endpoint.encode()
    if draw(st.integers(0, 2)) == 2:
        for change, at in draw(st.lists(st.tuples(st.sampled_from(CHANGES), st.integers(0, 40)), min_size=1, max_size=2)):
            path = change(path, at)
    return _without(b"\r\n")(path) + draw(_queries(endpoint))


_odd_values = st.one_of(st.binary(max_size=30), _texts.map(str.encode), st.sampled_from([b"x" * 10_000, b"x" * 40_000])).map(_without(b"\r\n"))
_USUAL = {
    b"Origin": [b"http://example.com", b"null"],
    b"Referer": [b"http://example.com/", CANARY.encode()],
    b"Host": [b"127.0.0.1:80", b"[::1]:80", b"[", b"video.example.com"],
    b"X-Forwarded-For": [b"10.0.0.1, 10.0.0.2", CANARY.encode()],
    b"X-Real-IP": [b"10.0.0.1"],
    b"Authorization": [b"Basic dTpw", b"Basic ?", b"Bearer x"],
    b"Cookie": [b"a=b"],
    b"Accept": [b"*/*"],
    b"Range": [b"bytes=0-9", b"bytes=-1", b"bytes=9999999-", b"bytes=5-1", b"bytes=0-0,5-6"],
    b"If-Range": [b'"x"', b"Wed, 21 Oct 2015 07:28:00 GMT"],
    b"If-None-Match": [b"*", b'"x"'],
    b"If-Modified-Since": [b"Wed, 21 Oct 2115 07:28:00 GMT", b"Wed, 99 Oct 2115 07:28:00 GMT"],
    b"Content-Type": [b"application/json", b"application/sdp"],
    b"Expect": [b"100-continue"],
    b"Upgrade": [b"websocket"],
    b"Sec-WebSocket-Key": [b"dGhlIHNhbXBsZSBub25jZQ=="],
    b"Sec-WebSocket-Version": [b"13", b"8"],
    b"TE": [b"trailers"],
    b"X-" + b"n" * 300: [b""],
}
_usual_fields = [(name, value) for name, values in _USUAL.items() for value in values]
_names = st.one_of(st.sampled_from(list(_USUAL)), st.from_regex(rb"X-[!#$%&'*+.^_`|~0-9A-Za-z-]{1,20}", fullmatch=True))
_fields = st.one_of(st.sampled_from(_usual_fields), st.tuples(_names, _odd_values))
_websocket = [(b"Upgrade", b"websocket"), (b"Sec-WebSocket-Key", b"dGhlIHNhbXBsZSBub25jZQ=="), (b"Sec-WebSocket-Version", b"13")]
_field_lists = st.one_of(st.just([]), st.lists(_fields, max_size=4), st.just(_websocket),
                         st.sampled_from([90, 90, 90, 110]).map(lambda count: [(b"X-Y", b"z")] * count))
_json = st.recursive(st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False) | st.text(max_size=10) | st.just(CANARY),
                     lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.sampled_from(["sdp", "streamurl", "api", "code", "x"]), inner))
_bodies = st.one_of(st.just(b""), _json.map(lambda value: json.dumps(value).encode()), st.binary(max_size=200),
                    st.sampled_from([b"[" * 5000, b'{"sdp":"v=0\\r\\n","streamurl":"webrtc://127.0.0.1/live/cam"}', b"v=0\r\n", b"a=b&c=d",
                                     b"x" * 70_000]))
_METHODS = [b"GET"] * 20 + [b"HEAD"] * 3 + [b"POST"] * 3 + [b"DELETE"] * 3 + [b"OPTIONS"] * 2 + [
    b"PUT", b"PATCH", b"TRACE", b"CONNECT", b"get", b"PRI", b"M-SEARCH", b"X" * 200, b"G\x00T", b"(", b""]
_CONNECTIONS = [None] * 8 + [b"close", b"keep-alive", b"Upgrade", b"keep-alive, Upgrade"]
_VERSIONS = [b"HTTP/1.1"] * 16 + [b"HTTP/1.0", b"HTTP/1.0", b"HTTP/1.9", b"HTTP/2.0", b"http/1.1", b"HTTP/1.1 "]


@dataclass
class HttpRequest:
    method: bytes
    target: bytes  # {publisher} and the like stand for the ids of connected clients.
    version: bytes
    fields: list
    body: bytes
    chunked: bool
    connection: bytes | None
    names_host: bool

    def encode(self, ids: dict) -> bytes:
        target = self.target
        for name, value in ids.items():
            target = target.replace(b"{%s}" % name.encode(), value.encode())
        fields = [*self.fields, *([(b"Connection", self.connection)] if self.connection else [])]
        if self.names_host and all(name != b"Host" for name, _ in fields):
            fields.append((b"Host", b"a"))
        body = self.body
        if self.chunked:
            fields.append((b"Transfer-Encoding", b"chunked"))
            parts = [body[at:at + 4096] for at in range(0, len(body), 4096)] + [b""]
            body = b"".join(b"%x\r\n%s\r\n" % (len(part), part) for part in parts)
        elif body:
            fields.append((b"Content-Length", b"%d" % len(body)))
        head = [b"%s %s %s" % (self.method, target, self.version)] + [b"%s: %s" % pair for pair in fields]
        return b"\r\n".join(head) + b"\r\n\r\n" + body

    def stays(self) -> bool:
        """The client may send another request on this connection."""
        return self.connection != b"close" if self.version in (b"HTTP/1.1", b"HTTP/1.9") else self.version == b"HTTP/1.0" and b"keep-alive" in (self.connection or b"")


@st.composite
def http_requests(draw, endpoint: str) -> HttpRequest:
    methods = [b"GET", b"DELETE"] if "/clients/{" in endpoint else _METHODS
    return HttpRequest(draw(st.sampled_from(methods)), draw(targets(endpoint)), draw(st.sampled_from(_VERSIONS)), draw(_field_lists), draw(_bodies),
                       draw(st.booleans()), draw(st.sampled_from(_CONNECTIONS)), draw(st.sampled_from([True] * 15 + [False])))


@dataclass
class Answer:
    status: int
    fields: dict = field(default_factory=dict)  # By name in lower case.
    body: bytes = b""
    is_live: bool = False  # What follows has no end that could be waited for: a live stream, another protocol.

    def type(self) -> str:
        return self.fields.get("content-type", "").split(";")[0]

    def json(self):
        """The object that the body is. Stricter than Python: no name twice, no NaN, UTF-8 only."""
        def once(pairs):
            names = [name for name, _ in pairs]
            assert len(names) == len(set(names)), f"a name twice: {names}"
            return dict(pairs)

        def no_number(text):
            raise AssertionError(f"{text} is no JSON")

        value = json.loads(self.body.decode("utf-8"), object_pairs_hook=once, parse_constant=no_number)
        assert isinstance(value, dict), value
        return value


STATUS_LINE = re.compile(rb"HTTP/1\.1 ([1-5][0-9]{2}) [\x20-\x7e]*")
FIELD_LINE = re.compile(rb"([!#$%&'*+.^_`|~0-9A-Za-z-]+): ?([^\x00-\x1f\x7f]*)")


class Answers:
    """Sends bytes and reads what is answered, message by message. Use as a context."""

    def __init__(self, port: int, data: bytes):
        self.rest = b""
        self.socket = socket.create_connection(("127.0.0.1", port), ANSWERS_WITHIN_S)
        try:
            self.socket.sendall(data)
            self.socket.shutdown(socket.SHUT_WR)
        except OSError:
            pass  # Refused before all of it was sent; the answer has the reason.

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.socket.close()

    def _more(self) -> bool:
        try:
            data = self.socket.recv(1 << 16)
        except TimeoutError:
            raise AssertionError(f"no answer within {ANSWERS_WITHIN_S} s, only {self.rest[:500]!r}") from None
        self.rest += data
        return bool(data)

    def next(self, to_head: bool = False) -> Answer | None:
        """None when the connection has ended. `to_head`: the request was HEAD, so the answer has no body."""
        while b"\r\n\r\n" not in self.rest:
            if not self._more():
                assert self.rest == b"", f"the connection ends in a header: {self.rest[:500]!r}"
                return None
        head, self.rest = self.rest.split(b"\r\n\r\n", 1)
        first, *lines = head.split(b"\r\n")
        status = STATUS_LINE.fullmatch(first)
        assert status, first
        answer = Answer(int(status.group(1)))
        for line in lines:
            pair = FIELD_LINE.fullmatch(line)
            assert pair, f"no header line: {line!r}"
            name = pair.group(1).decode().lower()
            assert name not in answer.fields, f"{name} twice"
            answer.fields[name] = pair.group(2).decode("latin-1")
        if answer.status == 100:
            return self.next(to_head)
        self._read_body(answer, to_head)
        return answer

    def _read_body(self, answer: Answer, to_head: bool) -> None:
        length, chunked = answer.fields.get("content-length"), "transfer-encoding" in answer.fields
        assert not (length and chunked), "both a length and chunks"
        if to_head or answer.status in (204, 304):
            return
        if length is None:
            answer.is_live = True
            return
        assert re.fullmatch("[0-9]+", length), length
        while len(self.rest) < int(length):
            assert self._more(), f"{length} bytes were announced, {len(self.rest)} came: {self.rest[:500]!r}"
        answer.body, self.rest = self.rest[:int(length)], self.rest[int(length):]


SERVER = re.compile(r"\w+/\d+\.\d+\.\d+\(\w+\)")
# What each status owes its reader (RFC 9110, 15).
OWED = {301: "location", 302: "location", 401: "www-authenticate", 405: "allow", 206: "content-range", 416: "content-range", 426: "upgrade"}


def judge(answer: Answer) -> None:
    """Everything that holds for an answer of the API, of a file or of a live stream's beginning, whatever was asked."""
    assert 200 <= answer.status < 500 or answer.status in (101, 501, 505), f"status {answer.status}: {answer.body[:300]!r}"
    assert SERVER.fullmatch(answer.fields.get("server", "")), answer.fields
    assert answer.fields.get("connection") in (["Upgrade"] if answer.status == 101 else ["close"] if answer.is_live else ["close", "keep-alive"]), answer.fields
    assert not answer.is_live or answer.status == 101 or answer.type() == "video/x-flv", f"no length: {answer.fields}"
    owed = OWED.get(answer.status)
    assert not owed or answer.fields.get(owed), f"status {answer.status} without {owed}"
    assert re.match("/(?!/)", answer.fields.get("location", "/")), f"leads elsewhere: {answer.fields['location']}"
    assert CANARY.encode() not in answer.body, f"what was asked comes back as it is: {answer.body[:300]!r}"
    if answer.body and answer.type() == "application/json":
        judge_code(answer.json(), answer.status)
    if answer.body and answer.type() == "text/javascript":
        call = re.fullmatch(rb"[0-9A-Za-z_.$]{1,64}\((\{.*\})\)", answer.body, re.DOTALL)
        assert call, answer.body[:300]
        judge_code(Answer(answer.status, body=call.group(1)).json(), answer.status)


def judge_code(body: dict, status: int) -> None:
    assert type(body.get("code")) is int, body  # pylint: disable=unidiomatic-typecheck
    assert (body["code"] == 0) == (200 <= status < 300), f"code {body['code']} with status {status}"
