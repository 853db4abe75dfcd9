"""Streams with two audio tracks and two video tracks."""

from pathlib import Path

from rtmp_client import AUDIO, DATA, VIDEO, Tag, amf0, read_amf0, read_flv


def is_setup(tag: Tag) -> bool:
    return tag.payload[1] == 0


def enhanced_video(tag: Tag) -> bytes:
    """The bytes after the FourCC avc1: the configuration, or the composition time and the frame."""
    return tag.payload[5:] if is_setup(tag) else tag.payload[2:]


def many_pictures(first: Tag, second: Tag) -> bytes:
    """A ManyTracks message, with the preferred track at the end."""
    kind = 0 if is_setup(first) else 1
    parts = b"".join(bytes([number]) + len(body).to_bytes(3, "big") + body
                     for number, body in ((1, enhanced_video(second)), (0, enhanced_video(first))))
    return bytes([0x80 | first.payload[0] & 0x70 | 6, 0x10 | kind]) + b"avc1" + parts


def second_sound(tag: Tag) -> bytes:
    """A OneTrack message of track 1."""
    return bytes([0x95, 0 if is_setup(tag) else 1]) + b"mp4a" + bytes([1]) + tag.payload[2:]


def with_languages(metadata: bytes) -> bytes:
    """E-RTMP v2: adds the track descriptions to onMetaData."""
    *names, values = read_amf0(metadata)
    values["audioTrackIdInfoMap"] = {"0": {"language": "en"}, "1": {"language": "de", "name": "Deutsch"}}
    return b"".join(map(amf0, names)) + amf0(values)


def two_of_each(first: Path, second: Path) -> list[Tag]:
    """Video as messages of two tracks; audio of track 0 in ordinary messages, of track 1 in separate OneTrack messages."""
    others = {kind: [tag for tag in read_flv(second) if tag.type == kind] for kind in (AUDIO, VIDEO)}
    taken = {AUDIO: 0, VIDEO: 0}
    tags = []
    for tag in read_flv(first):
        if tag.type == DATA:
            tags.append(Tag(DATA, tag.timestamp, with_languages(tag.payload)))
            continue
        at, taken[tag.type] = taken[tag.type], taken[tag.type] + 1
        if at >= len(others[tag.type]):
            continue
        other = others[tag.type][at]
        assert is_setup(tag) == is_setup(other)
        if tag.type == VIDEO:
            tags.append(Tag(VIDEO, tag.timestamp, many_pictures(tag, other)))
        else:
            tags += [tag, Tag(AUDIO, tag.timestamp, second_sound(other))]
    return tags
