"""Where on_play or security guards streams, their segments, keys and files on the disk are for admitted players only; otherwise they are public."""

import re
import urllib.error
import urllib.request

import pytest

from hook_server import Answer, HookServer
from live_server import wait_until
from players import FfmpegPublisher

pytestmark = pytest.mark.workers

OUTPUTS = """hls {{ enabled on; hls_fragment 1; hls_window 60; hls_path $folder/html{0}; {1} }}
    dash {{ enabled on; dash_fragment 1; dash_window_size 30; dash_path $folder/html{0}; }}
"""


def get(live, path: str, host: str = "", agent: str = "python") -> tuple[int, bytes, dict]:
    headers = {"User-Agent": agent} | ({"Host": host} if host else {})
    try:
        with urllib.request.urlopen(urllib.request.Request(f"http://127.0.0.1:{live.ports['http']}{path}", headers=headers), timeout=8) as answer:
            return answer.status, answer.read(), answer.headers
    except urllib.error.HTTPError as error:
        return error.code, error.read(), error.headers


def status(*args, **more) -> int:
    return get(*args, **more)[0]


def player(live, host: str = "") -> tuple[str, str]:
    """A playlist of a session, and its query."""
    master = get(live, "/live/cam.m3u8?token=good", host)[1].decode()
    path = next(line for line in master.splitlines() if line and line[0] != "#")
    return get(live, path, host)[1].decode(), "?hls_ctx=" + re.search("hls_ctx=([0-9a-z]+)", path)[1]


def dash_player(live) -> str:
    """The query of a session's segments."""
    code, mpd, _ = get(live, "/live/cam.mpd", agent="tv")
    assert code == 200, mpd
    return "?" + re.search(r"dash_ctx=[0-9a-z]+", mpd.decode())[0]


def test_segments_of_guarded_streams_are_for_admitted_players(server, clip, workers):
    with HookServer() as hooks:
        keys = "hls_keys on; hls_key_file_path $folder/html; hls_ts_ctx off;"
        hosts = "".join(f"vhost {name}.test {{ {rules} http_static {{ enabled on; mount [vhost]/; dir $folder/html/{name}; }}\n    {OUTPUTS.format('/' + name, '')} }}\n"
                        for name, rules in (("ruled", "security { enabled on; allow play 127.0.0.0/8; allow publish all; }"), ("open", "")))
        live = server(vhost=OUTPUTS.format("", keys) + f"http_hooks {{ enabled on; on_play {hooks.url('/on_play')}; }}\n", root=hosts)
        html = live.folder / "html"
        media = ["/live/cam-0.ts", "/live/cam-0.key", "/live/cam/video-init.mp4", "/live/cam/audio-0.m4s"]
        with FfmpegPublisher(live.url("cam"), clip("basic")), FfmpegPublisher(live.url("cam?vhost=open.test"), clip("basic")), \
                FfmpegPublisher(live.url("cam?vhost=ruled.test"), clip("basic")):
            wait_until(lambda: all((html / folder / "live" / name).exists() for folder in ("", "open", "ruled") for name in ("cam-1.ts", "cam/audio-1.m4s")),
                       40, "files of all")
            hooks.answers["on_play"] = Answer("1")
            assert [status(live, path) for path in media] == [403] * 4
            assert status(live, media[0] + "?hls_ctx=madeup00") == 403
            if workers == 1:  # else the worker that would have the session of a DASH player is asked, which asks
                assert not hooks.actions(), "nobody is asked about those"
            del hooks.answers["on_play"]
            playlist, query = player(live)
            assert re.search(r"^cam-0\.ts\?hls_ctx=", playlist, re.M) and re.search(r'URI="cam-0\.key\?hls_ctx=', playlist), playlist
            assert [status(live, path + query) for path in media[:2]] == [200] * 2
            if workers == 1:  # another worker may send it from the disk
                assert get(live, media[0] + query)[2]["Cache-Control"] == "private"
            query = dash_player(live)
            assert [status(live, path + query) for path in media[2:]] == [200] * 2
            hooks.answers["on_play"] = Answer("1")
            assert [status(live, path, agent="tv") for path in media[2:]] == [403] * 2
            del hooks.answers["on_play"]
            # By rules of addresses too; and not elsewhere, where caches may have it.
            assert status(live, "/live/cam-0.ts", "ruled.test") == 403
            assert status(live, "/live/cam-0.ts" + player(live, "ruled.test")[1], "ruled.test") == 200
            for path in ("/live/cam-0.ts", "/live/cam/audio-0.m4s"):
                code, _, headers = get(live, path, "open.test", "none")
                assert (code, headers["Cache-Control"]) == (200, None), path
        # Nothing is in memory any more: the files on the disk have the same rules, whichever host the request names.
        live.kill()
        live.start()
        hooks.answers["on_play"] = Answer("1")
        for path in media:
            assert (status(live, path), status(live, path, "else.test")) == (403, 403), path
        del hooks.answers["on_play"]
        assert status(live, "/live/cam-0.ts", "open.test") == 200
        if workers > 1:  # without a publisher only the worker that has the session gives them
            return
        _, query = player(live)
        assert [status(live, path + query) for path in media[:2]] == [200] * 2
        query = dash_player(live)
        assert [status(live, path + query) for path in media[2:]] == [200] * 2
