"""The recipes of doc/manual/access.md, from the page itself: each conf starts, and each command of a section makes a credential that the server of its conf
takes."""

import base64
import hashlib
import hmac
import json
import re
import shlex
import subprocess
import time
import urllib.error
import urllib.request
from pathlib import Path
from urllib.parse import urlsplit

import pytest
from access_site import ffmpeg_reads, get, is_published, run, start_ffmpeg
from hook_server import Answer, HookServer
from key_issuer import Issuer, head, key_set
from live_server import TRUNK, LiveServer, wait_until

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


def test_every_recipe_has_a_test():
    """The six of the table at the top, and every other section with a conf. A test of this file names the section that it runs."""
    of_the_table = re.findall(r"\| \[by ([\w ]+)\]\(#by-[\w-]+\) \|", PAGE)
    assert len(of_the_table) == 6
    run_here = Path(__file__).read_text()
    for title in {f"By {name}" for name in of_the_table} | {title for title, text in sections().items() if "```conf" in text}:
        assert title in sections() and f'"{title}"' in run_here, title


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


def test_the_name_in_the_url_of_a_recipe_publishes(server, clip):
    root, vhost = first_conf(sections()["Encoders with a name in the URL"])
    live = server(vhost=vhost.replace("enabled on;", "enabled on; key_file $folder/access.key;") + OUTPUTS, root=root)
    sender = start_ffmpeg(clip, live.url("cam").replace("rtmp://", "rtmp://alice:SECRET@"))
    try:
        wait_until(lambda: is_published(live, "cam"), 20, "the stream is live")
    finally:
        sender.kill()
        sender.wait()


def test_the_keys_of_a_recipe_come_from_its_url(server, tmp_path):
    root, vhost = first_conf(sections()["Keys from a URL"])
    private = tmp_path / "private.pem"
    subprocess.run(["openssl", "genpkey", "-algorithm", "RSA", "-pkeyopt", "rsa_keygen_bits:2048", "-out", str(private)], capture_output=True, check=True, timeout=60)
    address = re.search(r"jwks (\S+);", vhost).group(1)
    issuer_name = re.search(r"issuer (\S+);", vhost).group(1)
    signer = LiveServer(tmp_path / "signer", f"listen 1935; vhost __defaultVhost__ {{ access {{ enabled on; key_file {private}; issuer {issuer_name}; }} }}")
    issuer = Issuer(key_set(private))
    try:
        live = server(vhost=vhost.replace(address, issuer.url) + OUTPUTS, root=root)
        play = "/live/cam.flv?token=" + run(signer, "token", "-c", str(signer.conf_path), "--play", "live/*")
        wait_until(lambda: head(live, play) == 200, 30, "a token by a key of the set is accepted")
        assert head(live, "/live/cam.flv") == 403
    finally:
        issuer.close()


def test_the_link_of_another_server_of_a_recipe_plays(server):
    """secure_link and SignedPolicy, by the secrets of the page."""
    block = re.findall(r"^```conf\n(.*?)^```$", sections()["By a signed URL"], re.M | re.S)[0]
    vhost = re.search(r"^vhost __defaultVhost__ \{\n(.*)^\}\n", block, re.M | re.S).group(1)
    live = server(vhost=vhost.replace("$", "$$").replace("enabled on;", "enabled on; key_file $folder/access.key;") + OUTPUTS)
    expires = int(time.time()) + 60
    digest = hashlib.md5(f"{expires}/live/cam.flv127.0.0.1 SECRET".encode()).digest()
    assert head(live, f"/live/cam.flv?md5={base64.urlsafe_b64encode(digest).decode().rstrip('=')}&expires={expires}") == 200
    policy = base64.urlsafe_b64encode(json.dumps({"url_expire": expires * 1000}).encode()).decode().rstrip("=")
    url = f"http://127.0.0.1:{live.ports['http']}/live/cam.flv?policy={policy}"
    signature = base64.urlsafe_b64encode(hmac.new(b"OME_SECRET", url.encode(), hashlib.sha1).digest()).decode().rstrip("=")
    assert head(live, f"/live/cam.flv?policy={policy}&signature={signature}") == 200
    assert head(live, f"/live/cam.flv?policy={policy}&signature={signature[:-4]}AAAA") == 403


def test_the_service_of_a_recipe_decides_by_its_key(server, clip):
    page = sections()["By a key"]
    root, vhost = first_conf(page)
    rtmp, http = re.search(r"`rtmp://SERVER/live/(\S+)`", page).group(1), re.search(r"`http://SERVER:8080(\S+)`", page).group(1)
    with HookServer() as hooks:
        hooks.judge = lambda event: Answer("0" if "token=SECRET" in event.body.get("param", "") else "1")
        live = server(vhost=vhost.replace("http://127.0.0.1:8085/hook", hooks.url("/hook")) + OUTPUTS, root=root)
        sender = start_ffmpeg(clip, live.url(rtmp))
        try:
            wait_until(lambda: is_published(live, "cam"), 20, "the stream is live")
            assert get(live, http)[0] == 200
            assert get(live, http.replace("SECRET", "OTHER"))[0] == 403
            assert {event.action for event in hooks.events} == {"on_publish", "on_play"}
            assert "token=***" in live.log() and "SECRET" not in live.log()
        finally:
            sender.kill()
            sender.wait()


def test_the_passphrase_of_a_recipe_encrypts(server, clip):
    page = sections()["By a passphrase"]
    root, vhost = first_conf(page)
    live = server(vhost=vhost + OUTPUTS, root=root.replace("listen 10080;", "listen 127.0.0.1:$udp_srt;"))
    command = re.search(r"^(ffmpeg -re .*)$", page, re.M).group(1)
    for there, here in (("SERVER:10080", f"127.0.0.1:{live.ports['udp_srt']}"), ("source.flv", str(clip("basic"))), ("-re", "-nostdin -re -stream_loop -1")):
        assert there in command
        command = command.replace(there, here)
    url = shlex.split(command)[-1].replace("m=publish", "m=request")
    passphrase = re.search(r"passphrase=(.*)", url).group(1)
    sender = subprocess.Popen(shlex.split(command), stdin=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
    try:
        wait_until(lambda: is_published(live, "cam"), 20, "the stream is live")
        assert ffmpeg_reads(url)
        assert not ffmpeg_reads(url.replace(passphrase, "another-passphrase"))
        assert not ffmpeg_reads(url.partition("&passphrase")[0])
    finally:
        sender.kill()
        sender.wait()


class ApiWithToken(LiveServer):
    def api(self, path: str, limit_s: float = 20) -> dict:
        asked = urllib.request.Request(f"http://{self.host}:{self.ports['api']}{path}", headers={"Authorization": "Bearer SECRET"})
        with urllib.request.urlopen(asked, timeout=limit_s) as answer:
            return json.load(answer)


def test_the_api_of_a_recipe_needs_its_token(tmp_path):
    block = re.search(r"^```conf\n(.*?)^```$", sections()["The API"], re.M | re.S).group(1)
    live = ApiWithToken(tmp_path, "listen 127.0.0.1:$rtmp; daemon off; srs_log_tank console; pid $folder/srs.pid;\n" +
                        block.replace("listen 1985;", "listen 127.0.0.1:$api; audit_log off;") + "vhost __defaultVhost__ { }")

    def status(**headers: str) -> int:
        try:
            with urllib.request.urlopen(urllib.request.Request(f"http://127.0.0.1:{live.ports['api']}/api/v1/streams", headers=headers), timeout=8) as answer:
                return answer.status
        except urllib.error.HTTPError as error:
            return error.code

    live.start()
    try:
        assert (status(), status(Authorization="Bearer SECRET"), status(Authorization="Bearer OTHER")) == (401, 200, 401)
    finally:
        live.kill()
