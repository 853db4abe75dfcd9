"""A publisher of large frames."""

from live_server import LiveServer
from rtmp_client import VIDEO, RtmpClient, encode_message

SETUP = b"\x17\x00\x00\x00\x00\x01\x64\x00\x1f\xff\xe1\x00\x04\x67\x64\x00\x1f\x01\x00\x02\x68\xee"


def publisher(live: LiveServer, stream: str) -> RtmpClient:
    client = RtmpClient(live.ports["rtmp"])
    assert client.publish(stream)["code"] == "NetStream.Publish.Start"
    client.set_chunk_size(60000)
    return client


def send_pictures(client: RtmpClient, mib: int, first: int = 0) -> None:
    """Of half a MiB, 40 ms apart, a key frame first."""
    if first == 0:
        client.send(encode_message(VIDEO, 0, SETUP))
    for i in range(first, first + 2 * mib):
        head = (b"\x17" if i == 0 else b"\x27") + b"\x01\x00\x00\x00" + (512 * 1024 - 9).to_bytes(4, "big")
        client.send(encode_message(VIDEO, 40 * i, head + bytes([0x65 if i == 0 else 0x41]) + bytes(512 * 1024 - 10)))
