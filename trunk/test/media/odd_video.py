"""Forms of video that some encoders send: functions from the tags of a clip (rtmp_client.read_flv) to the tags of such an encoder."""

import struct

VIDEO = 9
DELIMITER = b"\x09\xf0"
# Of a user: its length, a UUID, a byte.
SEI = b"\x06\x05\x11" + bytes(range(16)) + b"x\x80"
FILLER = b"\x0c\xff\x80"


def is_frame(tag) -> bool:
    """A classic tag of H.264 or HEVC, or an enhanced one with coded frames."""
    body = tag.payload
    return tag.type == VIDEO and (body[0] & 15 in (1, 3) if body[0] & 0x80 else body[1] == 1)


def head_of(body: bytes) -> int:
    """The bytes in front of the NAL units. Only HEVC and AVC have a composition time in an enhanced header, and not if it is zero."""
    if not body[0] & 0x80:
        return 5
    return 8 if body[0] & 15 == 1 and body[1:5] in (b"hvc1", b"avc1") else 5


def units_of(body: bytes) -> list[bytes]:
    at, units = head_of(body), []
    while at + 4 <= len(body):
        size = int.from_bytes(body[at:at + 4], "big")
        units.append(body[at + 4:at + 4 + size])
        at += 4 + size
    return units


def with_lengths(*units: bytes) -> bytes:
    return b"".join(struct.pack(">I", len(unit)) + unit for unit in units)


def remade(tag, payload: bytes):
    return type(tag)(tag.type, tag.timestamp, payload)


def bad_headers(tags, at_ms: int):
    """At that time a sequence header without contents, one of a byte, and one of garbage."""
    done = False
    for tag in tags:
        if tag.timestamp >= at_ms and tag.type == VIDEO and not done:
            done = True
            for contents in (b"", b"\x01", b"\xa5" * 20):
                yield remade(tag, b"\x17\0\0\0\0" + contents)
        yield tag


def without_frame_types(tags):
    """The frame type of video is 0."""
    for tag in tags:
        yield remade(tag, bytes([tag.payload[0] & 0x8f]) + tag.payload[1:]) if tag.type == VIDEO else tag


def one_unit_a_message(tags, delimiter: bool = True):
    """Delimiter, SEI and each NAL unit of H.264 in a message of its own, with one time; without `delimiter` the picture's units alone."""
    for tag in tags:
        if not is_frame(tag):
            yield tag
            continue
        head = tag.payload[1:head_of(tag.payload)]
        for unit in ((DELIMITER, SEI) if delimiter else ()) + tuple(units_of(tag.payload)):
            yield remade(tag, (b"\x17" if unit[0] & 31 == 5 else b"\x27") + head + with_lengths(unit))


def trailing_filler(tags):
    """A filler unit in a message of its own behind each picture."""
    for tag in tags:
        yield tag
        if is_frame(tag):
            yield remade(tag, b"\x27" + tag.payload[1:5] + with_lengths(FILLER))


def annex_b(tags, every: int = 1):
    """Start codes instead of lengths, in each so many-th frame."""
    count = 0
    for tag in tags:
        if is_frame(tag):
            count += 1
            if count % every == 0:
                head = head_of(tag.payload)
                codes = (b"\0\0\0\1", b"\0\0\1")
                tag = remade(tag, tag.payload[:head] + b"".join(codes[min(i, 1)] + unit for i, unit in enumerate(units_of(tag.payload))))
        yield tag
