"""The steps of the README for a new user: run.sh, the page that it prints, a frame in a browser on another machine."""

import pytest

import browser as browsers
import own_network
from demo_run import Run
from live_server import BINARY, TRUNK

pytestmark = pytest.mark.skipif(BINARY != (TRUNK / "objs/srs").resolve(), reason="run.sh starts trunk/objs/srs")
DECODED = "document.getElementById('video').getVideoPlaybackQuality().totalVideoFrames"


def first_stream(folder) -> None:
    demo = Run(TRUNK / "conf/demo.conf", folder / "terminal")
    try:
        addresses = demo.wait_addresses()
        with own_network.AnotherMachine() as elsewhere:
            assert addresses["page"] == ["http://127.0.0.1:8080/"]
            chromium = browsers.Browser(elsewhere.command)
            try:
                page = chromium.page().goto(f"http://{own_network.AnotherMachine.NEAR}:8080/")
                page.wait("document.querySelector('.stream h2')?.textContent === 'livestream'", 20)
                page.shot("newcomer-landing")
                page.click(".stream .primary")
                page.wait(f"{DECODED} > 50", 30)
                page.shot("newcomer-player")
            finally:
                chromium.close()
    finally:
        status = demo.interrupt()
    assert status == 0, demo.terminal()


def test_from_the_readme_to_a_picture_on_another_machine(tmp_path):
    try:
        browsers.find_chromium()
        browsers.install_modules()  # the network of its own reaches no registry
    except browsers.Unavailable as reason:
        pytest.skip(str(reason))
    own_network.run(first_stream, tmp_path, limit_s=150)
