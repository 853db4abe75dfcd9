"""HTTPS-FLV players by hand: their bytes, their records and their sessions."""

import socket
import ssl

from http_streams import HttpStream


def anyone() -> ssl.SSLContext:
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_CLIENT)
    context.check_hostname, context.verify_mode = False, ssl.CERT_NONE
    return context


class TlsStream(HttpStream):
    """An HttpStream over TLS. `session` of another one is resumed; `tiny` sends the request in records of one byte."""

    def __init__(self, port: int, path: str, context: ssl.SSLContext | None = None, session: ssl.SSLSession | None = None, tiny: bool = False,
                 **options):
        self.context, self.session, self.tiny = context or anyone(), session, tiny
        super().__init__(port, path, **options)

    def _prepare(self, plain: socket.socket) -> socket.socket:
        secured = self.context.wrap_socket(plain, session=self.session)
        return OneByteRecords(secured) if self.tiny else secured


class OneByteRecords:
    """A TLS socket that sends each byte as a record."""

    def __init__(self, secured: ssl.SSLSocket):
        self.secured = secured

    def sendall(self, data: bytes) -> None:
        for byte in data:
            self.secured.sendall(bytes([byte]))

    def __getattr__(self, name):
        return getattr(self.secured, name)
