"""OBS Studio publishes over RTMP and SRT, with the credentials that its settings have: keys with a query, names and passwords, stream ids."""

import pytest

import obs
import play_check
from access_credentials import SCHEMES
from access_site import ACCESS, PORTS, is_published, user
from live_server import wait_until
from obs import Obs

pytestmark = pytest.mark.skipif(not obs.is_installed(), reason="no OBS Studio or no Xvfb (install-packages.sh players)")


def server_of(live) -> str:
    return live.url("").rstrip("/")


def srt_of(live, query: str) -> str:
    fields = query.replace("&", ",") + "," if query else ""
    return f"srt://127.0.0.1:{live.ports['udp_srt']}?streamid=#!::r=live/cam,{fields}m=publish"


@pytest.mark.parametrize("protocol", ["rtmp", "srt"])
def test_streams_of_obs_play(server, clip, protocol):
    live = server(root=PORTS, vhost=ACCESS.replace("access { enabled on;", "access { enabled off;"))
    place = (server_of(live), "cam") if protocol == "rtmp" else (srt_of(live, ""), "")
    with Obs(*place, clip("basic")) as studio:
        wait_until(lambda: is_published(live, "cam"), 60, lambda: f"OBS publishes: {studio.said()[-1500:]}")
        # It repeats or drops a frame when the machine is busy, so the frame numbers of the clip are not judged.
        played = play_check.play(live.url("cam"), 4)
        assert played.problems(numbered=False) == []
        assert not studio.has_ended()


@pytest.mark.parametrize("protocol", ["rtmp", pytest.param("srt", marks=pytest.mark.long)])
@pytest.mark.parametrize("scheme", ["token", *(pytest.param(name, marks=pytest.mark.long) for name in SCHEMES if name != "token")])
def test_obs_publishes_with_the_right_credential_only(server, clip, tmp_path, scheme, protocol, request):
    """By day with two of them, as each start of OBS costs 4 s of CPU; test_access_table.py has the others with cheaper clients."""
    credentials = SCHEMES[scheme]()
    live = server(vhost=ACCESS, root=PORTS + credentials.root(tmp_path))
    queries = credentials.queries(live, "publish")
    if not request.config.getoption("--long"):
        queries = {name: queries[name] for name in ("wrong", "right")}
    admitted = {}
    for name, query in queries.items():
        place = (server_of(live), f"cam?{query}") if protocol == "rtmp" else (srt_of(live, query), "")
        with Obs(*place, clip("basic")) as studio:
            wait_until(lambda: is_published(live, "cam") or studio.has_ended(), 60, lambda: f"{name}: {studio.said()[-1500:]}")  # pylint: disable=cell-var-from-loop
            admitted[name] = is_published(live, "cam")
        wait_until(lambda: not is_published(live, "cam"), 30, "the publisher has left")
    assert admitted == {name: name == "right" for name in queries}
    assert queries["right"].rpartition("=")[2] not in live.log()


def test_obs_proves_the_name_and_the_password_of_its_settings(server, clip):
    users = "user sender { password plain:s3cret; allow publish live/cam; }\n"
    live = server(vhost=ACCESS + "rtmp_challenge on;", root=PORTS + users)
    with Obs(server_of(live), "cam", clip("basic"), user=("sender", "s3cret")) as studio:
        wait_until(lambda: is_published(live, "cam"), 60, lambda: f"OBS publishes: {studio.said()[-1500:]}")
    wait_until(lambda: not is_published(live, "cam"), 30, "OBS has left")
    with Obs(server_of(live), "cam", clip("basic"), user=("sender", "wrong")) as studio:
        wait_until(studio.has_ended, 60, lambda: f"OBS gives up: {studio.said()[-1500:]}")
        assert not is_published(live, "cam")
    assert "s3cret" not in live.log()
