"""OBS Studio under Xvfb: it streams a clip at once, to the server and with the key and credentials of its settings."""

import json
import os
import re
import shutil
import subprocess
import tempfile
from pathlib import Path

ENDED = "Streaming Stop|Connection to .* failed|Failed to open the url"

GLOBAL = """[General]
FirstRun=true
EnableAutoUpdates=false
[Basic]
Profile=Test
ProfileDir=Test
SceneCollection=Test
SceneCollectionFile=Test
"""
PROFILE = """[General]
Name=Test
[Output]
Mode=Simple
Reconnect=false
[SimpleOutput]
StreamEncoder=x264
Preset=ultrafast
VBitrate=500
ABitrate=64
UseAdvanced=true
x264Settings=keyint=50 bframes=0
[Video]
BaseCX=640
BaseCY=360
OutputCX=640
OutputCY=360
FPSType=1
FPSInt=25
[Audio]
SampleRate=44100
ChannelSetup=Stereo
"""


def is_installed() -> bool:
    return bool(shutil.which("obs") and shutil.which("Xvfb"))


def scenes(clip: Path) -> dict:
    item = {"id": 1, "name": "Clip", "visible": True, "pos": {"x": 0.0, "y": 0.0}, "scale": {"x": 1.0, "y": 1.0}}
    return {"name": "Test", "current_scene": "Main", "current_program_scene": "Main", "scene_order": [{"name": "Main"}], "sources": [
        {"id": "scene", "name": "Main", "settings": {"id_counter": 1, "items": [item]}},
        {"id": "ffmpeg_source", "name": "Clip", "mixers": 255, "volume": 1.0, "settings": {"local_file": str(clip), "looping": True, "hw_decode": False}}]}


class Obs:
    """Use as a context: leaving it ends it. `user` is a name and a password, as in its settings."""

    def __init__(self, server: str, key: str, clip: Path, user: tuple[str, str] | None = None):
        # Qt's sockets have short paths.
        self.home = Path(tempfile.mkdtemp(prefix="obs-"))
        self.log = self.home / "obs.log"
        settings = self.home / ".config/obs-studio"
        profile = settings / "basic/profiles/Test"
        name, password = user or ("", "")
        service = {"server": server, "key": key, "use_auth": user is not None, "username": name, "password": password}
        for path, text in ((settings / "global.ini", GLOBAL), (profile / "basic.ini", PROFILE),
                           (profile / "service.json", json.dumps({"type": "rtmp_custom", "settings": service})),
                           (settings / "basic/scenes/Test.json", json.dumps(scenes(clip)))):
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_text(text)
        (self.home / "run").mkdir(mode=0o700)
        self.screen = self.process = None

    def __enter__(self):
        with open(self.home / "screen.log", "wb") as log:
            self.screen = subprocess.Popen(["Xvfb", "-displayfd", "1", "-screen", "0", "800x600x24", "-nolisten", "tcp"], stdin=subprocess.DEVNULL,
                                           stdout=subprocess.PIPE, stderr=log, text=True)
        display = self.screen.stdout.readline().strip()
        assert display, f"Xvfb: {(self.home / 'screen.log').read_text()[-500:]}"
        # It asks its makers for news: a proxy that refuses keeps it here.
        nowhere = dict.fromkeys(("http_proxy", "https_proxy", "all_proxy"), "http://127.0.0.1:9")
        environment = {**os.environ, **nowhere, "HOME": str(self.home), "XDG_CONFIG_HOME": str(self.home / ".config"), "XDG_RUNTIME_DIR": str(self.home / "run"),
                       "DISPLAY": f":{display}", "LIBGL_ALWAYS_SOFTWARE": "1"}
        with open(self.log, "wb") as log:
            self.process = subprocess.Popen(["obs", "--multi", "--profile", "Test", "--collection", "Test", "--startstreaming", "--minimize-to-tray"],
                                            env=environment, stdin=subprocess.DEVNULL, stdout=log, stderr=log)
        return self

    def __exit__(self, *_):
        for process in (self.process, self.screen):
            if process:
                process.kill()
                process.communicate()
        shutil.rmtree(self.home, ignore_errors=True)

    def said(self) -> str:
        return self.log.read_text(errors="replace")

    def has_ended(self) -> bool:
        """Whether it has given up, or the server has ended it."""
        return self.process.poll() is not None or re.search(ENDED, self.said()) is not None
