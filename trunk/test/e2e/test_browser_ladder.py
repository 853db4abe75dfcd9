"""hls.js and dash.js in a headless Chromium change between the renditions of a ladder when their link changes, without a stall or a jump."""

import pytest

from browser_players import Film, dash_screen, hls_screen
from dash_files import NS, mpd
from ladder_stage import has_variants, representations
from live_server import Stopwatch, wait_until
from page_site import needs_libraries
from rtmp_client import Publisher

pytestmark = [pytest.mark.long, pytest.mark.alone]

LADDER = """ladder { enabled on; vpreset ultrafast; vthreads 1; rendition 360p { vbitrate 450; } rendition 180p { vbitrate 120; } }
hls { enabled on; hls_fragment 2; hls_window 30; hls_path $folder/html; }
dash { enabled on; dash_fragment 2; dash_update_period 1; dash_window_size 15; dash_path $folder/html; }"""
SIZES = ["1280x720", "640x360", "320x180"]
# A segment of 720p takes 3 s, of 360p 0.9 s, and of 180p 0.3 s of its 2 s.
NARROW = 1_200_000
PLAYED_S = 8
DECODED_S = 0.25
# As far behind as hls.js is by itself: a segment of 720p that is on its way when the link gets narrow may take long.
DELAY = "player.updateSettings({ streaming: { delay: { liveDelay: 10 } } });"


def height(screen) -> int:
    """Of the picture."""
    return screen.page.value("video.videoHeight")


def change_the_link(screen) -> dict[str, float]:
    """Returns how long each change took."""
    took = {}
    for what, bits, wanted in (("start", 0, lambda shown: shown == 720), ("down", NARROW, lambda shown: shown < 720), ("up", 0, lambda shown: shown == 720)):
        screen.page.throttle(bits)
        began, at = screen.page.value("[now(), video.currentTime]")

        def is_there(want=wanted) -> bool:
            return want(height(screen))
        wait_until(is_there, 90, lambda w=what: f"{w}: {height(screen)}; {screen.events('level')}; {screen.page.value('errors')}", 0.2)
        took[what] = screen.page.value("now()") - began
        wait_until(lambda since=at: screen.page.value("video.currentTime") > since + PLAYED_S, 60, "it plays on", 0.2)
        # dash.js tries others on a busy machine, also while the link stays as it is.
        wait_until(is_there, 60, lambda w=what: f"{w}, still: {height(screen)}; {screen.events('level')}", 0.2)
    return took


@pytest.mark.parametrize("player", ["hls.js", "dash.js"])
def test_a_player_follows_its_link(server, clip, html, chromium, player):
    needs_libraries(html)
    live = server(vhost=LADDER)
    publisher = Publisher(live.ports["rtmp"], "cam", clip("hd"))
    publisher.start()
    assert [attributes["RESOLUTION"] for attributes, _ in has_variants(live, 3, 60)] == SIZES
    wait_until(lambda: representations(live) == set(SIZES), 60, "an MPD with all renditions")
    # Players begin as far behind as they want to be.
    wait_until(lambda: len(mpd(live, "/live/cam.mpd").findall(".//d:Representation[@width='320']//d:S", NS)) >= 7, 60, "segments of 14 s", 0.5)
    film = Film.of(clip("hd"))
    screen = (hls_screen(live, chromium, film, html) if player == "hls.js" else dash_screen(live, chromium, film, more=DELAY)).plays(60)
    watch, began = Stopwatch(live, chromium.process.pid), screen.page.value("video.currentTime")
    took = change_the_link(screen)
    waited = watch.waited()
    stalls, jumps, levels = screen.stalls(began), screen.jumps(began), [one["height"] for one in screen.events("level")]
    print(f"{player}: s until it changed {took}; levels {levels}; stalls {stalls}; jumps {jumps}; waited for a CPU {waited:.2f} s; errors {screen.page.value('errors')}")
    # Without a CPU for a while, a player waits for its own decoder, with media in its buffer.
    assert sum(long_s for _, long_s, ahead_s in stalls if ahead_s < DECODED_S) <= min(waited, PLAYED_S)
    assert sum(long_s for _, long_s, _ in stalls) <= waited
    assert jumps == []
    assert 720 in levels and min(levels) < 720
    # The pictures of all renditions have the same times.
    screen.offset()
    screen.close()
    publisher.stop()
    assert publisher.error is None
