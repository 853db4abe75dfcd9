"""sb_rtc_load against our server: WHEP players and WHIP publishers over real ICE, DTLS and SRTP, and figures that fit."""

import re
import signal
import subprocess
import time

import pytest

from live_server import LiveServer, conf, free_port, rest, wait_until
from load_tools import tool

pytestmark = pytest.mark.workers

RTC = "publish { normal_timeout 60000; } rtc { enabled on; rtmp_to_rtc on; }"
ROOT = "rtc_server { enabled on; listen 127.0.0.1:$udp; }"


@pytest.fixture(name="live")
def fixture_live(server):
    return server(vhost=RTC, root=ROOT)


def url(live, what: str, stream: str = "cam") -> str:
    return f"http://127.0.0.1:{live.ports['api']}/rtc/v1/{what}/?app=live&stream={stream}"


def clients(live, kind: str) -> list[dict]:
    return [client for client in live.api("/api/v1/clients/?count=100")["clients"] if client["type"] == kind]


def per_client(result: dict, field: str) -> list:
    index = result["client_fields"].index(field)
    return [client[index] for client in result["per_client"]]


def assert_played(result: dict, count: int) -> None:
    """All clients played, missed nothing, and received the same media."""
    metrics = result["metrics"]
    assert result["clients"] == result["alive"] == count and result["failed"] == 0
    for name in ("connect_ms", "first_frame_ms"):
        assert metrics[name]["count"] == count and 0 < metrics[name]["p50"] < 5000, metrics[name]
    # A client that joins after an old key frame skips to the next one.
    assert metrics["lost_packets"]["max"] == 0 and metrics["gaps"]["max"] <= 1, metrics
    assert metrics["packets"]["min"] > 50, metrics["packets"]
    assert sum(per_client(result, "bytes")) == result["bytes_in"]


def server_counts(live, event: str, field: str, count: int) -> list[int]:
    """The server's log lines at the end of each session."""
    pattern = re.compile(rf"{event} ends.* {field}=(\d+)")
    wait_until(lambda: len(pattern.findall(live.log())) >= count, 20, f"{count} times {event} ends")
    return sorted(int(number) for number in pattern.findall(live.log()))


def assert_same_counts(ours: list[int], theirs: list[int]) -> None:
    """To a few packets that are under way when the session ends."""
    assert len(ours) == len(theirs) and all(abs(a - b) <= 5 for a, b in zip(sorted(ours), sorted(theirs))), (ours, theirs)


def pause(publisher) -> None:
    """Until what it has sent has come to all players, however busy the machine is; nothing more is under way then. The server ends a publisher over
    WebRTC that is silent for 10 s."""
    publisher.process.send_signal(signal.SIGSTOP)
    rest(1)


def test_players_of_rtmp_streams(live, clip, load):
    publisher = load("sb_rtmp_publish", "-s", 0, "-r", live.url("cam"), "-i", clip("basic"), "--stamp")
    wait_until(lambda: live.api("/api/v1/streams/")["streams"], 20, "the stream is there")
    real = load("sb_rtc_load", "-c", 20, "--ramp", 50, "-r", url(live, "whep"))
    light = load("sb_rtc_load", "-c", 20, "--ramp", 50, "-r", url(live, "whep"), "--skip-decryption")
    wait_until(lambda: len(clients(live, "rtc-play")) == 40, 20, "forty players are there")
    rest(4)
    pause(publisher)
    for players in (real, light):
        players.stop()
    results = [real.result(), light.result()]
    for result in results:
        assert_played(result, 20)
    # Clients that decrypt received the stamps.
    delays = [result["metrics"]["delay_ms"] for result in results]
    assert delays[0]["count"] > 20 * 25 and 0 < delays[0]["p50"] < 3000 and delays[1]["count"] == 0, delays
    # Both kinds of players have counted each packet that the server sent them.
    assert_same_counts(per_client(results[0], "packets") + per_client(results[1], "packets"), server_counts(live, "rtc-play", "sent", 40))
    assert not clients(live, "rtc-play")
    publisher.process.send_signal(signal.SIGCONT)
    publisher.stop()
    publisher.result()


def test_publishers_and_players_of_their_streams(live, clip, load):
    publishers = load("sb_rtc_load", "-c", 3, "-s", 0, "-r", url(live, "whip", "cam_{i}"), "-i", clip("basic"), "--stamp", "--silence")
    wait_until(lambda: len(clients(live, "rtc-publish")) == 3, 20, "three publishers are there")
    time.sleep(0.5)
    players = load("sb_rtc_load", "-c", 20, "--ramp", 50, "-r", url(live, "whep", "cam_1"))
    wait_until(lambda: len(clients(live, "rtc-play")) == 20, 20, "twenty players are there")
    rest(4)
    pause(publishers)
    players.stop()
    result = players.result()
    publishers.process.send_signal(signal.SIGCONT)
    assert_played(result, 20)
    delay = result["metrics"]["delay_ms"]
    assert delay["count"] > 20 * 25 and 0 < delay["p50"] < 3000, delay
    assert_same_counts(per_client(result, "packets"), server_counts(live, "rtc-play", "sent", 20))
    rest(2)  # What they are late with is sent now.
    publishers.stop()
    sent = publishers.result()
    assert sent["failed"] == 0 and sent["metrics"]["late_ms"]["count"] == 3
    # Each sends the clip's pictures, about 430 kbps, and fifty packets of silence a second.
    rates = [8 * sent_bytes / 1000 / sent["seconds"] for sent_bytes in per_client(sent, "bytes")]
    assert min(rates) > 250 and max(rates) < 1.2 * min(rates), rates
    assert_same_counts(per_client(sent, "packets"), server_counts(live, "rtc-publish", "received", 3))
    assert not clients(live, "rtc-publish")


@pytest.mark.one_worker("workers whose master is killed end their sessions")
def test_a_server_that_goes_is_a_failure(tmp_path, clip, load):
    live = LiveServer(tmp_path / "server", conf(RTC, ROOT)).start()
    publisher = load("sb_rtc_load", "-t", 1, "-s", 0, "-r", url(live, "whip"), "-i", clip("basic"))
    players = load("sb_rtc_load", "-c", 5, "-t", 1, "-s", 0, "-e", 0, "-r", url(live, "whep"))
    wait_until(lambda: len(clients(live, "rtc-play")) == 5, 20, "five players are there")
    time.sleep(0.5)
    live.kill()
    for one, count in ((players, 5), (publisher, 1)):
        assert one.result(status=1)["failed"] == count
        assert re.search(r"\[error\] .*the server's port is closed.* errno=\d+\(", one.log), one.log


@pytest.mark.parametrize("path, sentence", [
    ("/rtc/v1/nothing/?app=live&stream=cam", "status 404"),
    ("/rtc/v1/whip/?app=live&stream=cam", "status 400"),
])
def test_refusals_are_reported(live, load, path, sentence):
    one = load("sb_rtc_load", "-c", 2, "-t", 1, "-s", 0, "-e", 0, "-r", f"http://127.0.0.1:{live.ports['api']}{path}")
    assert one.result(status=1)["failed"] == 2
    assert re.search(rf"\[error\] .*{sentence}.* errno=\d+\(", one.log), one.log


def test_options_that_do_not_fit_are_reported():
    done = subprocess.run([tool("sb_rtc_load"), "-r", f"http://127.0.0.1:{free_port()}/", "--stamp"], capture_output=True, text=True,
                          check=False, timeout=20)
    assert done.returncode == 2 and "require an FLV file to publish: -i FLV" in done.stderr
