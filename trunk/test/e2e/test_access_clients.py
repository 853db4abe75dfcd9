"""`access` with more programs than ffmpeg: curl, GStreamer and srt-live-transmit carry tokens, names and passwords where each of them can."""

import json
import shutil
import subprocess

import pytest
from access_site import ACCESS, PORTS, is_published, run, start_ffmpeg, token, user
from live_server import LiveServer, installed, wait_until
from srt_stage import needs_tools

needs_gstreamer = pytest.mark.skipif(not installed("gst-launch-1.0"), reason="no GStreamer (install-packages.sh players)")


def reaches_end(*command: str, limit_s: float = 120) -> bool:
    """A pipeline of GStreamer. Its status is not asked for: rtspsrc may cancel its own PAUSE request at the end, and call that an error."""
    ended = subprocess.run(["gst-launch-1.0", *command], stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, timeout=limit_s,
                           check=False)
    # Shown with a failed test.
    print(ended.returncode, *command, ended.stdout[-2000:])
    return "Got EOS" in ended.stdout


@pytest.fixture(name="site")
def _site(server, clip, tmp_path):
    """A live stream, and a user each for playing and for publishing."""
    commands = LiveServer(tmp_path / "hash", "listen 1935;")
    users = "".join(user(name, run(commands, "hash", "--sha256", given=f"{name}\n"), right)
                    for name, right in (("viewer", "play live/cam"), ("sender", "publish live/*")))
    live = server(vhost=ACCESS, root=PORTS + users)
    sender = start_ffmpeg(clip, live.url("cam?user=sender&pass=sender"))
    try:
        wait_until(lambda: is_published(live, "cam"), 20, "the stream is live")
        yield live
    finally:
        sender.kill()
        sender.wait()


def tokens(live: LiveServer) -> dict[str, str]:
    return {"right": token(live, "--play", "live/cam"), "wrong": token(live, "--play", "live/cam2"), "expired": token(live, "--play", "live/cam", "--expires", "-5s")}


@pytest.mark.skipif(shutil.which("curl") is None, reason="no curl")
def test_curl_carries_each_credential(site):
    live = site
    url = f"http://127.0.0.1:{live.ports['http']}/live/cam.flv"

    def status(*arguments: str) -> str:
        """The stream has no end: curl is stopped after the headers of a success. Those of a challenge come before them."""
        found = ""
        with subprocess.Popen(["curl", "-s", "-D", "-", "-o", "/dev/null", "--max-time", "60", *arguments], stdout=subprocess.PIPE, text=True) as curl:
            for line in curl.stdout:
                if line.startswith("HTTP/"):
                    found = line.split()[1]
                elif not line.strip() and found == "200":
                    break
            curl.kill()
        return found

    given = tokens(live)
    assert status(url) == "401"
    assert {name: status("-H", f"Authorization: Bearer {text}", url) for name, text in given.items()} == {"right": "200", "wrong": "403", "expired": "403"}
    assert {name: status(f"{url}?token={text}") for name, text in given.items()} == {"right": "200", "wrong": "403", "expired": "403"}
    assert status("-u", "viewer:viewer", url) == "200"
    assert status("--anyauth", "-u", "viewer:viewer", url) == "200", "after the challenge"
    assert status("-u", "sender:sender", url) == "403"
    assert status("-u", "viewer:wrong", url) == "401"


@needs_gstreamer
def test_gstreamer_carries_each_credential(site):
    live = site
    rtsp = live.url("cam", port="rtsp", schema="rtsp")

    def plays(*source: str) -> bool:
        return reaches_end(*source, "!", "fakesink", "num-buffers=20")

    def over_http(*more: str) -> bool:
        return plays("souphttpsrc", *more, "num-buffers=3")

    def over_rtsp(*more: str) -> bool:
        return plays("rtspsrc", "protocols=tcp", *more)

    for name, text in tokens(live).items():
        assert plays("rtmp2src", f"location={live.url('cam?token=' + text)}") == (name == "right"), f"RTMP {name}"
        assert over_http(f"location=http://127.0.0.1:{live.ports['http']}/live/cam.flv?token={text}") == (name == "right"), f"FLV {name}"
        assert over_rtsp(f"location={rtsp}?token={text}") == (name == "right"), f"RTSP {name}"
    assert over_rtsp(f"location={rtsp}", "user-id=viewer", "user-pw=viewer")
    assert not over_rtsp(f"location={rtsp}", "user-id=sender", "user-pw=sender"), "it may publish only"
    assert over_http(f"location=http://127.0.0.1:{live.ports['http']}/live/cam.flv", "user-id=viewer", "user-pw=viewer")


@needs_tools
def test_srt_live_transmit_carries_each_credential(site, tmp_path):
    live = site

    def refusals() -> int:
        log = live.folder / "objs" / "access.log"
        lines = [json.loads(line) for line in log.read_text().splitlines()] if log.exists() else []
        return sum(line["protocol"] == "srt" and line["result"] == "refused" for line in lines)

    def plays(stream_id: str) -> bool:
        """The program repeats a refused call until it is stopped."""
        before = refusals()
        out = tmp_path / "out.ts"
        out.unlink(missing_ok=True)
        url = f"srt://127.0.0.1:{live.ports['udp_srt']}?streamid=#!::r=live/cam,{stream_id}m=request"
        with out.open("wb") as into:
            reader = subprocess.Popen(["srt-live-transmit", "-q", url, "file://con"], stdin=subprocess.DEVNULL, stdout=into, stderr=subprocess.DEVNULL)
        try:
            wait_until(lambda: refusals() > before or out.stat().st_size > 100_000, 20, "srt-live-transmit plays or is refused")
            return refusals() == before
        finally:
            reader.kill()
            reader.wait()

    assert not plays("")
    assert {name: plays(f"token={text},") for name, text in tokens(live).items()} == {"right": True, "wrong": False, "expired": False}
    assert plays("u=viewer,s=viewer,")
    assert not plays("u=sender,s=sender,")
