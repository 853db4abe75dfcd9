"""put_markers.py IN.ts OUT.ts FIRST ID:KIND:AT[:DURATION]...: puts splice_insert messages of threefive into a transport stream of ffmpeg, two seconds before
the splice. FIRST: the presentation time of the first frame in seconds; AT: seconds after it. The stream must have one program and one packet per table."""

import struct
import sys

from threefive.crc import crc32
from threefive.encode import mk_splice_insert

PACKET, PID = 188, 0x1F4


def with_scte35(packet: bytes) -> bytes:
    """The packet of the program map, with a further stream and the registration of its format."""
    section = packet[5:]
    length = (section[1] & 0x0F) << 8 | section[2]
    body = section[:3 + length - 4]
    program_bytes = (body[10] & 0x0F) << 8 | body[11]
    registration = b"\x05\x04CUEI"
    body = body[:10] + struct.pack(">H", 0xF000 | program_bytes + len(registration)) + registration + body[12:]
    body += struct.pack(">BHH", 0x86, 0xE000 | PID, 0xF000)
    body = body[:1] + struct.pack(">H", 0xB000 | len(body) - 3 + 4) + body[3:]
    body += struct.pack(">I", int(crc32(body)))
    return packet[:5] + body + b"\xff" * (PACKET - 5 - len(body))


def pes_time(packet: bytes) -> float | None:
    """The presentation time of the unit that begins in a packet of video."""
    start = 4 + (1 + packet[4] if packet[3] & 0x20 else 0)
    if not packet[1] & 0x40 or packet[start:start + 3] != b"\0\0\1" or packet[start + 3] != 0xE0:
        return None
    p = packet[start + 9:start + 14]
    return ((p[0] >> 1 & 7) << 30 | p[1] << 22 | p[2] >> 1 << 15 | p[3] << 7 | p[4] >> 1) / 90_000


def main(source: str, target: str, first: str, *wanted: str) -> None:
    cues = []
    for one in wanted:
        event, kind, at, *duration = one.split(":")
        cue = mk_splice_insert(int(event), pts=round(float(first) + float(at), 6), duration=float(duration[0]) if duration else None, out=kind == "out")
        cue.encode()
        cues.append((float(first) + float(at) - 2, cue.bites))
    with open(source, "rb") as file:
        data = file.read()
    out, map_pid, counter = [], None, 0
    for at in range(0, len(data), PACKET):
        packet = data[at:at + PACKET]
        pid = (packet[1] & 0x1F) << 8 | packet[2]
        if pid == 0:
            map_pid = (packet[15] & 0x1F) << 8 | packet[16]
        elif pid == map_pid:
            packet = with_scte35(packet)
        time = pes_time(packet)
        while cues and time is not None and time >= cues[0][0]:
            section = cues.pop(0)[1]
            header = struct.pack(">BHBB", 0x47, 0x4000 | PID, 0x10 | counter, 0)
            counter = (counter + 1) % 16
            out.append((header + section).ljust(PACKET, b"\xff"))
        out.append(packet)
    with open(target, "wb") as file:
        file.write(b"".join(out))


if __name__ == "__main__":
    main(*sys.argv[1:])
