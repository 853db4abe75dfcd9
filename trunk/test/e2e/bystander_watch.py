"""Another stream and the memory of the server, watched while clients send bad bytes."""

import time

from live_server import wait_until

GROWTH_KIB = 48 * 1024


class Watch:
    """The server's log and memory around some bad clients; done(n) asks for at most one complaint each, and at least one line."""

    def __init__(self, live):
        self.live, self.lines, self.complaints, self.kib = live, len(live.log().splitlines()), len(live.complaints()), live.resident_kib()

    def done(self, clients: int, expect_complaint: bool = True) -> None:
        self.live.assert_alive()
        if expect_complaint:
            wait_until(lambda: len(self.live.complaints()) - self.complaints >= clients, 10, f"{clients} complaints")
        time.sleep(0.3)
        new = self.live.complaints()[self.complaints:]
        assert len(new) <= clients, f"{len(new)} complaints about {clients} clients:\n" + "\n".join(new[:10])
        if expect_complaint:
            assert len(new) == clients, f"{len(new)} complaints about {clients} clients:\n" + "\n".join(new[:10])
        grown = self.live.resident_kib() - self.kib
        assert grown < GROWTH_KIB, f"resident memory grew by {grown} KiB"
