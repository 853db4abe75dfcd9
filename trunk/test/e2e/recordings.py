"""Recordings on the disk: their names, their durations, and whether they decode."""

import json
import subprocess
from pathlib import Path

from hook_server import HookServer

SPEED = 4  # Recordings go by media time.
FORMATS = {"flv": "dvr_path $folder/rec/flv.flv;", "mp4": "dvr_path $folder/rec/mp4.mp4;", "fmp4": "dvr_path $folder/rec/fmp4.mp4; dvr_format fmp4;"}


def probe(path: Path) -> dict:
    command = ["ffprobe", "-v", "error", "-show_entries", "format=duration:stream=codec_name,width,height", "-of", "json", path]
    return json.loads(subprocess.run([str(word) for word in command], capture_output=True, text=True, check=True).stdout)


def duration_of(path: Path) -> float:
    return float(probe(path)["format"]["duration"])


def assert_decodes(path: Path, pictures_min: int, codecs: tuple = ("aac", "h264")) -> None:
    """Decoding all of it finds no fault, and finds video and audio."""
    assert sorted(stream["codec_name"] for stream in probe(path)["streams"]) == sorted(codecs)
    command = ["ffmpeg", "-v", "error", "-nostdin", "-i", str(path), "-map", "0:v", "-f", "framemd5", "-", "-map", "0:a", "-f", "null", "-"]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    assert done.returncode == 0 and not done.stderr, done.stderr
    assert sum(1 for line in done.stdout.splitlines() if line[:1] == "0") >= pictures_min


def whole_files(folder: Path) -> list[Path]:
    return sorted(path for path in folder.rglob("*") if path.is_file() and path.suffix != ".tmp")


def vhost(name: str, dvr: str) -> str:
    return f"vhost {name} {{ dvr {{ enabled on; {dvr} }} }}\n"


def told_at(hooks: HookServer) -> str:
    return f"http_hooks {{ enabled on; on_dvr {hooks.url('/on_dvr')}; }}\n"


def make_noise(to: Path, seconds: int, mbps: int) -> Path:
    """Video of a constant bit rate, 25 frames a second with a key frame every two seconds, that no encoder can make smaller."""
    source = "nullsrc=size=640x360:rate=25,geq=lum='random(1)*255':cb=128:cr=128"
    rate = ["-b:v", f"{mbps}M", "-maxrate", f"{mbps}M", "-bufsize", f"{mbps}M", "-x264-params", "nal-hrd=cbr"]
    subprocess.run(["ffmpeg", "-v", "error", "-f", "lavfi", "-i", source, "-t", str(seconds), "-c:v", "libx264", "-preset", "ultrafast", "-g", "50", "-bf", "0", *rate,
                    "-pix_fmt", "yuv420p", str(to)], check=True, timeout=240)
    assert to.stat().st_size > seconds * mbps * 112_500, "nine tenths of the rate"
    return to


def boxes(data: bytes, begin: int, end: int):
    while begin < end:
        size = int.from_bytes(data[begin:begin + 4], "big")
        yield bytes(data[begin + 4:begin + 8]), begin, begin + size
        begin += size


def lengthen(source: Path, to: Path, times: int) -> None:
    """A fragmented recording whose media comes so many times, one after the other."""
    data = source.read_bytes()
    places = list(boxes(data, 0, len(data)))
    first = next(begin for kind, begin, _ in places if kind == b"moof")
    media = bytearray(data[first:])
    clocks, ends = [], []  # The places of tfdt, and the ticks of one round of its track.
    for kind, begin, end in boxes(media, 0, len(media)):
        for name, at, stop in boxes(media, begin + 8, end) if kind == b"moof" else ():
            if name != b"traf":
                continue
            inner = {part: place for part, place, _ in boxes(media, at + 8, stop)}
            track = int.from_bytes(media[inner[b"tfhd"] + 12:inner[b"tfhd"] + 16], "big")
            clocks.append((track, inner[b"tfdt"] + 12))
    scales = timescales(source)
    seconds = duration_of(source)
    for track, _ in clocks:
        ends.append(round(seconds * scales[track]))
    head = bytearray(data[:first])
    place = head.index(b"mvhd") + 20  # version 0: the duration in milliseconds
    head[place:place + 4] = round(seconds * times * 1000).to_bytes(4, "big")
    with to.open("wb") as out:
        out.write(head)
        for number in range(times):
            if number > 0:
                for (_, place), length in zip(clocks, ends):
                    media[place:place + 8] = (int.from_bytes(media[place:place + 8], "big") + length).to_bytes(8, "big")
            out.write(media)


def timescales(path: Path) -> dict[int, int]:
    command = ["ffprobe", "-v", "error", "-show_entries", "stream=id,time_base", "-of", "json", str(path)]
    streams = json.loads(subprocess.run(command, capture_output=True, text=True, check=True).stdout)["streams"]
    return {int(stream["id"], 16): int(stream["time_base"].split("/")[1]) for stream in streams}


NOTE = b"millrace-record1\x01"


def copy_at(source: Path, to: Path, microseconds: int) -> None:
    """The same recording of another time: its note has the time of the clock."""
    data = bytearray(source.read_bytes())
    at = data.index(NOTE) + len(NOTE)
    data[at:at + 8] = microseconds.to_bytes(8, "big")
    to.write_bytes(data)


def start_of(source: Path) -> int:
    data = source.read_bytes()
    at = data.index(NOTE) + len(NOTE)
    return int.from_bytes(data[at:at + 8], "big")
