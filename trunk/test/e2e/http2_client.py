"""An HTTP/2 client on TLS by hyper-h2, for tests: requests on one connection, windows that the test opens itself, and frames as raw bytes."""

import contextlib
import socket
import ssl
import time

import h2.config
import h2.connection
import h2.events
import h2.exceptions
import hyperframe.frame


class Http2Client:
    """One connection. What arrives is kept by stream: `heads`, `bodies`, `ended`, `resets`; and `goaway`, `is_closed` of the connection."""

    def __init__(self, port: int, opens_windows: bool = True, host: str = "127.0.0.1"):
        context = ssl.SSLContext(ssl.PROTOCOL_TLS_CLIENT)
        context.check_hostname, context.verify_mode = False, ssl.CERT_NONE
        context.set_alpn_protocols(["h2", "http/1.1"])
        self.socket = context.wrap_socket(socket.create_connection((host, port), 10))
        assert self.socket.selected_alpn_protocol() == "h2"
        self.authority = f"{host}:{port}"
        self.opens_windows = opens_windows
        self.h2 = h2.connection.H2Connection(h2.config.H2Configuration(header_encoding="utf-8", validate_outbound_headers=False))
        self.heads: dict[int, dict[str, str]] = {}
        self.interim: list[str] = []
        self.bodies: dict[int, bytes] = {}
        self.ended: set[int] = set()
        self.resets: dict[int, int] = {}
        self.goaway: int | None = None
        self.is_closed = False
        self.h2.initiate_connection()
        self.flush()

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.close()

    def close(self):
        with contextlib.suppress(OSError):
            self.socket.close()

    def flush(self) -> None:
        self.send(self.h2.data_to_send())

    def send(self, data: bytes) -> None:
        """Frames of the test's own."""
        if not data:
            return
        try:
            self.socket.sendall(data)
        except OSError:
            self.is_closed = True

    def request(self, path: str, method: str = "GET", body: bytes | None = None, **fields) -> int:
        stream = self.h2.get_next_available_stream_id()
        head = [(":method", method), (":scheme", "https"), (":authority", self.authority), (":path", path)]
        head += [(name.replace("_", "-"), value) for name, value in fields.items()]
        self.h2.send_headers(stream, head, end_stream=body is None)
        if body is not None:
            self.flush()
            while body:
                self.read_until(lambda: self.h2.local_flow_control_window(stream) > 0 or stream in self.ended or self._is_over(stream))
                if stream in self.ended or self._is_over(stream):
                    return stream
                size = min(self.h2.local_flow_control_window(stream), self.h2.max_outbound_frame_size, len(body))
                self.h2.send_data(stream, body[:size])
                self.flush()
                body = body[size:]
            self.h2.end_stream(stream)
        self.flush()
        return stream

    def _is_over(self, stream: int) -> bool:
        return stream in self.resets or self.is_closed or self.goaway not in (None, 0)

    def read(self, limit_s: float) -> bool:
        """Takes what arrives within the limit; False: nothing did, or the connection is over."""
        self.socket.settimeout(max(limit_s, 0.001))
        try:
            data = self.socket.recv(65536)
        except TimeoutError:
            return False
        except OSError:
            self.is_closed = True
            return False
        if not data:
            self.is_closed = True
            return False
        try:
            events = self.h2.receive_data(data)
        except h2.exceptions.ProtocolError:
            return True
        for event in events:
            self._take(event)
        self.flush()
        return True

    def _take(self, event) -> None:
        stream = getattr(event, "stream_id", 0) or 0
        if isinstance(event, h2.events.ResponseReceived):
            self.heads[stream] = dict(event.headers)
        elif isinstance(event, h2.events.InformationalResponseReceived):
            self.interim.append(dict(event.headers)[":status"])
        elif isinstance(event, h2.events.DataReceived):
            self.bodies[stream] = self.bodies.get(stream, b"") + event.data
            if self.opens_windows:
                self.h2.acknowledge_received_data(event.flow_controlled_length, stream)
        elif isinstance(event, h2.events.StreamEnded):
            self.ended.add(stream)
        elif isinstance(event, h2.events.StreamReset):
            self.resets[stream] = event.error_code
        elif isinstance(event, h2.events.ConnectionTerminated):
            self.goaway = event.error_code

    def read_until(self, condition, limit_s: float = 20) -> None:
        deadline = time.monotonic() + limit_s
        while not condition():
            assert time.monotonic() < deadline, f"heads {self.heads}, resets {self.resets}, goaway {self.goaway}, closed {self.is_closed}"
            if not self.read(0.2) and self.is_closed:
                assert condition(), f"the connection is closed: heads {self.heads}, resets {self.resets}, goaway {self.goaway}"

    def wait(self, stream: int, limit_s: float = 20) -> tuple[int, bytes]:
        """Status and body of a complete response."""
        self.read_until(lambda: stream in self.ended or stream in self.resets, limit_s)
        assert stream in self.ended, f"stream {stream} was reset: {self.resets}"
        return int(self.heads[stream][":status"]), self.bodies.get(stream, b"")

    def get(self, path: str, limit_s: float = 20, **fields) -> tuple[int, bytes]:
        return self.wait(self.request(path, **fields), limit_s)

    # Raw frames: they pass by the state of hyper-h2, which would not send them.
    def raw_headers(self, stream: int, path: str, flags=("END_HEADERS", "END_STREAM")) -> bytes:
        frame = hyperframe.frame.HeadersFrame(stream)
        frame.data = self.h2.encoder.encode([(":method", "GET"), (":scheme", "https"), (":authority", self.authority), (":path", path)])
        for flag in flags:
            frame.flags.add(flag)
        return frame.serialize()


def raw_reset(stream: int, code: int = 8) -> bytes:
    return hyperframe.frame.RstStreamFrame(stream, code).serialize()


def raw_window(stream: int, increment: int) -> bytes:
    return hyperframe.frame.WindowUpdateFrame(stream, increment).serialize()


def raw_continuation(stream: int, data: bytes) -> bytes:
    return hyperframe.frame.ContinuationFrame(stream, data).serialize()
