"""For scripts/make-picture.sh: the landing page and the player of the demonstration, side by side, as a PNG."""

import subprocess
import sys
import tempfile
from pathlib import Path

import browser as browsers
import own_network
from live_server import TRUNK, can_connect, wait_until

BYTES_MAX = 300_000
SITE = "http://127.0.0.1:8080"
PLAYER = f"{SITE}/players/srs_player.html?app=live&amp;stream=livestream&amp;autostart=true"
# Two windows of the same height; each page is as wide as its window.
COMPOSED = f"""<!doctype html><meta charset="utf-8"><style>
    body {{ margin: 0; padding: 28px; display: flex; gap: 28px; background: linear-gradient(135deg, #12365f, #0a62c4); }}
    iframe {{ height: 600px; border: 0; border-radius: 12px; box-shadow: 0 8px 32px rgb(0 0 0 / 35%); background: #fff; }}
</style><main><iframe id="landing" width="640" src="{SITE}/"></iframe></main><iframe id="player" width="640" src="{PLAYER}"></iframe>"""


def take(target: Path, folder: Path) -> None:
    page_file = folder / "picture.html"
    page_file.write_text(COMPOSED, encoding="utf-8")
    with open(folder / "server.log", "wb") as log:
        server = subprocess.Popen([TRUNK / "objs/srs", "-c", "conf/demo.conf"], cwd=TRUNK, stdin=subprocess.DEVNULL, stdout=log, stderr=log)
    chromium = None
    try:
        wait_until(lambda: server.poll() is not None or can_connect(8080), 20, "the server")
        if server.poll() is not None:
            raise SystemExit(f"the server ended:\n{(folder / 'server.log').read_text(errors='replace')[-2000:]}")
        chromium = browsers.Browser()
        # Until there is something to see, each by itself: a page can not look into the other's frames.
        landing = chromium.page().goto(f"{SITE}/")
        landing.wait("document.querySelector('.facts')?.textContent.includes('bps')", 60)
        page = chromium.page(viewport={"width": 1364, "height": 656}).goto(page_file.as_uri())
        # The player fills its buffer and its statistics.
        player = chromium.page().goto(PLAYER.replace("&amp;", "&"))
        player.wait("document.getElementById('video').getVideoPlaybackQuality().totalVideoFrames > 150", 60)
        page.ask("shot", file=str(target), whole=False)
    finally:
        if chromium:
            chromium.close()
        server.terminate()
        server.wait(20)


def main() -> None:
    target = Path(sys.argv[1]).resolve()
    with tempfile.TemporaryDirectory() as folder:
        own_network.run(take, target, Path(folder), limit_s=180)
    size = target.stat().st_size
    if size > BYTES_MAX:
        raise SystemExit(f"{target} has {size} bytes; at most {BYTES_MAX} are wanted in the repository")
    print(f"{target}: {size} bytes")


main()
