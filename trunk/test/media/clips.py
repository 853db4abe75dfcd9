"""The clips that the end-to-end tests and the benchmark publish: made by ffmpeg on first use, kept in a cache folder.

As a module: clip("basic") gives a path. As a program: clips.py [--dir DIR] NAME... prints the paths. A clip is a function of
its recipe alone, and the recipe's digest is part of the file's name, so that a changed recipe never meets a stale file.
It is not the sample stream of the server (doc/source.flv), which has its own script.
"""

import argparse
import functools
import hashlib
import os
import re
import shutil
import subprocess
import sys
from pathlib import Path

WIDTH, HEIGHT, FPS = 640, 360, 25
CELLS = 16  # Black or white squares along the top edge that spell the frame number, so a player can prove order.


class Unavailable(Exception):
    """The clip cannot be made on this machine; the text names the missing program."""


def cache_folder() -> Path:
    base = os.environ.get("XDG_CACHE_HOME") or str(Path.home() / ".cache")
    return Path(base) / "live-server-test-media"


@functools.cache
def find_new_ffmpeg() -> str | None:
    """An ffmpeg that writes enhanced RTMP (8 or later): LIVE_FFMPEG_NEW, the system's own, or what install-new-ffmpeg.sh put
    into the cache folder."""
    candidates = [os.environ.get("LIVE_FFMPEG_NEW"), shutil.which("ffmpeg")]
    binaries = cache_folder() / "venv/lib"
    candidates += [str(p) for p in sorted(binaries.glob("python*/site-packages/imageio_ffmpeg/binaries/ffmpeg-*"))]
    for path in candidates:
        if path and os.access(path, os.X_OK) and _writes_enhanced_rtmp(path):
            return path
    return None


@functools.cache
def libavformat_of(ffmpeg: str) -> int:
    """The major version of its libavformat: 59 of ffmpeg 5, 60 of 6, 61 of 7, 62 of 8. Asked once: each start of ffmpeg costs CPU."""
    text = subprocess.run([ffmpeg, "-version"], capture_output=True, text=True).stdout
    found = re.search(r"libavformat\s+(\d+)", text)
    return int(found[1]) if found else 0


def _writes_enhanced_rtmp(path: str) -> bool:
    return libavformat_of(path) >= 62


def _picture(width: int = WIDTH, height: int = HEIGHT, fps: int = FPS) -> str:
    size = width // 32
    boxes = [f"drawbox=x=0:y=0:w={CELLS * size}:h={size}:color=black:t=fill"]
    for bit in range(CELLS):
        left = (CELLS - 1 - bit) * size
        boxes.append(f"drawbox=x={left}:y=0:w={size}:h={size}:color=white:t=fill:enable='mod(floor(n/{1 << bit}),2)'")
    return f"testsrc2=size={width}x{height}:rate={fps}," + ",".join(boxes) + ",format=yuv420p"


def _video_input() -> list[str]:
    return ["-f", "lavfi", "-i", _picture()]


def _audio_input(rate: int = 44100) -> list[str]:
    return ["-f", "lavfi", "-i", f"sine=frequency=440:beep_factor=4:sample_rate={rate}"]


def _x264(kbps: int, gop: int = 50, bframes: int = 0) -> list[str]:
    return (f"-c:v libx264 -preset veryfast -profile:v main -b:v {kbps}k -maxrate {kbps}k -bufsize {kbps}k "
            f"-g {gop} -keyint_min {gop} -sc_threshold 0 -bf {bframes}").split()


AAC = "-c:a aac -b:a 64k -ac 2".split()
HEVC = ["-c:v", "libx265", "-preset", "ultrafast", "-b:v", "400k", "-x265-params",
        "log-level=error:keyint=50:min-keyint=50:bframes=0:scenecut=0"]
AV1 = "-c:v libsvtav1 -preset 12 -crf 45 -g 50 -svtav1-params pred-struct=1".split()
OPUS = "-c:a libopus -b:a 48k -ac 2".split()

# name: (seconds, needs the newer ffmpeg, arguments)
RECIPES = {
    "basic": (20, False, _video_input() + _audio_input() + _x264(430) + AAC),
    "bframes": (20, False, _video_input() + _audio_input() + _x264(430, bframes=2) + AAC),
    # As ffmpeg's defaults make it: three B-frames, others are predicted from the middle one, and of three pictures.
    "pyramid": (10, False, _video_input() + _audio_input() + "-c:v libx264 -b:v 430k -g 50 -bf 3".split() + AAC),
    # Another size and another note, in step with "basic": a second track of each kind.
    "second": (20, False, ["-f", "lavfi", "-i", f"testsrc2=size=320x180:rate={FPS},format=yuv420p", "-f", "lavfi", "-i",
                           "sine=frequency=880:sample_rate=44100"] + _x264(150) + "-c:a aac -b:a 48k -ac 1".split()),
    # Four slices in each picture.
    "slices": (10, False, _video_input() + _audio_input() + _x264(430) + ["-x264-params", "slices=4"] + AAC),
    "mp3": (20, False, _video_input() + _audio_input() + _x264(430) + "-c:a libmp3lame -b:a 64k -ac 2".split()),
    "audio": (20, False, _audio_input() + AAC),
    "video": (20, False, _video_input() + _x264(430)),
    "fat": (20, False, _video_input() + _audio_input() + _x264(1930) + ["-x264-params", "nal-hrd=cbr"] + AAC),
    "bench": (60, False, _video_input() + _audio_input() + _x264(440) + ["-x264-params", "nal-hrd=cbr"] + AAC),
    # A player waits for a key frame for up to 4 s, if it does not get the newest one.
    "gop4": (20, False, _video_input() + _audio_input() + _x264(440, gop=100) + AAC),
    # For a thousand streams at once.
    "small": (20, False, ["-f", "lavfi", "-i", "testsrc2=size=160x90:rate=10,format=yuv420p"] + _audio_input(22050) + _x264(40, gop=20) +
              "-c:a aac -b:a 24k -ac 1".split()),
    # Key frames at irregular times, B-frames, and little work for an encoder.
    "ladder": (20, False, ["-f", "lavfi", "-i", "testsrc2=size=640x360:rate=15,format=yuv420p"] + _audio_input() +
               "-c:v libx264 -preset ultrafast -b:v 300k -bf 2 -g 900 -sc_threshold 0 -force_key_frames 0,1,2,4.2,5,7,8.6,9,11,13,14.2,15,17,18,19".split() + AAC),
    # Bits of 720p at a constant rate, for players that choose, and few pictures to encode.
    "hd": (20, False, ["-f", "lavfi", "-i", _picture(1280, 720, 15)] + _audio_input() + _x264(1800, gop=30) + ["-x264-params", "nal-hrd=cbr"] + AAC),
    "hevc": (20, True, _video_input() + _audio_input() + HEVC + AAC),
    "av1": (20, True, _video_input() + _audio_input() + AV1 + AAC),
    "opus": (20, True, _video_input() + _audio_input(48000) + _x264(430) + OPUS),
}


def clip(name: str, folder: Path | None = None) -> Path:
    """The path of the clip, which is made when it is not there yet. Raises Unavailable."""
    seconds, needs_new, arguments = RECIPES[name]
    digest = hashlib.sha256(repr((seconds, arguments)).encode()).hexdigest()[:10]
    path = (folder or cache_folder()) / f"{name}-{digest}.flv"
    if path.exists():
        return path
    ffmpeg = find_new_ffmpeg() if needs_new else shutil.which("ffmpeg")
    if ffmpeg is None:
        raise Unavailable(f"clip {name}: " + ("no ffmpeg with enhanced RTMP (8 or later)" if needs_new else "no ffmpeg"))
    path.parent.mkdir(parents=True, exist_ok=True)
    unfinished = path.with_name(f".{path.name}.{os.getpid()}.flv")
    command = [ffmpeg, "-nostdin", "-hide_banner", "-loglevel", "error", "-y", *arguments, "-t", str(seconds), str(unfinished)]
    done = subprocess.run(command, capture_output=True, text=True)
    if done.returncode != 0:
        unfinished.unlink(missing_ok=True)
        raise Unavailable(f"clip {name}: {done.stderr.strip()[-300:]}")
    unfinished.rename(path)
    return path


def main() -> int:
    parser = argparse.ArgumentParser(description="Make the test clips.")
    parser.add_argument("--dir", type=Path, help="where to put them (default: the cache folder)")
    parser.add_argument("names", nargs="*", default=list(RECIPES), help="which ones (default: all)")
    options = parser.parse_args()
    status = 0
    for name in options.names:
        try:
            print(clip(name, options.dir))
        except Unavailable as reason:
            print(f"skipped: {reason}", file=sys.stderr)
            status = 1
    return status


if __name__ == "__main__":
    sys.exit(main())
