"""Every protocol, with every kind of credential, right and not, by publishers and players: one table. `access` of the conf decides, or a callback."""

import json

import pytest
from access_site import ACCESS, PORTS, get, is_published, players, publishers, run, signed, start_ffmpeg, token, user
from hook_server import Answer, HookServer
from live_server import LiveServer, wait_until

class Tokens:
    def root(self, _folder) -> str:
        return ""

    def queries(self, live: LiveServer, verb: str) -> dict[str, str]:
        right = token(live, f"--{verb}", "live/cam")
        return {"none": "", "wrong": "token=" + right[:-6] + "AAAAAA", "expired": "token=" + token(live, f"--{verb}", "live/cam", "--expires", "-5s"),
                "other path": "token=" + token(live, f"--{verb}", "live/cam2"),
                "other right": "token=" + token(live, "--play" if verb == "publish" else "--publish", "live/cam"), "right": "token=" + right}


class SignedUrls:
    def root(self, _folder) -> str:
        return ""

    def queries(self, live: LiveServer, verb: str) -> dict[str, str]:
        flags = ["--publish"] if verb == "publish" else []
        others = [] if flags else ["--publish"]
        right = signed(live, live.url("cam"), *flags)
        return {"none": "", "wrong": right[:-6] + "AAAAAA", "expired": signed(live, live.url("cam"), *flags, "--expires", "-5s"),
                "other path": signed(live, live.url("cam2"), *flags), "other right": signed(live, live.url("cam"), *others),
                "other address": signed(live, live.url("cam"), *flags, "--address", "192.0.2.1"), "right": right}


class Users:
    def root(self, folder) -> str:
        site = LiveServer(folder / "hash", "listen 1935;")
        rights = {"right": ("publish live/cam", "play live/cam"), "other": ("publish live/cam2", "play live/cam2")}
        blocks = [user(name, run(site, "hash", given=f"{name} secret\n"), *allowed) for name, allowed in rights.items()]
        for name, allowed in (("player", "play"), ("publisher", "publish")):
            blocks.append(user(name, run(site, "hash", "--sha256", given=f"{name} secret\n"), allowed))
        blocks.append(user("elsewhere", run(site, "hash", "--sha256", given="elsewhere secret\n"), "play", "publish", more="network 192.0.2.0/24;"))
        return "".join(blocks)

    def queries(self, _live, verb: str) -> dict[str, str]:
        def of(name: str, password: str = "") -> str:
            return f"user={name}&pass={password or name + '%20secret'}"
        # After each wrong password the address waits a little: so few, and the right one first.
        return {"right": of("right"), "none": "", "other path": of("other"), "other right": of("player" if verb == "publish" else "publisher"),
                "other address": of("elsewhere"), "wrong": of("right", "wrong"), "unknown": of("nobody")}


SCHEMES = {"token": Tokens, "signed URL": SignedUrls, "user": Users}


def refused(results: dict[str, bool]) -> set[str]:
    return {name for name, admitted in results.items() if not admitted}


def in_order(queries: dict[str, str], protocol: str) -> list[tuple[str, str]]:
    """A WHIP session without media remains for some seconds, and the stream with it: the right one last."""
    return sorted(queries.items(), key=lambda pair: protocol == "whip" and pair[0] == "right")


@pytest.mark.parametrize("scheme", list(SCHEMES))
def test_every_protocol_plays_with_the_right_credential_only(server, clip, tmp_path, scheme):
    credentials = SCHEMES[scheme]()
    live = server(vhost=ACCESS, root=PORTS + credentials.root(tmp_path))
    publish = credentials.queries(live, "publish")["right"]
    play = credentials.queries(live, "play")
    sender = start_ffmpeg(clip, live.url("cam?" + publish))
    try:
        wait_until(lambda: is_published(live, "cam"), 20, "the stream is live")
        wait_until(lambda: get(live, f"/live/cam.mpd?{play['right']}")[0] == 200, 20, "DASH has a segment")
        for protocol, admits in players(live, "cam").items():
            results = {name: admits(query) for name, query in play.items()}
            assert refused(results) == set(play) - {"right"}, protocol
        # Fragments are for the sessions of admitted players.
        assert get(live, "/live/cam-0.ts")[0] in (401, 403)
        for query in (publish, play["right"]):
            secret = query.rpartition("=")[2]
            assert secret not in live.log(), "a credential is no secret in the log"
            assert secret not in json.dumps(live.api("/api/v1/clients"))
    finally:
        sender.kill()
        sender.wait()


@pytest.mark.parametrize("scheme", list(SCHEMES))
def test_every_protocol_publishes_with_the_right_credential_only(server, clip, tmp_path, scheme):
    credentials = SCHEMES[scheme]()
    live = server(vhost=ACCESS, root=PORTS + credentials.root(tmp_path))
    queries = credentials.queries(live, "publish")
    for protocol, admits in publishers(live, clip, "cam").items():
        results = {}
        for name, query in in_order(queries, protocol):
            results[name] = admits(query)
            wait_until(lambda: protocol == "whip" or not is_published(live, "cam"), 20, "the publisher has left")  # pylint: disable=cell-var-from-loop
        assert refused(results) == set(queries) - {"right"}, protocol


def test_a_callback_decides_for_every_protocol(server, clip):
    """The service accepts key=right, for publishers and players."""
    with HookServer() as hooks:
        vhost = ACCESS.replace("access { enabled on;", "access { enabled off;") + """http_hooks { enabled on; on_publish %s; on_play %s; }""" % (
            hooks.url("/publish"), hooks.url("/play"))
        live = server(vhost=vhost, root=PORTS)
        hooks.judge = lambda event: Answer("0" if "key=right" in event.body.get("param", "") else "1")
        sender = start_ffmpeg(clip, live.url("cam?key=right"))
        try:
            wait_until(lambda: is_published(live, "cam"), 20, "the stream is live")
            wait_until(lambda: get(live, "/live/cam.mpd?key=right")[0] == 200, 20, "DASH has a segment")
            queries = {"none": "", "wrong": "key=wrong", "right": "key=right"}
            for protocol, admits in players(live, "cam").items():
                assert refused({name: admits(query) for name, query in queries.items()}) == {"none", "wrong"}, protocol
        finally:
            sender.kill()
            sender.wait()
        wait_until(lambda: not is_published(live, "cam"), 20, "the publisher has left")
        for protocol, admits in publishers(live, clip, "cam").items():
            results = {}
            for name, query in in_order(queries, protocol):
                results[name] = admits(query)
                wait_until(lambda: protocol == "whip" or not is_published(live, "cam"), 20, "the publisher has left")  # pylint: disable=cell-var-from-loop
            assert refused(results) == {"none", "wrong"}, protocol
