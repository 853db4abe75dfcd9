"""The HTTP API from the outside: every field with its type, every status, lists, kicks, files, metrics."""

import base64
import contextlib
import json
import os
import re
import threading
import urllib.error
import urllib.request

import pytest

import live_server
from http_streams import HttpStream, WebSocketStream
from live_server import OnePort, can_connect, wait_until
from rtmp_client import Player, Publisher

pytestmark = pytest.mark.workers

FLV = "http_remux { enabled on; mount [vhost]/[app]/[stream].flv; }"
EXPORTER = "exporter { enabled on; listen 127.0.0.1:$exporter; label one; tag two; }"



def of(kind: type, names: str) -> dict:
    return {name: kind for name in names.split()}


class Open(dict):
    """A shape that lets other members be there too."""


# What stands behind a member is a type (float: any number), or a shape of its own. What is not named must not be there.
ENVELOPE = {"code": int, "server": str, "service": str, "pid": str}
KBPS = of(int, "recv_30s send_30s")
TRACK = of(int, "packets bytes")
STREAM = {**of(str, "id name vhost app tcUrl url"), **of(int, "live_ms clients frames send_bytes recv_bytes"), "kbps": KBPS,
          "role": str, "publish": {"active": bool, "cid": str},
          "video": {**of(str, "codec profile level"), **of(int, "width height")},
          "audio": {**of(str, "codec profile"), **of(int, "sample_rate channel")},
          # Ours:
          "fps": float, "b_frames": bool, "slate": bool, "gop": of(float, "seconds since_key_frame"),
          "tracks": {"video": TRACK, "audio": TRACK, "data": TRACK}, "track_list": list,
          "dropped_packets": int, "forwards": list}
FORWARD = {**of(str, "to state last_error"), **of(int, "since_ms tries sent_bytes")}
CLIENT = {**of(str, "id vhost stream ip pageUrl swfUrl tcUrl url name type"), "publish": bool, "alive": float, **of(int, "send_bytes recv_bytes"),
          "kbps": KBPS,
          # Ours:
          "relay": bool, **of(int, "delivered_packets dropped_packets queued_packets queue_delay_ms")}
VHOST = {**of(str, "id name"), "enabled": bool, **of(int, "clients streams send_bytes recv_bytes"), "kbps": KBPS, "hls": {"enabled": bool}}
SUMMARIES = {
    "ok": bool, "now_ms": int,
    "self": {**of(str, "version argv cwd"), **of(int, "pid ppid mem_kbyte srs_uptime"), **of(float, "mem_percent cpu_percent")},
    "system": {**of(float, "cpu_percent disk_busy_percent mem_ram_percent mem_swap_percent uptime ilde_time load_1m load_5m load_15m"),
               **of(int, """disk_read_KBps disk_write_KBps mem_ram_kbyte mem_swap_kbyte cpus cpus_online net_sample_time net_recv_bytes
                            net_send_bytes net_recvi_bytes net_sendi_bytes srs_sample_time srs_recv_bytes srs_send_bytes conn_sys
                            conn_sys_et conn_sys_tw conn_sys_udp conn_srs""")}}
RUSAGES = """ru_utime ru_stime ru_maxrss ru_ixrss ru_idrss ru_isrss ru_minflt ru_majflt ru_nswap ru_inblock ru_oublock ru_msgsnd ru_msgrcv
             ru_nsignals ru_nvcsw ru_nivcsw"""
SELF_STAT = """pid ppid pgrp session tty_nr tpgid flags minflt cminflt majflt cmajflt utime stime cutime cstime priority nice num_threads
               itrealvalue starttime vsize rss rsslim startcode endcode startstack kstkesp kstkeip signal blocked sigignore sigcatch wchan
               nswap cnswap exit_signal processor rt_priority policy delayacct_blkio_ticks guest_time cguest_time"""
# What GET of a path gives under "data".
DATA = {
    "/api/v1/versions": {**of(int, "major minor revision"), "version": str},
    "/api/v1/summaries": SUMMARIES,
    "/api/v1/rusages": {"ok": bool, "sample_time": int, **of(int, RUSAGES)},
    "/api/v1/self_proc_stats": {"ok": bool, "sample_time": int, "percent": float, "comm": str, "state": str, **of(int, SELF_STAT)},
    "/api/v1/system_proc_stats": {"ok": bool, "sample_time": int, "percent": float,
                                  **of(int, "user nice sys idle iowait irq softirq steal guest")},
    "/api/v1/meminfos": {"ok": bool, "sample_time": int, **of(float, "percent_ram percent_swap"),
                         **of(int, "MemActive RealInUse NotInUse MemTotal MemFree Buffers Cached SwapTotal SwapFree")},
    "/api/v1/authors": of(str, "license contributors"),
    "/api/v1/features": {**of(str, "options options2 build build2"), "features": of(
        bool, "ssl hls hds callback api httpd dvr transcode ingest stat caster complex_send tcp_nodelay so_sendbuf mr")},
    "/api/v1/requests": {**of(str, "uri path METHOD"), "headers": Open({**of(str, "sigature version link"), "time": int})},
    "/api/v1/tests/requests": {**of(str, "uri path METHOD"), "headers": Open({**of(str, "sigature version link"), "time": int})},
    "/api/v1/clusters?ip=a&vhost=b&app=c&stream=d&coworker=127.0.0.1:9092": {"query": of(str, "ip vhost app stream"), "origin": type(None)},
}
# What is there in some builds only; it is not found elsewhere.
BUILD_DATA = {
    "/api/v1/tcmalloc": {"query": of(str, "page help"), "release_rate": float, "generic": of(int, "current_allocated_bytes heap_size"),
                         "tcmalloc": of(int, """pageheap_free_bytes pageheap_unmapped_bytes slack_bytes max_total_thread_cache_bytes
                                                current_total_thread_cache_bytes""")},
}
# What GET of a path gives under "urls".
V1 = Open({**of(str, """versions summaries rusages self_proc_stats system_proc_stats meminfos authors features requests vhosts streams clients
                        raw clusters perf tcmalloc"""), "tests": of(str, "requests errors redirects [vhost]")})
URLS = {"/": {"api": str, "rtc": {"v1": of(str, "play publish nack")}}, "/api/": {"v1": str}, "/api/v1/": V1}
UNKNOWN = ["/api/v1/perf", "/api/v1/nosuch", "/api/v1/no/such/thing?x=y", "/api/v1/versions/x", "/api/v2/", "/openapi.json", "/docs", "/rtc/v1/nosuch"]
RAW = {"enabled": bool, "listen": str, "crossdomain": bool, "raw_api": of(bool, "enabled allow_reload allow_query allow_update")}
RELOAD = {**of(int, "err state"), **of(str, "msg rid")}


# What answers of several workers have besides.
OF_WORKERS = {"worker": int, "workers": list}


def assert_shape(value, shape, where: str) -> None:
    if isinstance(shape, dict):
        assert isinstance(value, dict), f"{where}: {value!r}"
        for name, kind in shape.items():
            assert name in value, f"{where} has no {name}: {value}"
            assert_shape(value[name], kind, f"{where}.{name}")
        unknown = set(value) - set(shape) - ({name for name in OF_WORKERS if type(value.get(name)) is OF_WORKERS[name]} if os.environ.get("SRS_WORKERS") else set())
        assert isinstance(shape, Open) or not unknown, f"{where} has {unknown}, which no table names"
    elif shape is float:
        assert isinstance(value, (int, float)) and not isinstance(value, bool), f"{where}: {value!r} is no number"
    else:
        assert type(value) is shape, f"{where}: {value!r} is no {shape.__name__}"


def request(url: str, method: str = "GET", headers: dict | None = None) -> tuple[int, dict, bytes]:
    """Status, headers with names in lower case, body; whatever the status."""
    asked = urllib.request.Request(url, method=method, headers=headers or {})
    try:
        with urllib.request.urlopen(asked, timeout=5) as answer:
            return answer.status, {k.lower(): v for k, v in answer.headers.items()}, answer.read()
    except urllib.error.HTTPError as error:
        return error.code, {k.lower(): v for k, v in error.headers.items()}, error.read()


def api(server, path: str, **options) -> tuple[int, dict, bytes]:
    return request(f"http://127.0.0.1:{server.ports['api']}{path}", **options)


def files(server, path: str, **options) -> tuple[int, dict, bytes]:
    return request(f"http://127.0.0.1:{server.ports['http']}{path}", **options)


def keep_reading(player: HttpStream) -> None:
    """Until it ends or is closed: a player that takes nothing for long is sent away."""
    with contextlib.suppress(OSError):
        while not player.ended:
            player.read(0.5)


@contextlib.contextmanager
def everybody_on(live, clip):
    """One publisher and three players by RTMP, HTTP-FLV and WebSocket, all of whom the API knows."""
    publisher = Publisher(live.ports["rtmp"], "cam", clip("basic"))
    publisher.start()
    rtmp = Player(live.ports["rtmp"], "cam")
    rtmp.start()
    with (HttpStream(live.ports["http"], "/live/cam.flv", {"Referer": "http://example.com/page"}) as by_http,
          WebSocketStream(live.ports["http"], "/live/cam.flv") as by_websocket):
        for player in (by_http, by_websocket):
            threading.Thread(target=keep_reading, args=(player,), daemon=True).start()
        wait_until(lambda: len(live.api("/api/v1/clients/")["clients"]) == 4, 15, "four clients are listed")
        yield
    rtmp.stop()
    publisher.stop()


@pytest.fixture(name="show", scope="module")
def fixture_show(tmp_path_factory, clip, workers):  # pylint: disable=unused-argument
    """A server with clients of every kind, for tests that only read."""
    live = live_server.LiveServer(tmp_path_factory.mktemp("show"), live_server.conf(FLV, EXPORTER)).start()
    try:
        with everybody_on(live, clip):
            # Rates and the like are sampled every 3 s, and a GOP has a length when the next one begins.
            wait_until(lambda: live.api("/api/v1/streams/")["streams"][0]["gop"]["seconds"], 30, "the stream's GOP is known")
            yield live
        live.stop()
    finally:
        live.kill()


def test_every_field_has_its_type(show):
    for path, shape in DATA.items():
        got = show.api(path)
        assert_shape(got, {**ENVELOPE, "data": shape}, path)
        assert got["code"] == 0
    for path, shape in BUILD_DATA.items():
        status, _, body = api(show, path)
        if status != 404:
            assert_shape(json.loads(body), {**ENVELOPE, "data": shape}, path)
    for path, urls in URLS.items():
        assert_shape(show.api(path), {**ENVELOPE, "urls": urls}, path)
    assert_shape(show.api("/api/v1/raw?rpc=raw"), {**ENVELOPE, "http_api": RAW}, "raw")


def test_figures_of_the_machine_fit_together(show):
    wait_until(lambda: show.api("/api/v1/summaries")["data"]["ok"], 30, "all figures are there")
    summaries = show.api("/api/v1/summaries")["data"]
    own, machine = summaries["self"], summaries["system"]
    assert own["pid"] in show.pids() and str(show.conf_path) in own["argv"] and own["cwd"] == str(show.folder)
    assert 0 < own["mem_percent"] < 1 and own["mem_kbyte"] > 1000 and 0 < own["srs_uptime"] < 300
    assert machine["conn_srs"] >= 4 and machine["srs_recv_bytes"] > 100_000 and machine["srs_send_bytes"] > 300_000
    assert machine["conn_sys"] >= machine["conn_sys_et"] >= 4 and machine["net_recvi_bytes"] > 100_000, "loopback is intranet"
    assert 0 < machine["mem_ram_percent"] < 1 and 0 <= machine["cpu_percent"] <= 1 and machine["cpus"] >= machine["cpus_online"] >= 1
    memory = show.api("/api/v1/meminfos")["data"]
    assert memory["MemActive"] == memory["MemTotal"] - memory["MemFree"]
    assert memory["RealInUse"] == memory["MemActive"] - memory["Buffers"] - memory["Cached"]
    assert memory["NotInUse"] == memory["MemTotal"] - memory["RealInUse"]
    assert abs(memory["percent_ram"] - memory["RealInUse"] / memory["MemTotal"]) < 0.01
    process = show.api("/api/v1/self_proc_stats")["data"]
    assert process["pid"] in show.pids() and re.fullmatch("[A-Za-z]", process["state"]) and process["num_threads"] >= 1
    asked = show.api("/api/v1/requests?a=b")["data"]
    assert (asked["uri"], asked["path"], asked["METHOD"]) == ("/api/v1/requests?a=b", "/api/v1/requests", "GET")
    assert asked["headers"]["Host"] == f"127.0.0.1:{show.ports['api']}"


def test_streams_clients_and_vhosts_report_the_state(show):
    wait_until(lambda: all(c["alive"] > 3 and (c["kbps"]["recv_30s"] > 100 if c["publish"] else c["send_bytes"] > 50_000)
                           for c in show.api("/api/v1/clients/")["clients"]), 30, "three seconds of figures")
    (stream,) = show.api("/api/v1/streams/")["streams"]
    assert_shape(stream, STREAM, "stream")
    assert (stream["name"], stream["app"], stream["url"], stream["clients"]) == ("cam", "live", "/live/cam", 4)
    assert stream["video"]["codec"] == "H264" and (stream["video"]["width"], stream["video"]["height"]) == (640, 360)
    assert stream["audio"]["codec"] == "AAC" and stream["audio"]["sample_rate"] == 44100 and stream["audio"]["channel"] == 2
    assert stream["frames"] > 50 and stream["recv_bytes"] > 100_000 and stream["send_bytes"] > stream["recv_bytes"]
    assert stream["publish"]["active"] and 1.5 < stream["gop"]["seconds"] < 2.5
    clients = show.api("/api/v1/clients/")["clients"]
    for client in clients:
        assert_shape(client, CLIENT, client["type"])
        assert client["stream"] == stream["id"] and client["ip"] == "127.0.0.1" and client["alive"] > 3
    assert sorted(c["type"] for c in clients) == ["flv-play", "flv-play", "fmle-publish", "rtmp-play"]
    assert {c["name"] for c in clients} == {"cam", "cam.flv"}
    assert "http://example.com/page" in {c["pageUrl"] for c in clients}
    (publisher,) = [c for c in clients if c["publish"]]
    assert publisher["id"] == stream["publish"]["cid"] and publisher["kbps"]["recv_30s"] > 100
    assert all(c["send_bytes"] > 50_000 for c in clients if not c["publish"])
    (host,) = show.api("/api/v1/vhosts/")["vhosts"]
    assert_shape(host, VHOST, "vhost")
    assert host["id"] == stream["vhost"] and host["name"] == "__defaultVhost__" and (host["clients"], host["streams"]) == (4, 1)
    for kind, entry in (("stream", stream), ("vhost", host), ("client", clients[0])):
        assert show.api(f"/api/v1/{kind}s/{entry['id']}")[kind]["id"] == entry["id"]


def test_streams_of_other_hosts_and_without_publisher(server, clip):
    live = server(FLV, root="vhost video.example.com { http_remux { enabled on; mount [vhost]/[app]/[stream].ts; } }\n")
    publisher = Publisher(live.ports["rtmp"], "cam", clip("audio"), app="live?vhost=video.example.com")
    publisher.start()
    with HttpStream(live.ports["http"], "/live/cam.ts?vhost=video.example.com"), HttpStream(live.ports["http"], "/live/nobody.flv"):
        wait_until(lambda: len(live.api("/api/v1/clients/")["clients"]) == 3, 15, "three clients")
        wait_until(lambda: any(s["audio"] for s in live.api("/api/v1/streams/")["streams"]), 15, "audio")
        cam, nobody = sorted(live.api("/api/v1/streams/")["streams"], key=lambda stream: stream["name"])
        assert (cam["url"], cam["tcUrl"]) == ("video.example.com/live/cam", f"rtmp://127.0.0.1:{live.ports['rtmp']}/live")
        assert cam["video"] is None and cam["audio"]["codec"] == "AAC" and cam["publish"]["active"]
        assert_shape(nobody, {**STREAM, "publish": {"active": bool}, "video": type(None), "audio": type(None),
                              "gop": of(type(None), "seconds since_key_frame")}, "a stream that nobody publishes")
        assert nobody["publish"] == {"active": False} and (nobody["clients"], nobody["frames"]) == (1, 0)
        clients = {c["name"]: c for c in live.api("/api/v1/clients/")["clients"]}
        assert (clients["cam.ts"]["type"], clients["cam.ts"]["tcUrl"]) == ("flv-play", "rtmp://video.example.com/live")
        hosts = {h["name"]: h for h in live.api("/api/v1/vhosts/")["vhosts"]}
        assert {name: (h["clients"], h["streams"]) for name, h in hosts.items()} == {"__defaultVhost__": (1, 1), "video.example.com": (2, 1)}
        assert cam["vhost"] == hosts["video.example.com"]["id"] == clients["cam.ts"]["vhost"]
    publisher.stop()
    wait_until(lambda: live.api("/api/v1/streams/")["streams"] == [], 5, "streams that nobody publishes or plays are not listed")
    assert json.loads(api(live, f"/api/v1/streams/{cam['id']}")[2])["code"] == 2048
    assert live.api(f"/api/v1/vhosts/{cam['vhost']}")["vhost"]["clients"] == 0


# Requests, and the status and code of their answers.
ANSWERS = [
    ("GET", "/api/v1/vhosts/vid-0000000", 404, 2014), ("GET", "/api/v1/streams/vid-0000000", 404, 2048),
    ("GET", "/api/v1/clients/zzzzzzzz", 404, 2049), ("DELETE", "/api/v1/clients/zzzzzzzz", 404, 2049), ("DELETE", "/api/v1/clients/", 404, 2049),
    ("POST", "/api/v1/clients/zzzzzzzz", 405, 405), ("PUT", "/api/v1/clients/", 405, 405), ("DELETE", "/api/v1/streams/vid-0000000", 405, 405),
    ("DELETE", "/api/v1/vhosts/vid-0000000", 405, 405), ("GET", "/api/v1/tests/errors", 400, 100),
    ("GET", "/api/v1/raw", 403, 1061), ("GET", "/api/v1/raw?rpc=nonsense", 403, 1061), ("GET", "/api/v1/raw?rpc=reload", 403, 1061),
    ("GET", "/api/v1/raw?rpc=reload-fetch", 403, 1061), ("GET", "/api/v1/raw?rpc=raw", 200, 0), ("GET", "/metrics", 404, 1090),
    ("GET", "/metrics/streams", 404, 1090), ("GET", "/a/../b", 400, 400),
    *((method, "/api/v1/raw", 405, 405) for method in ("POST", "PUT", "DELETE", "PATCH")),
    # What is only read is answered whatever the method, for scripts of this family POST it.
    *((method, path.split("?")[0], 200, 0) for method in ("POST", "PUT", "DELETE", "PATCH") for path in ("/", "/api/", "/api/v1/", *DATA)),
    *((method, path, 404, 404) for method in ("GET", "POST", "PUT", "DELETE", "PATCH") for path in UNKNOWN),
    *(("GET", f"/api/v1/{name}?{query}", 400, 400) for name in ("streams/", "clients/", "vhosts/", "dvrs", "forwards", "fibers")
      for query in ("count=0", "count=-1", "count=ten", "start=-1", "start=abc")),
]


def test_every_answer_has_its_status_code_and_headers(server):
    live = server(FLV)
    for method, path, want, code in ANSWERS:
        status, headers, body = api(live, path, method=method)
        got = json.loads(body)
        assert (status, got["code"]) == (want, code), f"{method} {path}: {status} {body}"
        assert code == 0 or got["message"], path
        assert (status == 405) == ("allow" in headers), path
    for path in (*DATA, *URLS, "/api/v1/vhosts/", "/api/v1/streams/", "/api/v1/clients/"):
        status, headers, body = api(live, path)
        assert status == 200 and headers["content-type"] == "application/json" and int(headers["content-length"]) == len(body), path
        assert re.fullmatch(r"\w+/\d+\.\d+\.\d+\(\w+\)", headers["server"]) and headers["connection"].lower() == "close", path
        head = api(live, path, method="HEAD")
        assert (head[0], head[1]["content-type"], head[2]) == (200, "application/json", b""), path
    here, there = (re.sub(rb'"pid":"[0-9]+"', b"", ask(live, "/api/v1/versions")[2]) for ask in (files, api))
    assert here == there, "on the port of the streams too"


class NoRedirect(urllib.request.HTTPRedirectHandler):
    def redirect_request(self, *_):
        return None


@pytest.mark.parametrize("path, status, location", [
    ("/api/v1/streams?start=1&count=20", 302, "/api/v1/streams/?start=1&count=20"), ("/api/v1/clients", 302, "/api/v1/clients/"),
    ("/api/v1/vhosts", 302, "/api/v1/vhosts/"), ("/api/v1", 302, "/api/v1/"), ("/api", 302, "/api/"), ("/console", 302, "/console/"),
    ("/api/v1/tests/redirects", 301, "/api/v1/tests/errors")])
def test_a_missing_slash_is_redirected(server, path, status, location):
    live = server()
    with pytest.raises(urllib.error.HTTPError) as answer:
        urllib.request.build_opener(NoRedirect).open(f"http://127.0.0.1:{live.ports['api']}{path}", timeout=30)
    assert (answer.value.code, answer.value.headers["Location"]) == (status, location)


def test_a_kicked_client_is_gone_and_the_others_are_not(server, clip):
    live = server(FLV)
    with everybody_on(live, clip):
        wait_until(lambda: all(c["send_bytes"] > 10_000 for c in live.api("/api/v1/clients/")["clients"] if not c["publish"]), 15, "all are playing")
        for kind in ("rtmp-play", "flv-play"):
            victim = next(c for c in live.api("/api/v1/clients/")["clients"] if c["type"] == kind)
            status, _, body = api(live, f"/api/v1/clients/{victim['id']}", method="DELETE")
            assert status == 200 and json.loads(body)["code"] == 0
            wait_until(lambda: victim["id"] not in {c["id"] for c in live.api("/api/v1/clients/")["clients"]}, 10, f"{kind} is gone")
        assert len(live.api("/api/v1/clients/")["clients"]) == 2
        publisher = next(c for c in live.api("/api/v1/clients/")["clients"] if c["publish"])
        status, _, _ = api(live, f"/api/v1/clients/{publisher['id']}", method="DELETE", headers={"Origin": "http://evil.example"})
        assert status == 403, "a page of another site"
        for port in ("", ":1", f":{live.ports['rtmp']}"):
            status, _, _ = api(live, f"/api/v1/clients/{publisher['id']}", method="DELETE", headers={"Origin": f"http://127.0.0.1{port}"})
            assert status == 403, f"a page of another service of this machine, {port}"
        port = live.ports["http"]
        assert api(live, f"/api/v1/clients/{publisher['id']}", method="DELETE", headers={"Origin": f"http://127.0.0.1:{port}"})[0] == 200
        wait_until(lambda: not live.api("/api/v1/clients/")["clients"], 15, "the stream's last player leaves with it")


@pytest.mark.workers(always=True)
def test_lists_come_in_pages(server, clip):
    live = server(FLV)
    publishers = [Publisher(live.ports["rtmp"], f"cam{i:02}", clip("audio")) for i in range(15)]
    for publisher in publishers:
        publisher.start()
    wait_until(lambda: len(live.api("/api/v1/streams/?count=100")["streams"]) == 15, 15, "15 streams")
    first = live.api("/api/v1/streams/")["streams"]
    rest = live.api("/api/v1/streams/?start=10&count=10")["streams"]
    assert len(first) == 10 and len(rest) == 5
    assert len({s["id"] for s in first + rest}) == 15
    for kind in ("streams", "clients"):
        assert [len(live.api(f"/api/v1/{kind}/?count={count}")[kind]) for count in (1, 2)] == [1, 2], "the least count is 1"
    assert live.api("/api/v1/clients/?start=14&count=1")["clients"]
    assert live.api("/api/v1/streams/?start=1000")["streams"] == []
    for publisher in publishers:
        publisher.stop()


CORS = {"access-control-allow-origin": "*", "access-control-allow-headers": "*", "access-control-allow-methods": "*",
        "access-control-expose-headers": "*", "access-control-allow-credentials": "false", "access-control-request-private-network": "true"}


def test_pages_of_other_origins_may_not_ask_when_that_is_switched_off(server):
    live = server(conf=live_server.conf(FLV).replace("http_api { enabled on;", "http_api { enabled on; crossdomain off;"))
    assert api(live, "/api/v1/versions", method="OPTIONS", headers={"Origin": "http://example.com"})[0] == 405
    assert not any(name.startswith("access-control-") for name in api(live, "/api/v1/versions", headers={"Origin": "http://example.com"})[1])


def test_one_port_serves_it_all(server, clip):
    live = server(conf=live_server.conf(FLV).replace("$http", "$api"), ports=OnePort())
    (live.folder / "html").mkdir(exist_ok=True)
    (live.folder / "html" / "page.html").write_text("<p>page</p>")
    publisher = Publisher(live.ports["rtmp"], "cam", clip("basic"))
    publisher.start()
    assert live.api("/api/v1/summaries")["code"] == 0 and files(live, "/page.html")[2] == b"<p>page</p>"
    with HttpStream(live.ports["http"], "/live/cam.flv") as player:
        assert player.read_until(bool).startswith(b"FLV")
    publisher.stop()


def test_the_exporters_port_serves_metrics_only(server, clip):
    live = server(FLV, EXPORTER)
    publisher = Publisher(live.ports["rtmp"], "cam", clip("basic"))
    publisher.start()
    client = wait_until(lambda: live.api("/api/v1/clients/")["clients"], 15, "the publisher is known")[0]
    exporter = f"http://127.0.0.1:{live.ports['exporter']}"
    for path in ("/metrics", "/metrics/streams?match=/live/*", "/healthz", "/readyz"):
        assert request(exporter + path)[0] == 200, path
    for method, path in (("DELETE", f"/api/v1/clients/{client['id']}"), ("GET", "/api/v1/profile?seconds=1"), ("GET", "/api/v1/clients/"),
                         ("GET", "/api/v1/raw?rpc=reload"), ("GET", "/console/"), ("GET", "/")):
        assert request(exporter + path, method=method)[0] == 404, path
    assert publisher.is_alive() and live.api("/api/v1/clients/")["clients"], "still publishing"
    publisher.stop()


GUARDED = "http_api { enabled on; auth { enabled on; username admin; password secret; } raw_api { enabled on; allow_reload on; }"


def test_metrics_of_the_apis_port_need_its_password(server):
    live = server("", EXPORTER)
    live.stop()
    live.write_conf(live.conf_path.read_text().replace("http_api { enabled on;", GUARDED))
    live.start(ready=False)
    wait_until(lambda: live_server.can_connect(live.ports["api"]), 20, "the API's port")
    for path in ("/metrics", "/metrics/streams", "/%6detrics", "/api/v1/summaries"):
        assert api(live, path)[0] == 401, path
        for scheme in ("Basic", "basic", "BASIC"):
            assert api(live, path, headers={"Authorization": f"{scheme} YWRtaW46c2VjcmV0"})[0] == 200, (path, scheme)
    assert api(live, "/healthz")[0] == 200
    assert request(f"http://127.0.0.1:{live.ports['exporter']}/metrics")[0] == 200, "the exporter's own port is for whoever reaches it"


def test_a_page_of_another_origin_reloads_nothing(server):
    """A script tag sends a GET without Origin; the browser adds Sec-Fetch-Site."""
    raw = "http_api { enabled on; raw_api { enabled on; allow_reload on; }"
    live = server(conf=live_server.conf("").replace("http_api { enabled on;", raw))
    for path in ("/api/v1/raw?rpc=reload", "/api/v1/profile?seconds=1", "/api/v1/memory?mark=1"):
        for site in ("cross-site", "same-site"):
            assert api(live, path, headers={"Sec-Fetch-Site": site})[0] == 403, (path, site)
    for site in ("same-origin", "none"):
        assert api(live, "/api/v1/raw?rpc=reload", headers={"Sec-Fetch-Site": site})[0] == 200, site


def test_a_script_tag_gets_no_executable_answer_and_kicks_no_client(server, clip):
    live = server(FLV)
    publisher = Publisher(live.ports["rtmp"], "cam", clip("basic"))
    publisher.start()
    client = wait_until(lambda: live.api("/api/v1/clients/")["clients"], 15, "the publisher is known")[0]
    for query in ("callback=f", "callback=f&method=DELETE"):
        status, headers, body = api(live, f"/api/v1/clients/{client['id']}?{query}")
        assert (status, headers["content-type"]) == (200, "application/json") and json.loads(body)["client"]["id"] == client["id"]
    publisher.stop()


def test_pages_of_other_origins_may_ask_and_callbacks_are_checked(server):
    live = server(conf=live_server.conf(FLV).replace("http_api { enabled on;", "http_api { enabled on; jsonp on;"))
    for method in ("GET", "OPTIONS"):
        status, headers, body = api(live, "/api/v1/versions", method=method, headers={"Origin": "http://example.com"})
        assert status == 200 and bool(body) == (method == "GET")
        assert {name: value for name, value in headers.items() if name.startswith("access-control-")} == CORS
    assert not any(name.startswith("access-control-") for name in api(live, "/api/v1/versions")[1])
    status, headers, body = api(live, "/api/v1/versions?callback=my.call_1$")
    assert status == 200 and headers["content-type"].startswith("text/javascript") and body.startswith(b"my.call_1$({")
    for bad in ("alert(1)", "a" * 65, "%3Cscript%3E"):
        try:
            status, _, body = api(live, f"/api/v1/versions?callback={bad}")
            assert status == 400 and b"script" not in body and b"alert" not in body
        except (ConnectionError, urllib.error.URLError):
            pass  # Closing without a word is an answer too.


def test_the_api_requires_the_password(server):
    live = server(FLV)
    live.write_conf(CLOSED_CONF)
    live.stop()
    live.start(ready=False)
    wait_until(lambda: all(can_connect(live.ports[name]) for name in ("api", "http")), 20, "the API listens")
    good = {"Authorization": "Basic " + base64.b64encode(b"admin:secret").decode()}
    for path in ("/api/v1/versions", "/api/v1/clients/", "/api/", "/api/v1/summaries?x=1"):
        status, headers, body = api(live, path)
        assert status == 401 and "basic" in headers["www-authenticate"].lower() and body == b"", path
        assert api(live, path, headers=good)[0] == 200, path
        # Its next guess must wait; the right one, which was right from this address before, need not.
        assert api(live, path, headers={"Authorization": "Basic " + base64.b64encode(b"admin:wrong").decode()})[0] in (401, 503)
        assert api(live, path, headers=good)[0] == 200, path
    assert files(live, "/api/v1/versions")[0] == 401 and files(live, "/api/v1/versions", headers=good)[0] == 200
    assert api(live, "/metrics")[0] == 401 and api(live, "/metrics", headers=good)[0] == 200 and api(live, "/console/")[0] == 404 and files(live, "/no-such-file")[0] == 404
    with HttpStream(live.ports["http"], "/live/nobody.flv") as player:
        assert player.status == 200, "streams need no password"


CLOSED_CONF = """\
listen              127.0.0.1:$rtmp;
daemon              off;
srs_log_tank        console;
pid                 $folder/srs.pid;
http_api { enabled on; listen 127.0.0.1:$api; auth { enabled on; username admin; password secret; } }
http_server { enabled on; listen 127.0.0.1:$http; dir $folder/html; }
exporter { enabled on; listen 127.0.0.1:$exporter; }
vhost __defaultVhost__ { http_remux { enabled on; mount [vhost]/[app]/[stream].flv; } }
"""


def test_reload_by_the_api(server):
    live = server(FLV)
    refused = json.loads(api(live, "/api/v1/raw?rpc=reload")[2])
    assert refused["code"] in (1061, 1062)
    live.write_conf(live.conf_path.read_text().replace(f"http_api {{ enabled on; listen 127.0.0.1:{live.ports['api']}; }}",
                                                       f"http_api {{ enabled on; listen 127.0.0.1:{live.ports['api']}; "
                                                       "raw_api { enabled on; allow_reload on; } }"))
    live.stop()
    live.start()
    assert live.api("/api/v1/raw?rpc=raw")["http_api"]["raw_api"]["allow_reload"] is True
    assert live.api("/api/v1/raw?rpc=reload")["code"] == 0
    wait_until(lambda: live.api("/api/v1/raw?rpc=reload-fetch")["data"]["state"] == 90, 15, "the reload is over")
    assert live.api("/api/v1/raw?rpc=reload-fetch")["data"]["err"] == 0
    assert_shape(live.api("/api/v1/raw?rpc=reload-fetch"), {**ENVELOPE, "data": RELOAD}, "reload-fetch")
    for path in ("/api/v1/raw", "/api/v1/raw?rpc=nonsense"):
        status, _, body = api(live, path)
        assert (status, json.loads(body)["code"]) == (400, 1060)
    status, _, body = api(live, "/api/v1/raw?rpc=update&scope=listen")
    assert (status, json.loads(body)["code"]) == (403, 1061), "settings are never changed this way"


def test_files_are_served_whole_in_part_and_never_from_outside(server):
    live = server(FLV)
    folder = live.folder / "html"
    (folder / "sub").mkdir(parents=True, exist_ok=True)
    (folder / "index.html").write_text("<p>home</p>")
    (folder / "sub" / "a.mp4").write_bytes(bytes(range(256)) * 1000)
    (live.folder / "secret.txt").write_text("secret")
    (folder / "link.txt").symlink_to(live.folder / "secret.txt")
    status, headers, body = files(live, "/")
    assert status == 200 and headers["content-type"].startswith("text/html") and body == b"<p>home</p>"
    status, headers, body = files(live, "/sub/a.mp4")
    assert status == 200 and headers["content-type"] == "video/mp4" and body == bytes(range(256)) * 1000
    status, headers, body = files(live, "/sub/a.mp4", headers={"Range": "bytes=10-19"})
    assert status == 206 and headers["content-range"] == "bytes 10-19/256000" and body == bytes(range(10, 20))
    assert files(live, "/sub/a.mp4", headers={"Range": "bytes=999999-"})[0] == 416
    status, headers, body = files(live, "/sub/a.mp4", method="HEAD")
    assert status == 200 and headers["content-length"] == "256000" and body == b""
    unchanged = {"If-None-Match": files(live, "/index.html")[1]["etag"]}
    assert files(live, "/index.html", headers=unchanged)[0] == 304
    assert files(live, "/no-such-file.html")[0] == 404
    for path in ("/link.txt", "/%2e%2e/secret.txt", "/sub/%2e%2e/%2e%2e/secret.txt"):
        status, _, body = files(live, path)
        assert status in (400, 403, 404) and b"secret" not in body, path
    assert files(live, "/sub/")[0] in (403, 404), "no listing of a folder"


# The reference's names, with their types and labels.
METRICS = {"srs_node_uname_info": ("gauge", "sysname nodename release version machine"),
           "srs_build_info": ("gauge", "server service pid build_date major version code label tag"), "srs_cpu_percent": ("gauge", ""),
           "srs_memory": ("gauge", ""), "srs_send_bytes_total": ("counter", ""), "srs_receive_bytes_total": ("counter", ""),
           "srs_streams": ("gauge", ""), "srs_clients": ("gauge", ""), "srs_clients_total": ("counter", ""),
           "srs_clients_errs_total": ("counter", "")}
METRIC = re.compile(r"^[a-z_:][a-z0-9_:]*(\{([a-z_]+=\"(?:[^\"\\\n]|\\.)*\",?)*\})? (-?[0-9.e+-]+|\+Inf|NaN)$")


def test_metrics_can_be_read_by_a_scraper(show):
    status, headers, body = request(f"http://127.0.0.1:{show.ports['exporter']}/metrics")
    assert status == 200 and headers["content-type"] == "text/plain; version=0.0.4; charset=utf-8"
    values, typed = {}, set()
    for line in body.decode().splitlines():
        if line.startswith("# TYPE "):
            name = line.split()[2]
            assert name not in typed, f"{name} twice"
            typed.add(name)
        elif not line.startswith("#"):
            assert METRIC.match(line), line
            assert re.sub(r"_(bucket|sum|count)$", "", line.split("{")[0].split()[0]) in typed or line.split("{")[0].split()[0] in typed, line
            values[line.rsplit(" ", 1)[0]] = float(line.rsplit(" ", 1)[1])
    for name, (kind, labels) in METRICS.items():
        assert f"# TYPE {name} {kind}\n" in body.decode() and f"# HELP {name} " in body.decode(), name
        (series,) = [series for series in values if series.split("{")[0] == name and 'worker="' not in series]
        assert re.findall(r'(\w+)="', series) == labels.split(), series
    assert 'label="one",tag="two"' in body.decode()
    assert 1 <= values["srs_streams"] <= len(show.pids()) and values["srs_clients"] == 4
    assert values["srs_receive_bytes_total"] > 100_000 and values["srs_send_bytes_total"] > 300_000
    delay = [name for name in typed if "delay" in name]
    assert delay and values[f"{delay[0]}_count"] > 100, "packets were written, and their delay counted"
    status, _, body = request(f"http://127.0.0.1:{show.ports['exporter']}/metrics/streams?match=/live/*")
    assert status == 200 and b'/live/cam' in body
    assert api(show, "/healthz")[0] == 200 and api(show, "/readyz")[0] == 200


def test_lists_say_how_many_there_are_and_where_the_next_page_begins(server, clip):
    live = server(FLV)
    publishers = [Publisher(live.ports["rtmp"], f"cam{number}", clip("audio")) for number in range(3)]
    for one in publishers:
        one.start()
    wait_until(lambda: live.api("/api/v1/streams/")["total"] == 3, 15, "three streams")
    for name in ("streams", "clients"):
        seen, start = [], 0
        while start is not None:
            page = live.api(f"/api/v1/{name}/?start={start}&count=2")
            assert page["total"] == 3 and len(page[name]) <= 2, page
            seen += [entry["id"] for entry in page[name]]
            start = page["next"]
        assert len(set(seen)) == len(seen) == 3, name
    hosts = live.api("/api/v1/vhosts/")
    assert (hosts["total"], hosts["next"]) == (1, None)
    for one in publishers:
        one.stop()


def test_forwards_show_their_state(server, clip):
    there = server()
    live = server(f"{FLV} forward {{ enabled on; destination 127.0.0.1:{there.ports['rtmp']}; }}", root=EXPORTER)
    publisher = Publisher(live.ports["rtmp"], "cam", clip("basic"))
    publisher.start()

    def forward(state: str) -> dict | None:
        found = [one for one in live.api("/api/v1/forwards")["forwards"] if one["state"] == state]
        return found[0] if found else None

    sending = wait_until(lambda: forward("sending"), 20, live.log)
    assert sending.pop("stream_url") == "/live/cam"
    assert_shape({name: value for name, value in sending.items() if name != "worker"}, FORWARD, "forward")
    assert sending["to"].startswith(f"rtmp://127.0.0.1:{there.ports['rtmp']}") and sending["last_error"] == "", sending
    wait_until(lambda: forward("sending")["sent_bytes"] > 50_000, 20, "bytes")
    (stream,) = live.api("/api/v1/streams/")["streams"]
    assert [one["state"] for one in stream["forwards"]] == ["sending"]
    assert live.api("/api/v1/forwards")["total"] == 1
    metrics = urllib.request.urlopen(f"http://127.0.0.1:{live.ports['exporter']}/metrics", timeout=10).read().decode()
    assert 'millrace_forwards{state="sending"} 1\n' in metrics and 'millrace_forwards{state="waiting"} 0\n' in metrics
    assert int(re.search(r"^millrace_forward_sent_bytes_total (\d+)$", metrics, re.M).group(1)) > 50_000
    there.stop()
    waiting = wait_until(lambda: forward("waiting"), 20, live.log)
    assert waiting["last_error"] and waiting["tries"] >= 1, waiting
    publisher.stop()
    wait_until(lambda: live.api("/api/v1/forwards")["total"] == 0, 20, "no forward without its stream")


def test_wrong_passwords_are_in_the_log(server):
    live = server(FLV)
    live.stop()
    live.write_conf(live.conf_path.read_text().replace("http_api { enabled on;", "http_api { enabled on; auth { enabled on; username u; password p; }"))
    live.start(ready=False)
    wait_until(lambda: can_connect(live.ports["api"]), 20, live.log)
    assert api(live, "/api/v1/versions")[0] == 401
    assert "wrong password" not in live.log(), "a first question without one is none"
    for guess in ("a", "b", "c"):
        login = base64.b64encode(f"u:{guess}".encode()).decode()
        wait_until(lambda login=login: api(live, "/api/v1/versions", headers={"Authorization": f"Basic {login}"})[0] == 401, 20, "the pause after the previous guess ends")
    wait_until(lambda: live.log().count("wrong password or token, ip=127.0.0.1, path=/api/v1/versions") == 3, 10, live.log)
