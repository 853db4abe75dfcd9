"""A scripted RTSP camera: plays H.264 in a loop, over the connection and over UDP, and has the habits that a test gives it. Each connection has
a thread. What clients ask for is in `requests`."""

import base64
import functools
import hashlib
import re
import socket
import ssl
import struct
import subprocess
import threading
import time
from dataclasses import dataclass, field

FPS, CLOCK, PAYLOAD_BYTES = 25, 90_000, 1_200
SSRC = 0x11223344
SPS, PPS = 7, 8


@functools.cache
def access_units(size: str = "320x240", seconds: int = 2, encoder: str = "libx264") -> tuple[tuple[bytes, ...], ...]:
    """Images without B-frames, each as its NAL units; a key frame with parameter sets each second."""
    form = "h264" if encoder == "libx264" else "hevc"
    command = ["ffmpeg", "-v", "error", "-f", "lavfi", "-i", f"testsrc2=size={size}:rate={FPS}", "-t", str(seconds), "-c:v", encoder, "-preset", "ultrafast",
               "-g", str(FPS), "-bf", "0", "-pix_fmt", "yuv420p", *(["-x264-params", "aud=1:slices=1:scenecut=0"] if form == "h264" else
                                                                    ["-x265-params", "aud=1:log-level=none:scenecut=0:repeat-headers=1:bframes=0"]), "-f", form, "-"]
    stream = subprocess.run(command, capture_output=True, check=True).stdout
    units, delimiter = [], 9 if form == "h264" else 35
    for nal in re.split(b"\0\0\0?\1", stream):
        if not nal:
            continue
        kind = nal[0] & 31 if form == "h264" else nal[0] >> 1 & 63
        if kind == delimiter:
            units.append([])
        elif kind not in (6, 39, 40):
            units[-1].append(nal.rstrip(b"\0") if kind in (SPS, PPS) else nal)
    return tuple(tuple(unit) for unit in units if unit)


def parameter_sets(units) -> list[bytes]:
    return [nal for nal in units[0] if nal[0] & 31 in (SPS, PPS)]


def split(nal: bytes) -> list[bytes]:
    """Payloads of RFC 6184: the unit, or FU-A."""
    if len(nal) <= PAYLOAD_BYTES:
        return [nal]
    parts = [nal[at:at + PAYLOAD_BYTES] for at in range(1, len(nal), PAYLOAD_BYTES)]
    return [bytes([nal[0] & 0x60 | 28, (0x80 if i == 0 else 0x40 if i == len(parts) - 1 else 0) | nal[0] & 31]) + part for i, part in enumerate(parts)]


def split_hevc(nal: bytes) -> list[bytes]:
    """Payloads of RFC 7798: the unit, or fragments."""
    if len(nal) <= PAYLOAD_BYTES:
        return [nal]
    parts = [nal[at:at + PAYLOAD_BYTES] for at in range(2, len(nal), PAYLOAD_BYTES)]
    head = bytes([nal[0] & 0x81 | 49 << 1, nal[1]])
    return [head + bytes([(0x80 if i == 0 else 0x40 if i == len(parts) - 1 else 0) | nal[0] >> 1 & 63]) + part for i, part in enumerate(parts)]


def rtp(sequence: int, timestamp: int, payload: bytes, marker: bool, kind: int = 96, ssrc: int = SSRC) -> bytes:
    return struct.pack(">BBHII", 0x80, kind | (0x80 if marker else 0), sequence & 0xFFFF, timestamp & 0xFFFFFFFF, ssrc) + payload


@dataclass
class Request:
    method: str
    url: str
    headers: dict
    names: list  # of the headers, in their order

    def get(self, name: str) -> str:
        return self.headers.get(name.lower(), "")


@dataclass
class Habits:
    """Everything is off by default: a camera without quirks."""

    units: tuple = ()
    sdp: callable = lambda text: text                    # changes the description
    respond: callable = None                             # (camera, request) -> bytes of a response, b"" for none, None for the usual one
    change: callable = lambda request, head: head        # changes the headers of the usual response: a list of lines
    packets: callable = lambda turn, packets: packets    # changes the packets of an image: (index of the image, packets) -> packets or raw bytes (Raw)
    timestamp: callable = lambda turn: turn * CLOCK // FPS
    user: tuple = ()                                     # (user, password)
    challenges: tuple = ()                               # values of WWW-Authenticate headers; {nonce}
    uri: callable = None                                 # (request) -> the uri that the digest must have
    udp: bool = True                                     # accepts it
    sends_udp: bool = True                               # and sends
    udp_from: str = "announced"                          # another: from another port; silent: no server_port in the response
    timeout_s: int = 60
    payload_type: int = 96
    hevc: bool = False                                   # `units` are of HEVC
    video_track: int = 0                                 # in the order of SETUP
    audio: bool = False                                  # G.711 as a second track
    sets_in_sdp: bool = True
    stop_after: int = 0                                  # images; then the connection ends
    speed: float = 1.0


class Raw(bytes):
    """Goes into the connection as it is, without a frame."""


class Camera:
    def __init__(self, habits: Habits | None = None, certificate: tuple | None = None):
        self.habits = habits or Habits()
        self.requests: list[Request] = []
        self.connections = 0
        self.rtcp: list[bytes] = []  # that clients have sent over UDP
        self._threads: list[threading.Thread] = []
        self._open: list[socket.socket] = []
        self._nonces = 0
        self._tls = None
        if certificate:
            self._tls = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
            self._tls.load_cert_chain(certificate[1], certificate[0])
        self._listener = socket.create_server(("127.0.0.1", 0))
        self.port = self._listener.getsockname()[1]
        self._stopping = False

    def __enter__(self):
        threading.Thread(target=self._accept, daemon=True).start()
        return self

    def __exit__(self, *_):
        self._stopping = True
        self._listener.close()
        self.hang_up()

    def url(self, path: str = "/stream1", user: str = "") -> str:
        return f"rtsp{'s' if self._tls else ''}://{user}127.0.0.1:{self.port}{path}"

    def asked(self, method: str) -> list[Request]:
        return [one for one in self.requests if one.method == method]

    def hang_up(self) -> None:
        for one in self._open:
            try:
                one.shutdown(socket.SHUT_RDWR)
            except OSError:
                pass

    def _accept(self) -> None:
        while not self._stopping:
            try:
                connection, _ = self._listener.accept()
            except OSError:
                return
            self.connections += 1
            self._open.append(connection)
            threading.Thread(target=self._run, args=(connection,), daemon=True).start()

    def _run(self, connection: socket.socket) -> None:
        try:
            if self._tls:
                connection = self._tls.wrap_socket(connection, server_side=True)
                self._open.append(connection)
            _Session(self, connection).run()
        except (OSError, ValueError):
            pass
        finally:
            connection.close()

    # Responses

    def description(self, request: Request) -> str:
        units = self.habits.units or access_units()
        sets = ",".join(base64.b64encode(one).decode() for one in parameter_sets(units))
        sprop = f";sprop-parameter-sets={sets}" if self.habits.sets_in_sdp else ""
        text = ("v=0\r\no=- 0 0 IN IP4 127.0.0.1\r\ns=camera\r\nc=IN IP4 0.0.0.0\r\nt=0 0\r\na=control:*\r\na=range:npt=now-\r\n"
                f"m=video 0 RTP/AVP 96\r\na=rtpmap:96 H264/90000\r\na=fmtp:96 packetization-mode=1{sprop}\r\na=control:trackID=0\r\n")
        if self.habits.audio:
            text += "m=audio 0 RTP/AVP 8\r\na=rtpmap:8 PCMA/8000\r\na=control:trackID=1\r\n"
        return self.habits.sdp(text)

    def is_welcome(self, request: Request) -> bool:
        if not self.habits.user:
            return True
        user, password = self.habits.user
        given = request.get("authorization")
        if given.startswith("Basic "):
            return any(one.startswith("Basic") for one in self.habits.challenges) and base64.b64decode(given[6:]).decode() == f"{user}:{password}"
        fields = {name: value or bare for name, value, bare in re.findall(r'(\w+)=(?:"([^"]*)"|([^\s,]+))', given)}
        if not given.startswith("Digest ") or fields.get("nonce") != f"nonce{self._nonces}":
            return False
        if self.habits.uri and fields["uri"] != self.habits.uri(request):
            return False
        algorithm = fields.get("algorithm", "MD5").lower()
        digest = lambda text: (hashlib.sha256 if algorithm.startswith("sha-256") else hashlib.md5)(text.encode()).hexdigest()  # noqa: E731
        secret = digest(f"{user}:{fields['realm']}:{password}")
        if algorithm.endswith("-sess"):
            secret = digest(f"{secret}:{fields['nonce']}:{fields['cnonce']}")
        middle = f"{fields['nonce']}:{fields['nc']}:{fields['cnonce']}:{fields['qop']}" if "qop" in fields else fields["nonce"]
        return fields["response"] == digest(f"{secret}:{middle}:" + digest(f"{request.method}:{fields['uri']}"))

    def challenge(self) -> list[str]:
        self._nonces += 1
        return [f"WWW-Authenticate: {one.replace('{nonce}', f'nonce{self._nonces}')}" for one in self.habits.challenges]


class _Session:
    def __init__(self, camera: Camera, connection):
        self.camera, self.habits, self.connection = camera, camera.habits, connection
        self.lock = threading.Lock()
        self.input = b""
        self.channels: dict[int, int] = {}                     # by track
        self.udp: dict[int, tuple] = {}                        # by track: socket, its neighbour, address of the client
        self.player: threading.Thread | None = None
        self.ended = False

    def run(self) -> None:
        try:
            while True:
                request = self.read()
                if request is None:
                    return
                self.camera.requests.append(request)
                self.handle(request)
        finally:
            self.ended = True
            for rtp_socket, rtcp_socket, _ in self.udp.values():
                rtp_socket.close()
                rtcp_socket.close()

    def read(self) -> Request | None:
        while True:
            if self.input[:1] == b"$" and len(self.input) >= 4:
                length = 4 + struct.unpack(">H", self.input[2:4])[0]
                if len(self.input) >= length:
                    self.input = self.input[length:]
                    continue
            elif b"\r\n\r\n" in self.input:
                head, self.input = self.input.split(b"\r\n\r\n", 1)
                first, *lines = head.decode().split("\r\n")
                pairs = [line.split(": ", 1) for line in lines]
                return Request(*first.split(" ")[:2], {name.lower(): value for name, value in pairs}, [name for name, _ in pairs])
            piece = self.connection.recv(65536)
            if not piece:
                return None
            self.input += piece

    def write(self, data: bytes) -> None:
        with self.lock:
            self.connection.sendall(data)

    def handle(self, request: Request) -> None:
        made = self.habits.respond(self.camera, request) if self.habits.respond else None
        if made is not None:
            self.write(made)
            return
        head, body = [f"CSeq: {request.get('cseq')}"], ""
        if not self.camera.is_welcome(request):
            self.write("\r\n".join(["RTSP/1.0 401 Unauthorized", *head, *self.camera.challenge()]).encode() + b"\r\n\r\n")
            return
        status = "RTSP/1.0 200 OK"
        if request.method == "OPTIONS":
            head.append("Public: OPTIONS, DESCRIBE, SETUP, PLAY, GET_PARAMETER, TEARDOWN")
        elif request.method == "DESCRIBE":
            body = self.camera.description(request)
            head += [f"Content-Base: {request.url}/", "Content-Type: application/sdp"]
        elif request.method == "SETUP":
            answer = self.set_up(request)
            if answer:
                head += [answer, f"Session: 12345678;timeout={self.habits.timeout_s}"]
            else:
                status = "RTSP/1.0 461 Unsupported Transport"
        elif request.method in ("PLAY", "GET_PARAMETER", "TEARDOWN"):
            head.append("Session: 12345678")
        lines = self.habits.change(request, [status, *head])
        if body:
            lines.append(f"Content-Length: {len(body.encode())}")
        self.write(("\r\n".join(lines) + "\r\n\r\n" + body).encode())
        if request.method == "PLAY" and self.player is None:
            self.player = threading.Thread(target=self.play, daemon=True)
            self.player.start()
        if request.method == "TEARDOWN":
            raise OSError("torn down")

    def set_up(self, request: Request) -> str:
        transport = request.get("transport")
        track = len(self.channels) + len(self.udp)  # in the order of SETUP
        if interleaved := re.search(r"interleaved=(\d+)-(\d+)", transport):
            self.channels[track] = int(interleaved.group(1))
            return f"Transport: RTP/AVP/TCP;unicast;interleaved={interleaved.group(1)}-{interleaved.group(2)};ssrc={SSRC:08X}"
        ports = re.search(r"client_port=(\d+)-(\d+)", transport)
        if not self.habits.udp or not ports:
            return ""
        own, neighbour = socket.socket(type=socket.SOCK_DGRAM), socket.socket(type=socket.SOCK_DGRAM)
        own.bind(("127.0.0.1", 0))
        neighbour.bind(("127.0.0.1", 0))
        self.udp[track] = (own, neighbour, ("127.0.0.1", int(ports.group(1))))
        threading.Thread(target=self.listen, args=(neighbour,), daemon=True).start()
        server = f";server_port={own.getsockname()[1]}-{neighbour.getsockname()[1]}"
        if self.habits.udp_from == "another":
            self.udp[track] = (socket.socket(type=socket.SOCK_DGRAM), neighbour, self.udp[track][2])
            self.udp[track][0].bind(("127.0.0.1", 0))
        return f"Transport: RTP/AVP;unicast;{ports.group(0)}" + ("" if self.habits.udp_from == "silent" else server)

    def listen(self, rtcp_socket) -> None:
        try:
            while True:
                self.camera.rtcp.append(rtcp_socket.recv(2048))
        except OSError:
            pass

    def send(self, track: int, packet: bytes) -> None:
        if track in self.channels:
            self.write(packet if isinstance(packet, Raw) else struct.pack(">BBH", ord("$"), self.channels[track], len(packet)) + packet)
        elif track in self.udp and self.habits.sends_udp:
            self.udp[track][0].sendto(packet, self.udp[track][2])

    def play(self) -> None:
        units = self.habits.units or access_units()
        began, sequence, turn = time.monotonic(), 1000, 0
        try:
            while not self.ended and not (self.habits.stop_after and turn == self.habits.stop_after):
                units = self.habits.units or units
                payloads = [one for nal in units[turn % len(units)] for one in (split_hevc if self.habits.hevc else split)(nal)]
                stamp = self.habits.timestamp(turn)
                packets = [rtp(sequence + i, stamp, one, i == len(payloads) - 1, self.habits.payload_type) for i, one in enumerate(payloads)]
                sequence += len(packets)
                for packet in self.habits.packets(turn, packets):
                    self.send(self.habits.video_track, packet)
                if self.habits.audio:
                    for i in (0, 1):
                        self.send(1, rtp(2 * turn + i, (2 * turn + i) * 160, b"\xd5" * 160, False, 8, SSRC + 1))
                turn += 1
                time.sleep(max(0.0, began + turn / FPS / self.habits.speed - time.monotonic()))
            self.connection.shutdown(socket.SHUT_RDWR)
        except OSError:
            self.ended = True
