"""Players of one stream, beside the floor that sends as many sockets the same bytes at the same intervals."""

import time
from dataclasses import dataclass
from statistics import median

import clients
from harness import SERVER_CORE, Lab, Process
from plan import Plan, say
from report import Row
from servers import WINDOW_MS, Server, make_certificate, start_nginx, start_ours, start_peer
from windows import Window, measure_windows, ratios

SETTLE_S = 3.0
STREAM = "bench"
TLS_MODES = ("https", "rtmps")


@dataclass
class PlayResult:
    windows: list[Window]
    floor_windows: list[Window]
    base_kib: int
    resident_kib: int
    published: dict
    delivered: dict
    is_http: bool = False
    floor_share: float = 1.0  # Delivered by the floor, of the expected bytes; below 1 the machine, not the server, is the limit.

    @property
    def per_gb(self) -> float:
        return median(w.per_gb for w in self.windows)

    @property
    def floor_per_gb(self) -> float:
        return median(w.per_gb for w in self.floor_windows)

    @property
    def ratio(self) -> float:
        return median(self.ratios)

    @property
    def ratios(self) -> list[float]:
        return ratios(self.windows, self.floor_windows)

    @property
    def share_of_core(self) -> float:
        return median(w.core_share for w in self.windows)

    def missing(self) -> str:
        """Empty when every player received every published byte of audio and video, else the problem. All players joined before the
        publisher, so they received the same bytes; the witness parsed them."""
        got, put = self.delivered, self.published
        problems = []
        if got["failed"]:
            problems.append(f"{got['failed']} players lost")
        if got["media_bytes"] != put["media_bytes"]:
            problems.append(f"witness got {got['media_bytes']} of {put['media_bytes']} media bytes")
        if got["times_went_back"]:
            problems.append("timestamps went back")
        # Housekeeping messages of RTMP may differ from player to player; a media message is longer than this.
        slack = 0 if self.is_http else 64
        if got["bytes_min"] < got["first_bytes"] - slack or (self.is_http and got["bytes_max"] > got["first_bytes"]):
            problems.append(f"players got {got['bytes_min']} to {got['bytes_max']} bytes, the witness {got['first_bytes']}")
        return "; ".join(problems)


def start_floor(lab: Lab, players: int, window_ms: int, is_tls: bool) -> tuple[Process, Process]:
    """The floor and its players. Those of TLS are the load program of a server, as half of a reader's work is the program's own."""
    port = lab.port()
    options = {"port": port, "clients": players, "clip": lab.clip, "window_ms": window_ms}
    if is_tls:
        key, cert = make_certificate(lab)
        floor = lab.load("tls_floor", SERVER_CORE, key=key, cert=cert, **options)
        floor.wait_event("listening", 10)
        load = clients.start(lab, "sb_flv_load", f"https://127.0.0.1:{port}/live/{STREAM}.flv", players, clients.PLAYERS_PER_SECOND, "--witnesses", 0)
        load.wait_event("ready", 60)
        return floor, load
    floor = lab.load("floor", SERVER_CORE, mode="send", **options)
    floor.wait_event("listening", 10)
    return floor, clients.raw_players(lab, port, players)


def play(lab: Lab, server: Server, players: int, plan: Plan, floor_window_ms: int | None, mode: str = "rtmp") -> PlayResult:
    """Starts players, then the publisher, measures windows, and ends the publisher: everything must have arrived."""
    base_kib = server.process.resident_kib()
    load = clients.players(lab, server, players, STREAM, mode)
    pairs = [(server.process, load)]
    floor = None
    if floor_window_ms is not None:
        floor, floor_load = start_floor(lab, players, floor_window_ms, mode in TLS_MODES)
        pairs.append((floor, floor_load))
    time.sleep(0.5)
    publisher = clients.publishers(lab, server.port, STREAM)
    time.sleep(SETTLE_S)
    windows = measure_windows(pairs, plan.repeats, plan.seconds)
    resident_kib = server.process.resident_kib()
    if floor is not None:
        floor_load.stop()
        floor.stop()
    published = clients.end(publisher)
    time.sleep(1.5)
    delivered = clients.end(load)
    kbps = lab.facts_of_clip()["kbps"]
    floor_share = median(w.bytes / (players * kbps * 125 * w.seconds) for w in windows[1]) if floor else 1.0
    return PlayResult(windows[0], windows[1] if floor else [], base_kib, resident_kib, published, delivered, mode in ("flv", "https"), floor_share)


def play_rows(lab: Lab, plan: Plan) -> list[Row]:
    rows = []
    for players in plan.players:
        say(f"play: {players} players")
        server = start_ours(lab)
        ours = play(lab, server, players, plan, WINDOW_MS)
        server.process.stop()
        peer = None
        if plan.with_nginx:
            server = start_nginx(lab)
            peer = play(lab, server, players, plan, None)
            server.process.stop()
        others = {}
        for other in plan.peers:
            say(f"play: {players} players, {other.name}")
            server = start_peer(lab, other)
            others[other.name] = play(lab, server, players, plan, None)
            server.process.stop()
        made = rows_of_play(players, ours, peer, plan)
        add_peers(made, players, others)
        rows += made
    return rows


def add_peers(rows: list[Row], players: int, others: dict[str, PlayResult]) -> None:
    """Adds the peers of --peer to the rows of the same measure."""
    for row in rows:
        for name, result in others.items():
            if row.measure == "CPU-s/GB":
                row.peers[name] = result.per_gb
                row.details[name] = {**result.delivered, "windows": [w.__dict__ for w in result.windows]}
            elif row.measure == "undelivered":
                row.peers[name] = result.missing() or "nothing"
            elif row.measure == "core used, %":
                row.peers[name] = result.share_of_core * 100
            elif row.measure.startswith("memory a player"):
                row.peers[name] = (result.resident_kib - result.base_kib) / players


def flv_rows(lab: Lab, plan: Plan) -> list[Row]:
    rows = []
    for players in plan.flv_players:
        say(f"flv: {players} players")
        server = start_ours(lab)
        ours = play(lab, server, players, plan, WINDOW_MS, mode="flv")
        server.process.stop()
        rows += rows_of_play(players, ours, None, plan, "HTTP-FLV play")
    return rows


def rows_of_play(players: int, ours: PlayResult, peer: PlayResult | None, plan: Plan, what: str = "RTMP play") -> list[Row]:
    work = f"{what}, {players:,} players"
    details = {"ours": ours.delivered, "published": ours.published, "windows": [w.__dict__ for w in ours.windows],
               "floor_windows": [w.__dict__ for w in ours.floor_windows]}
    # With few players the cost of a tick is a visible share; the design judges 5,000.
    target, met = ("<= 1.10 x floor", ours.ratio <= 1.10 * plan.slack) if plan.smoke or players >= 2500 else ("", True)
    notes = [f"the floor itself delivered {ours.floor_share:.0%}: the machine was too busy to judge"] if ours.floor_share < 0.95 else []
    if peer:
        target += (", " if target else "") + "<= 0.30 x nginx"
        met = met and ours.per_gb <= 0.30 * plan.slack * peer.per_gb
        expected = players * peer.published["total_bytes"] / max(1, peer.delivered["total_bytes"])
        notes.append(f"nginx used {peer.share_of_core:.0%} of the core" +
                     (f" and delivered {1 / expected:.0%}" if expected > 1.02 else ""))
        details["nginx"] = {**peer.delivered, "windows": [w.__dict__ for w in peer.windows]}
    undelivered, behind = rows_of_delivery(work, ours, plan)
    rows = [Row(work, "CPU-s/GB", ours.per_gb, ours.floor_per_gb, peer.per_gb if peer else "-", ours.ratio, target, met if target else None, "; ".join(notes),
                details, plan.command, pairs=ours.ratios),
            undelivered,
            Row(work, "core used, %", ours.share_of_core * 100, median(w.core_share for w in ours.floor_windows) * 100,
                peer.share_of_core * 100 if peer else "-", None, "<= 45" if players == 10000 else "",
                ours.share_of_core <= 0.45 * plan.slack if players == 10000 else None, command=plan.command),
            behind]
    return rows + [memory_row(work, ours, peer, players, plan)]


def rows_of_delivery(work: str, ours: PlayResult, plan: Plan) -> list[Row]:
    """Whether every byte arrived, and how far the last player was behind."""
    missing = ours.missing()
    late_p99 = median(w.lag_ms_p99 for w in ours.windows)
    late_max = max(w.lag_ms_max for w in ours.windows)
    return [Row(work, "undelivered", missing or "nothing", target="every byte", met=not missing, command=plan.command),
            # Each player is sent to once per window, so it may be one window behind the leader without being late.
            Row(work, "behind the leader p99 / max, ms", f"{late_p99:.0f} / {late_max:.0f}", target=f"max <= {2 * WINDOW_MS}",
                met=late_max <= 2 * WINDOW_MS * plan.slack, command=plan.command)]


def memory_row(work: str, ours: PlayResult, peer: PlayResult | None, players: int, plan: Plan) -> Row:
    per_player = (ours.resident_kib - ours.base_kib) / players
    peer_per_player = (peer.resident_kib - peer.base_kib) / players if peer else "-"
    limit = 8.0
    # 4 MiB of the growth are the stream's ring and wire log.
    own = max(0.0, (ours.resident_kib - ours.base_kib - 4096) / players)
    return Row(work, "memory a player, KiB", per_player, "-", peer_per_player, None, f"<= {limit:.0f} (beyond 4 MiB for the stream)",
               own <= limit * plan.slack, f"resident {ours.resident_kib / 1024:.1f} MiB, before the players {ours.base_kib / 1024:.1f}",
               command=plan.command)


def low_latency_rows(lab: Lab, plan: Plan) -> list[Row]:
    players = 300 if plan.smoke else 1000
    say(f"low latency: {players} players, every message at once")
    server = start_ours(lab, min_latency=True)
    ours = play(lab, server, players, plan, 0)
    server.process.stop()
    peer = None
    if plan.with_nginx:
        server = start_nginx(lab)
        peer = play(lab, server, players, plan, None)
        server.process.stop()
    missing = ours.missing()
    work = f"RTMP play, min_latency on, {players:,} players"
    details = {"ours": ours.delivered, "windows": [w.__dict__ for w in ours.windows], "floor_windows": [w.__dict__ for w in ours.floor_windows]}
    return [Row(work, "CPU-s/GB", ours.per_gb, ours.floor_per_gb, peer.per_gb if peer else "-", ours.ratio, "<= 1.10 x floor",
                ours.ratio <= 1.10 * plan.slack, "the design's machine: 3.0" if ours.per_gb > 3.0 else "", details, plan.command, pairs=ours.ratios),
            Row(work, "undelivered", missing or "nothing", target="every byte", met=not missing, command=plan.command)]


def tls_rows(lab: Lab, plan: Plan) -> list[Row]:
    """HTTPS-FLV and RTMPS beside the floor that encrypts: turns of the usual length, which are full records, and every tick's messages in a record each."""
    rows = []
    for players in plan.tls_players:
        for mode, name in (("https", "HTTPS-FLV"), ("rtmps", "RTMPS")):
            say(f"tls: {name}, {players} players")
            server = start_ours(lab, https=True)
            rows += rows_of_tls(f"{name} play, {players:,} players", play(lab, server, players, plan, WINDOW_MS, mode), players, plan)
            server.process.stop()
    players = min(300, plan.tls_players[0])
    for mode, name in (("https", "HTTPS-FLV"), ("rtmps", "RTMPS")):
        say(f"tls: {name}, {players} players, a record a tick")
        server = start_ours(lab, https=True, min_latency=True)
        rows += rows_of_tls(f"{name} play, min_latency on, {players:,} players", play(lab, server, players, plan, 0, mode), players, plan)
        server.process.stop()
    return rows


def rows_of_tls(work: str, ours: PlayResult, players: int, plan: Plan) -> list[Row]:
    missing = ours.missing()
    own = max(0.0, (ours.resident_kib - ours.base_kib - 4096) / players)
    details = {"ours": ours.delivered, "windows": [w.__dict__ for w in ours.windows], "floor_windows": [w.__dict__ for w in ours.floor_windows]}
    busy = f"the floor itself delivered {ours.floor_share:.0%}: the machine was too busy to judge" if ours.floor_share < 0.95 else ""
    return [Row(work, "CPU-s/GB", ours.per_gb, ours.floor_per_gb, "-", ours.ratio, "<= 1.15 x floor", ours.ratio <= 1.15 * plan.slack, busy, details, plan.command,
                pairs=ours.ratios),
            Row(work, "undelivered", missing or "nothing", target="every byte", met=not missing, command=plan.command),
            Row(work, "memory a player, KiB", own, target="<= 24 beyond 4 MiB", met=own <= 24 * plan.slack, command=plan.command)]
