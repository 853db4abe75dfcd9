"""A bad network for WebRTC: a UDP port that passes datagrams on to the server's, and what comes back, late and not all of them.

    with UdpLink(port, server_port, loss=0.05, delay_s=0.05) as link: ...

Clients are told this port in place of the server's (`candidate 127.0.0.1:$link; api_as_candidates off;`). Each address that sends gets a socket
of its own towards the server, so that the server tells them apart. What is lost is drawn from `seed`; both ways are alike.
"""

import contextlib
import heapq
import random
import selectors
import socket
import threading
import time

CLIENTS_MAX = 64
WAITING_MAX = 10_000
DATAGRAM_BYTES_MAX = 65_535
IDLE_S = 0.2
QUEUE_S = 0.5
# What comes while this thread has no CPU must not be lost beside `loss`.
QUEUE_BYTES, SO_RCVBUFFORCE = 4 << 20, 33


class UdpLink:
    """Passes datagrams on in a thread of its own. `loss` (0 to 1) and `delay_s` (one way) may be changed at any time. `srt_losses_max`: the same
    packet of SRT's data is lost so often at most, or else luck decides whether it comes in time: libsrt retransmits it once a round trip.
    `dtls_losses_max`: so many datagrams of DTLS in a row, whose handshakes wait twice as long after each loss. `bits_per_second` limits the way to
    the clients, all together; it may be changed, too. What waits longer than QUEUE_S for it is lost."""

    def __init__(self, port: int, server_port: int, loss: float = 0, delay_s: float = 0, seed: int = 1,  # pylint: disable=too-many-arguments
                 srt_losses_max: int | None = None, dtls_losses_max: int | None = None, bits_per_second: float | None = None):
        self.bits_per_second, self.free_at = bits_per_second, 0.0
        self.loss, self.delay_s, self.srt_losses_max, self.dtls_losses_max = loss, delay_s, srt_losses_max, dtls_losses_max
        self.losses: dict[tuple, int] = {}  # of SRT's packets, by address and sequence number
        self.dtls_losses: dict[tuple, int] = {}  # in a row, by the socket and the address they go to
        self.passed = self.lost = 0
        self.random = random.Random(seed)
        self.server = ("127.0.0.1", server_port)
        self.selector = selectors.DefaultSelector()
        self.front = self._open()
        self.front.bind(("127.0.0.1", port))
        self.backs: dict[tuple, socket.socket] = {}
        self.waiting: list[tuple] = []  # (when, number, socket, address, datagram)
        self.count = 0
        self.ending = False
        self.thread = threading.Thread(target=self._run, daemon=True)

    def _open(self, client=None) -> socket.socket:
        made = socket.socket(socket.AF_INET, socket.SOCK_DGRAM)
        made.setblocking(False)
        made.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, QUEUE_BYTES)
        with contextlib.suppress(OSError):  # More than net.core.rmem_max is for root only.
            made.setsockopt(socket.SOL_SOCKET, SO_RCVBUFFORCE, QUEUE_BYTES)
        self.selector.register(made, selectors.EVENT_READ, client)
        return made

    def __enter__(self):
        self.thread.start()
        return self

    def __exit__(self, *_):
        self.ending = True
        self.thread.join(5)
        for one in (self.front, *self.backs.values()):
            one.close()
        self.selector.close()

    def _run(self):
        while not self.ending:
            left = self.waiting[0][0] - time.monotonic() if self.waiting else IDLE_S
            for key, _ in self.selector.select(max(0, min(left, IDLE_S))):
                self._read(key.fileobj, key.data)
            now = time.monotonic()
            while self.waiting and self.waiting[0][0] <= now:
                _, _, out, address, datagram = heapq.heappop(self.waiting)
                try:
                    out.sendto(datagram, address)
                    self.passed += 1
                except OSError:  # The peer has closed its socket.
                    self.lost += 1

    def _read(self, source: socket.socket, client):
        for _ in range(100):
            try:
                datagram, sender = source.recvfrom(DATAGRAM_BYTES_MAX)
            except OSError:
                return
            if source is not self.front:
                self._pass(self.front, client, datagram)
            elif sender in self.backs or len(self.backs) < CLIENTS_MAX:
                if sender not in self.backs:
                    self.backs[sender] = self._open(sender)
                self._pass(self.backs[sender], self.server, datagram)

    def _may_lose(self, address: tuple, datagram: bytes) -> bool:
        is_control = not datagram or datagram[0] & 0x80
        if self.srt_losses_max is None or is_control:
            return True
        key = (address, datagram[:4])
        self.losses[key] = self.losses.get(key, 0) + 1
        return self.losses[key] <= self.srt_losses_max

    def _is_lost(self, out: socket.socket, address: tuple, datagram: bytes) -> bool:
        is_lost = self.random.random() < self.loss and self._may_lose(address, datagram)
        if self.dtls_losses_max is not None and datagram and 20 <= datagram[0] <= 63:
            is_lost = is_lost and self.dtls_losses.get((out, address), 0) < self.dtls_losses_max
            self.dtls_losses[out, address] = self.dtls_losses.get((out, address), 0) + 1 if is_lost else 0
        return is_lost

    def _pass(self, out: socket.socket, address: tuple, datagram: bytes):
        if self._is_lost(out, address, datagram) or len(self.waiting) >= WAITING_MAX:
            self.lost += 1
            return
        self.count += 1
        at = time.monotonic()
        if self.bits_per_second is not None and out is self.front:
            if self.free_at > at + QUEUE_S:
                self.lost += 1
                return
            self.free_at = at = max(self.free_at, at) + len(datagram) * 8 / self.bits_per_second
        heapq.heappush(self.waiting, (at + self.delay_s, self.count, out, address, datagram))
