"""WebRTC: WHIP and WHEP and the JSON calls by hand, and a real Chromium that publishes with a fake camera and plays."""

import json
import re
import socket
import struct
import urllib.request

import pytest

from hook_server import Answer, HookServer
from live_server import wait_until
from rtc_offer import ask, offer, post
from rtc_site import FRAMES, ROOT, RTC, fixture_site  # noqa: F401

pytestmark = pytest.mark.workers

WHIP = "/rtc/v1/whip/?app=live&stream="
WHEP = "/rtc/v1/whep/?app=live&stream="


@pytest.fixture(name="live")
def fixture_live(server):
    return server(vhost=RTC, root=ROOT)


def clients(live, kind):
    return [client for client in live.api("/api/v1/clients/")["clients"] if client["type"] == kind]


@pytest.mark.workers(always=True)
def test_whip_answers_follow_rfc_9725(live):
    api = live.ports["api"]
    opened = post(api, WHIP + "a&secret=x", offer())
    assert opened.status == 201 and opened.headers["Content-Type"] == "application/sdp"
    where, tag = opened.headers["Location"], opened.headers["ETag"]
    assert re.fullmatch(r"/rtc/v1/whip/\?action=delete&token=[0-9a-z]{32}&app=live&stream=a&session=[0-9a-z]{8}%3Athem", where)
    assert re.fullmatch(r'"[0-9a-z]{8}:them"', tag)
    port = int(re.search(r" 127\.0\.0\.1 (\d+) typ host", opened.body)[1])
    assert "a=ice-lite" in opened.body and port - live.ports["udp"] in range(len(live.pids()))
    assert len(clients(live, "rtc-publish")) == 1

    # A client that trickles is not turned away; a restart of ICE is.
    fragment = {"Content_Type": "application/trickle-ice-sdpfrag"}
    assert ask(api, "PATCH", where, "a=end-of-candidates\r\n", **fragment, If_Match=tag).status == 204
    assert ask(api, "PATCH", where, "", **fragment, If_Match='"other"').status == 412
    assert ask(api, "PATCH", where, "", **fragment, If_Match="*").status == 422
    assert ask(api, "PATCH", where, "", Content_Type="text/plain").status == 415

    # The address is bound to the token that came with it.
    other = re.sub(r"token=\w+", "token=" + "x" * 32, where)
    assert ask(api, "DELETE", other).status == 401 and ask(api, "PATCH", other, "", **fragment).status == 401
    assert ask(api, "DELETE", where.replace("token=", "t=")).status == 401
    assert len(clients(live, "rtc-publish")) == 1
    assert ask(api, "DELETE", where).status == 200
    wait_until(lambda: not clients(live, "rtc-publish"), 10, "the session ends")
    assert ask(api, "DELETE", where).status == 200
    # The stream is free again, and on the streaming port the same calls are answered.
    assert post(live.ports["http"], WHIP + "a", offer()).status == 201


def test_a_page_of_another_origin_may_use_it(live):
    answer = ask(live.ports["api"], "OPTIONS", WHIP + "a", Origin="http://elsewhere.example", Access_Control_Request_Method="DELETE")
    assert answer.status in (200, 204) and answer.headers["Access-Control-Allow-Origin"] == "*"
    opened = post(live.ports["api"], WHIP + "a", offer(), Origin="http://elsewhere.example")
    assert opened.headers["Access-Control-Expose-Headers"] == "*"
    assert "authorization" in opened.headers["Access-Control-Allow-Headers"].lower()


@pytest.mark.parametrize("path, sdp, status, said", [
    (WHIP + "a", "v=0\r\nm=video nonsense\r\n", 400, "line 2"),
    (WHIP + "a", "", 400, "SDP"),
    (WHIP + "a", offer("recvonly"), 400, "m=video: a publisher sends, this is recvonly"),
    (WHEP + "a", offer("sendonly"), 400, "a player receives"),
    (WHIP + "a&codec=av1", offer(), 400, "none of its codecs is one of AV1"),
    (WHIP + "a&codec=mjpeg", offer(), 400, "codec"),
    (WHIP + "..%2Fa", offer(), 400, "name"),
    (WHIP + "a&eip=a%0D%0Ab", offer(), 400, "candidate"),
    (WHIP + "a&ice-ufrag=ab", offer(), 400, "ice-ufrag"),
    (WHIP + "a&vhost=off.example", offer(), 404, "has no WebRTC"),
])
def test_invalid_combinations_are_refused_with_a_reason(server, path, sdp, status, said):
    live = server(vhost=RTC + "} vhost off.example {", root=ROOT)
    answer = post(live.ports["api"], path, sdp)
    assert answer.status == status, answer.body
    assert said in answer.json()["message"], answer.body
    live.assert_alive()


def test_methods_types_and_a_busy_stream(live):
    api = live.ports["api"]
    for method in ("GET", "PUT"):
        answer = ask(api, method, WHIP + "a")
        assert answer.status == 405 and answer.headers["Allow"] == "POST, DELETE, PATCH, OPTIONS"
    assert post(api, WHIP + "a", offer(), Content_Type="application/json").status == 415
    assert post(api, WHIP + "a", offer()).status == 201
    assert post(api, "/rtc/v1/whip?app=live&stream=b", offer()).status == 201  # No redirect of a POST.
    busy = post(api, WHIP + "a", offer())
    assert busy.status == 409, busy.body


def test_without_a_server_for_it_there_is_nothing(server):
    live = server(vhost=RTC)
    assert post(live.ports["http"], WHIP + "a", offer()).status in (404, 405)


def test_the_json_calls(live):
    api = live.ports["api"]
    url = "webrtc://127.0.0.1/live/a?token=abc"
    body = {"sdp": offer(), "streamurl": url, "api": f"http://127.0.0.1:{api}/rtc/v1/publish/", "clientip": None, "tid": "1"}
    for path in ("/rtc/v1/publish/", "/rtc/v1/publish"):
        answer = ask(api, "POST", path, json.dumps({**body, "streamurl": url.replace("/a", "/a" + str(len(path)))})).json()
        assert answer["code"] == 0 and answer["sdp"].startswith("v=0\r\n") and answer["server"] and answer["pid"]
        assert re.fullmatch(r"[0-9a-z]{8}:them", answer["sessionid"])
    played = ask(api, "POST", "/rtc/v1/play/?eip=203.0.113.9:9000", json.dumps({**body, "sdp": offer("recvonly")})).json()
    assert played["code"] == 0 and " 203.0.113.9 9000 typ host" in played["sdp"]
    assert [client["url"] for client in clients(live, "rtc-play")] == ["/live/a"]
    for broken in ("no json", "[]", "{}", json.dumps({**body, "sdp": "v=0"}), json.dumps({**body, "streamurl": "a"}), json.dumps({**body, "sdp": 7})):
        answer = ask(api, "POST", "/rtc/v1/publish/", broken)
        assert answer.status == 200 and answer.json()["code"] == 400, broken
    assert ask(api, "GET", "/rtc/v1/play/").status == 405


def test_callbacks_are_notified_and_may_refuse(server):
    with HookServer() as hooks:
        live = server(vhost=RTC + hooks.conf(), root=ROOT)
        api = live.ports["api"]
        published = post(api, WHIP + "a&secret=1", offer(), Authorization="Bearer key")
        played = post(api, WHEP + "a", offer("recvonly"))
        assert (published.status, played.status) == (201, 201)
        assert ask(api, "DELETE", played.headers["Location"]).status == 200
        hooks.wait_for("on_stop")
        assert ask(api, "DELETE", published.headers["Location"]).status == 200
        hooks.wait_for("on_unpublish")
        assert hooks.actions() == ["on_publish", "on_play", "on_stop", "on_unpublish"]
        said = hooks.first("on_publish").body
        assert said["param"] == "app=live&stream=a&secret=1&token=key" and said["stream"] == "a"
        assert said["client_id"] == hooks.first("on_unpublish").body["client_id"]
        hooks.answers["on_publish"] = hooks.answers["on_play"] = Answer("1")
        assert post(api, WHIP + "b", offer()).status == 403 and post(api, WHEP + "b", offer("recvonly")).status == 403
        assert ask(api, "POST", "/rtc/v1/publish/", json.dumps({"sdp": offer(), "streamurl": "webrtc://h/live/b"})).json()["code"] == 400
        # No end is reported for a session that never began.
        assert hooks.actions().count("on_unpublish") == hooks.actions().count("on_stop") == 1


def stun_request(username: str) -> bytes:
    name = username.encode()
    attribute = struct.pack("!HH", 6, len(name)) + name + b"\0" * (-len(name) % 4)
    return struct.pack("!HHI", 1, len(attribute), 0x2112A442) + bytes(12) + attribute


def test_strangers_get_nothing(live):
    """Checks for unknown sessions, unauthenticated checks, and other datagrams: no byte is sent back."""
    opened = post(live.ports["api"], WHIP + "a", offer())
    ours = opened.headers["ETag"].strip('"')
    with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as stranger:
        stranger.settimeout(0.5)
        for datagram in (*(stun_request(f"flood{i}:them") for i in range(300)), stun_request(ours), b"\x80\x60" + bytes(60), b"\x16\xfe\xfd" + bytes(60)):
            stranger.sendto(datagram, ("127.0.0.1", live.ports["udp"]))
        with pytest.raises(TimeoutError):
            stranger.recv(2000)
    assert len(clients(live, "rtc-publish")) == 1
    live.assert_alive()


def test_sessions_without_a_client_expire(server):
    live = server(vhost=RTC.replace("on;", "on; stun_timeout 8;"), root=ROOT)
    for i in range(30):
        assert post(live.ports["api"], WHIP + f"s{i}", offer()).status == 201
        assert post(live.ports["api"], WHEP + f"s{i}", offer("recvonly")).status == 201
    assert len(live.api("/api/v1/clients/?count=100")["clients"]) == 60
    wait_until(lambda: not live.api("/api/v1/clients/")["clients"], 40, "nobody is left")
    assert post(live.ports["api"], WHIP + "s1", offer()).status == 201


@pytest.mark.one_worker("tries the ports of the worker that is asked")
def test_the_doctor_tries_each_address(server):
    live = server(vhost=RTC, root=ROOT.replace("rtc_server {", "rtc_server { protocol all; tcp { enabled on; listen 127.0.0.1:$tcp; }"))
    found = live.api("/api/v1/doctor/rtc", 10)["data"]
    assert found["enabled"] and found["ok"]
    assert [(one["transport"], one["port"], one["ok"]) for one in found["candidates"]] == [
        ("udp", live.ports["udp"], True), ("tcp", live.ports["tcp"], True)]
    assert any("private" in text for text in found["advice"])
    live.stop()
    # An unreachable address: it is reported, and the others are still tried.
    wrong = server(vhost=RTC, root=ROOT.replace("rtc_server {", "rtc_server { candidate 192.0.2.77 127.0.0.1;"))
    found = wrong.api("/api/v1/doctor/rtc", 10)["data"]
    assert [one["ok"] for one in found["candidates"]] == [False, True]
    assert "no check was answered" in found["candidates"][0]["finding"]
    assert not server().api("/api/v1/doctor/rtc")["data"]["enabled"]


EXPORTER = "exporter { enabled on; listen 127.0.0.1:$exporter; }"


def metric(live, line: str) -> float:
    """The value of one sample, by its name and labels."""
    with urllib.request.urlopen(f"http://127.0.0.1:{live.ports['exporter']}/metrics", timeout=5) as answer:
        return float(re.search(rf"^{re.escape(line)} (\S+)$", answer.read().decode(), re.M).group(1))


@pytest.mark.one_worker("the log and the memory are those of each worker")
def test_its_figures_are_in_the_log_the_metrics_and_the_memory(server):
    live = server(vhost=RTC, root=ROOT + EXPORTER)
    assert post(live.ports["api"], WHIP + "a", offer()).status == 201
    assert live.api("/api/v1/doctor/rtc", 10)["data"]["ok"]
    assert metric(live, 'millrace_rtc_sessions{state="half_open"}') == 1
    assert metric(live, 'millrace_rtc_received_datagrams_total{kind="stun"}') >= 1
    assert metric(live, 'millrace_rtc_received_datagrams_total{kind="dtls"}') >= 2
    assert metric(live, "millrace_rtc_sent_datagrams_total") >= 3
    assert metric(live, 'millrace_rtc_lost_datagrams_total{direction="in"}') == 0
    # The doctor's own session goes some seconds later.
    held = wait_until(lambda: (kinds := live.api("/api/v1/memory")["data"]["kinds"])["rtc_engines"]["objects"] == 1 and kinds, 25, "one is left")
    assert held["rtc_engines"]["bytes"] > 1000
    assert held["sessions_rtc-publish"]["objects"] == 1 and held["sessions_rtc-publish"]["bytes"] > 500
    assert held["rtp_logs"]["objects"] == 1 and held["rtc_dtls"]["objects"] == 0
    live.wait_log("RTC: Server conns=1,", 25)
    line = next(line for line in live.log().splitlines() if "RTC: Server conns=1," in line)
    assert re.search(r"conns=1, rpkts=\(\d+,rtp:\d+,stun:\d+,rtcp:\d+,dtls:\d+,unknown:\d+\), spkts=\(\d+,rtp:\d+,rtcp:\d+\), "
                     r"rtcp=\(pli:\d+,twcc:\d+,rr:\d+\), snk=\(\d+\), rnk=\(\d+,h:\d+,m:\d+\), loss=\(r:0,s:0\)", line), line


@pytest.mark.one_worker("each worker has a breaker")
def test_a_busy_processor_makes_it_do_less(server):
    """Any load is too much here."""
    breaker = "circuit_breaker { high_threshold 0; critical_threshold 0; dying_threshold 0; dying_pulse 2; }"
    live = server(vhost=RTC, root=ROOT + EXPORTER + breaker)
    live.wait_log("no NACK, no TWCC, nothing for players", 20)
    assert metric(live, "millrace_rtc_circuit_breaker_level") == 3
    steps = re.findall(r"circuit breaker: cpu=\d+%, (.*)", live.log())
    assert steps[:2] == ["no NACK, no TWCC", "no NACK, no TWCC, nothing for players"]


def test_an_rsa_certificate_and_several_sockets(server):
    live = server(vhost=RTC.replace("on;", "on; dtls_version dtls1.0;"), root=ROOT.replace("on;", "on; ecdsa off; reuseport 3;"))
    wait_until(lambda: live.log().count(f"rtc listen at udp://127.0.0.1:{live.ports['udp']}") == 3, 5, "three sockets")
    assert "DTLS 1.2 is used" in live.log()
    # Each probe comes from another port, so that the kernel chooses among the sockets.
    for _ in range(5):
        assert live.api("/api/v1/doctor/rtc", 10)["data"]["ok"]


@pytest.mark.one_worker("a connection to a shared port may reach any worker")
@pytest.mark.parametrize("port", ["api", "http"])
def test_media_may_come_over_the_port_of_http(server, port):
    live = server(vhost=RTC, root=ROOT.replace("on;", f"on; protocol tcp; tcp {{ enabled on; listen 127.0.0.1:${port}; }}"))
    for _ in range(2):
        found = live.api("/api/v1/doctor/rtc", 10)["data"]
        assert [(one["transport"], one["port"], one["ok"]) for one in found["candidates"]] == [("tcp", live.ports[port], True)]
    assert post(live.ports["http"], WHIP + "a", offer()).status == 201
    # Other protocols: HTTP gets an error, and a silent client is closed.
    with socket.create_connection(("127.0.0.1", live.ports[port])) as stranger:
        stranger.settimeout(10)
        stranger.sendall(b"\x00\x20" + bytes(32))
        assert stranger.recv(100) == b""
    live.assert_alive()


# ---- Chromium


SIZE = "document.getElementById('video').videoWidth"


@pytest.mark.parametrize("codec", ["h264", "vp8"])
def test_chromium_publishes_and_plays(site, codec):
    one = site()
    publisher = one.publish("cam", f"&codec={codec}")
    player = one.play("cam")
    before = player.value(FRAMES)
    wait_until(lambda: player.value(FRAMES) > before + 20, 20, "20 frames")
    assert player.value(SIZE) > 0
    wait_until(lambda: codec.upper() in player.text("#codecs").upper() and "OPUS" in player.text("#codecs").upper(), 15, "the codecs")
    listed = one.live.api("/api/v1/clients/")["clients"]
    assert sorted(client["type"] for client in listed) == ["rtc-play", "rtc-publish"]
    wait_until(lambda: all(client["send_bytes"] + client["recv_bytes"] > 1000 for client in one.live.api("/api/v1/clients/")["clients"]), 10, "bytes")
    # A second player begins at once, although no key frame is due.
    one.play("cam")
    publisher.click("#stop")
    wait_until(lambda: not clients(one.live, "rtc-publish"), 15, "DELETE ends the publisher")


@pytest.mark.one_worker("a connection to a shared port may reach any worker")
def test_chromium_over_tcp(site):
    one = site(root="rtc_server { enabled on; protocol tcp; listen 127.0.0.1:$udp; tcp { enabled on; listen 127.0.0.1:$tcp; } }")
    one.publish("cam")
    player = one.play("cam")
    before = player.value(FRAMES)
    wait_until(lambda: player.value(FRAMES) > before + 20, 20, "20 frames")


WRONG_FINGERPRINT = """(async () => {
    const connection = new RTCPeerConnection();
    connection.addTransceiver('audio', { direction: 'sendonly' });
    await connection.setLocalDescription(await connection.createOffer());
    const sdp = connection.localDescription.sdp.replace(/a=fingerprint:.*/g, 'a=fingerprint:sha-256 ' + Array(32).fill('AB').join(':'));
    const answer = await fetch('/rtc/v1/whip/?stream=wrong', { method: 'POST', headers: { 'Content-Type': 'application/sdp' }, body: sdp });
    await connection.setRemoteDescription({ type: 'answer', sdp: await answer.text() });
    return answer.status;
})()"""


def test_a_wrong_fingerprint_ends_the_session(site):
    one = site()
    page = one.open("whip.html", "x").goto(f"http://127.0.0.1:{one.live.ports['http']}/players/address.js")
    assert page.value(WRONG_FINGERPRINT) == 201
    one.live.wait_log("rtc-publish ends, url=/live/wrong")
    assert "certificate is not the one of its description" in one.live.log().split("rtc-publish ends, url=/live/wrong")[1].splitlines()[0]
    # The page that was left may have a session of its own for a while.
    wait_until(lambda: "/live/wrong" not in [client["url"] for client in clients(one.live, "rtc-publish")], 10, "it is not listed any more")


def test_a_server_without_dtls_reports_it_and_serves_the_rest(server, tmp_path):
    broken = tmp_path / "openssl.cnf"
    # Of OpenSSL's providers only one that has no algorithm.
    broken.write_text("openssl_conf = start\n[start]\nproviders = all\n[all]\nnull = one\n[one]\nactivate = 1\n")
    live = server(vhost=RTC, root=ROOT, environment={"OPENSSL_CONF": str(broken)})
    assert "WebRTC is disabled" in live.log()
    assert post(live.ports["api"], WHIP + "a", offer()).status == 404
    assert live.api("/api/v1/versions")["data"]["major"] == 7
