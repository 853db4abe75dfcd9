"""Video with closed captions (CEA-608 and CEA-708 in SEI), which no encoder here writes, and what ffmpeg reads of them."""

import re
import subprocess
from pathlib import Path

RATE = 25
LINE_S = 1  # One line of captions each second: "LINE 0000", "LINE 0001", ...
SLICES = {"h264": range(1, 6), "hevc": range(0, 32)}


def type_of(codec: str, unit: bytes) -> int:
    return unit[0] & 0x1F if codec == "h264" else unit[0] >> 1 & 0x3F


def begins_image(codec: str, unit: bytes) -> bool:
    first = unit[1] if codec == "h264" else unit[2]
    return type_of(codec, unit) in SLICES[codec] and first & 0x80 != 0


def odd_parity(byte: int) -> int:
    return byte | (0x80 if bin(byte & 0x7F).count("1") % 2 == 0 else 0)


def pairs_of(line: str) -> list[tuple[int, int]]:
    """CTA-608-E: roll-up of two rows, carriage return, the last row, the text; control codes are sent twice."""
    pairs = [code for code in ((0x14, 0x25), (0x14, 0x2D), (0x14, 0x70)) for _ in range(2)]
    text = line.encode("ascii") + b"\0" * (len(line) % 2)
    return pairs + [(text[i], text[i + 1]) for i in range(0, len(text), 2)]


def sei_of(codec: str, pair: tuple[int, int]) -> bytes:
    """ATSC A/53 part 4: the pair in field 1, and a packet of CEA-708 whose service 1 has one character."""
    constructs = bytes((0xFC, odd_parity(pair[0]), odd_parity(pair[1]), 0xFF, 0x02, 0x21, 0xFE, 0x41, 0x00))
    data = b"\xb5\x00\x31GA94\x03" + bytes((0x40 | len(constructs) // 3, 0xFF)) + constructs + b"\xff"
    return (b"\x06" if codec == "h264" else b"\x4e\x01") + bytes((4, len(data))) + data.replace(b"\0\0\0", b"\0\0\3\0") + b"\x80"


def put_captions(stream: bytes, codec: str) -> bytes:
    """The byte stream with one SEI in front of each image."""
    units = [unit.rstrip(b"\0") for unit in stream.split(b"\0\0\1") if unit.rstrip(b"\0")]
    pairs, out, image = [], b"", 0
    for unit in units:
        if begins_image(codec, unit):
            if image % (RATE * LINE_S) == 0:
                pairs += pairs_of(f"LINE {image // (RATE * LINE_S):04}")
            out += b"\0\0\0\1" + sei_of(codec, pairs.pop(0) if pairs else (0, 0))
            image += 1
        out += b"\0\0\0\1" + unit
    return out


def make_captioned(folder: Path, codec: str, seconds: int, container: str) -> Path:
    """A file with captions and audio; without B-frames, because the SEI are in the order of presentation."""
    encoder = {"h264": ["libx264"], "hevc": ["libx265", "-x265-params", "log-level=none:bframes=0"]}[codec]
    raw, made = folder / f"plain.{codec}", folder / f"captioned.{codec}"
    subprocess.run(["ffmpeg", "-y", "-hide_banner", "-loglevel", "error", "-f", "lavfi", "-i", f"testsrc2=size=160x90:rate={RATE}", "-t", str(seconds), "-c:v",
                    *encoder, "-preset", "ultrafast", "-pix_fmt", "yuv420p", "-g", str(RATE), "-bf", "0", "-f", codec, raw], check=True, timeout=60)
    made.write_bytes(put_captions(raw.read_bytes(), codec))
    subprocess.run(["ffmpeg", "-y", "-hide_banner", "-loglevel", "error", "-r", str(RATE), "-f", codec, "-i", made, "-f", "lavfi", "-i",
                    "sine=frequency=440:sample_rate=44100", "-t", str(seconds), "-c:v", "copy", "-c:a", "aac", folder / f"captioned.{container}"], check=True,
                   timeout=60)
    return folder / f"captioned.{container}"


def caption_clip(folder: Path, clip: Path) -> Path:
    """The same clip, with captions; it has H.264 at the same rate, without B-frames."""
    raw, made, out = folder / "plain.h264", folder / "captioned.h264", folder / f"captioned-{clip.name}"
    quiet = ["ffmpeg", "-y", "-hide_banner", "-loglevel", "error"]
    subprocess.run([*quiet, "-i", clip, "-map", "0:v", "-c", "copy", "-f", "h264", raw], check=True, timeout=60)
    made.write_bytes(put_captions(raw.read_bytes(), "h264"))
    subprocess.run([*quiet, "-r", str(RATE), "-f", "h264", "-i", made, "-i", clip, "-map", "0:v", "-map", "1:a", "-c", "copy", out], check=True, timeout=60)
    return out


def lines_in(file: Path) -> set[str]:
    """The lines of captions that ffmpeg decodes from the video of a file."""
    done = subprocess.run(["ffmpeg", "-hide_banner", "-loglevel", "error", "-f", "lavfi", "-i", f"movie={file}[out0+subcc]", "-map", "0:s", "-f", "srt", "-"],
                          capture_output=True, text=True, timeout=60)
    return set(re.findall(r"LINE \d{4}", done.stdout))
