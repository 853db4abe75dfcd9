"""Traces of OpenTelemetry: the spans of publishers, players, relays and callbacks, read by a small collector, and their way through an edge."""

import json
import re
import subprocess
import urllib.request
from pathlib import Path

import pytest

from cached_venv import python_with
from edges import edge_of
from hook_server import Answer, HookServer
from http_streams import HttpStream
from live_server import wait_until
from rtc_offer import ask, offer, post
from rtmp_client import Player, Publisher

pytestmark = pytest.mark.workers

HERE = Path(__file__).resolve().parent
FLV = "http_remux { enabled on; mount [vhost]/[app]/[stream].flv; }\n"
# Reads a request by the messages of opentelemetry-proto: an unknown member is an error.
VALIDATE = """
import json, sys
from google.protobuf.json_format import ParseDict
from opentelemetry.proto.collector.trace.v1.trace_service_pb2 import ExportTraceServiceRequest
for request in json.load(sys.stdin):
    ParseDict(request, ExportTraceServiceRequest())
"""


class Collector(HookServer):
    """Also the service of callbacks."""

    def requests(self) -> list[dict]:
        return [event.body for event in self.events if event.path == "/v1/traces"]

    def spans(self) -> list[dict]:
        found = []
        for request in self.requests():
            (resource,) = request["resourceSpans"]
            about = attributes_of(resource["resource"])
            (scope,) = resource["scopeSpans"]
            found += [{**span, "service": about["service.name"], **{"attributes": attributes_of(span)}} for span in scope["spans"]]
        return found

    def span(self, service: str, name: str, limit_s: float = 20) -> dict:
        def find():
            return [one for one in self.spans() if (one["service"], one["name"]) == (service, name)]
        (found,) = wait_until(find, limit_s, lambda: f"the span {name} of {service}, of {[(one['service'], one['name']) for one in self.spans()]}")
        return found


def attributes_of(part: dict) -> dict:
    return {one["key"]: next(iter(one["value"].values())) for one in part["attributes"]}


def tracing(collector, service: str, more: str = "") -> str:
    return f"tracing {{ enabled on; url {collector.url('/v1/traces')}; service_name {service}; {more} }}\n"


def metric(live, name: str) -> float:
    with urllib.request.urlopen(f"http://127.0.0.1:{live.ports['exporter']}/metrics", timeout=10) as answer:
        return float(re.search(rf"^{re.escape(name)} (\S+)$", answer.read().decode(), re.M).group(1))


EXPORTER = "exporter { enabled on; listen 127.0.0.1:$exporter; }\n"


@pytest.mark.parametrize("protocol", ["rtmp", "flv"])
def test_a_stream_through_an_edge_is_one_trace(server, clip, protocol):
    with Collector() as collector:
        hooks = f"http_hooks {{ enabled on; on_play {collector.url('/on_play')}; on_publish {collector.url('/on_publish')}; }}\n"
        origin = server(FLV + hooks, root=tracing(collector, "origin"))
        edge = server(edge_of(f"127.0.0.1:{origin.ports['rtmp' if protocol == 'rtmp' else 'http']}", more=f"protocol {protocol};") + FLV + hooks, root=tracing(collector, "edge") + EXPORTER)
        publisher = Publisher(origin.ports["rtmp"], "cam", clip("basic"))
        publisher.start()
        with HttpStream(edge.ports["http"], "/live/cam.flv") as player:
            wait_until(lambda: player.read(0.5), 15, "media")
        publisher.stop()
        edge.stop()
        origin.stop()
        play, relay, at_origin = collector.span("edge", "play"), collector.span("edge", "relay"), collector.span("origin", "play")
        publish, asked = collector.span("origin", "publish"), collector.span("edge", "on_play")
        assert play["traceId"] == relay["traceId"] == at_origin["traceId"] == asked["traceId"] != publish["traceId"]
        assert "parentSpanId" not in play and relay["parentSpanId"] == play["spanId"] and at_origin["parentSpanId"] == relay["spanId"]
        assert asked["parentSpanId"] == play["spanId"] and len({one["spanId"] for one in collector.spans()}) == len(collector.spans())
        assert (play["kind"], relay["kind"], at_origin["kind"], asked["kind"]) == (2, 3, 2, 3)
        called = [event for event in collector.events if event.path == "/on_play"][0]
        headers = {name.lower(): value for name, value in called.headers.items()}
        assert headers["traceparent"] == f"00-{asked['traceId']}-{asked['spanId']}-01"
        assert collector.span("origin", "on_publish")["parentSpanId"] == publish["spanId"]
        for span in collector.spans():
            assert re.fullmatch("[0-9a-f]{32}", span["traceId"]) and re.fullmatch("[0-9a-f]{16}", span["spanId"])
            assert 0 < int(span["startTimeUnixNano"]) <= int(span["endTimeUnixNano"]), span
        assert (publish["attributes"]["millrace.stream"], publish["attributes"]["network.protocol.name"]) == ("cam", "rtmp")
        assert int(publish["attributes"]["millrace.received_bytes"]) > 10_000 and play["attributes"]["network.protocol.name"] == "http-flv"
        assert asked["attributes"]["http.response.status_code"] == "200"
        python = python_with("otlp", HERE / "otlp/requirements.txt", "opentelemetry-proto")
        done = subprocess.run([python, "-c", VALIDATE], input=json.dumps(collector.requests()), capture_output=True, text=True, timeout=60, check=False)
        assert done.returncode == 0, done.stderr


def test_a_clients_own_trace_and_a_refusal(server):
    with Collector() as collector:
        collector.answers["/on_play"] = Answer('{"code": 7, "msg": "no"}')
        live = server(FLV + f"http_hooks {{ enabled on; on_play {collector.url('/on_play')}; }}", root=tracing(collector, "one"))
        trace, parent = "4bf92f3577b34da6a3ce929d0e0e4736", "00f067aa0ba902b7"
        for flag in ("00", "01"):
            with HttpStream(live.ports["http"], "/live/cam.flv", {"traceparent": f"00-{trace}-{parent}-{flag}"}) as player:
                assert player.status == 403
        live.stop()
        play, asked = collector.span("one", "play"), collector.span("one", "on_play")
        assert (play["traceId"], play["parentSpanId"], asked["traceId"]) == (trace, parent, trace)
        assert play["status"]["code"] == asked["status"]["code"] == 2 and "no" in play["status"]["message"]
        assert len(collector.spans()) == 2, "the client of flag 00 is not sampled"


def test_offers_name_a_trace(server):
    with Collector() as collector:
        root = tracing(collector, "one") + "rtc_server { enabled on; listen 127.0.0.1:$udp; }\n"
        live = server("rtc { enabled on; }", root=root)
        trace = "4bf92f3577b34da6a3ce929d0e0e4736"
        answer = post(live.ports["api"], "/rtc/v1/whip/?app=live&stream=cam", offer(), traceparent=f"00-{trace}-00f067aa0ba902b7-01")
        assert answer.status == 201
        ask(live.ports["api"], "DELETE", answer.headers["Location"])
        live.stop()
        publish = collector.span("one", "publish")
        assert (publish["traceId"], publish["attributes"]["network.protocol.name"]) == (trace, "whip")


def test_without_a_sample_nothing_is_sent(server, clip):
    with Collector() as collector:
        live = server(f"http_hooks {{ enabled on; on_publish {collector.url('/on_publish')}; }}", root=tracing(collector, "one", "sample_percent 0;"))
        publisher = Publisher(live.ports["rtmp"], "cam", clip("basic"))
        publisher.start()
        publisher.stop()
        live.stop()
        assert not collector.requests()
        (called,) = [event for event in collector.events if event.path == "/on_publish"]
        assert "traceparent" not in {name.lower() for name in called.headers}


@pytest.mark.workers(always=True)
def test_a_collector_that_fails_costs_spans_only(server, clip):
    with Collector() as collector:
        collector.answers["/v1/traces"] = Answer(status=503)
        live = server(FLV, root=tracing(collector, "one", "queue 2;") + EXPORTER)
        publisher = Publisher(live.ports["rtmp"], "cam", clip("basic"))
        publisher.start()
        for _ in range(6):
            player = Player(live.ports["rtmp"], "cam")
            player.start()
            player.stop()
        dropped = 'millrace_trace_spans_total{end="dropped"}'
        wait_until(lambda: metric(live, dropped) >= 6, 20, lambda: f"six spans are dropped, not {metric(live, dropped)}")
        assert metric(live, 'millrace_trace_spans_total{end="sent"}') == 0 and live.log().count("tracing: spans are lost") >= 1
        publisher.stop()
        live.stop()
