"""aiortc, a second WebRTC client."""

import json
import subprocess
from pathlib import Path

HERE = Path(__file__).resolve().parent / "second_client"
VHOST = "rtc { enabled on; rtmp_to_rtc on; rtc_to_rtmp on; pli_for_rtmp 1; }"
ROOT = "rtc_server { enabled on; listen 127.0.0.1:$udp; candidate 127.0.0.1; }"


class Client:
    """One run of the client."""

    def __init__(self, python: Path, *arguments):
        self.process = subprocess.Popen([str(word) for word in (python, HERE / "client.py", *arguments)], stdin=subprocess.PIPE,
                                        stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)

    def result(self) -> dict:
        """Of a player when it is done; a publisher ends now."""
        said, complained = self.process.communicate(timeout=60)
        assert self.process.returncode == 0, complained[-3000:]
        return json.loads(said)

    def kill(self):
        if self.process.poll() is None:
            self.process.kill()
            self.process.communicate()
