"""A publisher that sends another size in mid-stream, on the same connection."""

import subprocess

from rtmp_client import Tag


def small_clip(folder):
    """A quarter of the size, and another rate of audio."""
    path = folder / "small.flv"
    subprocess.run(["ffmpeg", "-nostdin", "-v", "error", "-f", "lavfi", "-i", "testsrc2=size=320x180:rate=25", "-f", "lavfi", "-i",
                    "sine=frequency=440:sample_rate=48000", "-t", "8", "-c:v", "libx264", "-preset", "veryfast", "-g", "50", "-pix_fmt", "yuv420p",
                    "-c:a", "aac", path], check=True, timeout=60)
    return path


class Resent(Tag):
    """A header that is sent again in a later round."""

    def is_setup(self) -> bool:
        return False


def filled(tags: list[Tag], length_ms: int) -> list[Tag]:
    """The tags again and again, for so long; the headers once."""
    whole = tags[-1].timestamp + 40
    return [Resent(tag.type, tag.timestamp + start, tag.payload) for start in range(0, length_ms, whole) for tag in tags
            if tag.timestamp + start < length_ms and not (start and tag.is_setup())]
