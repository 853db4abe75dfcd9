"""Responses of real cameras, which the package `retina` (crates.io) carries for its own tests, replayed by camera.py against native pulls. The package
is fetched, not kept here."""

import contextlib
import re
import shutil
import subprocess
import tempfile
from pathlib import Path

import pytest
from camera import Camera, Habits, access_units
from live_server import TRUNK, installed
from pull_stage import pull, wait_running

pytestmark = [pytest.mark.skipif(not installed("cargo"), reason="no cargo"), pytest.mark.skipif(not installed("ffmpeg"), reason="no ffmpeg")]

VERSION = "0.4.16"
FOLDER = TRUNK / "objs" / "transcripts"
# The descriptions, with the responses to SETUP and PLAY of the same device.
CAMERAS = {
    "anpviz_sdp": (), "bunny_describe": ("bunny_setup", "bunny_play"), "dahua_describe_h264_aac_onvif": ("dahua_setup", "dahua_play"),
    "dahua_describe_h265_pcma": ("dahua_setup", "dahua_play"), "foscam_describe": (), "geovision_sdp": (), "gw_main_describe": ("", "gw_main_play"),
    "gw_sub_describe": ("gw_sub_setup", "gw_sub_play"), "h264dvr_describe": ("", "h264dvr_play"), "hikvision_describe": ("hikvision_setup", "hikvision_play"),
    "ipcam_describe": (), "macrovideo_describe": (), "missing_content_type_describe": ("", "bad_rtptime"), "reolink_describe": ("reolink_setup", "reolink_play"),
    "reolink_describe_control_first": ("reolink_setup", "reolink_play"), "tplink_sdp": (), "ubiquiti_sdp": (), "vstarcam_describe": (),
}


@pytest.fixture(scope="module")
def transcripts() -> Path:
    """Their folder; fetched once."""
    found = FOLDER / VERSION
    if not found.exists():
        project = FOLDER / "project"
        project.mkdir(parents=True, exist_ok=True)
        (project / "lib.rs").touch()
        (project / "Cargo.toml").write_text(f'[package]\nname = "transcripts"\nversion = "0.1.0"\nedition = "2021"\n[lib]\npath = "lib.rs"\n'
                                            f'[dependencies]\nretina = "={VERSION}"\n[workspace]\n')
        manifest = ["--manifest-path", str(project / "Cargo.toml")]
        fetched = subprocess.run(["cargo", "fetch", *manifest], capture_output=True, text=True, check=False, timeout=600)
        if fetched.returncode != 0:
            pytest.skip(f"the package cannot be fetched: {fetched.stderr[-300:]}")
        about = subprocess.run(["cargo", "metadata", "--format-version", "1", "--offline", *manifest], capture_output=True, text=True, check=True).stdout
        source = Path(re.search(rf'"([^"]+retina-{re.escape(VERSION)})/Cargo.toml"', about).group(1))
        with tempfile.TemporaryDirectory(dir=FOLDER) as copy, contextlib.suppress(OSError):  # another test process may be first
            shutil.copytree(source / "src" / "client" / "testdata", Path(copy) / VERSION)
            (Path(copy) / VERSION).rename(found)
    return found


def response(text: bytes, request, interleaved: bool = False) -> bytes:
    """The recorded response, as one to this request."""
    head, _, body = text.replace(b"\r\n", b"\n").partition(b"\n\n")
    lines = [line for line in head.decode().split("\n") if not line.lower().startswith(("cseq", "content-length"))]
    if interleaved:
        channels = re.search(r"interleaved=\d+-\d+", request.get("transport")).group(0)
        lines = [re.sub(r"interleaved=\d+-\d+", channels, line) for line in lines]
    body = body.replace(b"\n", b"\r\n")
    lines[1:1] = [f"CSeq: {request.get('cseq')}"]
    if body:
        lines.append(f"Content-Length: {len(body)}")
    return "\r\n".join(lines).encode() + b"\r\n\r\n" + body


def described(text: bytes) -> tuple[int, str, int]:
    """The payload type and the codec of the video, and its place among the tracks that are played."""
    kinds = re.findall(rb"^m=(\w+) 0 RTP/AVP (\d+)", text, re.M)
    payload_type = next(int(number) for kind, number in kinds if kind == b"video")
    codec = re.search(rb"a=rtpmap:%d (\w+)/90000" % payload_type, text).group(1).decode()
    return payload_type, codec, 1 if kinds[0][0] == b"audio" else 0


@pytest.mark.parametrize("name", CAMERAS)
def test_a_real_camera_is_pulled(server, transcripts, name):
    text = (transcripts / f"{name}.txt").read_bytes()
    if name.endswith("_sdp"):
        text = b"RTSP/1.0 200 OK\r\nContent-Type: application/sdp\r\n\r\n" + text
    payload_type, codec, place = described(text)
    recorded = {method: (transcripts / f"{file}.txt").read_bytes() for method, file in zip(("SETUP", "PLAY"), CAMERAS[name]) if file}

    def respond(camera, request):
        if request.method == "DESCRIBE":
            return response(text, request)
        return None

    def change(request, lines):
        if request.method in recorded:
            made = response(recorded[request.method], request, request.method == "SETUP" and b"interleaved" in recorded["SETUP"])
            return made.decode().rstrip("\r\n").split("\r\n")
        return lines

    units = access_units(encoder="libx265") if codec == "H265" else access_units()
    with Camera(Habits(units=units, hevc=codec == "H265", payload_type=payload_type, video_track=place, respond=respond, change=change)) as camera:
        live = pull(server, camera)
        found = wait_running(live)
        assert found["tracks"].split()[0] == ("HEVC" if codec == "H265" else "H264"), found
        assert found["restarts"] == 0


@pytest.mark.parametrize("name", ["h264dvr_setup_video", "luckfox_rkipc_setup_udp"])
def test_responses_about_udp_are_understood(server, transcripts, name):
    text = (transcripts / f"{name}.txt").read_bytes()
    with Camera(Habits(change=lambda request, lines: response(text, request).decode().rstrip("\r\n").split("\r\n") if request.method == "SETUP" else lines)) as camera:
        live = pull(server, camera, options="transport udp; any_port on;")
        wait_running(live)


def test_a_challenge_of_a_real_camera(server, transcripts):
    head = (transcripts / "longse_unauthorized.txt").read_bytes()
    given = []

    def respond(_, request):
        if request.method == "DESCRIBE" and not request.get("authorization"):
            return response(head, request)
        given.append(request.get("authorization"))
        return None

    with Camera(Habits(respond=respond)) as camera:
        live = pull(server, camera, user="admin:pw@")
        wait_running(live)
        assert any('realm="Surveillance Server"' in one for one in given)
