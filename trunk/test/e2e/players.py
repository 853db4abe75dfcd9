"""Other people's publishers and players: ffmpeg, rtmpdump (librtmp), GStreamer's rtmp2src, mpv and VLC. Each player function
plays a URL for some seconds and returns what was wrong with it (an empty list: nothing), so that a table of publisher by player
can be made of them. Absent programs are the caller's to skip: see available()."""

import os
import re
import shutil
import signal
import subprocess
import tempfile
import time
from pathlib import Path

import play_check
from clips import find_new_ffmpeg
from live_server import Limit, ends

START_LIMIT_S = 15
ENOUGH_FPS = 15  # Of 25: a player needs time to start, and the figures below count what it showed.
LATE_S = 5


class FfmpegPublisher:
    """ffmpeg sends a clip in real time, or so many times as fast, over and over. Use as a context: leaving it ends ffmpeg politely (q-like, by SIGINT)."""

    def __init__(self, url: str, clip: Path, ffmpeg: str = "ffmpeg", extra: list[str] | None = None, speed: float = 1):
        self.log = tempfile.TemporaryFile()
        pace = ["-re"] if speed == 1 else ["-readrate", str(speed)]
        command = [ffmpeg, "-nostdin", "-hide_banner", "-loglevel", "warning", *pace, "-stream_loop", "-1", "-i", str(clip), "-c", "copy",
                   *(extra or []), "-f", "flv", "-flvflags", "no_duration_filesize", url]
        self.process = subprocess.Popen(command, stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL, stderr=self.log)

    def __enter__(self):
        return self

    def __exit__(self, kind, *_):
        alive = self.process.poll() is None
        self.stop(signal.SIGINT)
        if kind is None and not alive:
            raise AssertionError(f"the publisher ended by itself, status {self.process.returncode}: {self.said()}")

    def said(self) -> str:
        self.log.seek(0)
        return self.log.read().decode(errors="replace")[-800:]

    def stop(self, how: int) -> None:
        if self.process.poll() is None:
            self.process.send_signal(how)
        try:
            self.process.wait(5)
        except subprocess.TimeoutExpired:
            self.process.kill()
            self.process.wait()

    def kill(self) -> None:
        self.stop(signal.SIGKILL)


def _run(command: list, limit_s: float, as_nobody: bool = False, home: str | None = None, interrupt: bool = False) -> tuple[int, str]:
    """Runs a player with a time limit; its output with both streams together. With `interrupt` the limit is the normal end."""
    if as_nobody and os.geteuid() == 0:
        command = ["runuser", "-u", "nobody", "--", *command]
    environment = {**os.environ, "HOME": home} if home else None
    child = subprocess.Popen([str(c) for c in command], stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.STDOUT,
                             env=environment, start_new_session=True)
    try:
        if interrupt:
            ends(child, limit_s)  # its output fits into the pipe
        out, _ = child.communicate(timeout=0.01 if interrupt else limit_s)
    except subprocess.TimeoutExpired:
        os.killpg(child.pid, signal.SIGINT)
        try:
            out, _ = child.communicate(timeout=20)
        except subprocess.TimeoutExpired:
            os.killpg(child.pid, signal.SIGKILL)
            out, _ = child.communicate()
        return (0 if interrupt else 124), out.decode(errors="replace")
    return child.returncode, out.decode(errors="replace")


def ffmpeg(url: str, seconds: float, want: str) -> list[str]:
    return play_check.play(url, seconds, want=want).problems(want)


def ffmpeg_new(url: str, seconds: float, want: str) -> list[str]:
    return play_check.play(url, seconds, ffmpeg=find_new_ffmpeg(), want=want).problems(want)


def rtmpdump(url: str, seconds: float, want: str) -> list[str]:
    with tempfile.TemporaryDirectory() as folder:
        saved = Path(folder) / "saved.flv"
        _, out = _run(["rtmpdump", "-q", "-v", "-r", url, "-o", saved], seconds + 2, interrupt=True)
        kind, rate = ("v", 25) if "v" in want else ("a", 43)
        probe = subprocess.run(["ffprobe", "-v", "error", "-count_packets", "-select_streams", kind, "-show_entries",
                                "stream=nb_read_packets", "-of", "csv=p=0", str(saved)], capture_output=True, text=True, check=False)
        count = int((probe.stdout.split() or ["0"])[0].strip(",") or 0)
    return [] if count >= seconds * rate * 0.7 else [f"{count} packets: {out.strip()[-200:]}"]


def gstreamer(url: str, seconds: float, want: str, source: list[str] | None = None) -> list[str]:
    """Its time begins with the first frame: of DASH it may wait for the next list before it shows one. `source` ends with a decodebin of video."""
    sink = "queue ! videoconvert ! fpsdisplaysink text-overlay=false video-sink=fakesink fps-update-interval=250"
    source = source or ["rtmp2src", f"location={url}", "!", "decodebin"] if source or url.startswith("rtmp") else ["uridecodebin", f"uri={url}"]
    command = ["gst-launch-1.0", "-v", *source, "name=d", "d.", "!", *sink.split()]
    with tempfile.TemporaryDirectory() as folder:
        said = Path(folder) / "said"
        with open(said, "wb") as log:
            child = subprocess.Popen(command, stdin=subprocess.DEVNULL, stdout=log, stderr=subprocess.STDOUT)
        limit = Limit(START_LIMIT_S)
        while child.poll() is None and not re.search(r"rendered: [1-9]", said.read_text(errors="replace")) and not limit.is_over():
            time.sleep(0.1)
        try:
            child.wait(seconds + 1)
        except subprocess.TimeoutExpired:
            limit = Limit(LATE_S)
            while child.poll() is None and _shown(said) < seconds * ENOUGH_FPS and not limit.is_over():
                time.sleep(0.1)
            child.send_signal(signal.SIGINT)
        try:
            child.wait(20)
        except subprocess.TimeoutExpired:
            child.kill()
            child.wait()
        out = said.read_text(errors="replace")
        shown = _shown(said)
    return [] if shown >= seconds * ENOUGH_FPS else [f"{shown} frames: {_last_error(out)}"]


def _shown(said: Path) -> int:
    """Frames in the last output of GStreamer."""
    return int((re.findall(r"rendered: (\d+)", said.read_text(errors="replace")) or ["0"])[-1])


def mpv(url: str, seconds: float, want: str, options: list[str] | None = None) -> list[str]:
    command = ["mpv", "--no-config", "--no-input-terminal", "--vo=null", "--ao=null", f"--length={seconds:g}", "--msg-level=all=error,statusline=status",
               "--term-status-msg=at ${=time-pos} frame ${=estimated-frame-number}", *(options or []), url]
    status, out = _run(command, seconds + 90)  # without video, it looks for some for five seconds
    times = [float(t) for t in re.findall(r"at (\d+\.\d+)", out)]
    frames = [int(n) for n in re.findall(r"frame (\d+)", out)]
    if status != 0:
        return [f"status {status}: {_last_error(out)}"]
    if "v" in want and (not frames or frames[-1] < seconds * ENOUGH_FPS):
        return [f"{frames[-1] if frames else 0} frames"]
    if not times or max(times) - min(times) < seconds * 0.6:
        return ["its clock did not advance"]
    return []


def vlc(url: str, seconds: float, want: str) -> list[str]:
    with tempfile.TemporaryDirectory() as home:
        os.chmod(home, 0o777)
        command = ["vlc", "-I", "dummy", "--vout", "dummy", "--aout", "dummy", "--run-time", str(int(seconds)), "--play-and-exit", "-vv", url, "vlc://quit"]
        status, out = _run(command, seconds + 90, as_nobody=True, home=home)
    if "Received first picture" not in out:
        return [f"no picture, status {status}: {_last_error(out)}"]
    return [] if status == 0 else [f"status {status}: {_last_error(out)}"]


def _last_error(out: str) -> str:
    errors = [line for line in out.splitlines() if "error" in line.lower()]
    return (errors or [out.strip()[-200:]])[-1][-200:]


PLAYERS = {"ffmpeg": ffmpeg, "ffmpeg_new": ffmpeg_new, "rtmpdump": rtmpdump, "gstreamer": gstreamer, "mpv": mpv, "vlc": vlc}
PROGRAMS = {"ffmpeg": "ffmpeg", "rtmpdump": "rtmpdump", "gstreamer": "gst-launch-1.0", "mpv": "mpv", "vlc": "vlc"}


def available(player: str, want: str = "av") -> str:
    """Empty when the player can be used here for what it wants, else why not."""
    if player == "ffmpeg_new":
        return "" if find_new_ffmpeg() else "no ffmpeg with enhanced RTMP (8 or later)"
    program = PROGRAMS[player]
    if shutil.which(program) is None:
        return f"{program} is not installed"
    if player == "mpv" and want == "a":
        said = subprocess.run(["mpv", "--version"], capture_output=True, text=True, check=False).stdout
        if not re.match(r"mpv v?0\.3", said):
            return "mpv 0.40 opens a live stream of audio alone and does not begin to play it, from ffmpeg as a server neither"
    if player == "gstreamer":
        probe = subprocess.run(["gst-inspect-1.0", "rtmp2src"], capture_output=True, check=False)
        return "" if probe.returncode == 0 else "GStreamer has no rtmp2src"
    return ""


def wait_playable(url: str, limit_s: float = 30, program: str = "ffmpeg") -> None:
    """Waits until the stream has packets, so that what is measured next is not the publisher's start."""
    limit = Limit(limit_s)
    while not limit.is_over():
        try:
            # To the end of its file format's probing only: nothing is decoded.
            probe = subprocess.run([program, "-nostdin", "-loglevel", "error", *play_check.rtmp_options(program, url), "-i", url, "-c", "copy",
                                    "-frames", "1", "-f", "null", "-"], capture_output=True, check=False, timeout=2 * limit_s)
        except subprocess.TimeoutExpired:
            break
        if probe.returncode == 0:
            return
        time.sleep(0.3)
    raise AssertionError(f"nothing to play at {url}")
