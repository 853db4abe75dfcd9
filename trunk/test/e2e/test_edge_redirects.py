"""Where an origin may send an edge: not to what the origin cannot reach itself, not to an API, and with a proof only to servers that the operator has
named."""

import socket
import subprocess

import own_network
from edge_stage import status_of
from edges import REMUX, edge_of
from fake_origin import FakeOrigin, flv_of, redirect_to
from live_server import LiveServer, conf, wait_until

SITE = "10.81.0.1"
PROOF = "X-Millrace-Proof: "


def not_found(connection: socket.socket, _) -> None:
    connection.sendall(b"HTTP/1.1 404 Not Found\r\nContent-Length: 0\r\n\r\n")


def test_a_redirect_takes_the_proof_to_named_servers_only(server):
    options = "secret open-sesame; first_frame_timeout 1;"
    with FakeOrigin(not_found) as other, FakeOrigin(redirect_to(f"{other.url}/live/cam.flv")) as origin:
        edge = server(edge_of(origin.url, more=options))
        assert status_of(flv_of(edge)) == 404
        assert PROOF in origin.heads[0] and "X-Millrace-Path: " in other.heads[0]
        assert not [head for head in other.heads if "Proof" in head], "nobody has named it"
        other.heads.clear()
        named = server(edge_of(origin.url, other.url, more=options))
        assert status_of(flv_of(named)) == 404
        assert [head for head in other.heads if PROOF in head]
    with FakeOrigin(not_found) as other, FakeOrigin(redirect_to(f"{other.url}/live/cam.flv?vhost=another")) as origin:
        edge = server(edge_of(origin.url, other.url, more=options))
        wait_until(lambda: status_of(flv_of(edge)) == 404 and any("?vhost=another" in head for head in other.heads), 10, "it is sent there")
        assert not [head for head in other.heads if "?vhost=another" in head and "Proof" in head], "another stream"


def test_a_redirect_reaches_no_api(server):
    with FakeOrigin(not_found) as api, FakeOrigin(redirect_to(f"{api.url}/api/v1/raw?rpc=reload&x=.flv")) as origin:
        edge = server(edge_of(origin.url, more="first_frame_timeout 1;"))
        assert status_of(flv_of(edge)) == 404
        assert origin.heads and not api.heads
        edge.wait_log("edge-pull redirect is not followed")


class OriginOfASite(FakeOrigin):
    ADDRESS = SITE


def stay_outside(folder) -> None:
    subprocess.run(["ip", "address", "add", f"{SITE}/32", "dev", "lo"], check=True)
    with FakeOrigin(not_found) as inside, OriginOfASite(not_found) as beside:
        for place, is_reached in ((f"127.0.0.1:{inside.port}", False), (f"localhost:{inside.port}", False), (f"[::ffff:127.0.0.1]:{inside.port}", False),
                                  (f"{SITE}:{beside.port}", True)):
            with OriginOfASite(redirect_to(f"http://{place}/live/cam.flv")) as origin:
                edge = LiveServer(folder / str(origin.port), conf(edge_of(f"http://{SITE}:{origin.port}", more="first_frame_timeout 1;"))).start()
                try:
                    assert status_of(flv_of(edge)) == 404
                    assert origin.heads and bool(beside.heads) == is_reached and not inside.heads, place
                    if not is_reached:
                        edge.wait_log(f"{SITE} may not send this server to")
                finally:
                    edge.kill()


def test_an_origin_of_a_network_sends_no_edge_to_itself(tmp_path):
    own_network.run(stay_outside, tmp_path)
