"""The table of doc/manual/migrate-srs.md: each setting of SRS, and what it becomes here.

srs_settings.txt has the settings of SRS with their defaults; doc/config.md, which is made from the option rows, has those of this server. A setting
without a row there, or a sentence below about a setting that SRS does not have, fails the build of the manual.
"""

import re
from pathlib import Path

# Settings that exist in both servers and do not work alike. A default that differs is found by comparison.
DIFFERENT = {
    "max_connections": "a number above the limit of open files becomes that limit, with a warning; connections to the API have ten extra places",
    "daemon": "the first process exits when the server is ready, or with the status of its error",
    "srs_log_file": "rotated by the server itself: `srs_log_max_size 100; srs_log_backups 3;`",
    "grace_final_wait": "clients have this time to leave, and are closed then; SRS waits for them",
    "heartbeat.url": "the URL of a proxy (`.../api/v1/srs/register`) gets ports that can be reached, also without `ports on;`",
    "heartbeat.auth.enabled": "a token is sent unless this is `off`",
    "http_api.listen": "a port alone means every address",
    "http_api.crossdomain": "JSONP needs `jsonp on;` too",
    "http_api.auth.enabled": "`/metrics` needs the password too",
    "http_api.auth.type": "`auto` takes a token as well as a name and a password, whichever are set",
    "http_server.dir": "the folder of recordings is outside of it by default",
    "srt_server.latency": "counts where `recvlatency` and `peerlatency` are not set",
    "srt_server.connect_timeout": "at most 1500 ms count",
    "srt_server.maxbw": "-1 and 0 follow the bit rate of the stream, from 10 Mbit/s on",
    "rtc_server.encrypt": "`encrypt=false` in a request has no effect",
    "rtsp_server.enabled": "takes publishers too, and UDP",
    "stream_caster.caster": "`gb28181` needs an external SIP server; the `rtsp` of old files is `rtsp_server { enabled on; }`",
    "exporter.listen": "serves metrics and health only, not the whole API",
    "vhost.publish.try_annexb_first": "in doubt, a frame is Annex B only if the publisher has sent some before",
    "vhost.cluster.mode": "an edge serves every protocol",
    "vhost.cluster.token_traverse": "asks the origin about the players of every protocol",
    "vhost.cluster.origin_cluster": "redirects HTTP-FLV, HLS, DASH and WHEP players too",
    "vhost.security.allow": "IPv6 too; an invalid rule is an error at start",
    "vhost.security.deny": "IPv6 too; an invalid rule is an error at start",
    "vhost.hls.hls_ctx": "`off`: `on_play` is not called for HLS players",
    "vhost.hls.hls_ts_ctx": "fragments of streams with `on_play` or `security` have the session in their URLs in any case",
    "vhost.hls.hls_cleanup": "a fragment is deleted when the longest playlist that contained it is over",
    "vhost.hls.hls_use_fmp4": "`auto`: fMP4 for streams with AV1, VP9, Opus or FLAC, else MPEG-TS",
    "vhost.http_remux.guess_has_av": "counts announced tracks too, which have sent nothing yet",
    "vhost.http_hooks.on_connect": "for SRT clients too",
    "vhost.http_hooks.on_publish": "for every protocol, before the client is admitted",
    "vhost.http_hooks.on_play": "for every protocol, before the client is admitted; once for each session of HLS and DASH",
    "vhost.exec.publish": "a program that has exited with 0 is restarted with `restart on;` only; its arguments never become options",
    "vhost.rtc.keep_avc_nalu_sei": "buffering periods, picture timing and filler are left out in any case",
    "vhost.srt.srt_to_rtmp": "`off` has no effect: SRT streams play over all protocols",
    "vhost.transcode.engine.output": "ffmpeg returns a stream of this server by a pipe ([Transcoding](transcoding.md))",
    "vhost.ingest.input.url": "`rtsp://` and `srt://` URLs that are only copied are pulled by the server itself",
}
# Forms of older versions of SRS: the name that the server warns about, a use of it, and the form it is read as (empty: it has no effect).
OLD = [
    ("http_stream", "http_stream { enabled off; }", "http_server { enabled off; }"),
    ("proxy", "proxy on;", ""),
    ("tlpkdrop", "srt_server { tlpkdrop on; }", "srt_server { tlpktdrop on; }"),
    ("perf_stat", "rtc_server { perf_stat on; }", ""),
    ("queue_length", "rtc_server { queue_length 3000; }", ""),
    ("host", "stream_caster { host 192.0.2.1; }", "stream_caster { sip { candidate 192.0.2.1; } }"),
    *((name, f"stream_caster {{ {name} 1; }}", "") for name in ("audio_enable", "rtp_port_min", "rtp_port_max", "wait_keyframe", "rtp_idle_timeout", "auto_create_channel")),
    *((name, f"stream_caster {{ sip {{ {name} 1; }} }}", "") for name in (
        "serial", "realm", "ack_timeout", "keepalive_timeout", "auto_play", "invite_port_fixed", "query_catalog_interval")),
    ("http", "vhost { http { enabled off; } }", "http_static { enabled off; }"),
    ("bandcheck", "vhost { bandcheck { enabled on; } }", ""),
    *((old, f"vhost {{ {old} example.com; }}", f"refer {{ enabled on; {new} example.com; }}") for old, new in (("refer", "all"), ("refer_play", "play"), ("refer_publish", "publish"))),
    ("mr", "vhost { mr { enabled on; latency 350; } }", "publish { mr on; mr_latency 350; }"),
    ("publish_1stpkt_timeout", "vhost { publish_1stpkt_timeout 20000; }", "publish { firstpkt_timeout 20000; }"),
    ("publish_normal_timeout", "vhost { publish_normal_timeout 5000; }", "publish { normal_timeout 5000; }"),
    *((name, f"vhost {{ {name} {value}; }}", f"play {{ {name} {value}; }}") for name, value in (
        ("gop_cache", "on"), ("gop_cache_max_frames", "2500"), ("queue_length", "30"), ("time_jitter", "full"), ("mix_correct", "off"), ("atc", "off"),
        ("atc_auto", "off"), ("mw_latency", "350"), ("send_min_interval", "0"), ("reduce_sequence_header", "off"))),
    ("forward", "vhost { forward 192.0.2.7; }", "forward { enabled on; destination 192.0.2.7; }"),
    *((name, f"vhost {{ {name} {value}; }}", f"cluster {{ {name} {value}; }}") for name, value in (
        ("mode", "local"), ("origin", "192.0.2.7"), ("token_traverse", "off"), ("vhost", "[vhost]"), ("debug_srs_upnode", "on"))),
    ("nack", "vhost { nack { enabled on; no_copy on; } }", "rtc { nack on; nack_no_copy on; }"),
    ("twcc", "vhost { twcc { enabled on; } }", "rtc { twcc on; }"),
    ("aac", "vhost { rtc { aac transcode; } }", "rtc { rtmp_to_rtc on; }"),
    ("bframe", "vhost { rtc { bframe keep; } }", "rtc { keep_bframe on; }"),
    ("hstrs", "vhost { http_remux { hstrs on; } }", ""),
    ("hls_storage", "vhost { hls { hls_storage disk; } }", ""),
    ("hls_mount", "vhost { hls { hls_mount x; } }", ""),
]


def srs_settings(trunk: Path) -> list[tuple[str, str, str, bool]]:
    """(block, name, value, whether the value is the default)."""
    found, block = [], ""
    for line in (trunk / "tools/manual/srs_settings.txt").read_text().splitlines():
        if line.startswith("["):
            block = line[1:-1]
        elif line and not line.startswith("#"):
            name, value = line.split(" ", 1)
            found.append((block, name, value.removeprefix("! "), not value.startswith("! ")))
    return found


def rows(trunk: Path) -> dict[tuple[str, str], tuple[str, str, str]]:
    """Default, state and meaning by block and name, from the tables of doc/config.md."""
    found, block = {}, ""
    for line in (trunk / "doc/config.md").read_text().splitlines():
        heading, row = re.match(r"#+ `([\w.]+)", line), re.match(r"\| `(\w+)` \|(.*)\|$", line)
        if heading:
            block = heading[1]
        elif row:
            cells = [cell.strip() for cell in re.split(r"(?<!\\)\|", row[2])]
            found[block, row[1]] = (cells[1].strip("`"), cells[3], cells[5])
    return found


def is_equal(one: str, other: str) -> bool:
    try:
        return float(one) == float(other)
    except ValueError:
        return one == other


def becomes(path: str, value: str, is_default: bool, row: tuple[str, str, str]) -> str:
    default, state, meaning = row
    if state == "no effect":
        reason = meaning.removeprefix("No effect").lstrip(".: ")
        return "accepted, no effect" + (f": {reason[0].lower()}{reason[1:].rstrip('.')}" if meaning.startswith(("No effect:", "Always", "This server")) else "")
    parts = [DIFFERENT[path]] if path in DIFFERENT else []
    if is_default and not is_equal(default, value):
        parts.append(f"the default is `{default}`, not `{value}`")
    return "differs: " + "; ".join(parts) if parts else ""


def srs(trunk: Path) -> str:
    """The table. Settings of one block that work alike share a row."""
    settings, here = srs_settings(trunk), rows(trunk)
    paths = {f"{block}.{name}".lstrip(".") for block, name, _, _ in settings}
    if unknown := set(DIFFERENT) - paths:
        raise ValueError(f"migrations.py describes settings that are not in srs_settings.txt: {sorted(unknown)}")
    if missing := [(block, name) for block, name, _, _ in settings if (block, name) not in here]:
        raise ValueError(f"doc/config.md lacks settings of SRS: {missing}")
    lines = ["| SRS | Millrace |", "| --- | --- |"]
    for block in dict.fromkeys(block for block, _, _, _ in settings):
        made: dict[str, list[str]] = {}
        for _, name, value, is_default in (row for row in settings if row[0] == block):
            made.setdefault(becomes(f"{block}.{name}".lstrip("."), value, is_default, here[block, name]) or "the same", []).append(name)
        place = f"`{block.replace('.', ' { ')} {{}}`".replace(" {}", " { }" + " }" * block.count(".")) + ": " if block else ""
        lines += [f"| {place}{', '.join(f'`{name}`' for name in names)} | {text} |" for text, names in made.items()]
    old: dict[str, list[str]] = {}
    for _, use, form in OLD:
        if form:
            lines.append(f"| older: `{use}` | read as `{form}`, with a warning |")
        else:
            old.setdefault(re.sub(r"\w+ [^{}]*;", "@", use), []).append(use)
    for uses in old.values():
        lines.append(f"| older: {', '.join(f'`{use}`' for use in uses)} | accepted with a warning, no effect |")
    return "\n".join(lines)
