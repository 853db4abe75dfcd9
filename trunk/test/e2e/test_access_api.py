"""The API by users and tokens with roles, its audit log; keys from a URL; the PROXY protocol; a flood of wrong passwords."""

import base64
import contextlib
import http.client
import json
import os
import re
import selectors
import signal
import socket
import struct
import subprocess
import threading
import time
import urllib.error
import urllib.request
from pathlib import Path

import pytest
import rtc_offer
from access_site import ACCESS, get, is_published, run, start_ffmpeg, token, user
from api_description import ask
from hook_server import HookServer
from key_issuer import Issuer, head, key_set
from live_server import ROOT_CONF, LiveServer, can_connect, wait_until


def call(live: LiveServer, path: str, method: str = "GET", **headers: str) -> int:
    asked = urllib.request.Request(f"http://127.0.0.1:{live.ports['api']}{path}", method=method,
                                   headers={name.replace("_", "-"): value for name, value in headers.items()})
    try:
        with urllib.request.urlopen(asked, timeout=8) as answer:
            return answer.status
    except urllib.error.HTTPError as error:
        return error.code


def basic(name: str, password: str) -> str:
    return "Basic " + base64.b64encode(f"{name}:{password}".encode()).decode()


class GuardedServer(LiveServer):
    """Its API needs a password."""

    def api(self, path: str, limit_s: float = 20) -> dict:
        asked = urllib.request.Request(f"http://{self.host}:{self.ports['api']}{path}", headers={"Authorization": basic("boss", "boss pass")})
        with urllib.request.urlopen(asked, timeout=limit_s) as answer:
            return json.load(answer)


def test_the_api_has_roles_and_an_audit_log(tmp_path):
    site = LiveServer(tmp_path / "hash", "listen 1935;")
    users = "".join(user(name, run(site, "hash", given=f"{name} pass\n"), *rights)
                    for name, rights in (("boss", ["api.admin"]), ("viewer", ["api.read"]), ("scraper", ["metrics"]), ("player", ["play"])))
    assert "http_api {" in ROOT_CONF
    text = ROOT_CONF.replace("http_api {", "http_api { auth { enabled on; } audit_log $folder/audit.log; ") + users + "vhost __defaultVhost__ {" + ACCESS + "}"
    live = GuardedServer(tmp_path / "server", text)
    live.start()
    try:
        streams, kick = "/api/v1/streams", "/api/v1/clients/nobody"
        assert call(live, streams) == 401
        assert [call(live, streams, Authorization=basic(name, f"{name} pass")) for name in ("boss", "viewer", "scraper", "player")] == [200, 200, 403, 401]
        assert [call(live, kick, "DELETE", Authorization=basic(name, f"{name} pass")) for name in ("boss", "viewer")] == [404, 403]
        assert call(live, streams, Authorization="Bearer viewer:viewer pass") == 200
        assert call(live, streams, Authorization="Bearer " + token(live, "--api", "read")) == 200
        assert call(live, kick, "DELETE", Authorization="Bearer " + token(live, "--api", "read")) == 403
        assert call(live, kick + "?token=secret1", "DELETE", Authorization="Bearer " + token(live, "--api", "admin", "--subject", "ops")) == 404
        assert call(live, streams, Authorization="Bearer " + token(live, "--play", "live/*")) == 401
        assert call(live, streams, Authorization=basic("viewer", "wrong")) == 401
        wait_until(lambda: (live.folder / "audit.log").read_text().count("\n") == 4, 10, "the actions are in the audit log")
        lines = [json.loads(line) for line in (live.folder / "audit.log").read_text().splitlines()]
        assert [(line["caller"], line["method"], line["status"]) for line in lines] == [
            ("user boss", "DELETE", 404), ("user viewer", "DELETE", 403), ("token of ", "DELETE", 403), ("token of ops", "DELETE", 404)]
        assert all(line["ip"] == "127.0.0.1" for line in lines) and "secret1" not in str(lines)
        live.stop()
    finally:
        live.kill()


# A GET with an effect, beside the other methods.
ACTING_GETS = ("/api/v1/profile", "/api/v1/valgrind", "/api/v1/fault", "/index/api/openRtpServer", "/index/api/connectRtpServer", "/index/api/closeRtpServer")
ACTING_QUERIES = ("/api/v1/raw?rpc=reload", "/api/v1/memory?mark=1")


def test_each_role_may_make_its_calls_of_the_api_only(tmp_path):
    """Every operation of the description, also with the slash at the end that the router accepts: reading needs api.read, a change api.admin."""
    users = "".join(user(name, f'"plain:{name} pass"', right) for name, right in (("boss", "api.admin"), ("viewer", "api.read"), ("scraper", "metrics"), ("player", "play")))
    more = "stream_caster { enabled on; caster gb28181; listen 127.0.0.1:$gb; zlm_api { enabled on; secret zlm; } }\n"
    block = "http_api { auth { enabled on; } audit_log $folder/audit.log; raw_api { enabled on; allow_reload on; } "
    live = GuardedServer(tmp_path, ROOT_CONF.replace("http_api {", block) + users + more + "vhost __defaultVhost__ {" + ACCESS + "}")
    live.start()
    try:
        operations = [(method.upper(), path.replace("{id}", "none")) for path, methods in live.api("/api/v1/openapi.json")["paths"].items()
                      for method in methods if "/api/" in path or path.startswith("/gb/")]
        assert len(operations) > 50
        operations += [("GET", path) for path in ACTING_QUERIES] + [(method, path + "/") for method, path in operations if not path.endswith("/")]
        acts = 0
        for method, path in operations:
            is_change = method not in ("GET", "HEAD") or path.rstrip("/") in ACTING_GETS or path in ACTING_QUERIES
            where = f"{method} {path}"
            assert ask(live.ports["api"], method, path).status == 401, where
            wanted = {"viewer": {403} if is_change else None, "scraper": {403}, "player": {401}}
            for name, statuses in wanted.items():
                answer = ask(live.ports["api"], method, path, {"Authorization": basic(name, f"{name} pass")})
                assert answer.status in statuses if statuses else answer.status not in (401, 403), f"{where}: {answer.status} for {name}"
            acts += is_change
        lines = wait_until(lambda: (lambda text: text if text.count("\n") >= 4 * acts else None)((live.folder / "audit.log").read_text()), 20, "all are in the audit log")
        refused = [json.loads(line) for line in lines.splitlines()]
        assert len(refused) == 4 * acts and {line["status"] for line in refused} == {401, 403}
        # A call of a platform has a secret of its own, and is a change as well.
        opened = ask(live.ports["api"], "GET", "/index/api/openRtpServer?secret=zlm&stream_id=cam&ssrc=1", {"Authorization": basic("boss", "boss pass")})
        assert opened.status == 200 and json.loads(opened.body)["code"] == 0
        wait_until(lambda: '"status":200' in (live.folder / "audit.log").read_text(), 10, "it is in the audit log")
        assert "zlm" not in (live.folder / "audit.log").read_text()
        live.stop()
    finally:
        live.kill()


def test_wrong_credentials_of_the_api_slow_their_address_down(server):
    """Those of http_api.auth itself: guesses are not compared while the address must wait, right or not."""
    live = server()
    live.stop()
    live.write_conf(live.conf_path.read_text().replace("http_api { enabled on;", "http_api { enabled on; auth { enabled on; username u; password p; token t; }"))
    live.start(ready=False)
    wait_until(lambda: can_connect(live.ports["api"]), 20, live.log)

    def status(value: str, source: str) -> tuple[int, str | None]:
        with contextlib.closing(http.client.HTTPConnection("127.0.0.1", live.ports["api"], timeout=10, source_address=(source, 0))) as connection:
            connection.request("GET", "/api/v1/versions", headers={"Authorization": value})
            answer = connection.getresponse()
            return answer.status, answer.getheader("Retry-After")

    assert status(basic("u", "p"), "127.0.0.20")[0] == 200
    guesses = [status(value, source)[0] for source in ("127.0.0.20", "127.0.0.21") for value in (basic("u", "x"), "Bearer x") * 6]
    assert set(guesses) == {401, 503} and guesses.count(401) < 8
    # Its next pause is of several seconds now.
    assert status(basic("u", "p"), "127.0.0.21") == status("Bearer t", "127.0.0.21") == (503, "5")
    assert status(basic("u", "p"), "127.0.0.20")[0] == 200, "right before"
    assert status("Bearer t", "127.0.0.22")[0] == 200, "others do not wait"


@pytest.mark.parametrize("mode", ["lies", "is_empty", "fails", "hangs", "is_huge"])
def test_a_key_set_is_read_from_its_url_and_kept(server, tmp_path, mode):
    private = tmp_path / "private.pem"
    subprocess.run(["openssl", "genpkey", "-algorithm", "RSA", "-pkeyopt", "rsa_keygen_bits:2048", "-out", str(private)], capture_output=True, check=True, timeout=60)
    signer = LiveServer(tmp_path / "signer", "listen 1935; vhost __defaultVhost__ { access { enabled on; key_file %s; } }" % private)
    play = "/live/open.flv?token=" + token(signer, "--play", "live/*")
    issuer = Issuer(key_set(private))
    try:
        issuer.mode = getattr(issuer, mode)
        live = server(vhost=f"access {{ enabled on; jwks {issuer.url}; }} http_remux {{ enabled on; mount [vhost]/[app]/[stream].flv; }}")
        wait_until(lambda: issuer.asked > 0, 20, "the server asks for its keys")
        memory = live.resident_kib()
        if mode != "hangs":
            live.wait_log("the key set")
        # Nobody can decide about the token yet: that is no refusal.
        assert get(live, play)[0] == 503
        assert get(live, "/live/open.flv?token=nonsense")[0] == 403
        assert live.resident_kib() < memory + 20_000
        issuer.mode = issuer.right
        issuer.stopping.set()
        # It asks again after 10 s.
        live.wait_log("has 1 keys", 40)
        assert head(live, play) == 200
        asked = issuer.asked
        for _ in range(20):
            assert get(live, "/live/open.flv?token=" + "eyJhbGciOiJSUzI1NiIsImtpZCI6IngifQ.e30.AA")[0] == 403
        assert issuer.asked <= asked + 2, "an unknown key asks at most every 10 s"
        issuer.mode = getattr(issuer, mode) if mode != "hangs" else issuer.lies
        live.process.send_signal(signal.SIGHUP)
        wait_until(lambda: issuer.asked > asked, 40, "the server asks again")
        assert head(live, play) == 200, "the previous set is kept"
    finally:
        issuer.close()


@pytest.mark.long
def test_a_reload_with_another_key_set_ends_sessions_once_it_is_read(server, clip, tmp_path):
    """Until then nobody can decide about their tokens; the right ones stay."""
    keys = [tmp_path / name for name in ("one.pem", "two.pem")]
    for key in keys:
        subprocess.run(["openssl", "genpkey", "-algorithm", "RSA", "-pkeyopt", "rsa_keygen_bits:2048", "-out", str(key)], capture_output=True, check=True, timeout=60)
    signer = LiveServer(tmp_path / "signer", f"listen 1935; vhost __defaultVhost__ {{ access {{ enabled on; key_file {keys[0]}; }} }}")
    issuers = [Issuer(key_set(key)) for key in (keys[0], keys[0], keys[1])]
    sender = None
    try:
        live = server(vhost=f"access {{ enabled on; jwks {issuers[0].url}; }}")
        live.wait_log("has 1 keys")
        sender = start_ffmpeg(clip, live.url("cam?token=" + token(signer, "--publish", "live/cam")))
        wait_until(lambda: is_published(live, "cam"), 20, "the stream is live")
        for before, issuer in zip(issuers, issuers[1:]):
            issuer.mode = issuer.fails
            live.write_conf(live.conf_path.read_text().replace(before.url, issuer.url))
            live.process.send_signal(signal.SIGHUP)
            wait_until(lambda issuer=issuer: issuer.asked > 0, 20, "the server asks for the new set")
            live.wait_log(f"the key set {issuer.url} cannot be read")
            assert sender.poll() is None and is_published(live, "cam"), "nobody can decide"
            issuer.mode = issuer.right
            live.wait_log(f"{issuer.url} has 1 keys", 40)
            if issuer is issuers[1]:
                assert sender.poll() is None and is_published(live, "cam"), "the same key"
        wait_until(lambda: sender.poll() is not None, 20, "no key of the set has signed its token")
        live.wait_log("a reload: the token is not valid")
    finally:
        if sender is not None:
            sender.kill()
            sender.wait()
        for issuer in issuers:
            issuer.close()


@pytest.mark.long
def test_an_admission_by_a_token_is_cheap(server, tmp_path):
    """RS256, with the search for the virtual host, the rights and the stream: a release build needs at most 150 us of CPU time more than without `access`."""
    private = tmp_path / "private.pem"
    subprocess.run(["openssl", "genpkey", "-algorithm", "RSA", "-pkeyopt", "rsa_keygen_bits:2048", "-out", str(private)], capture_output=True, check=True, timeout=60)
    count, used = 4000, {}
    for name in ("off", "on"):
        live = server(vhost=f"access {{ enabled {name}; key_file {private}; }} http_remux {{ enabled on; mount [vhost]/[app]/[stream].flv; }}",
                      root="limits { new_connections_per_ip 100000; }")
        if name == "off":
            signer = LiveServer(tmp_path / "signer", f"listen 1935; vhost __defaultVhost__ {{ access {{ enabled on; key_file {private}; }} }}")
            play = "/live/cam.flv?token=" + token(signer, "--play", "live/*")
        before = loop_seconds(live)
        assert {head(live, play) for _ in range(count)} == {200}
        used[name] = (loop_seconds(live) - before) * 1e6 / count
        live.stop()
    print(used)
    if used["off"] > 150:
        pytest.skip("no release build")
    assert used["on"] - used["off"] < 150


def proxied(live: LiveServer, header: bytes, source: str = "127.0.0.9") -> bytes:
    """The answer of the HTTP port to a connection of the proxy `source`."""
    with socket.create_connection(("127.0.0.1", live.ports["http"]), timeout=8, source_address=(source, 0)) as connection:
        connection.sendall(header + b"GET /live/none.flv HTTP/1.1\r\nHost: a\r\nConnection: close\r\n\r\n")
        answer = b""
        with contextlib.suppress(OSError):
            while part := connection.recv(4096):
                answer += part
        return answer


def test_a_trusted_proxy_passes_on_the_address_of_its_client(server):
    live = server(vhost="security { enabled on; deny play 203.0.113.7; allow play all; } http_remux { enabled on; mount [vhost]/[app]/[stream].flv; }",
                  root="limits { trusted 127.0.0.9; proxy_protocol on; }")
    text = b"PROXY TCP4 203.0.113.7 192.0.2.1 51544 80\r\n"
    binary = b"\r\n\r\n\0\r\nQUIT\n\x21\x11" + struct.pack(">H", 12) + bytes([203, 0, 113, 7, 192, 0, 2, 1]) + struct.pack(">HH", 51544, 80)
    for header in (text, binary):
        assert proxied(live, header).startswith(b"HTTP/1.1 403"), "the rules see the client"
    live.wait_log("203.0.113.7")
    assert proxied(live, b"") == b"", "a proxy without a header is not served"
    live.wait_log("refused the proxy 127.0.0.9")
    assert proxied(live, text, "127.0.0.8").startswith(b"HTTP/1.1 400"), "a stranger's header is no header"


BATCH, FLOODERS = 64, 8


def loop_seconds(live: LiveServer) -> float:
    """CPU time of the thread that serves clients, without those that verify passwords."""
    fields = Path(f"/proc/{live.process.pid}/task/{live.process.pid}/stat").read_text(encoding="ascii").rsplit(")", 1)[1].split()
    return (int(fields[11]) + int(fields[12])) / os.sysconf("SC_CLK_TCK")


@pytest.mark.parametrize("refusal_us_max", [None, pytest.param(100, marks=pytest.mark.long)], ids=["any build", "release build"])
def test_wrong_passwords_disturb_nobody(server, clip, tmp_path, refusal_us_max):
    """As many as 4 threads can send, from one address and from others: the stream of a player loses nothing, memory stays. With 100 us of the loop's CPU
    time for each, 10,000 a second fit into one core beside the stream, however busy the machine of the test is."""
    site = LiveServer(tmp_path / "hash", "listen 1935;")
    live = server(vhost=ACCESS, root="srt_server { enabled off; } limits { connections_per_ip 100000; new_connections_per_ip 100000; }" +
                  user("alice", run(site, "hash", given="alice pass\n"), "publish", "play"))
    sender = start_ffmpeg(clip, live.url("cam?user=alice&pass=alice%20pass"))
    try:
        wait_until(lambda: is_published(live, "cam"), 20, "the stream is live")
        player = subprocess.Popen(["ffmpeg", "-nostdin", "-loglevel", "warning", "-i", live.url("cam?user=alice&pass=alice%20pass"), "-t", "8", "-c", "copy",
                                   "-f", "framemd5", str(tmp_path / "frames.txt")], stdin=subprocess.DEVNULL, stderr=subprocess.PIPE, text=True)
        memory, sent = live.resident_kib(), []

        def flood(index: int) -> None:
            """In batches over several connections: some wait for a password that is checked, the others are refused at once."""
            count = 0
            with contextlib.ExitStack() as stack, selectors.DefaultSelector() as ready:
                def connect() -> None:
                    one = stack.enter_context(socket.create_connection(("127.0.0.1", live.ports["http"]), timeout=20, source_address=(f"127.0.1.{index}", 0)))
                    ready.register(one, selectors.EVENT_READ, {"waits": 0, "rest": b""})

                for _ in range(FLOODERS):
                    connect()
                while player.poll() is None:
                    for key in list(ready.get_map().values()):
                        if key.data["waits"] == 0:
                            with contextlib.suppress(ConnectionError):
                                key.fileobj.sendall(b"".join(b"GET /live/cam.flv HTTP/1.1\r\nHost: a\r\nAuthorization: %s\r\n\r\n" %
                                                             basic("alice", f"wrong {count + one}").encode() for one in range(BATCH)))
                            key.data.update(waits=BATCH, rest=b"")
                    for key, _ in ready.select(0.5):
                        part = b""
                        with contextlib.suppress(ConnectionError):
                            part = key.fileobj.recv(1 << 18)
                        if not part:
                            # A connection ends after 10,000 requests.
                            ready.unregister(key.fileobj)
                            connect()
                            continue
                        answers = key.data["rest"] + part
                        statuses = re.findall(rb"HTTP/1\.1 (\d{3}) ", answers)
                        assert set(statuses) <= {b"401", b"503"}, set(statuses)
                        key.data.update(waits=key.data["waits"] - len(statuses), rest=answers[max(len(answers) - 12, 0):] if not statuses else answers[answers.rindex(b"HTTP/1.1 ") + 12:])
                        count += len(statuses)
            sent.append(count)

        cpu = loop_seconds(live)
        threads = [threading.Thread(target=flood, args=(index,)) for index in range(1, 5)]
        start = time.monotonic()
        for thread in threads:
            thread.start()
        said = player.communicate(timeout=60)[1]
        for thread in threads:
            thread.join()
        refusal_us = (loop_seconds(live) - cpu) * 1e6 / sum(sent)
        print(f"{sum(sent) / (time.monotonic() - start):.0f} wrong passwords a second, {refusal_us:.0f} us of the loop for each, "
              f"{(live.resident_kib() - memory) >> 10} MiB more")
        assert sum(sent) > 50
        assert refusal_us_max is None or refusal_us < refusal_us_max
        frames = [line for line in (tmp_path / "frames.txt").read_text().splitlines() if not line.startswith("#")]
        times = [int(line.split(",")[1]) for line in frames if line.split(",")[0].strip() == "0"]
        gaps = [after - before for before, after in zip(times, times[1:])]
        assert gaps and max(gaps) <= 2 * min(gap for gap in gaps if gap > 0), (max(gaps), said)
        assert live.resident_kib() < memory + 120_000, "two hashes of 19 MiB, and little else"
        metrics = live.api("/api/v1/summaries")
        assert metrics["code"] == 0
        assert not re.search(r"wrong \d+", live.log()), "no password is in the log"
    finally:
        sender.kill()
        sender.wait()


def test_a_service_that_does_not_answer_is_no_refusal(server, clip):
    """It may answer later: 503 with Retry-After, not 401 or 403, which make players throw their credentials away."""
    with HookServer() as hooks:
        gone = hooks.url("/play")
    live = server(vhost=ACCESS.replace("access { enabled on;", "access { enabled off;") + f"http_hooks {{ enabled on; on_play {gone}; }}",
                  root="rtc_server { enabled on; listen 127.0.0.1:$udp_rtc; }")
    sender = start_ffmpeg(clip, live.url("cam"))
    try:
        wait_until(lambda: is_published(live, "cam"), 20, "the stream is live")
        for path in ("/live/cam.flv", "/live/cam.m3u8"):
            answer = rtc_offer.ask(live.ports["http"], "GET", path)
            assert (answer.status, answer.headers.get("Retry-After")) == (503, "5"), (path, answer.status)
        answer = rtc_offer.post(live.ports["http"], "/rtc/v1/whep/?app=live&stream=cam", rtc_offer.offer("recvonly"))
        assert (answer.status, answer.headers.get("Retry-After")) == (503, "5")
    finally:
        sender.kill()
        sender.wait()
