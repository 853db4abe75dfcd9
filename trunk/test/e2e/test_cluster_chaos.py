"""Clusters: five nodes, each on a machine of its own, 20 publishers, 200 players of all kinds; every ten seconds something is killed, paused
or cut off. LIVE_CHAOS_SECONDS is the length, LIVE_CHAOS_SEED the choice of what happens."""

import os
import random
import signal
import socket
import statistics
import threading
import time
import urllib.request
from contextlib import ExitStack

import pytest

import own_network
from cluster_nodes import RTC, VHOST, start_nodes
from load_tools import Load
from nodes import Node
from registry_server import RegistryServer
from rtmp_client import DATA, Closed, RtmpClient, read_flv

NODES, STREAMS, FAULT_EVERY_S = 5, 20, 10
PLAYERS = {"rtmp": 90, "flv": 70, "hls": 20}
WHEP_EACH = 4  # on each node, by the load program
# How long a player waits before it goes to another node. What it waits for in vain is not the cluster's time.
PATIENCE_S = 1.0
LIMIT_S = 2.0
VHOSTS = (VHOST.replace("hls_window 10", "hls_window 10; hls_ctx off; hls_ts_ctx off")
          + " rtc { enabled on; rtmp_to_rtc on; }")
HLS_MORE_S = 4.0  # a segment has to be complete, and the playlist asked for


class Clients:
    """What publishers and players share: the nodes, the end, and what has happened."""

    def __init__(self, nodes: list[Node], clip):
        self.nodes, self.clip = nodes, clip
        self.ending = threading.Event()
        self.events: list[tuple[float, str]] = []

    def say(self, text: str) -> None:
        self.events.append((time.monotonic(), text))


class ChaosPublisher(threading.Thread):
    """As a good encoder does: when its connection is lost, or nothing is acknowledged, it tries the other nodes at once."""

    def __init__(self, clients: Clients, number: int):
        super().__init__(daemon=True)
        self.clients, self.stream, self.random = clients, f"s{number}", random.Random(number)
        self.node = number % NODES
        self.ups: list[float] = []  # when it was let in, or its node came back to life
        self.downs: list[float] = []  # when its node was lost

    def run(self) -> None:
        while not self.clients.ending.is_set():
            node = self.clients.nodes[self.node]
            try:
                self._publish(node)
            except (Closed, OSError, AssertionError, TimeoutError):
                pass
            self.node = self.random.randrange(NODES)
            time.sleep(0.1)

    def _publish(self, node: Node) -> None:
        client = RtmpClient(node.ports["rtmp"], timeout=1, host=node.host)
        try:
            if client.publish(self.stream)["code"] != "NetStream.Publish.Start":
                return
            client.socket.setsockopt(socket.IPPROTO_TCP, socket.TCP_USER_TIMEOUT, 1500)
            client.socket.settimeout(None)
            self.ups.append(time.monotonic())
            began, media, tags = time.monotonic(), 0, read_flv(self.clients.clip)
            while True:
                for tag in tags:
                    if tag.is_setup() and media > 0:
                        continue
                    if self.clients.ending.wait(max(0.0, began + (media + tag.timestamp) / 1000 - time.monotonic())):
                        return
                    if tag.type != DATA or media == 0:
                        client.send_message(tag.type, tag.payload, media + tag.timestamp)
                media += tags[-1].timestamp + 100
        finally:
            client.close()


class ChaosPlayer(threading.Thread):
    """Plays by `kind`, from node to node. `gaps`: when nothing came for longer than its patience, from and to."""

    def __init__(self, clients: Clients, number: int, kind: str):
        super().__init__(daemon=True)
        self.clients, self.kind, self.stream = clients, kind, f"s{number % STREAMS}"
        self.node = (number // STREAMS + number) % NODES
        self.gaps: list[tuple[float, float]] = []
        self.last = 0.0

    def run(self) -> None:
        while not self.clients.ending.is_set():
            try:
                {"rtmp": self._play_rtmp, "hls": self._play_hls}.get(self.kind, self._play_http)(self.clients.nodes[self.node])
            except (Closed, OSError, AssertionError, ValueError):
                pass
            self.node = (self.node + 1) % NODES
            self.clients.ending.wait(0.05)

    def arrived(self) -> None:
        now = time.monotonic()
        patience = PATIENCE_S + (HLS_MORE_S if self.kind == "hls" else 0)
        if self.last and now - self.last > patience:
            self.gaps.append((self.last, now))
        self.last = now

    def _read(self, line: socket.socket) -> None:
        line.settimeout(PATIENCE_S)
        while not self.clients.ending.is_set():
            block = line.recv(65536)
            if not block:
                return
            if len(block) > 40:  # not a ping
                self.arrived()

    def _play_rtmp(self, node: Node) -> None:
        client = RtmpClient(node.ports["rtmp"], timeout=PATIENCE_S, host=node.host)
        try:
            client.play(self.stream)
            self._read(client.socket)
        finally:
            client.close()

    def _play_http(self, node: Node) -> None:
        with socket.create_connection((node.host, node.ports["http"]), PATIENCE_S) as line:
            line.sendall(f"GET /live/{self.stream}.flv HTTP/1.1\r\nHost: {node.host}\r\n\r\n".encode())
            head = line.recv(4096)
            if head.startswith(b"HTTP/1.1 200"):
                self._read(line)

    def _play_hls(self, node: Node) -> None:
        seen, since = "", time.monotonic()
        while not self.clients.ending.wait(0.3) and time.monotonic() - since < PATIENCE_S + HLS_MORE_S:
            with urllib.request.urlopen(f"http://{node.host}:{node.ports['http']}/live/{self.stream}.m3u8", timeout=PATIENCE_S) as answer:
                names = [line for line in answer.read().decode().splitlines() if line and not line.startswith("#")]
            if names and names[-1] != seen:
                seen, since = names[-1], time.monotonic()
                with urllib.request.urlopen(f"http://{node.host}:{node.ports['http']}/live/{seen}", timeout=PATIENCE_S) as answer:
                    answer.read()
                self.arrived()


class Faults:
    """One after the other; each is over before the next one."""

    def __init__(self, clients: Clients, registry: RegistryServer, publishers: list[ChaosPublisher], seed: int):
        self.clients, self.registry, self.publishers = clients, registry, publishers
        self.random = random.Random(seed)
        self.started = {node: time.monotonic() for node in clients.nodes}

    def make_one(self) -> None:
        number = self.random.randrange(NODES)
        node, length = self.clients.nodes[number], self.random.uniform(2, 6)
        kind = self.random.choice(["kill", "kill", "pause", "cut", "cut", "registry killed", "registry paused"])
        self._note(number, kind, lambda publisher: publisher.downs)
        self.clients.say(f"{kind}{'' if 'registry' in kind else f' n{number}'} for {length:.1f} s")
        if kind == "kill":
            node.process.kill()
            node.process.wait()
            time.sleep(length)
            node.start()
            self.started[node] = time.monotonic()
        elif kind == "pause":
            node.process.send_signal(signal.SIGSTOP)
            time.sleep(length)
            node.process.send_signal(signal.SIGCONT)
        elif kind == "cut":
            node.machine.cut()
            time.sleep(length)
            node.machine.mend()
        elif kind == "registry killed":
            self.registry.stop()
            time.sleep(length)
            self.registry.start()
        else:
            self.registry.pause()
            time.sleep(length)
            self.registry.go_on()
        self._note(number, kind, lambda publisher: publisher.ups)
        self.clients.say("over")

    def _note(self, number: int, kind: str, times) -> None:
        for publisher in self.publishers:
            if publisher.node == number and "registry" not in kind:
                times(publisher).append(time.monotonic())


def waits_of(player: ChaosPlayer, publisher: ChaosPublisher) -> list[tuple[float, float, float]]:
    """From, to, and since when its publisher was there, of each gap that did not end with what a node had of a publisher that was away."""
    found = []
    for began, ended in player.gaps:
        up = max([moment for moment in publisher.ups if moment <= ended], default=began)
        if up > max([moment for moment in publisher.downs if moment <= ended], default=0):
            found.append((began, ended, max(began, up)))
    return found


def late(player: ChaosPlayer, publisher: ChaosPublisher) -> list[tuple[float, float, float]]:
    limit = LIMIT_S + PATIENCE_S + (HLS_MORE_S if player.kind == "hls" else 0)
    return [wait for wait in waits_of(player, publisher) if wait[1] - wait[2] > limit]


def wreak_havoc(folder, clip, seconds: float, seed: int) -> None:
    with ExitStack() as stack:
        registry, nodes = start_nodes(stack, folder, NODES, VHOSTS, RTC)
        clients = Clients(nodes, clip)
        stack.callback(clients.ending.set)
        publishers = [ChaosPublisher(clients, number) for number in range(STREAMS)]
        kinds = [kind for kind, count in PLAYERS.items() for _ in range(count)]
        players = [ChaosPlayer(clients, number, kind) for number, kind in enumerate(kinds)]
        for one in publishers:
            one.start()
        time.sleep(3)
        for one in players:
            one.start()
            time.sleep(0.01)
        whep = []
        for number, node in enumerate(nodes):
            url = f"http://{node.host}:{node.ports['api']}/rtc/v1/whep/?app=live&stream=s{number}"
            whep.append(Load(node.folder, "sb_rtc_load", "-c", WHEP_EACH, "-s", 1, "-e", 0.3, "-d", 0.3, "-r", url, "--seconds", seconds + 60))
            stack.callback(whep[-1].kill)
        time.sleep(8)
        faults = Faults(clients, registry, publishers, seed)
        memory: dict[tuple, list[int]] = {}
        end = time.monotonic() + seconds
        while time.monotonic() < end:
            next_at = time.monotonic() + FAULT_EVERY_S
            faults.make_one()
            for node in nodes:
                memory.setdefault((node.folder.name, faults.started[node]), []).append(node.resident_kib())
            time.sleep(max(0.0, next_at - time.monotonic()))
        time.sleep(12)
        now = time.monotonic()
        silent = [(one.kind, one.stream, round(now - one.last, 1)) for one in players if now - one.last > (8 if one.kind == "hls" else 3)]
        report(clients, publishers, players, memory)
        for one in whep:
            one.stop()
        stuck = [(result["clients"], result["alive"]) for result in (one.result(30, None) for one in whep) if result["alive"] != result["clients"]]
        print("WHEP players that do not play at the end, of all and alive:", stuck)
        clients.ending.set()
        assert silent == [], "nobody is stuck"
        assert [found for one in players for found in late(one, publishers[int(one.stream[1:])])] == []
        assert stuck == []
        for (name, _), samples in memory.items():
            third = len(samples) // 3
            if third >= 2:
                assert statistics.median(samples[-third:]) < 1.3 * statistics.median(samples[:third]) + 20_000, (name, samples)
        for node in nodes:
            node.assert_alive()
            node.assert_no_report()


def report(clients: Clients, publishers, players, memory) -> None:
    began = clients.events[0][0]
    for moment, text in clients.events:
        print(f"{moment - began:6.1f} {text}")
    waits = []
    for player in players:
        publisher = publishers[int(player.stream[1:])]
        waits += [stop - up for _, stop, up in waits_of(player, publisher)]
        for start, stop, up in late(player, publisher):
            print(f"late: {player.kind} {player.stream} {start - began:.1f} to {stop - began:.1f}, publisher there since {up - began:.1f}")
    waits.sort()
    print(f"{len(players)} players, {len(waits)} interruptions of more than {PATIENCE_S} s; picture after publisher and patience, s:",
          [round(waits[int(share * (len(waits) - 1))], 2) for share in (0.5, 0.9, 0.99, 1)] if waits else [])
    print("KiB of each process at its first and last look:", {name[0]: (samples[0], samples[-1]) for name, samples in memory.items()})


@pytest.mark.long
def test_all_players_show_frames_again(tmp_path, clip):
    seconds = float(os.environ.get("LIVE_CHAOS_SECONDS", "600"))
    own_network.run(wreak_havoc, tmp_path, clip("small"), seconds, int(os.environ.get("LIVE_CHAOS_SEED", "1")), limit_s=seconds + 180)
