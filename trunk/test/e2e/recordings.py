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
