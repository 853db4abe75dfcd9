"""Publish by A, play by B: one table. All players of a publisher run at the same time, so a publisher costs one playing time."""

from concurrent.futures import ThreadPoolExecutor

import pytest

from clips import find_new_ffmpeg
from live_server import LiveServer, conf
from players import PLAYERS, FfmpegPublisher, available, wait_playable

pytestmark = pytest.mark.workers

SECONDS = 8
# publisher: (clip, publishing program, what must arrive, players that know the codecs)
EVERYBODY = ["ffmpeg", "rtmpdump", "gstreamer", "mpv", "vlc"]
PUBLISHERS = {
    "h264+aac": ("basic", "ffmpeg", "av", EVERYBODY),
    "b-frames": ("bframes", "ffmpeg", "av", EVERYBODY),
    "audio only": ("audio", "ffmpeg", "a", ["ffmpeg", "rtmpdump", "mpv"]),
    "video only": ("video", "ffmpeg", "v", EVERYBODY),
    "hevc, enhanced": ("hevc", "new", "av", ["ffmpeg_new"]),
    "av1, enhanced": ("av1", "new", "av", ["ffmpeg_new"]),
    "opus, enhanced": ("opus", "new", "av", ["ffmpeg_new"]),
}
CELLS = [(publisher, player) for publisher, row in PUBLISHERS.items() for player in row[3]]


@pytest.fixture(name="table", scope="module")
def fixture_table(tmp_path_factory, workers):  # pylint: disable=unused-argument
    """table(publisher) runs the row once and gives {player: problems}."""
    server = LiveServer(tmp_path_factory.mktemp("table"), conf()).start()
    rows: dict[str, dict] = {}

    def row(publisher: str, clip) -> dict:
        if publisher not in rows:
            name, program, want, players = PUBLISHERS[publisher]
            ffmpeg = find_new_ffmpeg() if program == "new" else "ffmpeg"
            if ffmpeg is None:
                pytest.skip("no ffmpeg with enhanced RTMP (8 or later)")
            url = server.url(name)
            with FfmpegPublisher(url, clip(name), ffmpeg):
                wait_playable(url, program=ffmpeg)
                usable = [p for p in players if not available(p, want)]
                with ThreadPoolExecutor(len(usable) or 1) as pool:
                    jobs = {p: pool.submit(PLAYERS[p], url, SECONDS, want) for p in usable}
                rows[publisher] = {p: job.result() for p, job in jobs.items()}
        return rows[publisher]

    yield row
    try:
        server.stop()
    finally:
        server.kill()


@pytest.mark.parametrize("publisher,player", CELLS, ids=[f"{a} to {b}" for a, b in CELLS])
def test_plays_without_a_flaw(table, clip, publisher, player):
    reason = available(player, PUBLISHERS[publisher][2])
    if reason:
        pytest.skip(reason)
    problems = table(publisher, clip)[player]
    assert not problems, "\n".join(problems)
