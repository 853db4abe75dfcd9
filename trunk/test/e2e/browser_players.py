"""hls.js and dash.js on a page of their own. The page reads the frame number that clips.py paints into each picture, so that a time of the player
becomes a time of the publisher; and it notes stalls, jumps and the events of the player."""

import shutil
import statistics
from dataclasses import dataclass
from pathlib import Path

import browser as browsers
from clips import CELLS, WIDTH
from rtmp_client import VIDEO, read_flv

# frames: [time of the player, painted number, wall clock]; places: [wall clock, time of the player, seconds in its
# buffer], since the first picture.
PROBE = """<!DOCTYPE html><video id=video muted playsinline></video><script src="/%(library)s"></script><script>
window.frames = [];
window.events = [];
window.errors = [];
window.places = [];
const now = () => performance.now() / 1000;
const cells = new OffscreenCanvas(%(cells)s, 1).getContext('2d', { willReadFrequently: true });
const number = () => {
    const cell = video.videoWidth / %(columns)s;
    // The middle of each cell.
    for (let i = 0; i < %(cells)s; ++i) cells.drawImage(video, (i + 0.25) * cell, 0.25 * cell, cell / 2, cell / 2, i, 0, 1, 1);
    const { data } = cells.getImageData(0, 0, %(cells)s, 1);
    let value = 0;
    for (let i = 0; i < %(cells)s; ++i) value = value * 2 + (data[4 * i] > 127 ? 1 : 0);
    return value;
};
const look = (_, { mediaTime }) => {
    frames.push([mediaTime, number(), now()]);
    video.requestVideoFrameCallback(look);
};
video.requestVideoFrameCallback(look);
const ahead = () => Math.max(0, ...[...Array(video.buffered.length).keys()].filter((at) => video.buffered.start(at) <= video.currentTime + 0.1)
    .map((at) => video.buffered.end(at) - video.currentTime));
setInterval(() => frames.length && places.push([now(), video.currentTime, ahead()]), 50);
const text = (bytes) => new TextDecoder('latin1').decode(bytes);
const note = (what, event) => events.push({ what, shown: video.currentTime, ...event });
%(player)s
</script>"""

HLS_JS = """
window.hls = new Hls({ enableWorker: true, %s });
hls.on('hlsError', (_, { details, fatal }) => errors.push(details + (fatal ? ' (fatal)' : '')));
hls.on('hlsFragParsingMetadata', (_, { samples }) => samples.forEach(({ pts, data, type }) => note('tag', { at: pts, type, data: text(data) })));
hls.on('hlsLevelSwitched', (_, { level }) => note('level', { height: hls.levels[level].height }));
video.textTracks.onaddtrack = ({ track }) => {
    if (track.kind !== 'metadata') track.mode = 'showing';
    track.oncuechange = () => [...(track.activeCues ?? [])].forEach((cue) =>
        note('cue', { kind: track.kind, label: track.label, at: cue.startTime, end: cue.endTime, id: cue.id, key: cue.value?.key, type: cue.type,
            data: cue.text || (cue.value?.data instanceof ArrayBuffer ? text(cue.value.data) : JSON.stringify(cue.value?.data ?? '')) }));
};
hls.on('hlsManifestParsed', () => { hls.subtitleTrack = hls.allSubtitleTracks.length ? 0 : -1; });
hls.loadSource('%s');
hls.attachMedia(video);
video.play();
"""

DASH_JS = """
window.player = dashjs.MediaPlayer().create();
player.on('error', ({ error }) => errors.push(String(error?.message ?? error)));
player.on('qualityChangeRendered', ({ mediaType, newRepresentation: to }) => mediaType === 'video' && note('level', { height: to.height }));
const { EVENT_MODE_ON_RECEIVE, EVENT_MODE_ON_START } = dashjs.MediaPlayer.events;
for (const scheme of ['https://aomedia.org/emsg/ID3', 'urn:scte:scte35:2014:xml+bin'])
    for (const [what, mode] of [['received', EVENT_MODE_ON_RECEIVE], ['started', EVENT_MODE_ON_START]])
        player.on(scheme, ({ event }) => note(what, { scheme, id: event.id, at: event.calculatedPresentationTime, duration: event.duration,
            data: event.messageData instanceof Uint8Array ? text(event.messageData) : JSON.stringify(event.messageData) }), null, { mode });
%s
player.initialize(video, '%s', true);
"""

STALL_S, JUMP_S = 0.5, 0.05


@dataclass
class Film:
    """The times of the pictures in a clip that is published over and over."""
    times: list[float]  # of presentation, by the painted number
    length: float       # of a round, as rtmp_client.Publisher counts it

    @classmethod
    def of(cls, clip: Path) -> "Film":
        tags = read_flv(clip)
        frames = [tag for tag in tags if tag.type == VIDEO and tag.payload[1] == 1]
        times = sorted(tag.timestamp + int.from_bytes(tag.payload[2:5], "big", signed=True) for tag in frames)
        return cls([one / 1000 for one in times], (tags[-1].timestamp + 40) / 1000)

    def distance(self, a: float, b: float) -> float:
        """From one time to the other, where times of different rounds are the same."""
        return (b - a + self.length / 2) % self.length - self.length / 2


class Screen:
    """A page with one of the players."""

    def __init__(self, live, chromium, film: Film, name: str, library: Path, player: str):
        html = live.folder / "html"
        html.mkdir(exist_ok=True)
        shutil.copy(library, html / library.name)
        values = {"library": library.name, "cells": CELLS, "columns": WIDTH / (WIDTH // 32), "player": player}
        (html / f"{name}.html").write_text(PROBE % values)
        self.film = film
        self.page = chromium.page().goto(f"http://127.0.0.1:{live.ports['http']}/{name}.html")

    def events(self, what: str) -> list[dict]:
        return [one for one in self.page.value("events") if one["what"] == what]

    def plays(self, frames: int = 25, limit_s: float = 60) -> "Screen":
        self.page.wait(f"frames.length >= {frames}", limit_s)
        return self

    def offset(self) -> float:
        """The time of the player minus that of the publisher, by the pictures that it has shown; the same for all of them."""
        film = self.film
        seen = [(at, film.times[number]) for at, number, _ in self.page.value("frames") if number < len(film.times)]
        assert len(seen) >= 20, "numbers are read from the pictures"
        first = seen[0][0] - seen[0][1]
        each = [film.distance(first, at - time) for at, time in seen]
        middle = statistics.median(each)
        # A page that is called late reads the next picture.
        assert sum(abs(one - middle) < 0.02 for one in each) > 0.8 * len(each), f"pictures are shown at their times, and not {each}"
        return first + middle

    def late(self, event: dict, reported: float) -> float:
        """Seconds from the time that the server reports to the time that the player has."""
        return self.film.distance(reported, event["at"] - self.offset())

    def stalls(self, from_s: float) -> list[tuple[float, float, float]]:
        """[time of the player, how long it stood still, s in its buffer meanwhile] of more than half a second, from that time on."""
        found, since = [], None
        for at, place, ahead in self.page.value("places"):
            if since is None or place > since[1] + 0.01:
                if since and since[1] >= from_s and at - since[0] > STALL_S:
                    found.append((since[1], at - since[0], since[2]))
                since = (at, place, ahead)
            else:
                since = (since[0], since[1], min(ahead, since[2]))
        return found

    def jumps(self, from_s: float) -> list[tuple[float, float]]:
        """[time of the player, by how much it ran ahead of the wall clock, or back] between two looks."""
        places = [one for one in self.page.value("places") if one[1] >= from_s]
        steps = [(back, to - back, later - at) for (at, back, _), (later, to, _) in zip(places, places[1:])]
        return [(place, step) for place, step, wall in steps if step - wall > JUMP_S or step < 0]

    def close(self) -> None:
        self.page.close()


def hls_screen(live, chromium, film: Film, html: Path, playlist: str = "/live/cam.m3u8", config: str = "") -> Screen:
    return Screen(live, chromium, film, "hls", html / "players/js/hls.js", HLS_JS % (config, playlist))


def dash_screen(live, chromium, film: Film, mpd: str = "/live/cam.mpd", more: str = "") -> Screen:
    library = browsers.install_modules() / "node_modules/dashjs/dist/modern/umd/dash.all.min.js"
    return Screen(live, chromium, film, "dash", library, DASH_JS % (more, mpd))
