"""The recipes of doc/manual/access.md, from the page itself: each conf starts, and each command of a section makes a credential that the server of its conf
takes."""

import base64
import hashlib
import hmac
import re
import shlex
import time
from urllib.parse import urlsplit

import pytest
from access_site import get, is_published, run, start_ffmpeg
from live_server import TRUNK, conf, wait_until

PAGE = (TRUNK / "doc/manual/access.md").read_text()
OUTPUTS = """http_remux { enabled on; mount [vhost]/[app]/[stream].flv; } hls { enabled on; hls_fragment 1; hls_path $folder/html; }"""


def sections() -> dict[str, str]:
    """By title: the text up to the next one."""
    parts = re.split(r"^#{2,3} (.*)$", PAGE, flags=re.M)
    return dict(zip(parts[1::2], parts[2::2]))


def first_conf(text: str) -> tuple[str, str]:
    """What the first block of a section adds to the root, and to the default virtual host."""
    block = re.search(r"^```conf\n(.*?)^```$", text, re.M | re.S).group(1)
    vhost = re.search(r"^vhost __defaultVhost__ \{\n(.*)^\}\n", block, re.M | re.S)
    return block[:vhost.start()], vhost.group(1)


def commands(text: str) -> list[str]:
    return re.findall(r"^(srs (?:token|sign) .*)$", text, re.M)


def made_by(live, command: str) -> tuple[str, str]:
    """The verb and the query of the credential that a command of the page makes."""
    words = [word.replace("srs.conf", str(live.conf_path)).replace("SERVER", "127.0.0.1") for word in shlex.split(command)][1:]
    printed = run(live, *words)
    query = urlsplit(printed).query if words[0] == "sign" else "token=" + printed
    return "publish" if "--publish" in words else "play", query


@pytest.mark.parametrize("title", ["By a token", "By a signed URL"])
def test_the_commands_of_a_recipe_make_credentials_that_work(server, clip, title):
    page = sections()
    root, vhost = first_conf(page["By a token"])
    live = server(vhost=vhost.replace("./objs/access.key", "$folder/access.key") + OUTPUTS, root=root)
    made = dict(made_by(live, command) for command in commands(page[title]))
    assert set(made) == {"publish", "play"}, made
    sender = start_ffmpeg(clip, live.url("cam?" + made["publish"]))
    try:
        wait_until(lambda: is_published(live, "cam"), 20, "the stream is live")
        assert get(live, "/live/cam.flv?" + made["play"])[0] == 200
        assert get(live, "/live/cam.flv")[0] == 403
    finally:
        sender.kill()
        sender.wait()


def test_the_user_of_a_recipe_publishes(server, clip):
    root, vhost = first_conf(sections()["By a name and a password"])
    live = server(vhost=vhost.replace("enabled on;", "enabled on; key_file $folder/access.key;") + OUTPUTS, root=root)
    sender = start_ffmpeg(clip, live.url("cam?user=alice&pass=abc"))
    try:
        wait_until(lambda: is_published(live, "cam"), 20, "the stream is live")
        assert get(live, "/live/cam.flv")[0] == 200, "anybody plays"
    finally:
        sender.kill()
        sender.wait()


def test_the_rules_by_address_of_a_recipe_permit_this_machine(server, clip):
    root, vhost = first_conf(sections()["By address"])
    live = server(vhost=vhost + OUTPUTS, root=root)
    sender = start_ffmpeg(clip, live.url("cam"))
    try:
        wait_until(lambda: is_published(live, "cam"), 20, "the stream is live")
        assert get(live, "/live/cam.flv")[0] == 200
    finally:
        sender.kill()
        sender.wait()


def test_the_service_of_a_recipe_makes_the_same_signature(server, clip):
    """The five lines of the page, signed here."""
    assert "`millrace signed URL 1`" in PAGE
    live = server(vhost="access { enabled on; key_file $folder/access.key; }" + OUTPUTS)
    secret = (live.folder / "access.key").read_text().strip().encode()
    expires = str(int(time.time()) + 60)
    text = "\n".join(["millrace signed URL 1", "live/cam", "publish", expires, ""])
    signature = base64.urlsafe_b64encode(hmac.new(secret, text.encode(), hashlib.sha256).digest()).decode().rstrip("=")
    sender = start_ffmpeg(clip, live.url(f"cam?rights=publish&expires={expires}&signature={signature}"))
    try:
        wait_until(lambda: is_published(live, "cam"), 20, "the stream is live")
    finally:
        sender.kill()
        sender.wait()
