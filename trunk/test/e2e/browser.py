"""A headless Chromium for tests of the pages, by playwright-core, which is installed with axe-core from browser/package-lock.json into a cache folder
on first use. Unavailable names the missing program: Chromium, Node.js, npm, or the network for the first installation."""

import hashlib
import json
import os
import queue
import shutil
import subprocess
import tempfile
import threading
import time
from pathlib import Path

HERE = Path(__file__).resolve().parent / "browser"
# The first has no window to draw, and costs less than half of the CPU time.
NAMES = ("chromium-headless-shell", "chromium", "chromium-browser", "google-chrome")
ANSWER_S_MAX = 40
CLICK_MS_MAX = 15_000


class Unavailable(Exception):
    """No browser on this machine; the text names the missing program."""


def find_chromium() -> str:
    for name in (os.environ.get("CHROMIUM"), *NAMES):
        found = shutil.which(name) if name else None
        if found:
            return found
    raise Unavailable("no Chromium: install-packages.sh test, or name one in CHROMIUM")


def install_modules() -> Path:
    """The folder that has node_modules."""
    lock = (HERE / "package-lock.json").read_bytes()
    cache = Path(os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache") / "live-server"
    folder = cache / f"browser-{hashlib.sha256(lock).hexdigest()[:10]}"
    if (folder / "node_modules").is_dir():
        return folder
    if not shutil.which("node") or not shutil.which("npm"):
        raise Unavailable("no Node.js with npm: install-packages.sh test")
    cache.mkdir(parents=True, exist_ok=True)
    work = Path(tempfile.mkdtemp(prefix="browser-", dir=cache))
    for name in ("package.json", "package-lock.json"):
        shutil.copy(HERE / name, work)
    done = subprocess.run(["npm", "ci", "--ignore-scripts", "--no-audit", "--no-fund", "--loglevel=error"], cwd=work,
                          capture_output=True, text=True, timeout=300, check=False)
    if done.returncode != 0:
        shutil.rmtree(work)
        raise Unavailable(f"npm could not install playwright-core: {done.stderr.strip()[-300:]}")
    try:
        work.rename(folder)
    except OSError:  # Another run was quicker.
        shutil.rmtree(work)
    return folder


class Browser:
    """Owns the Chromium; page() opens one in a context of its own."""

    def __init__(self, prefix: list[str] | None = None):
        """`prefix` begins the command: the browser of another machine (own_network.AnotherMachine)."""
        chromium, modules = find_chromium(), install_modules()
        self.log = tempfile.TemporaryFile()
        self.process = subprocess.Popen([*(prefix or []), "node", HERE / "driver.mjs", chromium, modules], stdin=subprocess.PIPE, stdout=subprocess.PIPE,
                                        stderr=self.log, text=True)
        self.answers: queue.Queue = queue.Queue()
        self.count = 0
        threading.Thread(target=self._read, daemon=True).start()

    def _read(self):
        for line in self.process.stdout:
            self.answers.put(json.loads(line))
        self.answers.put(None)

    def ask(self, action: str, **request):
        self.process.stdin.write(json.dumps({"action": action, **request}) + "\n")
        self.process.stdin.flush()
        answer = self.answers.get(timeout=ANSWER_S_MAX)
        if answer is None:
            self.log.seek(0)
            raise AssertionError(f"the browser is gone: {self.log.read().decode(errors='replace')[-1500:]}")
        if "error" in answer:
            raise AssertionError(f"{action} {request}: {answer['error']}")
        return answer["value"]

    def page(self, **options) -> "Page":
        self.count += 1
        self.ask("open", page=self.count, options={"viewport": {"width": 1280, "height": 860}, **options})
        return Page(self, self.count)

    def close(self):
        self.process.stdin.close()
        try:
            self.process.wait(15)
        except subprocess.TimeoutExpired:
            self.process.kill()
            self.process.wait()


# What a page shows, and where its videos are.
SEEN = """(document.querySelector('main') ?? document.body).innerText.slice(0, 1500) + [...document.querySelectorAll('video')].map(one => `
video: at ${one.currentTime}, ${one.videoWidth}x${one.videoHeight}, ready ${one.readyState}, paused ${one.paused}, error ${one.error?.message}, buffered ${
[...Array(one.buffered.length).keys()].map(at => `${one.buffered.start(at)} to ${one.buffered.end(at)}`)}`).join('')"""


class Page:
    """One page. Expressions are JavaScript; a promise is waited for."""

    def __init__(self, browser: Browser, number: int):
        self.browser, self.number = browser, number

    def ask(self, action: str, **request):
        return self.browser.ask(action, page=self.number, **request)

    def goto(self, url: str) -> "Page":
        self.ask("goto", url=url)
        return self

    def value(self, code: str):
        return self.ask("eval", code=code)

    def text(self, target: str) -> str:
        return self.value(f"document.querySelector({json.dumps(target)})?.textContent ?? ''")

    def is_shown(self, target: str) -> bool:
        return self.value(f"document.querySelector({json.dumps(target)})?.checkVisibility() ?? false")

    def wait(self, code: str, limit_s: float = 20):
        """Waits until the page is loaded and the expression true; returns its value. A failure shows the page's text."""
        deadline = time.monotonic() + limit_s
        while True:
            value = self.value(f"document.readyState !== 'loading' && ({code})")
            if value:
                return value
            if time.monotonic() > deadline:
                raise AssertionError(f"not within {limit_s:g} s: {code}\nThe page complains: {self.complaints()}\nIt shows:\n{self.value(SEEN)}")
            time.sleep(0.1)

    def barriers(self) -> list[str]:
        """What axe-core finds: barriers for people who see, hear or move differently."""
        return self.ask("axe")

    def cpu_s(self) -> float:
        """CPU time of the page's thread."""
        return self.ask("cpu")

    def throttle(self, bits: int) -> None:
        """Bits a second for all that the page loads from now on; 0: no limit."""
        self.ask("throttle", bits=bits)

    def click(self, target: str) -> None:
        self.ask("click", target=target, limit=CLICK_MS_MAX)

    def fill(self, target: str, text: str) -> None:
        self.ask("fill", target=target, text=text, limit=CLICK_MS_MAX)

    def select(self, target: str, value: str) -> None:
        self.ask("select", target=target, value=value, limit=CLICK_MS_MAX)

    def press(self, key: str) -> None:
        self.ask("press", key=key)

    def shot(self, name: str, whole: bool = False) -> None:
        """Saves a picture for people to look at, where LIVE_SHOTS names a folder."""
        if os.environ.get("LIVE_SHOTS"):
            self.ask("shot", file=str(Path(os.environ["LIVE_SHOTS"]) / f"{name}.png"), whole=whole)

    def complaints(self) -> list[str]:
        return self.ask("complaints")

    def close(self) -> None:
        self.ask("close")
