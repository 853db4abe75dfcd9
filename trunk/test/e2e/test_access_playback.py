"""The right `playback`: recordings need it, from each kind of credential."""

import base64
import hashlib
import hmac
import json
import socket
import time
import urllib.error
import urllib.request

import pytest
from access_site import ACCESS, get, is_published, run, signed, start_ffmpeg, token, user
from live_server import LiveServer, wait_until
from playback import FMP4, PLAYBACK, Playback

# The forms of other servers, by a conf that names the stream of `/get`.
OTHERS = ACCESS.replace("anybody", 'secure_link "$$secure_link_expires$$uri$$arg_path SECRET"; policy_key OME_SECRET; policy_rights playback; anybody')


def base64url(data: bytes) -> str:
    return base64.urlsafe_b64encode(data).decode().rstrip("=")


def hashed(text: str, expires: int) -> str:
    """The query of nginx's secure_link. `text`: the URI, and the parameter `path`."""
    return f"md5={base64url(hashlib.md5(f'{expires}{text} SECRET'.encode()).digest())}&expires={expires}"


def with_policy(url: str, expires: int) -> str:
    """The URL with OvenMediaEngine's SignedPolicy."""
    url += ("&" if "?" in url else "?") + "policy=" + base64url(json.dumps({"url_expire": expires * 1000}).encode())
    return f"{url}&signature={base64url(hmac.new(b'OME_SECRET', url.encode(), hashlib.sha1).digest())}"


def status_of(url: str) -> int:
    try:
        with urllib.request.urlopen(url, timeout=20) as answer:
            return answer.status
    except urllib.error.HTTPError as error:
        return error.code


def check_forms_of_others(origin: str) -> None:
    expires = int(time.time()) + 3600
    got, listed = f"{origin}/get?path=live/cam&duration=1", f"{origin}/list?path=live/cam"
    assert {status_of(f"{got}&{hashed(text, expires)}") for text in ("/getlive/cam", "/listlive/cam", "/live/cam")} == {200}
    assert {status_of(f"{got}&{hashed(text, expires)}") for text in ("/get", "/getlive/cam2", "/live/cam2")} == {403}
    assert status_of(f"{got}&{hashed('/getlive/cam', 1)}") == 403, "expired"
    assert (status_of(with_policy(got, expires)), status_of(with_policy(got, 1))) == (200, 403)
    assert status_of(with_policy(got.replace("cam", "cam2"), expires).replace("cam2", "cam")) == 403
    assert status_of(with_policy(f"{origin}/get?duration=1", expires) + "&path=live/cam") == 403, "the policy is for no stream"
    for url in (f"{listed}&{hashed('/listlive/cam', expires)}", with_policy(listed, expires)):
        with urllib.request.urlopen(url, timeout=20) as answer:
            assert status_of(json.load(answer)[0]["url"]) == 200, "the list hands the query on"


def test_recordings_need_the_right_to_play_them(server, clip, tmp_path):
    site = LiveServer(tmp_path / "hash", "listen 1935;")
    users = "".join(user(name, run(site, "hash", "--sha256", given=f"{name}\n"), *rights)
                    for name, rights in (("archivist", ["playback live/*"]), ("viewer", ["play live/*", "publish live/*"])))
    live = server(vhost=OTHERS + f"dvr {{ enabled on; {FMP4} }}", root=PLAYBACK + users)
    library = Playback(live)
    right = {"token": token(live, "--playback", "live/*")}
    sender = start_ffmpeg(clip, live.url("cam?user=viewer&pass=viewer"))
    try:
        wait_until(lambda: is_published(live, "cam"), 20, "the stream is live")
        wait_until(lambda: library.ask("/list", path="live/cam", **right)[0] == 200, 30, "a recording is listed")
    finally:
        sender.kill()
        sender.wait()

    def statuses(**query: str) -> set[int]:
        return {library.ask(where, path="live/cam", duration="1", **query)[0] for where in ("/list", "/get")}

    status, headers, body = library.ask("/get", path="live/cam", duration="1")
    assert status == 401 and "www-authenticate" in headers and "error" in json.loads(body)
    assert statuses(**right) == {200}
    assert statuses(token=token(live, "--play", "live/*")) == {403}
    assert statuses(token=token(live, "--playback", "live/cam2")) == {403}
    assert statuses(token=token(live, "--playback", "live/*", "--expires", "-5s")) == {403}
    assert statuses(user="archivist", **{"pass": "archivist"}) == {200}
    assert statuses(user="viewer", **{"pass": "viewer"}) == {403}
    assert statuses(user="archivist", **{"pass": "wrong"}) <= {401, 503}
    assert library.ask("/list", {"Authorization": "Bearer " + right["token"]}, path="live/cam")[0] == 200
    # A signed URL; the list passes its signature on.
    address = f"http://127.0.0.1:{live.ports['playback']}/list?path=live/cam"
    printed = run(live, "sign", "-c", str(live.conf_path), address, "--playback")
    with urllib.request.urlopen(printed, timeout=20) as answer:
        spans = json.load(answer)
    with urllib.request.urlopen(spans[0]["url"], timeout=20) as answer:
        assert answer.status == 200 and len(answer.read()) > 10_000
    played = signed(live, address)
    try:
        with urllib.request.urlopen(f"{address}&{played}", timeout=20) as answer:
            raise AssertionError(answer.status)
    except urllib.error.HTTPError as error:
        assert error.code == 403, "a signature for the live stream"
    check_forms_of_others(library.origin)
    # A playlist with a start is of recordings, on the port of the stream.
    earlier = "/live/cam.m3u8?start=2026-01-01T00:00:00Z&"
    assert [get(live, earlier + query)[0] for query in ("", "token=" + token(live, "--play", "live/*"), "user=viewer&pass=viewer")] == [401, 403, 403]
    assert get(live, earlier + "token=" + right["token"])[0] == 200
    # The right to play recordings is none to play the stream.
    assert get(live, f"/live/cam.flv?token={right['token']}")[0] == 403
    assert right["token"] not in live.log()


def test_recordings_below_the_web_root_need_it_too(server, clip, tmp_path):
    """A file by its own URL, from the HTTP server: nobody gets it around `access`."""
    site = LiveServer(tmp_path / "hash", "listen 1935;")
    users = "".join(user(name, run(site, "hash", "--sha256", given=f"{name}\n"), *rights)
                    for name, rights in (("archivist", ["playback live/*"]), ("viewer", ["play live/*", "publish live/*"])))
    live = server(vhost=OTHERS + "dvr { enabled on; dvr_path $folder/html/[app]/[stream].[timestamp].mp4; }", root=users)
    sender = start_ffmpeg(clip, live.url("cam?user=viewer&pass=viewer"))
    try:
        wait_until(lambda: is_published(live, "cam"), 20, "the stream is live")
    finally:
        sender.kill()
        sender.wait()
    recorded = wait_until(lambda: next((live.folder / "html/live").glob("cam.*.mp4"), None), 20, "a recording")
    wait_until(lambda: not is_published(live, "cam"), 20, "it is complete")
    path = f"/live/{recorded.name}"
    right = token(live, "--playback", "live/cam")
    signature = signed(live, "http://127.0.0.1/live/cam", "--playback")
    origin, expires = f"http://127.0.0.1:{live.ports['http']}", int(time.time()) + 3600
    queries = {"none": "", "of the stream": "token=" + token(live, "--play", "live/*"), "other path": "token=" + token(live, "--playback", "live/cam2"),
               "expired": "token=" + token(live, "--playback", "live/*", "--expires", "-5s"), "play": signed(live, "http://127.0.0.1/live/cam"),
               "user of the stream": "user=viewer&pass=viewer", "right": "token=" + right, "signed": signature, "user": "user=archivist&pass=archivist",
               "link": hashed(path, expires), "link of another": hashed("/live/cam.0.mp4", expires), "link that ended": hashed(path, 1),
               "policy": with_policy(origin + path, expires).partition("?")[2], "policy of another": with_policy(origin + "/live/cam.0.mp4", expires).partition("?")[2]}
    admitted = {name for name, query in queries.items() if get(live, f"{path}?{query}")[0] == 200}
    assert admitted == {"right", "signed", "user", "link", "policy"}
    assert get(live, path)[0] == 401 and get(live, "/live/./" + recorded.name)[0] == 401 and get(live, f"{path}?start=10&bytes=0-9")[0] == 401
    assert get(live, path, Authorization="Bearer " + right)[0] == 200
    assert get(live, path, Authorization="Bearer " + right, Range="bytes=0-9")[0] == 206
    assert right not in live.log()


@pytest.mark.long
def test_an_excerpt_ends_when_its_url_expires(server, clip):
    live = server(vhost=ACCESS + f"dvr {{ enabled on; {FMP4} }}", root=PLAYBACK)
    library = Playback(live)
    right = {"token": token(live, "--playback", "live/*")}
    sender = start_ffmpeg(clip, live.url("cam?token=" + token(live, "--publish", "live/cam")))
    try:
        wait_until(lambda: library.ask("/list", path="live/cam", **right)[0] == 200, 30, "a recording is listed")
    finally:
        sender.kill()
        sender.wait()
    query = signed(live, "http://127.0.0.1/live/cam", "--playback", "--expires", "8s")
    with socket.create_connection(("127.0.0.1", live.ports["playback"])) as slow:
        slow.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, 4096)
        # More than the buffers of the kernel take.
        slow.sendall(f"GET /get?path=live/cam&{query} HTTP/1.1\r\nHost: a\r\n\r\n".encode() * 400)
        wait_until(lambda: [one for one in live.api("/api/v1/clients/")["clients"] if one["type"] == "recording-play"], 10, "the client")
        live.wait_log("its token or signed URL has expired", 30)
        wait_until(lambda: not live.api("/api/v1/clients/")["clients"], 10, "it is gone")
