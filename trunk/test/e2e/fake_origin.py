"""Origins for edges: a fake one, and the addresses of real ones."""

import socket

from small_server import SmallServer


def http_of(origin) -> str:
    return f"http://127.0.0.1:{origin.ports['http']}"


def clients_of(origin, kind: str) -> int:
    return sum(client["type"] == kind for client in origin.api("/api/v1/clients/")["clients"])


def origins_of(edge) -> dict[str, str]:
    return {one["url"]: one["state"] for one in edge.api("/api/v1/clusters")["data"]["origins"]}


def flv_of(live, stream: str = "cam") -> str:
    return f"{http_of(live)}/live/{stream}.flv"


class FakeOrigin(SmallServer):
    """Answers each HTTP request with what `answer` gives for it, then closes. `heads` are the requests."""

    def __init__(self, answer):
        self.heads: list[str] = []
        self._answer = answer
        super().__init__()

    def serve(self, connection: socket.socket) -> None:
        head = b""
        while b"\r\n\r\n" not in head:
            part = connection.recv(4096)
            if not part:
                return
            head += part
        self.heads.append(head.decode())
        self._answer(connection, self.heads[-1])

    @property
    def url(self) -> str:
        return f"http://127.0.0.1:{self.port}"


def redirect_to(url: str):
    return lambda connection, _: connection.sendall(f"HTTP/1.1 302 Found\r\nLocation: {url}\r\nContent-Length: 0\r\n\r\n".encode())
