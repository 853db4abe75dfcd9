"""Files over HTTP and HTTPS: whole, in ranges, compressed, and while they are replaced, truncated or removed."""

import gzip
import hashlib
import http.client
import os
import random
import socket
import ssl
import time

import pytest

from live_server import LiveServer, wait_until
from players import FfmpegPublisher

MIB = 1 << 20
TEXT = "".join(f"line {number}\n" for number in range(2000)).encode()
LONG_NAME = "cam" + "m" * 200  # of five segments its playlist has a KiB
LARGE = random.Random(47).randbytes(999_983) * 50  # more than a connection holds


@pytest.fixture(name="site", scope="module")
def fixture_site(tmp_path_factory, certificate):
    folder = tmp_path_factory.mktemp("files")
    key, cert = certificate
    html = folder / "html"
    html.mkdir()
    (html / "small.bin").write_bytes(LARGE[:10_000])
    (html / "middle.bin").write_bytes(LARGE[:700_000])
    (html / "page.html").write_bytes(TEXT)
    (html / "page.bin").write_bytes(TEXT)
    live = LiveServer(folder, f"""
listen 127.0.0.1:$rtmp; daemon off; srs_log_tank console; pid $folder/srs.pid;
http_api {{ enabled on; listen 127.0.0.1:$api; }}
http_server {{ enabled on; listen 127.0.0.1:$http; dir {html};
    https {{ enabled on; listen 127.0.0.1:$http_tls; key {key}; cert {cert}; }} }}
vhost __defaultVhost__ {{ hls {{ enabled on; hls_fragment 1; hls_path $folder/hls; hls_ctx off; hls_ts_ctx off; }} }}
""").start()
    live.html = html
    yield live
    live.stop()


def insecure() -> ssl.SSLContext:
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_CLIENT)
    context.check_hostname, context.verify_mode = False, ssl.CERT_NONE
    return context


@pytest.fixture(name="ask", params=["http", "https"])
def fixture_ask(site, request):
    """One kept connection; returns the answer and its body."""
    made = (http.client.HTTPConnection("127.0.0.1", site.ports["http"], timeout=20) if request.param == "http"
            else http.client.HTTPSConnection("127.0.0.1", site.ports["http_tls"], timeout=20, context=insecure()))

    def ask(path: str, method: str = "GET", **headers):
        made.request(method, path, headers={name.replace("_", "-"): value for name, value in headers.items()})
        answer = made.getresponse()
        return answer, answer.read()
    yield ask
    made.close()


def test_files_arrive_whole_again_and_again(site, ask):
    for name in ("small.bin", "middle.bin"):
        want = (site.html / name).read_bytes()
        first, body = ask(f"/{name}")
        assert first.status == 200 and body == want
        # A second later it may come from memory.
        wait_until(lambda: time.time() - os.stat(site.html / name).st_ctime > 1.1, 5, "a settled file")
        for _ in range(5):
            answer, body = ask(f"/{name}")
            assert body == want and answer.headers["ETag"] == first.headers["ETag"]
        answer, body = ask(f"/{name}", Range="bytes=5000-5999")
        assert answer.status == 206 and body == want[5000:6000]
        answer, body = ask(f"/{name}", "HEAD")
        assert answer.headers["Content-Length"] == str(len(want)) and body == b""
        answer, body = ask(f"/{name}", If_None_Match=first.headers["ETag"])
        assert answer.status == 304 and body == b""


def test_text_is_compressed_for_those_who_accept_it(ask):
    plain, body = ask("/page.html")
    assert body == TEXT and "Content-Encoding" not in plain.headers and "Accept-Encoding" in plain.headers["Vary"]
    packed, body = ask("/page.html", Accept_Encoding="gzip, deflate, br")
    assert packed.headers["Content-Encoding"] == "gzip" and gzip.decompress(body) == TEXT and len(body) < len(TEXT) / 2
    assert packed.headers["ETag"] != plain.headers["ETag"] and "Accept-Encoding" in packed.headers["Vary"]
    head, body = ask("/page.html", "HEAD", Accept_Encoding="gzip")
    assert head.headers["Content-Length"] == packed.headers["Content-Length"] and body == b""
    for tag in (plain, packed):
        accepted = "gzip" if tag is packed else "identity"
        answer, _ = ask("/page.html", Accept_Encoding=accepted, If_None_Match=tag.headers["ETag"])
        assert answer.status == 304 and answer.headers["ETag"] == tag.headers["ETag"]
    answer, body = ask("/page.html", Accept_Encoding="gzip;q=0")
    assert "Content-Encoding" not in answer.headers and body == TEXT
    answer, body = ask("/page.html", Accept_Encoding="gzip", Range="bytes=0-99")
    assert answer.status == 206 and "Content-Encoding" not in answer.headers and body == TEXT[:100]
    answer, body = ask("/page.bin", Accept_Encoding="gzip")
    assert "Content-Encoding" not in answer.headers and "Accept-Encoding" not in answer.headers["Vary"] and body == TEXT


def test_a_changed_file_is_served_at_once(site, ask):
    path = site.html / "changing.html"
    for round_ in range(4):
        want = f"<p>round {round_}".encode() * 500
        if round_ % 2:
            path.write_bytes(want)
        else:
            (site.html / "next").write_bytes(want)
            (site.html / "next").rename(path)
        assert ask("/changing.html")[1] == want
        assert gzip.decompress(ask("/changing.html", Accept_Encoding="gzip")[1]) == want
    path.unlink()
    assert ask("/changing.html")[0].status == 404


def test_a_file_that_is_not_in_the_page_cache_arrives_whole(site, ask):
    path = site.html / "cold.bin"
    path.write_bytes(LARGE[:8 * MIB])
    with open(path, "rb") as file:
        os.fsync(file.fileno())
        os.posix_fadvise(file.fileno(), 0, 0, os.POSIX_FADV_DONTNEED)
        assert ask("/cold.bin")[1] == LARGE[:8 * MIB]
        # Only the middle is missing.
        os.posix_fadvise(file.fileno(), 3 * MIB, MIB, os.POSIX_FADV_DONTNEED)
    assert ask("/cold.bin")[1] == LARGE[:8 * MIB]


def begin(site, schema: str, name: str) -> socket.socket:
    """A client that has begun to read a file and then pauses, so that the server waits in the middle of it."""
    client = socket.create_connection(("127.0.0.1", site.ports["http_tls" if schema == "https" else "http"]), 20)
    if schema == "https":
        client = insecure().wrap_socket(client)
    client.sendall(f"GET /{name} HTTP/1.1\r\nHost: a\r\nConnection: close\r\n\r\n".encode())
    assert client.recv(100).startswith(b"HTTP/1.1 200")
    return client


def rest(client: socket.socket) -> tuple[int, bytes]:
    size, digest = 0, hashlib.sha256()
    while piece := client.recv(MIB):
        size += len(piece)
        digest.update(piece)
    return size, digest.digest()


@pytest.mark.parametrize("schema", ["http", "https"])
def test_a_file_truncated_while_it_is_sent_ends_the_connection(site, schema):
    path = site.html / f"truncated-{schema}.bin"
    path.write_bytes(LARGE)
    with begin(site, schema, path.name) as client:
        os.truncate(path, 1000)
        assert rest(client)[0] < len(LARGE)
    with begin(site, schema, path.name) as client:
        assert 800 < rest(client)[0] < 2000
    site.assert_alive()


@pytest.mark.parametrize("schema", ["http", "https"])
def test_a_file_replaced_while_it_is_sent_arrives_as_it_was(site, schema):
    path = site.html / f"replaced-{schema}.bin"
    path.write_bytes(LARGE)
    with begin(site, schema, path.name) as client:
        (site.html / "next").write_bytes(b"new")
        (site.html / "next").rename(path)
        head = client.recv(MIB)
        got, digest = len(head), hashlib.sha256(head)
        while piece := client.recv(MIB):
            got += len(piece)
            digest.update(piece)
    assert got >= len(LARGE)
    with begin(site, schema, path.name) as client:
        assert client.recv(MIB).endswith(b"new")


def test_a_playlist_that_all_players_share_is_compressed(site, ask, clip):
    path = f"/live/{LONG_NAME}.m3u8"

    def is_compressed():
        """While the playlist is the same for a few requests."""
        answer, before = ask(path)
        if answer.status != 200 or len(before) < 1024:
            return False
        packed = [ask(path, Accept_Encoding="gzip") for _ in range(2)][-1]
        if ask(path)[1] != before:
            return False
        assert packed[0].headers["Content-Encoding"] == "gzip" and gzip.decompress(packed[1]) == before
        return True
    with FfmpegPublisher(site.url(LONG_NAME), clip("basic"), speed=4):
        wait_until(is_compressed, 30, "a playlist")


def test_json_that_is_the_same_again_is_compressed(site):
    client = http.client.HTTPConnection("127.0.0.1", site.ports["api"], timeout=20)

    def ask(**headers):
        client.request("GET", "/api/v1/", headers=headers)
        answer = client.getresponse()
        return answer, answer.read()
    _, plain = ask()
    assert len(plain) >= 1024
    bodies = [ask(**{"Accept-Encoding": "gzip"}) for _ in range(2)]
    assert bodies[-1][0].headers["Content-Encoding"] == "gzip" and gzip.decompress(bodies[-1][1]) == plain
    client.close()


def test_tls_prefers_the_faster_cipher(site):
    with insecure().wrap_socket(socket.create_connection(("127.0.0.1", site.ports["http_tls"]), 20)) as client:
        assert client.cipher()[0] == "TLS_AES_128_GCM_SHA256"
