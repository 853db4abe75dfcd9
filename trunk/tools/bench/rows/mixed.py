"""A mixed load: as many players of RTMP, HTTP-FLV, HTTPS-FLV, HLS and WebRTC of one stream at once; and a publisher of 100 Mbps."""

import struct
import time
from pathlib import Path
from statistics import median

import clients
from harness import SERVER_CORE, Lab
from hls import wait_for_segments
from plan import Plan, say
from report import Row
from servers import start_ours
from whep import end_rtc, start_rtc, url_of
from windows import measure_windows

STREAM = "bench"
EACH = 500
SETTLE_S = 5.0
REAL_TIME = 0.9
FAT_KBPS = 100_000
FAT_S = 2
FRAMES = 25


def mixed_rows(lab: Lab, plan: Plan) -> list[Row]:
    return [*crowd_rows(lab, plan), *fat_rows(lab, plan)]


def crowd_rows(lab: Lab, plan: Plan) -> list[Row]:
    each = 100 if plan.smoke else EACH
    say(f"mixed: {each} players of each kind")
    server = start_ours(lab, https=True, hls=True, rtc=True)
    base = server.process.resident_kib()
    publisher = clients.publishers(lab, server.port, STREAM)
    wait_for_segments(f"http://127.0.0.1:{server.http_port}/live/{STREAM}.m3u8")
    loads = {mode: clients.players(lab, server, each, STREAM, mode) for mode in ("rtmp", "flv", "https")}
    loads["hls"] = lab.load("segment_load", mode="hls", port=server.http_port, path=f"/live/{STREAM}.m3u8", clients=each)
    loads["hls"].wait_event("ready", 60)
    rtc = start_rtc(lab, "mixed", url_of(server, "whep"), "-c", each, "--ramp", 200, "--skip-decryption")
    time.sleep(each / 200 + SETTLE_S)
    windows = measure_windows([(server.process, load) for load in loads.values()], plan.repeats, max(4.0, plan.seconds))
    memory = server.process.resident_kib()
    said = end_rtc(*rtc)
    for process in (*loads.values(), publisher, server.process):
        process.stop()
    expected = each * lab.facts_of_clip()["kbps"] * 125
    shares = {mode: median(w.bytes / (expected * w.seconds) for w in of) for mode, of in zip(loads, windows)}
    shares["whep"] = said["metrics"]["delivered"]["p50"]
    kept_up = min(shares.values()) >= REAL_TIME and said["failed"] == 0
    work = f"{each} players each of RTMP, HTTP-FLV, HTTPS-FLV, HLS and WHEP at once"
    delivered = ", ".join(f"{mode} {share:.2f}" for mode, share in shares.items())
    return [Row(work, "core used, %", median(w.core_share for w in windows[0]) * 100, note=f"received / real time: {delivered}", command=plan.command),
            Row(work, "received / real time, the least", min(shares.values()), target=f">= {REAL_TIME}", met=kept_up, command=plan.command),
            Row(work, "memory a player, KiB", (memory - base) / (5 * each), note="with the stream's own", command=plan.command)]


def tags_of(flv: bytes) -> list[tuple[int, int, bytes]]:
    """Type, time in ms, body."""
    tags, at = [], 13
    while at + 11 <= len(flv):
        size = int.from_bytes(flv[at + 1:at + 4], "big")
        time_ms = int.from_bytes(flv[at + 4:at + 7], "big") | flv[at + 7] << 24
        tags.append((flv[at], time_ms, flv[at + 11:at + 11 + size]))
        at += 11 + size + 4
    return tags


def fat_clip(lab: Lab) -> Path:
    """The first seconds of the clip with filler data (H.264, 7.4.2.7) in each frame, up to FAT_KBPS."""
    path, flv = lab.folder / "fat.flv", lab.clip.read_bytes()
    filler = FAT_KBPS * 125 // FRAMES
    out = bytearray(flv[:13])
    for kind, time_ms, body in tags_of(flv):
        if time_ms >= FAT_S * 1000:
            break
        if kind == 9 and body[1] == 1:
            body += struct.pack(">IB", filler, 12) + b"\xff" * (filler - 2) + b"\x80"
        out += bytes([kind]) + len(body).to_bytes(3, "big") + (time_ms & 0xFFFFFF).to_bytes(3, "big") + bytes([time_ms >> 24, 0, 0, 0])
        out += body + (len(body) + 11).to_bytes(4, "big")
    path.write_bytes(out)
    return path


def fat_rows(lab: Lab, plan: Plan) -> list[Row]:
    """Beside a loop that reads the same bytes, both at the same time."""
    say(f"mixed: a publisher of {FAT_KBPS // 1000} Mbps")
    clip, port = fat_clip(lab), lab.port()
    server = start_ours(lab)
    floor = lab.load("floor", SERVER_CORE, mode="read", port=port, clients=1, read_tick_ms=5)
    floor.wait_event("listening", 10)
    player = clients.players(lab, server, 1, STREAM)
    publisher = clients.publishers(lab, server.port, STREAM, clip=clip)
    raw = clients.raw_publishers(lab, port, clip=clip)
    time.sleep(3)
    ours, bare = measure_windows([(server.process, publisher), (floor, raw)], plan.repeats, max(2.0, plan.seconds / 2))
    published = clients.end(publisher)
    time.sleep(1.5)
    got = clients.end(player)
    for process in (raw, floor, server.process):
        process.stop()
    pairs = [a.per_gb / b.per_gb for a, b in zip(ours, bare)]
    mbps = median(w.bytes / w.seconds for w in ours) * 8e-6
    whole = got["media_bytes"] == published["media_bytes"]
    work = f"a publisher of {FAT_KBPS // 1000} Mbps and one RTMP player"
    return [Row(work, "CPU-s/GB published", median(w.per_gb for w in ours), median(w.per_gb for w in bare), "-", median(pairs), pairs=pairs, command=plan.command,
                note=f"{mbps:.0f} Mbps arrived; the floor only reads, the server also sends to the player"),
            Row(work, "undelivered", "nothing" if whole else f"{published['media_bytes'] - got['media_bytes']} bytes", target="every byte", met=whole,
                command=plan.command)]
