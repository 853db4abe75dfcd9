"""Ordinary players play every form of HLS, and DASH. Takes minutes: each player decodes in real time."""

import threading

import pytest

import players
from hls_player import Player
from live_server import wait_until
from players import FfmpegPublisher

pytestmark = [pytest.mark.long, pytest.mark.workers]

SECONDS = 6
FORMS = {"ts": "", "fmp4": "hls_use_fmp4 on;", "ll": "hls_ll on; hls_use_fmp4 on;", "llts": "hls_ll on;"}
HLS = "vhost {0}.test {{ hls {{ enabled on; hls_fragment 2; hls_window 12; hls_path $folder/html; {1} }} }}\n"
DASH = "vhost {0}.test {{ dash {{ enabled on; dash_fragment 2; dash_path $folder/html; {1} }} }}\n"


def play(url: str, names: list[str]) -> dict[str, list[str]]:
    """What was wrong with each, side by side; those that are not installed are left out."""
    problems = {}

    def run(name):
        problems[name] = players.PLAYERS[name](url, SECONDS, "av")
    threads = [threading.Thread(target=run, args=(name,)) for name in names if not players.available(name)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert len(problems) == len(threads)
    return {name: found for name, found in problems.items() if found}


@pytest.mark.parametrize("form", FORMS)
def test_players_play_hls(server, clip, form):
    live = server(root=HLS.format(form, FORMS[form]))
    with FfmpegPublisher(live.url(f"cam?vhost={form}.test"), clip("basic")):
        player = Player(live, f"/live/cam.m3u8?vhost={form}.test").join().wait()
        player.has(2)
        assert play(f"http://127.0.0.1:{live.ports['http']}/live/cam.m3u8?vhost={form}.test", ["ffmpeg", "mpv", "vlc", "gstreamer"]) == {}


@pytest.mark.parametrize("form, more", [("dash", ""), ("low", "dash_ll on;")])
def test_players_play_dash(server, clip, form, more):
    live = server(root=DASH.format(form, more))
    with FfmpegPublisher(live.url(f"cam?vhost={form}.test"), clip("basic")):
        mpd = live.folder / "html/live/cam.mpd"
        wait_until(lambda: mpd.exists() and mpd.read_text().count("<S ") >= 4, 20, "two segments")
        assert play(f"http://127.0.0.1:{live.ports['http']}/live/cam.mpd?vhost={form}.test", ["ffmpeg", "mpv", "vlc", "gstreamer"]) == {}
