"""Properties of all requests and answers: every HTTP request gets one valid answer and affects no other client; a callback's answer accepts or
refuses and never breaks the response to the client. hypothesis generates them, the same ones in each run; --long generates ten times as many others."""

import json
import re
import secrets
import socket
from collections import Counter

import pytest

pytestmark = pytest.mark.workers

pytest.importorskip("hypothesis", reason="hypothesis is missing: install-packages.sh test")

from bystander_watch import Watch  # noqa: E402  pylint: disable=wrong-import-position
from hypothesis import HealthCheck, given, seed, settings  # noqa: E402  pylint: disable=wrong-import-position
from hypothesis import strategies as st  # noqa: E402  pylint: disable=wrong-import-position

from hook_server import Answer, HookServer  # noqa: E402  pylint: disable=wrong-import-position
from http_requests import CANARY, ENDPOINTS, OF_OTHER_BUILDS, REFUSALS, SECOND, Answers, http_requests, judge  # noqa: E402  pylint: disable=wrong-import-position
from live_server import conf, wait_until  # noqa: E402  pylint: disable=wrong-import-position
from rtmp_client import Bystander, Player, Publisher  # noqa: E402  pylint: disable=wrong-import-position

FLV = "http_remux { enabled on; mount [vhost]/[app]/[stream].flv; }\n"
EXPORTER = "exporter { enabled on; listen 127.0.0.1:$exporter; }\n"
RAW_API = "raw_api { enabled on; allow_reload on; }"


@pytest.fixture(name="many")
def fixture_many(request):
    """many(count, first) decorates a property that is to be tried so often; `first` chooses the examples."""
    is_long = request.config.getoption("--long")

    def make(count: int, first: int = 0):
        chosen = settings(max_examples=count * (10 if is_long else 1), deadline=None, database=None, suppress_health_check=[HealthCheck.too_slow])
        return lambda test: chosen(seed(secrets.randbits(32) if is_long else first)(test))
    return make


class Cast:
    """Whom the requests of a test name, and may kick: a publisher, a player, and an HTTP player whose Referer is rude. They come back."""

    def __init__(self, live, clip):
        self.live, self.clip, self.returns = live, clip, -1
        self.publisher = self.player = self.rude = None
        self._ids: dict = {}

    def ids(self) -> dict:
        if self.publisher is None or not (self.publisher.is_alive() and self.player.is_alive()):
            self.stop()
            self._start()
        return self._ids

    def _start(self) -> None:
        self.returns += 1
        self.publisher = wait_until(self._publish, 15, "the stream can be published again")
        self.publisher.start()
        self.player = Player(self.live.ports["rtmp"], "cam")
        self.player.start()
        self.rude = socket.create_connection(("127.0.0.1", self.live.ports["http"]), 5)
        self.rude.sendall(b"GET /live/cam.flv HTTP/1.1\r\nHost: a\r\nReferer: \xff%s\\\r\n\r\n" % CANARY.encode())
        clients = wait_until(self._clients, 15, "all are listed")
        ids = {client["type"]: client["id"] for client in clients}
        self._ids = {"publisher": ids["fmle-publish"], "player": ids["rtmp-play"], "stream": clients[0]["stream"], "vhost": clients[0]["vhost"]}

    def _publish(self) -> Publisher | None:
        publisher = Publisher(self.live.ports["rtmp"], "cam", self.clip)
        if publisher.status["level"] == "status":
            return publisher
        publisher.client.close()
        return None

    def _clients(self) -> list | None:
        clients = [c for c in self.live.api("/api/v1/clients/?count=100")["clients"] if c["url"] == "/live/cam"]
        return clients if len({c["type"] for c in clients}) == 3 else None

    def stop(self) -> None:
        if self.publisher is not None:
            self.rude.close()
            self.player.stop()
            self.publisher.stop()


def ask(port: int, asked, ids: dict):
    """The one true answer to a request. What stands behind the request is answered too, or the connection ends."""
    goes_on = asked.stays()
    with Answers(port, asked.encode(ids) + (SECOND if goes_on else b"")) as answers:
        answer = answers.next(to_head=asked.method == b"HEAD")
        assert answer is not None, "no answer"
        judge(answer)
        if answer.is_live or (asked.method == b"HEAD" and answer.status in REFUSALS):
            return answer  # The method of an invalid request is unknown, so it may have been HEAD.
        is_kept = answer.fields["connection"] == "keep-alive"
        assert goes_on or not is_kept, "a connection is promised to stay that the client wants closed"
        second = answers.next()
        assert second is not None or not is_kept, f"the connection ends behind an answer of status {answer.status} that promised more"
        if second is not None:
            assert goes_on, f"two answers to one request: {second}"
            assert second.status == 200 and second.json()["data"]["major"], second
            assert answers.next() is None, "more answers than requests"
        elif goes_on:
            assert answer.status in REFUSALS, f"the connection ends behind an answer of status {answer.status}"
        return answer


def test_every_request_has_one_true_answer(server, clip, many):
    text = conf(FLV, EXPORTER).replace("http_api { enabled on;", "http_api { enabled on; " + RAW_API)
    live = server(conf=text)
    folder = live.folder / "html" / "sub"
    folder.mkdir(parents=True)
    (folder.parent / "page.html").write_text("<p>page</p>")
    (folder / "a.mp4").write_bytes(bytes(range(256)))
    cast, statuses, answered = Cast(live, clip("basic")), Counter(), set()

    def try_requests(number: int, endpoint: str) -> None:
        @many(12, number)
        @given(st.sampled_from(["api", "api", "http"]), http_requests(endpoint))
        def property_of_requests(port, asked):
            answer = ask(live.ports[port], asked, cast.ids())
            statuses[answer.status] += 1
            if answer.status == 200:
                answered.add(endpoint)
            assert live.process.poll() is None, f"the server is gone:\n{live.log()[-2000:]}"

        property_of_requests()

    with Bystander(live.ports["rtmp"], clip("basic")):
        watch = Watch(live)
        try:
            for number, endpoint in enumerate(ENDPOINTS):
                try_requests(number, endpoint)
        finally:
            cast.stop()
        watch.done(sum(statuses.values()), expect_complaint=False)
    # A generator whose requests are all refused would prove nothing.
    assert {200, 302, 400, 404, 405} <= set(statuses) and statuses[200] > sum(statuses.values()) / 5, statuses
    # Lists refuse most of the made-up numbers, and what only other builds have is 404.
    served = {endpoint for endpoint in ENDPOINTS if endpoint not in OF_OTHER_BUILDS}
    assert len(answered & served) > len(served) * 0.7, served - answered
    assert cast.returns > 0, "nobody was kicked"


_reasons = st.one_of(st.text(max_size=40), st.integers(),
                     st.sampled_from([CANARY, '"', "\\", '\\"}', "\r\nX: y", "\x00", "\x7f", "é" * 150, "%s{}%n"]))
_objects = st.fixed_dictionaries({"code": st.sampled_from([0, 0, 0, 1, -1, 2**63, 0.0, "0", None, True, False, [], {}])},
                                 optional={"msg": _reasons, "message": _reasons, "data": st.none() | _reasons})
_hook_answers = st.builds(
    Answer,
    st.one_of(st.builds(lambda value, plain: json.dumps(value, ensure_ascii=not plain), _objects, st.booleans()),
              st.sampled_from(["0", "0", "", "1", "00", "-0", "0\n", " 0", "null", "[]", "{}", "true", '"0"', '{"code":0', '{"code":-0}', "[" * 5000,
                               "0" * 5000, '{"code":1e400}', "<html>"]),
              st.text(max_size=10)),
    st.sampled_from([200] * 8 + [201, 201, 202, 204, 301, 302, 400, 403, 404, 500, 503]))


def is_yes(answer: Answer) -> bool:
    """The success rule of the specification."""
    if answer.status not in (200, 201):
        return False
    if answer.body == "0":
        return True
    try:
        value = json.loads(answer.body)
    except (ValueError, RecursionError):
        return False
    return isinstance(value, dict) and type(value.get("code")) is int and value["code"] == 0  # pylint: disable=unidiomatic-typecheck


def reason_of(answer: Answer) -> str:
    """What of a refusal its client must hear."""
    try:
        value = json.loads(answer.body) if answer.status in (200, 201) else None
    except (ValueError, RecursionError):
        return ""
    if not isinstance(value, dict) or type(value.get("code")) is not int:  # pylint: disable=unidiomatic-typecheck
        return ""
    text = next((value[key] for key in ("msg", "message") if isinstance(value.get(key), str)), "")
    return re.sub(r"[\x00-\x1f\x7f]", " ", text) if len(text.encode()) <= 200 else ""


def test_every_answer_of_a_callback_is_a_yes_or_a_no(server, many):
    with HookServer() as hooks:
        live = server(FLV + f"http_hooks {{ enabled on; on_play {hooks.url('/on_play')}; }}")
        outcomes = Counter()

        @many(150)
        @given(_hook_answers)
        def property_of_answers(said):
            hooks.answers["on_play"] = said
            with Answers(live.ports["http"], b"GET /live/cam.flv HTTP/1.1\r\nHost: a\r\n\r\n") as answers:
                answer = answers.next()
            judge(answer)
            outcomes[answer.is_live] += 1
            assert answer.is_live == is_yes(said), f"{said} became {answer}"
            if not answer.is_live:
                assert answer.status == 403 and reason_of(said) in answer.json()["message"], f"{said} became {answer}"

        property_of_answers()
        live.assert_alive()
    assert min(outcomes[True], outcomes[False]) > 20, outcomes
