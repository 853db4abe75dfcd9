"""A TCP server in threads of the test, for what no real server would answer."""

import socket
import threading


class SmallServer:
    """Each connection has a thread, which calls serve(); what breaks there is the client's end. Use as a context."""

    ADDRESS = "127.0.0.1"

    def __init__(self):
        self._listener = socket.create_server((self.ADDRESS, 0))
        self.port = self._listener.getsockname()[1]
        threading.Thread(target=self._accept, daemon=True).start()

    def serve(self, connection: socket.socket) -> None:
        raise NotImplementedError

    def _accept(self) -> None:
        while True:
            try:
                connection, _ = self._listener.accept()
            except OSError:
                return
            threading.Thread(target=self._serve, args=(connection,), daemon=True).start()

    def _serve(self, connection: socket.socket) -> None:
        with connection:
            try:
                self.serve(connection)
            except OSError:  # TimeoutError too
                pass

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self._listener.close()
