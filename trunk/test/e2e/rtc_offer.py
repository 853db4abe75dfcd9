"""Offers as browsers make them, short, and HTTP requests for WHIP and WHEP."""

import http.client
import json

FINGERPRINT = ":".join(["AB"] * 32)
CODECS = {"H264": (102, "H264/90000", "level-asymmetry-allowed=1;packetization-mode=1;profile-level-id=42e01f"),
          "VP8": (96, "VP8/90000", ""), "opus": (111, "opus/48000/2", "minptime=10;useinbandfec=1")}


def offer(direction: str = "sendonly", video: str | None = "H264", audio: str | None = "opus", ufrag: str = "them") -> str:
    """`direction` is the client's."""
    sections = [(kind, codec) for kind, codec in (("audio", audio), ("video", video)) if codec]
    lines = ["v=0", "o=- 4611731400430051336 2 IN IP4 127.0.0.1", "s=-", "t=0 0",
             "a=group:BUNDLE " + " ".join(str(mid) for mid in range(len(sections)))]
    for mid, (kind, codec) in enumerate(sections):
        number, name, parameters = CODECS[codec]
        lines += [f"m={kind} 9 UDP/TLS/RTP/SAVPF {number}", "c=IN IP4 0.0.0.0", f"a=ice-ufrag:{ufrag}", "a=ice-pwd:0123456789abcdef01234567",
                  f"a=fingerprint:sha-256 {FINGERPRINT}", "a=setup:actpass", f"a=mid:{mid}", f"a={direction}", "a=rtcp-mux",
                  f"a=rtpmap:{number} {name}", f"a=rtcp-fb:{number} nack", f"a=rtcp-fb:{number} nack pli"]
        if parameters:
            lines.append(f"a=fmtp:{number} {parameters}")
    return "\r\n".join(lines) + "\r\n"


class Answer:
    """Of one request."""

    def __init__(self, raw: http.client.HTTPResponse):
        self.status, self.headers, self.body = raw.status, raw.headers, raw.read().decode()

    def json(self) -> dict:
        return json.loads(self.body)


def ask(port: int, method: str, path: str, body: str = "", host: str = "127.0.0.1", **headers) -> Answer:
    connection = http.client.HTTPConnection(host, port, timeout=30)
    try:
        connection.request(method, path, body=body, headers={name.replace("_", "-"): value for name, value in headers.items()})
        return Answer(connection.getresponse())
    finally:
        connection.close()


def post(port: int, path: str, sdp: str, **headers) -> Answer:
    return ask(port, "POST", path, sdp, **{"Content_Type": "application/sdp", **headers})
