"""The HTTP API from the outside: every field with its type, every status, lists, kicks, files, metrics."""

import base64
import json
import re
import urllib.error
import urllib.request

import pytest

from http_streams import HttpStream, WebSocketStream
from live_server import can_connect, wait_until
from rtmp_client import Player, Publisher

FLV = "http_remux { enabled on; mount [vhost]/[app]/[stream].flv; }"
EXPORTER = "exporter { enabled on; listen 127.0.0.1:$exporter; }"

ENVELOPE = {"code": int, "server": str, "service": str, "pid": str}
KBPS = {"recv_30s": int, "send_30s": int}
STREAM = {"id": str, "name": str, "vhost": str, "app": str, "tcUrl": str, "url": str, "live_ms": int, "clients": int, "frames": int,
          "send_bytes": int, "recv_bytes": int, "kbps": KBPS, "publish": {"active": bool, "cid": str},
          "video": {"codec": str, "profile": str, "level": str, "width": int, "height": int},
          "audio": {"codec": str, "sample_rate": int, "channel": int, "profile": str},
          "gop": {"seconds": float, "since_key_frame": float}, "dropped_packets": int}
CLIENT = {"id": str, "vhost": str, "stream": str, "ip": str, "pageUrl": str, "swfUrl": str, "tcUrl": str, "url": str, "name": str,
          "type": str, "publish": bool, "alive": float, "send_bytes": int, "recv_bytes": int, "kbps": KBPS, "dropped_packets": int}
VHOST = {"id": str, "name": str, "enabled": bool, "clients": int, "streams": int, "send_bytes": int, "recv_bytes": int, "kbps": KBPS,
         "hls": {"enabled": bool}}
RUSAGES = ["ru_utime", "ru_stime", "ru_maxrss", "ru_ixrss", "ru_idrss", "ru_isrss", "ru_minflt", "ru_majflt", "ru_nswap", "ru_inblock",
           "ru_oublock", "ru_msgsnd", "ru_msgrcv", "ru_nsignals", "ru_nvcsw", "ru_nivcsw"]
SELF_STAT = ("pid ppid pgrp session tty_nr tpgid flags minflt cminflt majflt cmajflt utime stime cutime cstime priority nice num_threads "
             "itrealvalue starttime vsize rss rsslim startcode endcode startstack kstkesp kstkeip signal blocked sigignore sigcatch wchan "
             "nswap cnswap exit_signal processor rt_priority policy delayacct_blkio_ticks guest_time cguest_time").split()
MEMORY = ["MemActive", "RealInUse", "NotInUse", "MemTotal", "MemFree", "Buffers", "Cached", "SwapTotal", "SwapFree"]
# What GET of a path gives under "data".
DATA = {
    "/api/v1/versions": {"major": int, "minor": int, "revision": int, "version": str},
    "/api/v1/rusages": {"ok": bool, "sample_time": int, **{name: int for name in RUSAGES}},
    "/api/v1/self_proc_stats": {"ok": bool, "sample_time": int, "percent": float, "comm": str, "state": str, **{n: int for n in SELF_STAT}},
    "/api/v1/system_proc_stats": {"ok": bool, "sample_time": int, "percent": float,
                                  **{n: int for n in "user nice sys idle iowait irq softirq steal guest".split()}},
    "/api/v1/meminfos": {"ok": bool, "sample_time": int, "percent_ram": float, "percent_swap": float, **{n: int for n in MEMORY}},
    "/api/v1/authors": {"license": str, "contributors": str},
    "/api/v1/features": {"options": str, "options2": str, "build": str, "build2": str, "features": {
        n: bool for n in "ssl hls hds callback api httpd dvr transcode ingest stat caster complex_send tcp_nodelay so_sendbuf mr".split()}},
    "/api/v1/requests": {"uri": str, "path": str, "METHOD": str, "headers": {"sigature": str, "version": str, "link": str, "time": int}},
}


def assert_shape(value, shape, where: str) -> None:
    if isinstance(shape, dict):
        assert isinstance(value, dict), f"{where}: {value!r}"
        for name, kind in shape.items():
            assert name in value, f"{where} has no {name}: {value}"
            assert_shape(value[name], kind, f"{where}.{name}")
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


@pytest.fixture(name="show")
def fixture_show(server, clip):
    """A server with one publisher and three players by RTMP, HTTP-FLV and WebSocket, all of whom the API knows."""
    live = server(FLV, root=EXPORTER)
    publisher = Publisher(live.ports["rtmp"], "cam", clip("basic"))
    publisher.start()
    rtmp = Player(live.ports["rtmp"], "cam")
    rtmp.start()
    flv = HttpStream(live.ports["http"], "/live/cam.flv", {"Referer": "http://example.com/page"})
    websocket = WebSocketStream(live.ports["http"], "/live/cam.flv")
    wait_until(lambda: len(live.api("/api/v1/clients/")["clients"]) == 4, 5, "four clients are listed")
    # Rates and the like are sampled every 3 s, and a GOP has a length when the next one begins.
    wait_until(lambda: live.api("/api/v1/streams/")["streams"][0]["gop"]["seconds"], 12, "the stream's GOP is known")
    yield live
    for player in (flv, websocket):
        player.close()
    rtmp.stop()
    publisher.stop()


def test_every_field_has_its_type(show):
    for path, shape in DATA.items():
        got = show.api(path)
        assert_shape(got, {**ENVELOPE, "data": shape}, path)
        assert got["code"] == 0
    for path, urls in (("/", ["api"]), ("/api/", ["v1"]), ("/api/v1/", ["versions", "streams", "clients", "raw", "tests"])):
        assert set(urls) <= set(show.api(path)["urls"]), path
    assert "versions" in show.api("/api/v1/no-such-thing")["urls"], "unknown paths give the index"


def test_streams_clients_and_hosts_say_what_goes_on(show):
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


def test_what_is_not_there_is_said(show):
    for path, code in (("/api/v1/vhosts/vid-0000000", 2014), ("/api/v1/streams/vid-0000000", 2048), ("/api/v1/clients/zzzzzzzz", 2049)):
        status, _, body = api(show, path)
        got = json.loads(body)
        assert status == 404 and got["code"] == code and got["message"], path
    assert json.loads(api(show, "/api/v1/clients/zzzzzzzz", method="DELETE")[2])["code"] == 2049
    assert json.loads(api(show, "/api/v1/clients/", method="DELETE")[2])["code"] == 2049
    for method in ("POST", "PUT"):
        assert api(show, "/api/v1/clients/zzzzzzzz", method=method)[0] == 405
    assert json.loads(api(show, "/api/v1/tests/errors")[2])["code"] == 100


def test_a_kicked_client_is_gone_and_the_others_are_not(show):
    for kind in ("rtmp-play", "flv-play"):
        victim = next(c for c in show.api("/api/v1/clients/")["clients"] if c["type"] == kind)
        status, _, body = api(show, f"/api/v1/clients/{victim['id']}", method="DELETE")
        assert status == 200 and json.loads(body)["code"] == 0
        wait_until(lambda: victim["id"] not in {c["id"] for c in show.api("/api/v1/clients/")["clients"]}, 3, f"{kind} is gone")
    assert len(show.api("/api/v1/clients/")["clients"]) == 2
    publisher = next(c for c in show.api("/api/v1/clients/")["clients"] if c["publish"])
    assert api(show, f"/api/v1/clients/{publisher['id']}", method="DELETE")[0] == 200
    wait_until(lambda: not show.api("/api/v1/clients/")["clients"], 15, "the stream's last player leaves with it")


def test_lists_come_in_pages(server, clip):
    live = server(FLV)
    publishers = [Publisher(live.ports["rtmp"], f"cam{i:02}", clip("audio")) for i in range(15)]
    for publisher in publishers:
        publisher.start()
    wait_until(lambda: len(live.api("/api/v1/streams/?count=100")["streams"]) == 15, 5, "15 streams")
    first = live.api("/api/v1/streams/")["streams"]
    rest = live.api("/api/v1/streams/?start=10&count=10")["streams"]
    assert len(first) == 10 and len(rest) == 5
    assert len({s["id"] for s in first + rest}) == 15
    assert live.api("/api/v1/clients/?start=14&count=1")["clients"], "the least count is 10"
    assert live.api("/api/v1/streams/?start=1000")["streams"] == []
    for publisher in publishers:
        publisher.stop()


def test_pages_of_other_origins_may_ask_and_callbacks_are_checked(server):
    live = server(FLV)
    status, headers, _ = api(live, "/api/v1/versions", headers={"Origin": "http://example.com"})
    assert status == 200 and headers["access-control-allow-origin"] == "*"
    assert "access-control-allow-origin" not in api(live, "/api/v1/versions")[1]
    assert api(live, "/api/v1/versions", method="OPTIONS", headers={"Origin": "http://example.com"})[0] == 200
    status, headers, body = api(live, "/api/v1/versions?callback=my.call_1$")
    assert status == 200 and headers["content-type"].startswith("text/javascript") and body.startswith(b"my.call_1$({")
    for bad in ("alert(1)", "a" * 65, "%3Cscript%3E"):
        try:
            status, _, body = api(live, f"/api/v1/versions?callback={bad}")
            assert status == 400 and b"script" not in body and b"alert" not in body
        except (ConnectionError, urllib.error.URLError):
            pass  # Closing without a word is an answer too.


def test_only_who_knows_the_password_reads_the_api(server):
    live = server(FLV)
    live.write_conf(CLOSED_CONF)
    live.stop()
    live.start(ready=False)
    wait_until(lambda: can_connect(live.ports["api"]), 10, "the API listens")
    good = {"Authorization": "Basic " + base64.b64encode(b"admin:secret").decode()}
    for path in ("/api/v1/versions", "/api/v1/clients/", "/api/", "/api/v1/summaries?x=1"):
        status, headers, _ = api(live, path)
        assert status == 401 and "basic" in headers["www-authenticate"].lower(), path
        assert api(live, path, headers={"Authorization": "Basic " + base64.b64encode(b"admin:wrong").decode()})[0] == 401
        assert api(live, path, headers=good)[0] == 200, path


CLOSED_CONF = """\
listen              127.0.0.1:$rtmp;
daemon              off;
srs_log_tank        console;
pid                 $folder/srs.pid;
http_api { enabled on; listen 127.0.0.1:$api; auth { enabled on; username admin; password secret; } }
vhost __defaultVhost__ { }
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
    wait_until(lambda: live.api("/api/v1/raw?rpc=reload-fetch")["data"]["state"] == 90, 5, "the reload is over")
    assert live.api("/api/v1/raw?rpc=reload-fetch")["data"]["err"] == 0


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


METRIC = re.compile(r"^[a-z_:][a-z0-9_:]*(\{([a-z_]+=\"(?:[^\"\\\n]|\\.)*\",?)*\})? (-?[0-9.e+-]+|\+Inf|NaN)$")


def test_metrics_can_be_read_by_a_scraper(show):
    status, headers, body = request(f"http://127.0.0.1:{show.ports['exporter']}/metrics")
    assert status == 200 and headers["content-type"].startswith("text/plain")
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
    assert values["srs_streams"] == 1 and values["srs_clients"] == 4
    assert values["srs_receive_bytes_total"] > 100_000 and values["srs_send_bytes_total"] > 300_000
    delay = [name for name in typed if "delay" in name]
    assert delay and values[f"{delay[0]}_count"] > 100, "packets were written, and their delay counted"
    status, _, body = request(f"http://127.0.0.1:{show.ports['exporter']}/metrics/streams?match=/live/*")
    assert status == 200 and b'/live/cam' in body
    assert api(show, "/healthz")[0] == 200 and api(show, "/readyz")[0] == 200
