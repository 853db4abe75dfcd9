"""What tests of edges share: nodes on a wire that have every output, what plays from them, and pages for a browser."""

import json
import re
import shutil
import time
import urllib.error
import urllib.request
from concurrent.futures import ThreadPoolExecutor
from contextlib import ExitStack
from pathlib import Path

import pytest

import browser as browsers
import hls_check
import own_network
import play_check
from live_server import Stopwatch, conf, wait_until, waited_s
from load_tools import Load
from nodes import Node, Wire
from players import wait_playable
from rtmp_client import AUDIO, VIDEO, Message, Player, Publisher, assert_gapless, read_flv

ONE_WAY_S = 0.01
RTC = "rtc_server { enabled on; listen 127.0.0.1:$udp; }\n"
OUTPUTS = """http_remux { enabled on; mount [vhost]/[app]/[stream].flv; }
    hls { enabled on; hls_fragment 1; hls_window 10; hls_ll on; hls_part 200; hls_path $folder/html; }
    dash { enabled on; dash_fragment 1; dash_window_size 6; dash_update_period 1; dash_path $folder/html; }
    rtc { enabled on; rtmp_to_rtc on; }"""
# A virtual host has one mount and one kind of HLS. This one has the others, for the streams of the origin's default host whose app is "plain".
PLAIN = """vhost plain.test {
    cluster { mode remote; origin %s; vhost __defaultVhost__; }
    http_remux { enabled on; mount [vhost]/[app]/[stream].ts; }
    hls { enabled on; hls_fragment 1; hls_window 10; hls_path $folder/html; }
}
"""
PLAIN_HLS, LOW_LATENCY_HLS, DASH = "/plain/cam.m3u8?vhost=plain.test", "/live/cam.m3u8", "/live/cam.mpd"
DVR = "dvr { enabled on; dvr_plan session; dvr_path $folder/rec/[stream].flv; }"


class Stage:
    """Nodes on a wire, and publishers and players beside them. What still runs at the end is stopped, and must end well."""

    def __init__(self, folder, machines: int, one_way_s: float = ONE_WAY_S):
        self.folder, self.count, self.one_way_s, self.nodes, self.mortal = folder, machines, one_way_s, [], []
        self.stack = ExitStack()

    def __enter__(self):
        wire = self.stack.enter_context(Wire(self.one_way_s, self.count))
        self.machines, self.carrier = iter(wire.machines), wire.carrier.pid
        return self

    def watch(self, *others: "Node | int") -> Stopwatch:
        """Of these, and of the wire."""
        return Stopwatch(self.carrier, *others)

    def __exit__(self, kind, *_):
        try:
            for node in reversed(self.nodes):
                if kind is None and node not in self.mortal:
                    node.stop()
        finally:
            for node in self.nodes:
                node.kill()
            self.stack.close()

    def node(self, vhost: str = "", root: str = "", mortal: bool = False) -> Node:
        self.nodes.append(Node(self.folder / f"node{len(self.nodes)}", conf(vhost, root), next(self.machines)))
        self.mortal += self.nodes[-1:] if mortal else []
        return self.nodes[-1].start()

    def edge(self, *origins: Node, more: str = "", root: str = "", options: str = "") -> Node:
        """`options`: of its cluster."""
        return self.node(f"cluster {{ mode remote; origin {names_of(origins)}; {options} }} {more}", root)

    def whole_edge(self, *origins: Node, more: str = "", options: str = "") -> Node:
        """With every output: addresses_of()."""
        return self.edge(*origins, more=OUTPUTS + more, root=RTC + PLAIN % names_of(origins), options=options)

    def publish(self, node: Node, clip, stream: str = "cam", app: str = "live") -> Publisher:
        publisher = Publisher(node.ports["rtmp"], stream, clip, app, host=node.host)
        publisher.start()
        self.stack.callback(publisher.stop)
        wanted = (app, stream.split("?")[0])
        wait_until(lambda: any((one["app"], one["name"]) == wanted for one in node.api("/api/v1/streams/")["streams"]), 10, "the stream")
        return publisher

    def publish_both(self, node: Node, clip) -> list[Publisher]:
        """What whole edges play; on one of them, where they play it."""
        plain = "cam?vhost=plain.test" if "plain.test" in node.conf_path.read_text() else "cam"
        return [self.publish(node, clip), self.publish(node, clip, plain, "plain")]

    def play(self, node: Node, stream: str = "cam") -> Player:
        """From the node's own machine."""
        with node.machine.inside():
            player = Player(node.ports["rtmp"], stream, host=node.host)
        player.start()
        self.stack.callback(player.stop)
        return player

    def recordings(self, publisher: Publisher, *nodes: Node) -> dict[str, list[str]]:
        """What is wrong with those of these nodes when the publisher has stopped."""
        publisher.stop()
        for node in nodes:
            wait_until(lambda one=node: any(one.folder.glob("rec/*.flv")) or "the stream ended at the origin, stream=/live/cam:" in one.log(), 20, "its end")
            if not any(node.folder.glob("rec/*.flv")):
                node.stop()  # an edge keeps its recording open for a publisher that comes back
        return {node.host: found for node in nodes if (found := recording_problems(node, publisher))}


def names_of(origins) -> str:
    return " ".join(f"{origin.host}:{origin.ports['rtmp']}" for origin in origins)


def addresses_of(edge: Node) -> dict[str, str]:
    """By format, for ffmpeg."""
    http = f"http://{edge.host}:{edge.ports['http']}"
    return {"RTMP": edge.url("cam"), "FLV": f"{http}/live/cam.flv", "TS": f"{http}/plain/cam.ts?vhost=plain.test", "HLS": http + PLAIN_HLS,
            "LL-HLS": http + LOW_LATENCY_HLS, "DASH": f"{http}/live/cam.mpd"}


def play_problems(url: str) -> list[str]:
    wait_playable(url, 30)
    return play_check.play(url, 4).problems()


def low_latency_problems(node: Node, count: int = 22) -> list[str]:
    """Asks for each part when the list names it as the next one, and for the list that has it."""
    base = f"http://{node.host}:{node.ports['http']}"

    def get(path: str) -> bytes:
        with urllib.request.urlopen(base + path, timeout=15) as answer:
            return answer.read()

    media = next(line for line in get(LOW_LATENCY_HLS).decode().splitlines() if line and line[0] != "#")
    wait_until(lambda: b"PRELOAD-HINT" in get(media), 20, "parts")
    text, parts, problems = get(media).decode(), {}, []
    for _ in range(count):
        hint = hls_check.parse(text).hints[0]["URI"]
        number, part = re.search(r"-(\d+)\.(\d+)\.", hint).groups()
        parts[hint] = get("/live/" + hint)
        later = get(f"{media}&_HLS_msn={number}&_HLS_part={part}").decode()
        problems += hls_check.check(later) + hls_check.check_update(text, later)
        text = later
    whole = [one for one in hls_check.parse(text).segments if one.parts and all(name in parts for name, _, _ in one.parts)]
    problems += [f"{one.uri} is not its parts" for one in whole if get("/live/" + one.uri) != b"".join(parts[name] for name, _, _ in one.parts)]
    return problems + ([] if whole and all(parts.values()) else [f"{len(whole)} whole segments of {list(parts)}"])


def whep_problems(stage: Stage, node: Node, seconds: float = 5) -> list[str]:
    url = f"http://{node.host}:{node.ports['api']}/rtc/v1/whep/?app=live&stream=cam"
    result = Load(stage.folder, "sb_rtc_load", "-c", 1, "-s", 0, "-r", url, "--seconds", seconds).result()
    metrics = result["metrics"]
    good = result["failed"] == 0 and metrics["first_frame_ms"]["count"] == 1 and metrics["packets"]["min"] > 20 * seconds and metrics["lost_packets"]["max"] == 0
    return [] if good else [json.dumps(result)]


def snapshot_problems(node: Node) -> list[str]:
    """Needs a player: a snapshot alone begins no pull."""
    wait_until(lambda: any(one["video"] for one in node.api("/api/v1/streams/")["streams"]), 20, "the stream")
    with urllib.request.urlopen(f"http://{node.host}:{node.ports['api']}/api/v1/snapshot/live/cam.jpg", timeout=15) as answer:
        kind, body = answer.headers["Content-Type"], answer.read()
    return [] if kind == "image/jpeg" and body[:2] == b"\xff\xd8" and len(body) > 2000 else [f"{kind}, {len(body)} bytes"]


def whep(stage: Stage, node: Node, seconds: float, stream: str = "cam") -> list[str]:
    """What is wrong with a WebRTC player."""
    url = f"http://{node.host}:{node.ports['api']}/rtc/v1/whep/?app=live&stream={stream}"
    result = Load(stage.folder, "sb_rtc_load", "-c", 1, "-s", 0, "-r", url, "--seconds", seconds).result()
    metrics = result["metrics"]
    good = result["failed"] == 0 and metrics["first_frame_ms"]["count"] == 1 and metrics["packets"]["min"] > 20 * seconds and metrics["lost_packets"]["max"] == 0
    return [] if good else [json.dumps(result)]


def problems_of(stage: Stage, *edges: Node) -> dict[str, list[str]]:
    """What is wrong with which format, played from all these at once."""
    with ThreadPoolExecutor(10 * len(edges)) as at_once:
        tasks = {}
        for edge in edges:
            for name, url in addresses_of(edge).items():
                tasks[f"{name} from {edge.host}"] = at_once.submit(play_problems, url)
            tasks[f"parts from {edge.host}"] = at_once.submit(low_latency_problems, edge)
            tasks[f"WHEP from {edge.host}"] = at_once.submit(whep_problems, stage, edge)
            tasks[f"snapshot from {edge.host}"] = at_once.submit(snapshot_problems, edge)
    return {what: task.result() for what, task in tasks.items() if task.result()}


def recorded_by(node: Node) -> list[Message]:
    (file,) = node.folder.glob("rec/*.flv")
    return [Message(tag.type, tag.timestamp, 1, tag.payload) for tag in read_flv(file) if tag.type in (AUDIO, VIDEO)]


def recording_problems(node: Node, publisher: Publisher) -> list[str]:
    """Each message from the first key frame on is there, and all of it can be played."""
    messages = recorded_by(node)
    assert_gapless(messages, publisher.sent, f"recording on {node.host}")
    videos = [message for message in messages if message.type == VIDEO and message.payload[1] == 1]
    problems = [] if videos[0].is_key_frame() else ["it does not begin with a key frame"]
    problems += [] if publisher.sent[-1] in [message.mark() for message in messages[-5:]] else ["its end is missing"]
    (file,) = node.folder.glob("rec/*.flv")
    playback = play_check.play(str(file), (messages[-1].timestamp - messages[0].timestamp) / 1000 + 1)
    return problems + playback.problems() + ([] if len(playback.frames) == len(videos) else [f"{len(playback.frames)} frames of {len(videos)}"])


def read_text(url: str) -> str:
    with urllib.request.urlopen(url, timeout=15) as answer:
        return answer.read().decode()


def base_of(node: Node) -> str:
    return f"http://{node.host}:{node.ports['http']}"


def status_of(url: str) -> int:
    try:
        with urllib.request.urlopen(url, timeout=20) as answer:
            return answer.status
    except urllib.error.HTTPError as error:
        return error.code


def media_list(edge: Node, place: str) -> str:
    """The address of the playlist that the one at that place names, for one session."""
    base = base_of(edge)
    return base + next(line for line in read_text(base + place).splitlines() if line and line[0] != "#")


# Times are in ms of the clock that the test has, too.
PAGE = """<!DOCTYPE html><main></main><video id=video muted playsinline></video>
<script src="/players/js/hls.js"></script><script src="/dash.js"></script><script>
window.shown = [];  // [when, its time] of each picture
window.loaded = [];  // of hls.js: [how many discontinuities are before it, its time, when] of what came into the buffer
window.errors = [];
const now = () => performance.timeOrigin + performance.now();
const look = (_, { mediaTime }) => { shown.push([now(), mediaTime]); video.requestVideoFrameCallback(look); };
video.requestVideoFrameCallback(look);

const playHls = (place) => {
    window.hls = new Hls();
    hls.on(Hls.Events.ERROR, (_, data) => errors.push(data.details));  // bufferStalledError, fragLoadError, ...
    hls.on(Hls.Events.BUFFER_APPENDED, (_, { frag }) => loaded.push([frag.cc, frag.start, now()]));
    hls.loadSource(place);
    hls.attachMedia(video);
};
const playDash = (place) => {
    window.player = dashjs.MediaPlayer().create();
    player.on('error', (one) => errors.push(String(one.error?.message ?? one.error)));
    player.updateSettings({ streaming: { utcSynchronization: { enabled: false } } });  // by a server of the Internet
    player.initialize(video, place, true);
};
const playWhep = async () => {
    window.connection = new RTCPeerConnection();
    video.srcObject = new MediaStream();
    connection.ontrack = ({ track }) => video.srcObject.addTrack(track);
    for (const kind of ['audio', 'video']) connection.addTransceiver(kind, { direction: 'recvonly' });
    await connection.setLocalDescription();
    const answer = await fetch('/rtc/v1/whep/?app=live&stream=cam',
        { method: 'POST', headers: { 'Content-Type': 'application/sdp' }, body: connection.localDescription.sdp });
    await connection.setRemoteDescription({ type: 'answer', sdp: await answer.text() });
};
const place = location.search.slice(1);
if (place === 'whep') playWhep(); else if (place.endsWith('.mpd')) playDash(place); else playHls(place);
// dash.js plays by itself, and does not notice what began before it was there.
if (!window.player) video.play().catch((error) => errors.push(String(error)));
</script>"""
# [packets lost, frames of video that came] by WebRTC.
RECEIVED = """connection.getStats().then((all) => [...all.values()].filter((one) => one.type === 'inbound-rtp')
    .reduce(([lost, frames], one) => [lost + one.packetsLost, frames + (one.framesReceived ?? 0)], [0, 0]))"""


def run_with_browser(function, *arguments, limit_s: float) -> None:
    """own_network.run(), which reaches no registry: what Browser() needs is installed before."""
    try:
        browsers.find_chromium()
        browsers.install_modules()
    except browsers.Unavailable as reason:
        pytest.skip(str(reason))
    own_network.run(function, *arguments, limit_s=limit_s)


class Screen:
    """Pages of a browser that play from edges: by WHEP, and by hls.js what is at a place of HLS."""

    def __init__(self, stage: Stage, html: Path):
        self.chromium, self.html = browsers.Browser(), html
        stage.stack.callback(self.chromium.close)

    def open(self, edge: Node, place: str):
        """Until it plays. Players of HLS begin with all that they want to have in front of them."""
        if place == DASH:
            wait_until(lambda: status_of(base_of(edge) + place) == 200 and read_text(base_of(edge) + place).count("<S ") > 6, 40, "enough segments", 0.2)
        elif place != "whep":
            playlist = media_list(edge, place)
            wait_until(lambda: read_text(playlist).count("#EXTINF") > 3, 40, "enough fragments", 0.2)
        shutil.copytree(self.html, edge.folder / "html", dirs_exist_ok=True)
        shutil.copy(browsers.install_modules() / "node_modules/dashjs/dist/modern/umd/dash.all.min.js", edge.folder / "html/dash.js")
        (edge.folder / "html/page.html").write_text(PAGE)
        page = self.chromium.page().goto(f"http://{edge.host}:{edge.ports['http']}/page.html?{place}")
        page.wait("shown.length > 25", 40)
        return page

    def watch(self) -> "BrowserWatch":
        return BrowserWatch(self._threads())

    def _threads(self) -> list[int]:
        found, processes = [], [self.chromium.process.pid]
        while processes:
            for task in Path(f"/proc/{processes.pop()}/task").glob("*"):
                found.append(int(task.name))
                processes += [int(child) for child in (task / "children").read_text().split()]
        return found


class BrowserWatch:
    """How long the browser waited for a CPU that other programs had: the one of its threads that waited longest, for they wait beside each other,
    and there are a hundred of them."""

    def __init__(self, threads: list[int]):
        self._before = {one: waited_s([one]) for one in threads}

    def waited(self) -> float:
        return max(waited_s([one]) - before for one, before in self._before.items())


def shown_by(page, from_s: float = 0) -> list[float]:
    """When each picture was, in seconds of time.time(); those from some time of the media on."""
    return [at / 1000 for at, media_s in page.value("shown") if media_s >= from_s]


def longest_gap(times: list[float]) -> float:
    return max(later - earlier for earlier, later in zip(times, times[1:]))
