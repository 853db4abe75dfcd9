"""The container image, as far as it can be tested without a container runtime: the Dockerfile, and those of its steps that need
none leave behind: the installation, its size, the entry point as a user without rights, the health check, and the stop."""

import os
import shlex
import shutil
import signal
import subprocess
import tempfile
from pathlib import Path

import pytest

import live_server
from live_server import BINARY, TRUNK, LiveServer, can_connect, conf, wait_until
from players import FfmpegPublisher
from recordings import assert_decodes, whole_files

DOCKERFILE = TRUNK.parent / "Dockerfile"
LAYER_MAX = 30_000_000
DOCKER_STOP_S = 10
NOBODY = 65534
# Owned by another user if the tests run as root.
AS_NOBODY = {"user": NOBODY, "group": NOBODY, "extra_groups": []} if os.geteuid() == 0 else {}


def stages() -> dict[str, list[tuple[str, str]]]:
    """Instructions by stage; a stage has those of the stage it is from too."""
    found: dict[str, list[tuple[str, str]]] = {"": []}
    name = ""
    lines = [line for line in DOCKERFILE.read_text().splitlines() if not line.startswith("#")]
    for line in "\n".join(lines).replace("\\\n", " ").splitlines():
        word, _, rest = line.partition(" ")
        if word == "FROM":
            words = rest.split()
            name = words[words.index("AS") + 1]
            found[name] = list(found.get(words[0], []))
        elif word:
            found[name].append((word, " ".join(rest.split())))
    return found


def last(instructions: list[tuple[str, str]], word: str) -> str:
    return [rest for name, rest in instructions if name == word][-1]


def environment_of_the_image() -> dict[str, str]:
    return dict(pair.split("=", 1) for word, rest in stages()["millrace"] if word == "ENV" for pair in shlex.split(rest))


class ImageServer(LiveServer):
    """What a container of the image runs: the entry point, with the image's environment and the given arguments."""

    def __init__(self, root: Path, arguments: list[str], **environment):
        super().__init__(root, conf())
        self.arguments = arguments
        self.log_path = Path(tempfile.mkstemp(dir=root)[1])
        own = {name: value for name, value in os.environ.items() if not name.startswith("SRS_")}
        self.environment = {**own, **environment_of_the_image(), "SRS_PID": f"./objs/{os.urandom(4).hex()}.pid", **environment}

    def run(self, ready: bool = True) -> "ImageServer":
        with open(self.log_path, "ab") as log:
            self.process = subprocess.Popen(["./scripts/docker-entry.sh", *self.arguments], cwd=self.folder, env=self.environment,
                                            stdin=subprocess.DEVNULL, stdout=log, stderr=subprocess.STDOUT, **AS_NOBODY)
        if ready:
            self.wait_ready()
        return self

    def is_healthy(self) -> bool:
        # Anywhere else the server is not process 1.
        command = ["perl", "scripts/docker-health.pl", str(self.process.pid)]
        status = subprocess.run(command, cwd=self.folder, env=self.environment, capture_output=True, check=False, timeout=30, **AS_NOBODY).returncode
        assert status in (0, 1), "docker knows no other"
        return status == 0


def ports_environment(ports: live_server.Ports) -> dict[str, str]:
    names = {"SRS_LISTEN": "rtmp", "SRS_HTTP_API_LISTEN": "api", "SRS_HTTP_SERVER_LISTEN": "http", "SRS_RTC_SERVER_LISTEN": "rtc"}
    return {name: f"127.0.0.1:{ports[port]}" for name, port in names.items()}


@pytest.fixture(name="image", scope="module")
def fixture_image():
    """The folder /usr/local/srs of the image: installed, then prepared as in the Dockerfile."""
    if not all(shutil.which(program) for program in ("objcopy", "strip", "perl")):
        pytest.skip("binutils or perl is missing")
    # Not below pytest's folder, which other users cannot enter.
    folder = Path(tempfile.mkdtemp(prefix="live-image-"))
    folder.chmod(0o755)
    root = folder / "image/usr/local/srs"
    try:
        install = [TRUNK / "scripts/install.sh", BINARY.parent, root, "/usr/local/srs", "conf/srs.conf"]
        subprocess.run([str(word) for word in install], check=True, capture_output=True)
        shutil.copy(BINARY, root / "objs/srs")
        (step,) = [rest for word, rest in stages()["build"] if word == "RUN" and "strip" in rest]
        step = step.replace("/image", f"{folder}/image").replace("/symbols", f"{folder}/symbols")
        subprocess.run(["sh", "-ec", step], check=True, capture_output=True)
        for path in [root, *root.rglob("*")]:
            if AS_NOBODY:
                os.chown(path, NOBODY, NOBODY, follow_symlinks=False)
        yield root
    finally:
        shutil.rmtree(folder)


@pytest.fixture(name="contain")
def fixture_contain(image):
    """contain(arguments, environment) makes a server of the image; what still runs at the end is killed."""
    made = []

    def make(*arguments: str, **environment) -> ImageServer:
        made.append(ImageServer(image, list(arguments), **environment))
        return made[-1]

    yield make
    for one in made:
        one.kill()


def test_the_dockerfile_defines_the_container():
    all_stages = stages()
    assert list(all_stages)[-1] == "millrace" and {"build", "symbols", "with-ffmpeg"} < set(all_stages)
    image = all_stages["millrace"]
    assert environment_of_the_image() == {"SRS_IN_DOCKER": "on", "SRS_DAEMON": "off"}
    for name in ("millrace", "with-ffmpeg"):
        user = last(all_stages[name], "USER").split(":")[0]
        assert user.isdigit() and int(user) > 0, f"{name} runs as {user}"
    assert last(image, "STOPSIGNAL") == "SIGQUIT"
    assert last(image, "VOLUME").split() == ["/usr/local/srs/objs/nginx/html", "/usr/local/srs/objs/dvr"] and last(image, "WORKDIR") == "/usr/local/srs"
    served = {"1935", "1985", "1990", "8080", "8088", "9972", "8000/udp", "8000", "8936"}
    assert served <= set(last(image, "EXPOSE").split())
    assert 'CMD ["perl", "scripts/docker-health.pl"]' in last(image, "HEALTHCHECK")
    assert last(image, "ENTRYPOINT") == '["./scripts/docker-entry.sh"]' and "CMD" not in dict(image)
    assert 'image.title="Millrace"' in last(image, "LABEL")
    assert not [rest for word, rest in image if word == "RUN" and "ffmpeg" in rest]
    assert [rest for word, rest in all_stages["with-ffmpeg"] if word == "RUN" and "ffmpeg" in rest]
    assert last(all_stages[""], "ARG").startswith("BASE=") and ("ARG", "TARGETPLATFORM") in all_stages["build"]


def test_the_files_of_the_image(image):
    if b"__asan_init" in BINARY.read_bytes():
        pytest.skip("sizes are those of a release build")
    files = [path for path in image.rglob("*") if path.is_file() and not path.is_symlink()]
    size = sum(path.stat().st_size for path in files)
    assert size < LAYER_MAX, f"{size} bytes"
    programs = [path for path in files if path.suffix not in (".html", ".conf")]  # both have ffmpeg in some names
    assert not [path for path in programs if "ffmpeg" in path.name or path.name.startswith("sb_")]
    linked = subprocess.run(["ldd", image / "objs/srs"], capture_output=True, text=True, check=True).stdout
    assert "libssl" in linked and "libav" not in linked
    sections = subprocess.run(["readelf", "-SW", image / "objs/srs"], capture_output=True, text=True, check=True).stdout
    assert ".gnu_debuglink" in sections and ".debug_info" not in sections
    symbols = image.parents[3] / "symbols/srs.debug"
    assert ".debug_info" in subprocess.run(["readelf", "-SW", symbols], capture_output=True, text=True, check=True).stdout
    assert os.readlink(image / "objs/millrace") == "srs"
    assert subprocess.run([image / "objs/millrace", "-v"], capture_output=True, check=False).returncode == 0


@pytest.mark.parametrize("form", ["nothing", "options", "command"])
def test_the_entry_point_starts_the_server_without_rights(contain, form):
    arguments = {"nothing": [], "options": ["-c", "srs.conf"], "command": ["./objs/srs", "-c", "conf/docker.conf"]}[form]
    live = contain(*arguments)
    # With options it is the conf that names the ports, to the health check too.
    if form != "options":
        live.environment |= ports_environment(live.ports)
    live.run()
    assert Path(f"/proc/{live.process.pid}/comm").read_text() == "srs\n", "the server has taken the script's place"
    if AS_NOBODY:
        assert os.stat(f"/proc/{live.process.pid}").st_uid == NOBODY
    live.wait_log("Millrace, SRS/7")
    assert "Millrace, SRS/7" in live.log().splitlines()[0]
    assert live.is_healthy()
    command = ["perl", "scripts/docker-drain.pl", "0", str(live.process.pid)]
    drain = subprocess.run(command, cwd=live.folder, env=live.environment, capture_output=True, text=True, check=False, timeout=30, **AS_NOBODY)
    assert drain.returncode == 0 and drain.stdout.startswith("drain: "), "the API is found as the health check finds it"
    live.stop()
    assert not live.is_healthy()


def test_the_entry_point_runs_any_command(image):
    done = subprocess.run(["./scripts/docker-entry.sh", "sh", "-c", "echo $0 $1; exit 3", "a b", "c"], cwd=image, capture_output=True, text=True, check=False)
    assert (done.returncode, done.stdout) == (3, "a b c\n")


def test_the_health_check_handles_a_server_without_api_and_a_hanging_one(contain):
    ports = live_server.Ports()
    plain = contain("-c", "conf/rtmp.conf", SRS_LISTEN=f"127.0.0.1:{ports['rtmp']}").run(ready=False)
    wait_until(lambda: can_connect(ports["rtmp"]), 20, "it listens")
    assert plain.is_healthy()
    plain.stop()
    assert not plain.is_healthy()
    live = contain()
    live.environment |= ports_environment(live.ports)
    live.run()
    live.process.send_signal(signal.SIGSTOP)
    try:
        assert not live.is_healthy(), "it accepts, and answers nothing"
    finally:
        live.process.send_signal(signal.SIGCONT)
    live.stop()


def end_daemon(pid_file: Path) -> None:
    """The pid file is locked, and its number a server's, for as long as that lives."""
    if pid_file.exists() and pid_file.read_text():
        pid = int(pid_file.read_text())
        if Path(f"/proc/{pid}/exe").exists() and Path(f"/proc/{pid}/exe").resolve() == BINARY:
            os.kill(pid, signal.SIGTERM)


def test_in_a_container_a_daemon_stays_and_writes_to_the_console(server, tmp_path, request):
    text = conf().replace("daemon              off;", "daemon on;").replace("srs_log_tank        console;", "")
    # A server that detaches itself all the same is not the fixture's child.
    request.addfinalizer(lambda: end_daemon(tmp_path / "daemon.pid"))
    live = server(conf=text, environment={"container": "podman", "SRS_PID": str(tmp_path / "daemon.pid")})
    live.assert_alive()
    live.wait_log("the log goes to the console")


def test_docker_stop_finishes_recordings_in_time(contain, image, clip):
    live = contain(SRS_VHOST_DVR_ENABLED="on")
    live.environment |= ports_environment(live.ports)
    live.run()
    publisher = FfmpegPublisher(live.url("cam", app="recorded"), clip("basic"), speed=4)
    try:
        wait_until(lambda: any(one["duration"] > 2 for one in live.api("/api/v1/dvrs")["dvrs"]), 20, "two seconds are recorded")
        assert live.stop(getattr(signal, last(stages()["millrace"], "STOPSIGNAL")), limit_s=DOCKER_STOP_S) < DOCKER_STOP_S
    finally:
        publisher.kill()
    (recording,) = [path for path in whole_files(image / "objs/dvr/recorded") if path.suffix == ".flv"]
    assert_decodes(recording, 45)
    assert not list(image.rglob("*.tmp"))
