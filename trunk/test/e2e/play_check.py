#!/usr/bin/env python3
"""Plays an address with ffmpeg for some seconds, decodes everything and reports errors.

Judged: times never go back, no gap, both media start and end together, the decoder does not complain, audio is not silent, and
the frame numbers that clips.py paints along the top edge go up one by one (so nothing was lost, repeated or reordered).
As a program: play_check.py URL [SECONDS] prints a JSON line and exits 0 when all is well.
"""

import json
import re
import subprocess
import sys
import tempfile
from dataclasses import dataclass, field
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parent.parent / "media"))
from clips import CELLS, HEIGHT, RECIPES, WIDTH, FPS, libavformat_of  # noqa: E402  pylint: disable=wrong-import-position

CLIP_FRAMES = RECIPES["basic"][0] * FPS
GAP_MS, SKEW_MS = 400, 700


@dataclass
class Track:
    kind: str = ""
    codec: str = ""
    times: list[float] = field(default_factory=list)  # Decode times in ms.

    def gaps(self) -> list[float]:
        return [b - a for a, b in zip(self.times, self.times[1:])]

    def span_ms(self) -> float:
        return self.times[-1] - self.times[0] if self.times else 0.0


@dataclass
class Playback:
    url: str
    seconds: float
    video: Track
    audio: Track
    frames: list[int]  # Frame numbers read from the picture.
    complaints: list[str]
    loudness_db: float | None
    timed_out: bool

    def problems(self, want: str = "av", numbered: bool = True) -> list[str]:
        """Everything that is wrong, empty when nothing is. `want` names the tracks that must be there: a, v or av."""
        found = ["ran out of time"] if self.timed_out else []
        found += [f"ffmpeg says: {line}" for line in self.complaints[:2]]
        if "v" in want:
            found += self._track_problems(self.video, "video")
            if len(self.frames) < len(self.video.times) * 0.9 - 5:
                found.append(f"{len(self.frames)} frames decoded of {len(self.video.times)}")
            if numbered:
                found += self._number_problems()
        if "a" in want:
            found += self._track_problems(self.audio, "audio")
            if self.loudness_db is None or self.loudness_db < -60:
                found.append(f"silent: {self.loudness_db} dB")
        if want == "av" and self.video.times and self.audio.times:
            for name, at in (("start", 0), ("end", -1)):
                skew = self.video.times[at] - self.audio.times[at]
                if abs(skew) > SKEW_MS:
                    found.append(f"audio and video {name} {skew:.0f} ms apart")
        return found

    def _track_problems(self, track: Track, name: str) -> list[str]:
        if not track.times:
            return [f"no {name}"]
        found = []
        if min(track.gaps(), default=0) < 0:
            found.append(f"{name} times go back")
        if max(track.gaps(), default=0) > GAP_MS:
            found.append(f"{name} gap of {max(track.gaps()):.0f} ms")
        if track.span_ms() < self.seconds * 800:
            found.append(f"only {track.span_ms() / 1000:.1f} s of {name}")
        return found

    def _number_problems(self) -> list[str]:
        for a, b in zip(self.frames, self.frames[1:]):
            if b != a + 1 and not (a == CLIP_FRAMES - 1 and b == 0):
                return [f"frame {b} follows frame {a}"]
        return []


def play(url: str, seconds: float = 8, ffmpeg: str = "ffmpeg", patience_s: float = 40, want: str = "av", options: list | None = None) -> Playback:
    """Plays and decodes; it is up to the caller to ask for problems(). The options precede the URL.

    With options, pictures keep the unit of their packets' times: half a frame between audio and video would round two pictures to one time.
    """
    with tempfile.TemporaryDirectory(prefix="play-check-") as name:
        folder = Path(name)
        command = [ffmpeg, "-nostdin", "-hide_banner", "-y", "-loglevel", "repeat+level+info"]
        command += [*rtmp_options(ffmpeg, url), *(options or []), "-i", url, "-map", "0:v:0?", "-map", "0:a:0?", "-c", "copy", "-t", str(seconds), "-f", "framecrc", folder / "packets"]
        if "v" in want:
            cell = WIDTH // 32
            crop = f"crop={CELLS * cell}:{cell}:0:0,scale={CELLS}:1:flags=area,format=gray"
            times = own_times(ffmpeg) if options else ["-fps_mode", "passthrough"]
            command += ["-map", "0:v:0", *times, "-t", str(seconds), "-vf", crop, "-f", "rawvideo", folder / "cells"]
        if "a" in want:
            command += ["-map", "0:a:0", "-t", str(seconds), "-af", "volumedetect", "-f", "framecrc", folder / "audio"]
        timed_out = False
        try:
            done = subprocess.run([str(c) for c in command], capture_output=True, timeout=seconds + patience_s, check=False)
            log = done.stderr
        except subprocess.TimeoutExpired as late:
            timed_out, log = True, late.stderr or b""
        text = log.decode(errors="replace")
        tracks = _read_packets(folder / "packets")
        return Playback(url, seconds, tracks.get("video", Track()), tracks.get("audio", Track()), _read_cells(folder / "cells"),
                        [line.strip() for line in text.splitlines() if re.search(r"\[(error|fatal|panic)\]", line)],
                        _loudness(text), timed_out)


def rtmp_options(ffmpeg: str, url: str) -> list[str]:
    """The arguments by which an ffmpeg with enhanced RTMP announces its codecs; none for an older one."""
    version = libavformat_of(ffmpeg) if url.startswith("rtmp") else 0
    # Version 61 fails to open any stream if Opus is announced.
    codecs = "hvc1,av01,vp09,Opus" if version >= 62 else "hvc1,av01,vp09" if version == 61 else ""
    return ["-rtmp_enhanced_codecs", codecs] if codecs else []


def own_times(ffmpeg: str = "ffmpeg") -> list[str]:
    """Decoded pictures keep the times of their packets, in the packets' own unit."""
    return ["-fps_mode", "passthrough", "-enc_time_base:v", "demux" if libavformat_of(ffmpeg) >= 61 else "-1"]


def _read_packets(path: Path) -> dict[str, Track]:
    tracks: dict[str, Track] = {}
    base: dict[str, float] = {}
    for line in path.read_text().splitlines() if path.exists() else []:
        words = line.replace(":", " ").replace(",", " ").split()
        if line.startswith("#tb"):
            numerator, denominator = words[2].split("/")
            base[words[1]] = 1000 * int(numerator) / int(denominator)
        elif line.startswith("#codec_id"):
            tracks.setdefault(words[1], Track()).codec = words[2]
        elif line.startswith("#media_type"):
            tracks.setdefault(words[1], Track()).kind = words[2]
        elif not line.startswith("#") and len(words) >= 5:
            tracks[words[0]].times.append(int(words[1]) * base[words[0]])
    return {track.kind: track for track in tracks.values()}


def _read_cells(path: Path) -> list[int]:
    data = path.read_bytes() if path.exists() else b""
    rows = (data[at:at + CELLS] for at in range(0, len(data) - CELLS + 1, CELLS))
    return [sum(1 << (CELLS - 1 - i) for i, level in enumerate(row) if level > 128) for row in rows]


def _loudness(log: str) -> float | None:
    found = re.search(r"mean_volume: (-?[\d.]+) dB", log)
    return float(found.group(1)) if found else None


def main() -> int:
    if len(sys.argv) < 2:
        print(__doc__, file=sys.stderr)
        return 2
    playback = play(sys.argv[1], float(sys.argv[2]) if len(sys.argv) > 2 else 8)
    problems = playback.problems()
    print(json.dumps({"ok": not problems, "why": problems, "url": playback.url, "frames": len(playback.frames),
                      "video": playback.video.codec, "audio": playback.audio.codec}))
    return 1 if problems else 0


if __name__ == "__main__":
    sys.exit(main())
