"""Plays an RTSP stream with one of three libraries, and prints one JSON line of what came.

    client.py opencv|pyav|aiortsp URL tcp|udp SECONDS

`numbers` are the frame numbers that the clips have painted along the top edge; aiortsp decodes nothing and counts packets.
"""

import asyncio
import json
import os
import sys

FPS, CELLS, CELL_PIXELS = 25, 16, 20
WAIT_S_MAX = 40


def number_of(row) -> int:
    return sum(1 << (CELLS - 1 - i) for i in range(CELLS) if row[i * CELL_PIXELS + CELL_PIXELS // 2] > 128)


def by_opencv(url: str, transport: str, seconds: float) -> dict:
    os.environ["OPENCV_FFMPEG_CAPTURE_OPTIONS"] = f"rtsp_transport;{transport}"
    import cv2  # reads the variable

    capture = cv2.VideoCapture(url, cv2.CAP_FFMPEG, [cv2.CAP_PROP_OPEN_TIMEOUT_MSEC, WAIT_S_MAX * 1000, cv2.CAP_PROP_READ_TIMEOUT_MSEC, WAIT_S_MAX * 1000])
    numbers = []
    while len(numbers) < seconds * FPS:
        has_frame, image = capture.read()
        if not has_frame:
            raise SystemExit(f"no frame after {len(numbers)}")
        numbers.append(number_of(cv2.cvtColor(image, cv2.COLOR_BGR2GRAY)[CELL_PIXELS // 2]))
    return {"numbers": numbers}


def by_pyav(url: str, transport: str, seconds: float) -> dict:
    import av

    numbers, samples = [], 0
    with av.open(url, options={"rtsp_transport": transport, "tls_verify": "0"}, timeout=WAIT_S_MAX) as media:
        for frame in media.decode(media.streams.video[0], media.streams.audio[0]):
            if isinstance(frame, av.AudioFrame):
                samples += frame.samples
                continue
            plane = frame.planes[0]
            numbers.append(number_of(bytes(plane)[CELL_PIXELS // 2 * plane.line_size:]))
            if len(numbers) >= seconds * FPS:
                break
    return {"numbers": numbers, "audio_s": samples / 44_100}


async def by_aiortsp(url: str, transport: str, seconds: float) -> dict:
    from aiortsp.rtsp.reader import RTSPReader

    scheme = {"udp": "rtsp", "tcp": "rtspt"}[transport]
    images, sequences = 0, []
    async with RTSPReader(url.replace("rtsp:", scheme + ":", 1)) as reader:
        async for packet in reader.iter_packets():
            sequences.append(packet.seq)
            images += packet.m
            if images >= seconds * FPS:
                break
    gaps = sum((after - before) % 65536 != 1 for before, after in zip(sequences, sequences[1:]))
    return {"images": images, "gaps": gaps}


def main() -> dict:
    library, url, transport, seconds = sys.argv[1], sys.argv[2], sys.argv[3], float(sys.argv[4])
    if library == "aiortsp":
        return asyncio.run(asyncio.wait_for(by_aiortsp(url, transport, seconds), WAIT_S_MAX))
    return {"opencv": by_opencv, "pyav": by_pyav}[library](url, transport, seconds)


if __name__ == "__main__":
    print(json.dumps(main()))
