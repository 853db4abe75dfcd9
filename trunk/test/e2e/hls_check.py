"""Judges HLS playlists by the rules of RFC 8216 and of its second edition (draft-pantos-hls-rfc8216bis, for low latency) that this
server uses. check() looks at one playlist, check_update() at one and what came after it. Each gives complaints with the section
in front; none is good. As a program: hls_check.py FILE... judges files, each as an update of the one before."""

import datetime
import re
import sys
from dataclasses import dataclass, field

ATTRIBUTE = re.compile(r'([A-Z0-9-]+)=("[^"\r\n]*"|[^",\s][^,"]*)(?:,(?=.)|$)')
PER_SEGMENT = ("#EXTINF", "#EXT-X-DISCONTINUITY", "#EXT-X-GAP", "#EXT-X-KEY", "#EXT-X-MAP", "#EXT-X-PART", "#EXT-X-BYTERANGE", "#EXT-X-PROGRAM-DATE-TIME")
ONCE = ("#EXT-X-VERSION", "#EXT-X-MEDIA-SEQUENCE", "#EXT-X-DISCONTINUITY-SEQUENCE", "#EXT-X-TARGETDURATION", "#EXT-X-SERVER-CONTROL",
        "#EXT-X-PART-INF", "#EXT-X-SKIP", "#EXT-X-ENDLIST")
KNOWN = PER_SEGMENT + ONCE + ("#EXTM3U", "#EXT-X-PRELOAD-HINT", "#EXT-X-RENDITION-REPORT", "#EXT-X-STREAM-INF", "#EXT-X-INDEPENDENT-SEGMENTS")


@dataclass
class Segment:
    uri: str = ""
    duration: float | None = None
    discontinuity: bool = False
    gap: bool = False
    key: str | None = None
    map: str | None = None
    parts: list = field(default_factory=list)  # (uri, duration, independent)
    date: float | None = None  # seconds since 1970


@dataclass
class Playlist:
    tags: dict = field(default_factory=dict)  # those that stand once
    segments: list = field(default_factory=list)
    open: Segment = field(default_factory=Segment)
    hints: list = field(default_factory=list)
    variants: list = field(default_factory=list)
    complaints: list = field(default_factory=list)

    def number(self, tag: str, otherwise=0):
        value = self.tags.get(tag)
        if value is None:
            return otherwise
        if not re.fullmatch(r"\d{1,20}", value):
            self.complaints.append(f"4.2: {tag} is no decimal number: {value!r}")
            return otherwise
        return int(value)

    def attributes_of(self, tag: str) -> dict:
        return attributes(self.tags.get(tag, ""), self.complaints, tag)

    @property
    def skipped(self) -> int:
        return int(self.attributes_of("#EXT-X-SKIP").get("SKIPPED-SEGMENTS", 0) or 0)

    @property
    def first(self) -> int:
        """The number of the first segment that is written out."""
        return self.number("#EXT-X-MEDIA-SEQUENCE") + self.skipped


def attributes(text: str, complaints: list, where: str) -> dict:
    found, at = {}, 0
    while at < len(text):
        match = ATTRIBUTE.match(text, at)
        if not match:
            complaints.append(f"4.2: {where}: {text[at:at + 30]!r} is no attribute")
            break
        if match[1] in found:
            complaints.append(f"4.2: {where}: {match[1]} stands twice")
        found[match[1]] = match[2].strip('"')
        at = match.end()
    return found


def _decimal(value: str | None, complaints: list, where: str) -> float | None:
    if value is None or not re.fullmatch(r"\d+(\.\d+)?", value):
        complaints.append(f"4.2: {where} is no number: {value!r}")
        return None
    return float(value)


def parse(text: str) -> Playlist:
    result = Playlist()
    bad = result.complaints.append
    if not text.startswith("#EXTM3U\n") and not text.startswith("#EXTM3U\r\n"):
        bad("4.3.1.1: the first line is not #EXTM3U")
    if text.startswith("\ufeff"):
        bad("4: a byte order mark")
    if text and not text.endswith("\n"):
        bad("4.1: the last line has no end")
    current, variant = Segment(), None
    for line in text.splitlines()[1:]:
        if not line or (line.startswith("#") and not line.startswith("#EXT")):
            continue
        tag, _, value = line.partition(":")
        if variant is not None and line.startswith("#"):
            bad("4.3.4.2: #EXT-X-STREAM-INF is not followed by its URI")
            variant = None
        if not line.startswith("#"):
            if variant is not None:
                result.variants.append((line, variant))
                variant = None
                continue
            current.uri = line
            if current.duration is None:
                bad(f"4.3.2.1: {line} has no #EXTINF")
            result.segments.append(current)
            current = Segment(key=current.key, map=current.map)
        elif tag in ONCE:
            if tag in result.tags:
                bad(f"4.3: {tag} stands twice")
            if result.segments and tag not in ("#EXT-X-ENDLIST",):
                bad(f"4.3.3: {tag} stands behind the first segment")
            result.tags[tag] = value
        elif tag == "#EXTINF":
            if current.duration is not None:
                bad("4.3.2.1: two #EXTINF for one segment")
            if "," not in value:
                bad("4.3.2.1: #EXTINF without a comma")
            current.duration = _decimal(value.split(",")[0], result.complaints, "#EXTINF")
        elif tag == "#EXT-X-DISCONTINUITY":
            current.discontinuity = True
        elif tag == "#EXT-X-PROGRAM-DATE-TIME":
            current.date = _date(value, result.complaints)
        elif tag == "#EXT-X-GAP":
            current.gap = True
        elif tag == "#EXT-X-KEY":
            current.key = _key(value, result.complaints)
        elif tag == "#EXT-X-MAP":
            current.map = attributes(value, result.complaints, tag).get("URI")
            if not current.map:
                bad("4.3.2.5: #EXT-X-MAP without URI")
        elif tag == "#EXT-X-PART":
            part = attributes(value, result.complaints, tag)
            if "URI" not in part:
                bad("bis 4.4.4.9: #EXT-X-PART without URI")
            if part.get("INDEPENDENT", "YES") != "YES":
                bad("bis 4.4.4.9: INDEPENDENT is something else than YES")
            current.parts.append((part.get("URI", ""), _decimal(part.get("DURATION"), result.complaints, "DURATION of a part"),
                                  "INDEPENDENT" in part))
        elif tag == "#EXT-X-PRELOAD-HINT":
            hint = attributes(value, result.complaints, tag)
            if hint.get("TYPE") not in ("PART", "MAP") or "URI" not in hint:
                bad("bis 4.4.5.3: #EXT-X-PRELOAD-HINT without TYPE or URI")
            result.hints.append(hint)
        elif tag == "#EXT-X-RENDITION-REPORT":
            report = attributes(value, result.complaints, tag)
            if "URI" not in report or not report.get("LAST-MSN", "").isdigit():
                bad("bis 4.4.5.4: #EXT-X-RENDITION-REPORT without URI or LAST-MSN")
        elif tag == "#EXT-X-STREAM-INF":
            variant = attributes(value, result.complaints, tag)
        elif tag not in KNOWN:
            bad(f"a tag this server does not write: {tag}")
    if current.duration is not None:
        bad("4.3.2.1: an #EXTINF without its segment")
    if variant is not None:
        bad("4.3.4.2: #EXT-X-STREAM-INF is not followed by its URI")
    result.open = current
    return result


def _date(value: str, complaints: list) -> float | None:
    if not re.fullmatch(r"\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z", value):
        complaints.append(f"4.3.2.6: {value!r} is no date")
        return None
    return datetime.datetime.fromisoformat(value.replace("Z", "+00:00")).timestamp()


def _key(value: str, complaints: list) -> str | None:
    key = attributes(value, complaints, "#EXT-X-KEY")
    if key.get("METHOD") == "NONE":
        if len(key) > 1:
            complaints.append("4.3.2.4: METHOD=NONE with other attributes")
        return None
    if key.get("METHOD") != "AES-128" or "URI" not in key:
        complaints.append("4.3.2.4: #EXT-X-KEY without METHOD=AES-128 or URI")
    if "IV" in key and not re.fullmatch(r"0[xX][0-9A-Fa-f]{32}", key["IV"]):
        complaints.append("4.3.2.4: the IV is no 128-bit number")
    return value


def _check_master(playlist: Playlist) -> None:
    bad = playlist.complaints.append
    if playlist.segments or "#EXT-X-TARGETDURATION" in playlist.tags:
        bad("4: a playlist is a list of streams or of segments, not both")
    for uri, variant in playlist.variants:
        for name in ("BANDWIDTH", "AVERAGE-BANDWIDTH"):
            if name in variant and not re.fullmatch(r"\d+", variant[name]):
                bad(f"4.3.4.2: {name} of {uri} is no number")
        if "BANDWIDTH" not in variant:
            bad(f"4.3.4.2: {uri} has no BANDWIDTH")
        elif int(variant.get("AVERAGE-BANDWIDTH", "0")) > int(variant["BANDWIDTH"]):
            bad(f"4.3.4.2: {uri} is fatter on average than at most")
        if "RESOLUTION" in variant and not re.fullmatch(r"\d+x\d+", variant["RESOLUTION"]):
            bad(f"4.3.4.2: RESOLUTION of {uri}")
        if not re.fullmatch(r"\d+(\.\d{1,3})?", variant.get("FRAME-RATE", "25")):
            bad(f"4.3.4.2: FRAME-RATE of {uri}")
        if not re.fullmatch(r"[\w.-]+(,[\w.-]+)*", variant.get("CODECS", "avc1")):
            bad(f"4.3.4.2: CODECS of {uri}")


def _check_version(playlist: Playlist, bad) -> None:
    version = playlist.number("#EXT-X-VERSION", 1)
    if version < 3 and any(segment.duration and segment.duration % 1 for segment in playlist.segments):
        bad("7: decimals in #EXTINF need version 3")
    if version < 2 and any("IV=" in (segment.key or "") for segment in playlist.segments):
        bad("7: an IV needs version 2")
    if version < 6 and any(segment.map for segment in playlist.segments):
        bad("7: #EXT-X-MAP needs version 6")
    if version < 8 and any(segment.gap for segment in playlist.segments):
        bad("bis 8: #EXT-X-GAP needs version 8")
    if version < 9 and playlist.skipped:
        bad("bis 8: #EXT-X-SKIP needs version 9")


def _check_low_latency(playlist: Playlist, target: int, bad) -> None:
    control, info = playlist.attributes_of("#EXT-X-SERVER-CONTROL"), playlist.attributes_of("#EXT-X-PART-INF")
    parts = [part for segment in [*playlist.segments, playlist.open] for part in segment.parts]
    if parts and "PART-TARGET" not in info:
        return bad("bis 4.4.3.7: parts without #EXT-X-PART-INF")
    if not info:
        return None
    if control.get("CAN-BLOCK-RELOAD") != "YES":
        bad("bis B.1: parts without CAN-BLOCK-RELOAD=YES")
    part_target = _decimal(info.get("PART-TARGET"), playlist.complaints, "PART-TARGET") or 0
    hold_back = _decimal(control.get("PART-HOLD-BACK"), playlist.complaints, "PART-HOLD-BACK") or 0
    if hold_back < 2 * part_target:
        bad("bis 4.4.3.8: PART-HOLD-BACK is below two part targets")
    if "CAN-SKIP-UNTIL" in control and float(control["CAN-SKIP-UNTIL"]) < 6 * target:
        bad("bis 4.4.3.8: CAN-SKIP-UNTIL is below six target durations")
    for segment in playlist.segments + [playlist.open]:
        for i, (uri, duration, _) in enumerate(segment.parts):
            if duration is not None and duration > part_target + 1e-6:
                bad(f"bis 4.4.4.9: {uri} is longer than PART-TARGET")
            last = i + 1 == len(segment.parts) and segment is not playlist.open
            followed_by_key = i + 1 < len(segment.parts) and segment.parts[i + 1][2]
            if duration is not None and duration < 0.85 * part_target and not last and not followed_by_key:
                bad(f"bis 4.4.4.9: {uri} is shorter than 85 % of PART-TARGET")
        whole = sum(duration or 0 for _, duration, _ in segment.parts)
        if segment.parts and segment.duration is not None and abs(whole - segment.duration) > 0.01 * len(segment.parts):
            bad(f"bis 4.4.4.9: the parts of {segment.uri} are {whole:.3f} s, it is {segment.duration:.3f} s")
    listed = {part[0] for part in parts}
    for hint in playlist.hints:
        if hint.get("URI") in listed:
            bad("bis 4.4.5.3: the hint is a part that is there")
    behind = 0.0
    for segment in reversed(playlist.segments):
        if segment.parts and behind > 3 * target:
            bad(f"bis 4.4.4.9: parts of {segment.uri}, more than three target durations from the end")
        behind += segment.duration or 0
    return None


def check(text: str) -> list[str]:
    playlist = parse(text)
    bad = playlist.complaints.append
    if playlist.variants:
        _check_master(playlist)
        return playlist.complaints
    if "#EXT-X-TARGETDURATION" not in playlist.tags:
        bad("4.3.3.1: no #EXT-X-TARGETDURATION")
    target = playlist.number("#EXT-X-TARGETDURATION")
    playlist.number("#EXT-X-MEDIA-SEQUENCE")
    playlist.number("#EXT-X-DISCONTINUITY-SEQUENCE")
    for segment in playlist.segments:
        if segment.duration is not None and int(segment.duration + 0.5) > target:
            bad(f"4.3.3.1: {segment.uri} of {segment.duration} s is above the target duration {target}")
    uris = [segment.uri.split("?")[0] for segment in playlist.segments]
    if len(set(uris)) != len(uris):
        bad("an entry stands twice")
    if playlist.skipped and "CAN-SKIP-UNTIL" not in playlist.attributes_of("#EXT-X-SERVER-CONTROL"):
        bad("bis 4.4.5.2: skipped without CAN-SKIP-UNTIL")
    if "#EXT-X-SKIP" in playlist.tags and not playlist.skipped:
        bad("bis 4.4.5.2: #EXT-X-SKIP that skips nothing")
    for segment in playlist.segments:
        if without_query(segment.uri).endswith((".m4s", ".mp4")) and not segment.map and not playlist.skipped:
            bad(f"3.3: {segment.uri} without #EXT-X-MAP")
    _check_version(playlist, bad)
    _check_low_latency(playlist, target, bad)
    return playlist.complaints


def without_query(uri: str | None) -> str:
    return (uri or "").split("?")[0]


def check_update(old_text: str, new_text: str) -> list[str]:
    """RFC 8216, 6.2.1 and 6.2.2: what may change when a playlist does."""
    old, new, complaints = parse(old_text), parse(new_text), []
    bad = complaints.append
    first, next_first = old.number("#EXT-X-MEDIA-SEQUENCE"), new.number("#EXT-X-MEDIA-SEQUENCE")
    if next_first < first:
        bad("6.2.2: the media sequence went back")
    before = {old.first + i: segment for i, segment in enumerate(old.segments)}
    after = {new.first + i: segment for i, segment in enumerate(new.segments)}
    for number in sorted(before.keys() & after.keys()):
        was, now = before[number], after[number]
        if without_query(was.uri) != without_query(now.uri):
            bad(f"6.2.1: segment {number} was {was.uri} and is {now.uri}")
        elif [was.duration, was.discontinuity, was.date, was.key, without_query(was.map)] != [now.duration, now.discontinuity, now.date, now.key, without_query(now.map)]:
            bad(f"6.2.1: segment {number} has changed")
    if before and after and max(after) < max(before):
        bad("6.2.1: a segment at the end is gone")
    if before and after and next_first > max(before) + 1:
        bad(f"6.2.1: segments {max(before) + 1} to {next_first - 1} were never listed")
    left = [segment for number, segment in before.items() if number < next_first]
    gone = sum(segment.discontinuity for segment in left)
    counted = new.number("#EXT-X-DISCONTINUITY-SEQUENCE") - old.number("#EXT-X-DISCONTINUITY-SEQUENCE")
    complete = len(left) == next_first - old.first
    if complete and counted != gone:
        bad(f"6.2.2: {gone} discontinuities left and EXT-X-DISCONTINUITY-SEQUENCE went up by {counted}")
    if "#EXT-X-ENDLIST" in old.tags and old_text != new_text:
        bad("6.2.1: it changed behind #EXT-X-ENDLIST")
    return complaints


def main() -> int:
    before, failed = None, False
    for name in sys.argv[1:]:
        with open(name, encoding="utf-8") as file:
            text = file.read()
        for complaint in check(text) + (check_update(before, text) if before is not None else []):
            print(f"{name}: {complaint}")
            failed = True
        before = text
    return int(failed or len(sys.argv) < 2)


if __name__ == "__main__":
    sys.exit(main())
