"""Callbacks, address rules, page rules, the heartbeat and the forward backend: the requests of the server, and the response to a refused
client."""

import json
import re
import signal
import statistics
import subprocess
import sys
import threading
import time
import urllib.request

import pytest

from hook_server import Answer, HookServer
from http_streams import HttpStream
from live_server import TRUNK, LiveServer, Stopwatch, conf, free_port, wait_until, waited_s
from players import wait_playable
from rtmp_client import Bystander, Closed, Player, Publisher, RtmpClient

pytestmark = pytest.mark.workers

FLV = "http_remux { enabled on; mount [vhost]/[app]/[stream].flv; }\n"
COMMON = {"server_id": str, "service_id": str, "action": str, "client_id": str, "ip": str, "vhost": str, "app": str}
STREAM = {"tcUrl": str, "stream": str, "param": str, "stream_url": str, "stream_id": str}
MEMBERS = {  # Of the request object, with their types; those with a question mark may be missing.
    "on_connect": {"tcUrl": str, "pageUrl": str, "stream": str, "param": str},
    "on_close": {"send_bytes": int, "recv_bytes": int},
    "on_publish": STREAM,
    "on_unpublish": STREAM,
    "on_play": {**STREAM, "pageUrl": str, "clients": int},
    "on_stop": {**STREAM, "clients": int},
    "on_forward": {"tcUrl": str, "stream": str, "param": str},
}


@pytest.fixture(name="hooks")
def fixture_hooks():
    with HookServer() as one:
        yield one


def assert_form(event) -> None:
    """The transport and the members that the specification has for an event."""
    assert event.method == "POST" and event.version == "HTTP/1.1"
    headers = {name.lower(): value for name, value in event.headers.items()}
    assert headers["content-type"] == "application/json"
    assert headers["connection"].lower() == "keep-alive"
    assert re.fullmatch(r"\w+/\d+\.\d+\.\d+", headers["user-agent"])
    assert headers["host"].startswith(("127.0.0.1:", "localhost:"))
    want = {**COMMON, **MEMBERS[event.action]}
    assert {name: type(value) for name, value in event.body.items()} == want


def publish(server, clip, stream="cam?token=abc") -> Publisher:
    publisher = Publisher(server.ports["rtmp"], stream, clip("basic"))
    assert publisher.status["code"] == "NetStream.Publish.Start", publisher.status
    publisher.start()
    return publisher


@pytest.mark.workers(always=True)
def test_every_event_is_sent_once_in_order_with_its_members(server, clip, hooks):
    live = server(hooks.conf())
    publisher = publish(live, clip)
    player = Player(live.ports["rtmp"], "cam?user=7")
    player.start()
    stream_id = wait_until(lambda: live.api("/api/v1/streams/")["streams"], 10, "a stream in the API")[0]["id"]
    server_id = live.api("/api/v1/versions")["server"]
    wait_until(lambda: player.client.received > 60_000, 20, "what is counted below")
    player.stop()
    hooks.wait_for("on_close")
    publisher.stop()
    hooks.wait_for("on_close", 2)
    time.sleep(0.5)  # for events that must not come

    watched, sent = hooks.first("on_play").body, hooks.first("on_publish").body
    assert hooks.actions(sent["client_id"]) == ["on_connect", "on_publish", "on_unpublish", "on_close"]
    assert hooks.actions(watched["client_id"]) == ["on_connect", "on_play", "on_stop", "on_close"]
    assert len(hooks.events) == 8
    for event in hooks.events:
        assert_form(event)
        assert event.path == "/" + event.action
        assert (event.body["server_id"], event.body["vhost"], event.body["app"]) == (server_id, "__defaultVhost__", "live")
        assert event.body["ip"] == "127.0.0.1"
        if "stream_id" in event.body:
            assert (event.body["stream_id"], event.body["stream_url"]) == (stream_id, "/live/cam")
    assert len({event.body["service_id"] for event in hooks.events}) == 1
    assert sent["tcUrl"] == f"rtmp://127.0.0.1:{live.ports['rtmp']}/live"
    assert (sent["stream"], sent["param"]) == ("cam", "?token=abc")
    assert (watched["param"], watched["clients"], hooks.first("on_stop").body["clients"]) == ("?user=7", 1, 0)
    closed = [event.body for event in hooks.events if event.action == "on_close"]
    assert closed[0]["send_bytes"] > 30_000 > closed[0]["recv_bytes"] > 3073, "the player's"
    assert closed[1]["recv_bytes"] > 30_000 > closed[1]["send_bytes"] > 3073, "the publisher's"


def test_a_page_and_a_query_of_connect_are_reported(server, hooks):
    live = server(hooks.conf())
    with RtmpClient(live.ports["rtmp"]) as client:
        client.connect("live", tcUrl="rtmp://cdn.example.com/live?key=1", pageUrl="http://example.com/p.html")
        client.create_stream()
        client.call("play", 5, None, "cam?user=7", -2000, stream_id=1)
        client.read_status()
    told = hooks.wait_for("on_connect").body
    assert told["tcUrl"] == "rtmp://cdn.example.com/live"
    assert told["pageUrl"] == "http://example.com/p.html"
    assert told["param"] == "?key=1&user=7"
    assert hooks.first("on_play").body["pageUrl"] == "http://example.com/p.html"


def test_http_players_have_on_play_and_on_stop(server, clip, hooks):
    live = server(FLV + hooks.conf())
    publisher = publish(live, clip)
    fields = {"X-Forwarded-For": "198.51.100.4, 10.0.0.1", "Referer": "http://example.com/page"}
    with HttpStream(live.ports["http"], "/live/cam.flv?user=9", fields) as player:
        assert player.status == 200
        player.read(1)
    stopped = hooks.wait_for("on_stop")
    told = hooks.first("on_play")
    assert hooks.actions(told.body["client_id"]) == ["on_play", "on_stop"]
    assert_form(told)
    assert_form(stopped)
    for body in (told.body, stopped.body):
        assert (body["stream"], body["param"], body["ip"]) == ("cam", "?user=9", "198.51.100.4")
        assert (body["tcUrl"], body["stream_url"]) == ("rtmp://127.0.0.1/live", "/live/cam")
    assert told.body["pageUrl"] == "http://example.com/page"
    publisher.stop()


def test_a_refused_publisher_gets_the_reason_and_is_not_there(server, hooks):
    hooks.answers["on_publish"] = Answer('{"code": 403, "msg": "your key has expired"}')
    live = server(hooks.conf())
    with RtmpClient(live.ports["rtmp"]) as client:
        status = client.publish("cam")
        assert (status["level"], status["code"]) == ("error", "NetStream.Publish.Rejected")
        assert "your key has expired" in status["description"]
        client.wait_closed(10)
    hooks.wait_for("on_close")
    assert hooks.actions() == ["on_connect", "on_publish", "on_close"]
    assert [s for s in live.api("/api/v1/streams/")["streams"] if s["publish"]["active"]] == []


def test_a_refused_player_gets_the_reason_over_rtmp_and_http(server, clip, hooks):
    hooks.answers["on_play"] = Answer('{"code": 7, "msg": "come back at eight"}')
    live = server(FLV + hooks.conf())
    publisher = publish(live, clip)
    with RtmpClient(live.ports["rtmp"]) as client:
        status = client.play("cam")
        assert (status["level"], status["code"]) == ("error", "NetStream.Play.Failed")
        assert "come back at eight" in status["description"]
        client.wait_closed(10)
    with HttpStream(live.ports["http"], "/live/cam.flv") as player:
        assert player.status == 403
        wait_until(lambda: player.read(1).rstrip().endswith(b"}"), 10, "the answer")
        answer = json.loads(player.body)
        assert answer["code"] == 403 and "come back at eight" in answer["message"]
    time.sleep(0.3)
    assert "on_stop" not in hooks.actions(), "nobody has played"
    publisher.stop()


@pytest.mark.parametrize("answer", [Answer("1"), Answer(""), Answer("0", status=500), Answer("<html>"), Answer('{"code": "0"}')],
                         ids=["one", "empty", "500", "html", "text"])
def test_only_a_zero_is_a_yes(server, hooks, answer):
    hooks.answers["on_connect"] = answer
    live = server(hooks.conf())
    with RtmpClient(live.ports["rtmp"]) as client:
        status = client.publish("cam")
        assert status["code"] == "NetStream.Publish.Rejected"
        assert "on_connect" in status["description"] and "127.0.0.1" not in status["description"]
    hooks.wait_for("on_close")
    assert hooks.actions() == ["on_connect", "on_close"]
    live.wait_log("http hook on_connect failed, url=http://127.0.0.1")


def test_an_unreachable_service_refuses_and_is_logged_once(server):
    gone = free_port()
    live = server(f"http_hooks {{ enabled on; on_publish http://127.0.0.1:{gone}/x?key=secret; }}")
    with RtmpClient(live.ports["rtmp"]) as client:
        assert client.publish("cam")["code"] == "NetStream.Publish.Rejected"
    live.wait_log("http hook on_publish failed")
    assert len([line for line in live.complaints() if "http hook" in line]) == 1
    assert "secret" not in live.log(), "a query may hold a key"


def test_each_url_in_order_and_the_first_no_ends_it(server, hooks):
    hooks.answers["/b"] = Answer('{"code": 1}')
    urls = " ".join(hooks.url("/" + name) for name in "abc")
    live = server(f"http_hooks {{ enabled on; on_publish {urls}; on_close {urls}; }}")
    with RtmpClient(live.ports["rtmp"]) as client:
        assert client.publish("cam")["code"] == "NetStream.Publish.Rejected"
    hooks.wait_for("on_close", 3)
    assert [(e.path, e.action) for e in hooks.events] == [
        ("/a", "on_publish"), ("/b", "on_publish"), ("/a", "on_close"), ("/b", "on_close"), ("/c", "on_close")]


def test_a_second_publish_on_one_connection_asks_again(server, hooks):
    live = server(hooks.conf())
    with RtmpClient(live.ports["rtmp"]) as client:
        assert client.publish("one")["code"] == "NetStream.Publish.Start"
        client.call("FCUnpublish", 6, None, "one")
        client.read_command("onFCUnpublish")
        client.call("FCPublish", 7, None, "two")
        client.call("publish", 8, None, "two", "live", stream_id=1)
        wait_until(lambda: hooks.actions().count("on_publish") == 2, 10, "a second on_publish")
    hooks.wait_for("on_close")
    assert hooks.actions() == ["on_connect", "on_publish", "on_unpublish", "on_connect", "on_publish", "on_unpublish", "on_close"]
    assert [e.body["stream"] for e in hooks.events if e.action == "on_publish"] == ["one", "two"]


def test_a_busy_stream_is_asked_for_and_never_left(server, clip, hooks):
    live = server(hooks.conf())
    publisher = publish(live, clip)
    with RtmpClient(live.ports["rtmp"]) as client:
        assert client.publish("cam")["code"] == "NetStream.Publish.BadName"
    hooks.wait_for("on_close")
    second = [e.body["client_id"] for e in hooks.events if e.action == "on_publish"][1]
    assert hooks.actions(second) == ["on_connect", "on_publish", "on_close"]
    publisher.stop()


def trusting(certificate) -> str:
    return f"tls_client {{ ca_file {certificate[1]}; }}\n"


def test_https_with_a_certificate_of_an_authority_that_the_conf_names(server, clip, certificate):
    with HookServer(certificate=certificate) as hooks:
        live = server(hooks.conf().replace("https://127.0.0.1", "https://localhost"), trusting(certificate))
        publisher = publish(live, clip)
        publisher.stop()
        hooks.wait_for("on_close")
        assert hooks.actions() == ["on_connect", "on_publish", "on_unpublish", "on_close"]


def test_https_with_an_untrusted_certificate_is_used_only_with_verify_off(server, clip, certificate):
    with HookServer(certificate=certificate) as hooks:
        strict = server(f"http_hooks {{ enabled on; on_publish {hooks.url('/on_publish')}; }}\n")
        with RtmpClient(strict.ports["rtmp"]) as client:
            assert client.publish("cam")["level"] == "error"
        assert not hooks.events, "an impostor hears nothing"
        strict.wait_log("the certificate is not trusted")
        lax = server(hooks.conf(), "tls_client { verify off; }\n")
        publish(lax, clip).stop()
        hooks.wait_for("on_close")
        lax.wait_log("tls_client.verify is off")


def added_delay(live) -> dict:
    """How many packets have been written to a player so far, how many of them later than a bound after their arrival, their delays' sum, and when
    that was so."""
    with urllib.request.urlopen(f"http://127.0.0.1:{live.ports['api']}/metrics", timeout=10) as answer:
        text = answer.read().decode()
    values = dict(re.findall(r"^millrace_added_delay_seconds_(\S+) (\S+)$", text, re.MULTILINE))
    count = int(values["count"])
    late = {bound: count - int(values[f'bucket{{le="{bound}"}}']) for bound in ("0.5", "1")}
    return {"count": count, "sum": float(values["sum"]), "at": time.monotonic(), **late}


class Stalls(threading.Thread):
    """How long a server had no CPU, because other programs had all: times of more than 0.2 s only. Use as a context."""

    def __init__(self, live):
        super().__init__(daemon=True)
        self.live, self.times, self.ending = live, [], threading.Event()

    def run(self) -> None:
        pids = self.live.pids()
        before = waited_s(pids)
        while not self.ending.wait(0.1):
            now = waited_s(pids)
            self.times += [now - before] if now - before > 0.2 else []
            before = now

    def __enter__(self):
        self.start()
        return self

    def __exit__(self, *_):
        self.ending.set()
        self.join(5)


def assert_no_stutter(before: dict, during: dict, stalled: float) -> None:
    """Between two differences of added_delay(), a second each. Merged writes add up to 0.35 s always, half of that to the average packet, so
    a loop that stands still for a second once in half a minute makes one packet in two hundred later than that. `stalled`: for which part of the
    time the server had no CPU, which delays the packets of that time and of the merged write before it."""
    assert during["count"] > before["count"] * 0.8, f"fewer packets a second: {before} {during}"
    for bound, more in (("0.5", 0.05), ("1", 0.002)):
        late = [phase[bound] / phase["count"] for phase in (before, during)]
        said = f"later than {bound} s: {late[0]:.2%} before, {late[1]:.2%} meanwhile, {stalled:.2%} without a CPU"
        assert late[1] <= late[0] + more + stalled, said
    mean = [phase["sum"] / phase["count"] for phase in (before, during)]
    assert mean[1] < mean[0] + 0.1, f"the mean delay went from {mean[0]:.3f} s to {mean[1]:.3f} s"


def test_a_hanging_service_costs_its_own_time_only(server, clip, hooks):
    """on_play of one stream is not answered: its player is refused after the time limit, other clients are not affected, and playing
    streams do not stutter."""
    def phase(start: dict) -> dict:
        now = added_delay(live)
        return {name: (value - start[name]) / (now["at"] - start["at"]) for name, value in now.items()}

    hooks.answers["/hang"] = Answer(after_s=120)
    live = server(hooks.conf(), root=f"vhost slow {{ http_hooks {{ enabled on; on_play {hooks.url('/hang')}; on_connect "
                                     f"{hooks.url('/on_connect')}; on_close {hooks.url('/hang')}; }} }}\n"
                                     "exporter { enabled on; listen 127.0.0.1:$exporter; }\n")
    with Bystander(live.ports["rtmp"], clip("basic")):
        players = [Player(live.ports["rtmp"], "bystander") for _ in range(5)]
        for player in players:  # At different moments, and so sent to at different moments.
            player.start()
            time.sleep(0.1)
        start = added_delay(live)
        time.sleep(4)
        before, start = phase(start), added_delay(live)
        with Stalls(live) as stalls, RtmpClient(live.ports["rtmp"], timeout=50) as stuck:
            stuck.connect("live", tcUrl="rtmp://slow/live")
            stuck.create_stream()
            asked = time.monotonic()
            stuck.call("play", 5, None, "cam", -2000, stream_id=1)
            hooks.wait_for("on_play")
            for _ in range(5):
                watch = Stopwatch(live)
                with RtmpClient(live.ports["rtmp"]) as other:
                    assert other.play("bystander")["code"] == "NetStream.Play.Start"
                assert watch.seconds() < 5, "another client waited for the hanging one's answer"
            status = stuck.read_status(50)
            took = time.monotonic() - asked
        assert_no_stutter(before, phase(start), sum(stall + 0.35 for stall in stalls.times) / took)
        for player in players:
            player.stop()
        assert status["code"] == "NetStream.Play.Failed" and "on_play" in status["description"]
        assert 29 < took < 35, f"refused after {took:.1f} s"
    live.assert_alive()


def test_a_client_that_leaves_a_hanging_question_is_forgotten(server, hooks):
    hooks.answers["on_play"] = Answer(after_s=2)
    live = server(hooks.conf())
    with RtmpClient(live.ports["rtmp"]) as client:
        client.connect()
        client.create_stream()
        client.call("play", 5, None, "cam", -2000, stream_id=1)
        hooks.wait_for("on_play")
    hooks.wait_for("on_close")
    assert hooks.actions() == ["on_connect", "on_play", "on_stop", "on_close"]


def test_a_reload_counts_from_the_next_event(server, hooks):
    live = server("")
    with RtmpClient(live.ports["rtmp"]) as client:
        assert client.publish("cam")["code"] == "NetStream.Publish.Start"
        assert hooks.events == []
        live.write_conf(conf(hooks.conf()))
        live.process.send_signal(signal.SIGHUP)
        wait_until(lambda: live.log().count("reload finished, code=0") == len(live.pids()), 10, "a reload")
    hooks.wait_for("on_close")
    assert hooks.actions() == ["on_unpublish", "on_close"]


def test_the_end_is_reported_when_the_server_stops(server, hooks):
    live = server(hooks.conf())
    with RtmpClient(live.ports["rtmp"]) as client:
        assert client.publish("cam")["code"] == "NetStream.Publish.Start"
        live.stop()
    assert hooks.actions() == ["on_connect", "on_publish", "on_unpublish", "on_close"]


def test_a_stop_does_not_wait_for_a_hanging_service(server, hooks):
    hooks.answers["on_unpublish"] = Answer(after_s=120)
    live = server(hooks.conf())
    with RtmpClient(live.ports["rtmp"]) as client:
        assert client.publish("cam")["code"] == "NetStream.Publish.Start"
        assert live.stop(limit_s=20) < 8


@pytest.mark.parametrize("rules,play,number", [
    ("", False, "1052"),
    ("deny publish all;", True, "1053"),
    ("allow publish 127.0.0.1; deny publish 127.0.0.0/8; allow play 10.0.0.0/8;", False, "1053"),
    ("allow play all; allow publish 10.0.0.0/8;", True, "1054"),
], ids=["no rule", "denied", "deny first", "not allowed"])
def test_security_refuses_by_address_with_a_reason(server, rules, play, number):
    live = server(FLV + f"security {{ enabled on; {rules} }}")
    with RtmpClient(live.ports["rtmp"]) as client:
        status = client.publish("cam")
        assert status["code"] == "NetStream.Publish.Rejected" and f"({number})" in status["description"]
        client.wait_closed(10)
    with RtmpClient(live.ports["rtmp"]) as client:
        assert (client.play("cam")["code"] == "NetStream.Play.Start") == play
    with HttpStream(live.ports["http"], "/live/cam.flv", {"X-Forwarded-For": "10.0.0.7"}) as player:
        assert (player.status == 200) == play, "what a client claims of its address is no address"
        if not play:
            wait_until(lambda: player.read(1).rstrip().endswith(b"}"), 10, "the answer")
            assert player.status == 403 and json.loads(player.body)["code"] == 403


def test_security_lets_in_whom_it_names(server, hooks):
    live = server("security { enabled on; allow publish 127.0.0.0/8; }\n" + hooks.conf())
    with RtmpClient(live.ports["rtmp"]) as client:
        assert client.publish("cam")["code"] == "NetStream.Publish.Start"
    with RtmpClient(live.ports["rtmp"]) as client:
        assert client.play("cam")["code"] == "NetStream.Play.Failed"
    hooks.wait_for("on_close", 2)
    actions = sorted((hooks.actions(client) for client in {event.body["client_id"] for event in hooks.events}), key=len)
    assert actions[0] == ["on_connect", "on_close"], "security is looked at behind on_connect and before on_play"


def ask(live, verb: str, page: str) -> str:
    """The status with which a client from this page is answered."""
    with RtmpClient(live.ports["rtmp"]) as client:
        client.connect("live", **({"pageUrl": page} if page else {}))
        client.create_stream()
        client.call(verb, 5, None, "cam", stream_id=1)
        status = client.read_status()
        return client.read_status()["code"] if status["code"] == "NetStream.Play.Reset" else status["code"]


def test_refer_looks_at_the_page(server, hooks):
    live = server("refer { enabled on; all example.com example.org; publish studio.example.com; play example.com; }\n" + hooks.conf())
    assert ask(live, "publish", "http://studio.example.com/x") == "NetStream.Publish.Start"
    assert ask(live, "publish", "http://www.example.com/x") == "NetStream.Publish.Rejected"
    assert ask(live, "play", "https://www.example.com:8443/x") == "NetStream.Play.Start"
    assert ask(live, "play", "http://other.net/?example.com") == "NetStream.Play.Failed"
    assert ask(live, "play", "") == "NetStream.Play.Failed"
    assert ask(live, "play", "http://example.org/") == "NetStream.Play.Failed"
    hooks.wait_for("on_close", 6)
    per_client = [hooks.actions(e.body["client_id"]) for e in hooks.events if e.action == "on_close"]
    assert sorted(per_client) == sorted([
        ["on_connect", "on_publish", "on_unpublish", "on_close"],
        ["on_connect", "on_close"],  # refer.publish stands before on_publish
        ["on_connect", "on_play", "on_stop", "on_close"],
        ["on_close"],  # refer.all stands before on_connect
        ["on_close"],
        ["on_connect", "on_play", "on_stop", "on_close"],  # refer.play stands behind on_play
    ])


def test_heartbeat_has_identity_and_addresses(server, hooks):
    live = server("", root=f"""heartbeat {{ enabled on; interval 0.3; url {hooks.url('/beat?key=1')}; device_id my-device;
                               summaries on; ports on; auth {{ enabled on; token secret; }} }}\n""",
                  environment={"SRS_DEVICE_IP": "203.0.113.9"})
    wait_until(lambda: len(hooks.events) >= 8, 20, "eight beats")
    beat, versions = hooks.events[3], live.api("/api/v1/versions")
    assert (beat.method, beat.path, beat.headers["Authorization"]) == ("POST", "/beat?key=1", "Bearer secret")
    body = beat.body
    assert set(body) == {"device_id", "ip", "server", "service", "pid", "summaries", "rtmp", "http", "api"}
    assert (body["device_id"], body["ip"]) == ("my-device", "203.0.113.9")
    assert (body["server"], body["service"]) == (versions["server"], versions["service"]) and int(body["pid"]) in live.pids()
    assert set(body["summaries"]["data"]) == set(live.api("/api/v1/summaries")["data"]) - {"workers"}
    assert body["rtmp"] == [f"127.0.0.1:{live.ports['rtmp']}"]
    assert body["api"] == [f"127.0.0.1:{live.ports['api']}"]
    assert body["http"] == [f"127.0.0.1:{live.ports['http']}"]
    gaps = [b.at - a.at for a, b in zip(hooks.events, hooks.events[1:])]
    assert 0.2 < statistics.median(gaps) < 0.8, gaps


def test_heartbeat_registers_with_a_proxy_of_origins(server, hooks):
    """It parses bare ports, and connects to the address."""
    root = f"heartbeat {{ enabled on; interval 0.3; url {hooks.url('/api/v1/srs/register')}; device_id origin1; }}\n"
    live = server("", root=root, environment={"SRS_DEVICE_IP": "127.0.0.1"})
    wait_until(lambda: hooks.events, 10, "a beat")
    body = hooks.events[0].body
    assert body["ip"] == "127.0.0.1" and [body[name] for name in ("rtmp", "http", "api")] == [[str(live.ports[name])] for name in ("rtmp", "http", "api")]
    elsewhere = server("", root=root, environment={"SRS_DEVICE_IP": "203.0.113.9"})
    beats = wait_until(lambda: [one.body for one in hooks.events if one.body["ip"] == "203.0.113.9"], 10, "a beat of another one")
    assert beats[0]["rtmp"] == [], "it listens on loopback only"
    elsewhere.wait_log("RTMP is not registered with the proxy")


def test_heartbeat_ignores_the_answer_and_a_reload_changes_it(server, hooks):
    hooks.answers["/one"] = Answer("nonsense", status=500)
    root = "heartbeat {{ enabled {}; interval 0.2; url {}; }}\n"
    live = server("", root=root.format("on", hooks.url("/one")))
    wait_until(lambda: len(hooks.events) >= 3, 10, "three beats whatever is answered")
    assert set(hooks.events[0].body) == {"device_id", "ip", "server", "service", "pid"}
    live.write_conf(conf("", root.format("on", hooks.url("/two"))))
    live.process.send_signal(signal.SIGHUP)
    wait_until(lambda: hooks.events[-1].path == "/two", 10, "a beat at the new address")
    wait_until(lambda: live.log().count("reload finished, code=0") == len(live.pids()), 10, "the reload of all")
    live.write_conf(conf("", root.format("off", hooks.url("/two"))))
    live.process.send_signal(signal.SIGHUP)
    wait_until(lambda: live.log().count("reload finished, code=0") == 2 * len(live.pids()), 10, "a reload")
    time.sleep(1.5)  # for one that was on its way
    count = len(hooks.events)
    time.sleep(0.8)
    assert len(hooks.events) == count


def test_forward_uses_the_destinations_of_the_backend(server, clip, hooks):
    slave, nowhere = server(), free_port()
    url = f"rtmp://127.0.0.1:{slave.ports['rtmp']}/relay/renamed"
    hooks.answers["/forward"] = Answer(json.dumps({"code": 0, "data": {"urls": [url]}}))
    master = server(f"forward {{ enabled on; destination 127.0.0.1:{nowhere}; backend {hooks.url('/forward')}; }}\n" + hooks.conf())
    publisher = publish(master, clip)
    wait_playable(slave.url("renamed", app="relay"))
    asked = hooks.first("on_forward")
    assert_form(asked)
    assert (asked.body["stream"], asked.body["param"]) == ("cam", "?token=abc")
    publisher.stop()
    hooks.wait_for("on_close")
    assert hooks.actions() == ["on_connect", "on_publish", "on_forward", "on_unpublish", "on_close"]
    assert f":{nowhere}" not in master.log(), "destination does not count beside a backend"


def test_a_backend_that_fails_fails_the_publish(server, hooks):
    hooks.answers["/forward"] = Answer('{"code": 0, "data": null}')
    live = server(f"forward {{ enabled on; backend {hooks.url('/forward')}; }}")
    with RtmpClient(live.ports["rtmp"]) as client:
        assert client.publish("cam")["code"] == "NetStream.Publish.Rejected"
    hooks.answers["/forward"] = Answer('{"code": 0, "data": {"urls": []}}')
    with RtmpClient(live.ports["rtmp"]) as client:
        assert client.publish("cam")["code"] == "NetStream.Publish.Start"


def test_the_sample_server_and_its_conf_work_together(tmp_path, clip):
    """conf/http.hooks.callback.conf against research/api-server/server.py, both moved to free ports."""
    port = free_port()
    sample = subprocess.Popen([sys.executable, str(TRUNK / "research/api-server/server.py"), str(port), "--deny", "on_play=come back at eight"],
                              stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True)
    text = (TRUNK / "conf/http.hooks.callback.conf").read_text().replace("127.0.0.1:8085", f"127.0.0.1:{port}")
    live = LiveServer(tmp_path / "sample", re.sub(r"listen\s+1935;", "listen 127.0.0.1:$rtmp;", text) +
                      "pid $folder/srs.pid;\nhttp_api { enabled on; listen 127.0.0.1:$api; }\n")
    try:
        assert "listening for callbacks at" in sample.stdout.readline()
        live.start()
        publisher = publish(live, clip)
        listed = sample_list(port, "streams")
        assert [one["stream"] for one in listed] == ["cam"]
        with RtmpClient(live.ports["rtmp"]) as client:
            assert "come back at eight" in client.play("cam")["description"]
        publisher.stop()
        wait_until(lambda: sample_list(port, "streams") == [] and sample_list(port, "clients") == [], 10, "everybody to be gone")
        live.stop()
    finally:
        live.kill()
        sample.kill()
        sample.wait()


def sample_list(port: int, name: str) -> list:
    with urllib.request.urlopen(f"http://127.0.0.1:{port}/api/v1/{name}", timeout=3) as answer:
        return json.load(answer)["data"]
