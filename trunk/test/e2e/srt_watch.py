"""Players of SRT in this process, by libsrt, that count what they miss of a transport stream."""

import ctypes
import struct
import threading
import time

from transport_stream import PACKET_BYTES, UNIT_BYTES, SrtSender, libsrt, srt_address

NULL_PID = 0x1FFF
RECEIVE_TIME_LIMIT = 14  # an option
PATIENCE_MS = 2000


class SrtWatch(threading.Thread):
    """Plays until stop(). `lost`: continuity counters that were skipped; `alive`: it has played to its end."""

    def __init__(self, port: int, stream_id: str, host: str = "127.0.0.1"):
        super().__init__(daemon=True)
        self.library, text = libsrt(), stream_id.encode()
        self.lost, self.packets, self.alive, self.longest_gap_s, self.stopping = 0, 0, False, 0.0, threading.Event()
        self.counters: dict[int, int] = {}
        self.socket = self.library.srt_create_socket()
        for option, value in ((RECEIVE_TIME_LIMIT, struct.pack("=i", 1000)), (SrtSender.LATENCY, struct.pack("=i", PATIENCE_MS)), (SrtSender.STREAM_ID, text)):
            self.library.srt_setsockflag(self.socket, option, value, len(value))
        there = srt_address(host, port)
        if self.library.srt_connect(self.socket, there, len(there)) != 0:
            raise OSError(f"SRT: reason {self.library.srt_getrejectreason(self.socket)}")

    def run(self) -> None:
        unit, last = ctypes.create_string_buffer(UNIT_BYTES + 200), time.monotonic()
        while not self.stopping.is_set():
            size = self.library.srt_recvmsg(self.socket, unit, len(unit))
            now = time.monotonic()
            self.longest_gap_s = max(self.longest_gap_s, now - last)
            if size > 0:
                last = now
                self._look(unit.raw[:size])
            elif now - last > 10:
                break
        self.alive = self.stopping.is_set()
        self.library.srt_close(self.socket)

    def _look(self, unit: bytes) -> None:
        for at in range(0, len(unit), PACKET_BYTES):
            second, third, fourth = unit[at + 1:at + 4]
            pid, has_payload = (second & 0x1F) << 8 | third, fourth & 0x10
            self.packets += 1
            if pid == NULL_PID or not has_payload:
                continue
            if (before := self.counters.get(pid)) is not None and (before + 1) % 16 != fourth & 0x0F:
                self.lost += 1
            self.counters[pid] = fourth & 0x0F

    def stop(self) -> dict:
        self.stopping.set()
        self.join(10)
        return {"alive": int(self.alive), "failed": int(not self.alive)}
