"""The process seen from a shell: options, exit codes, pid file, signals, environment, daemon, limits."""

import http.client
import os
import re
import resource
import signal
import socket
import subprocess
import time
import urllib.error
import urllib.request
from pathlib import Path

import pytest

import live_server
from live_server import BINARY, LiveServer, can_connect, conf, free_port, wait_until, wait_within
from players import FfmpegPublisher, wait_playable
from rtmp_client import VIDEO, Bystander, Player, RtmpClient, is_welcome

CONFIG_ERROR, ALREADY_RUNNING, LISTEN_FAILED = 255, 11, 235
# A graceful stop takes more than 5 s; a busy machine may keep a process waiting for two.
AT_ONCE_S = 4.0


def run(*arguments, cwd=None, environment=None, limit_s=30) -> subprocess.CompletedProcess:
    clean = {k: v for k, v in os.environ.items() if not k.startswith("SRS_")}
    return subprocess.run([str(BINARY), *map(str, arguments)], capture_output=True, text=True, timeout=limit_s, cwd=cwd, check=False,
                          env={**clean, **(environment or {})})


@pytest.mark.parametrize("option", ["-v", "-V", "--version"])
def test_version_prints_only_the_version(option):
    done = run(option)
    assert done.returncode == 0 and re.fullmatch(r"7\.\d+\.\d+\n", done.stdout)


def test_signature():
    done = run("-g")
    assert done.returncode == 0 and re.fullmatch(r"\S+/7\.\d+\.\d+\(\S+\)\n", done.stdout)


@pytest.mark.parametrize("arguments", [[], ["-h"], ["--help"], ["-?"], ["start"]], ids=str)
def test_help_names_the_options_and_the_signals(arguments):
    done = run(*arguments)
    assert done.returncode == 0
    for word in ("-c", "-t", "-v", "-e", "SIGHUP", "SIGUSR1", "SIGTERM", "SIGQUIT"):
        assert word in done.stdout, word


@pytest.mark.parametrize("arguments", [["-x"], ["-c"]], ids=str)
def test_wrong_options_exit_with_a_config_error(arguments):
    done = run(*arguments)
    assert done.returncode == CONFIG_ERROR and done.stdout + done.stderr


def test_test_mode_accepts_a_valid_file(tmp_path):
    server = LiveServer(tmp_path, conf())
    done = run("-t", "-c", server.conf_path, cwd=tmp_path)
    out = done.stdout + done.stderr
    assert done.returncode == 0 and "syntax is ok" in out and "is successful" in out and str(server.conf_path) in out
    assert not (tmp_path / "srs.pid").exists()


def test_test_mode_refuses_an_invalid_file(tmp_path):
    server = LiveServer(tmp_path, conf(root="max_conections 5;\n"))
    done = run("-t", "-c", server.conf_path, cwd=tmp_path)
    assert done.returncode == CONFIG_ERROR and "failed" in (done.stdout + done.stderr).lower()


def test_a_missing_file_is_a_config_error(tmp_path):
    done = run("-c", tmp_path / "absent.conf", cwd=tmp_path)
    assert done.returncode == CONFIG_ERROR and "absent.conf" in done.stdout + done.stderr


def test_sigterm_stops_fast_with_clients_connected(server, clip):
    live = server()
    url = live.url("cam")
    publisher = FfmpegPublisher(url, clip("basic"))
    wait_playable(url)
    player = Player(live.ports["rtmp"], "cam")
    player.start()
    time.sleep(0.5)
    assert live.stop(signal.SIGTERM) < AT_ONCE_S
    publisher.kill()
    player.stop()
    assert "the server has stopped without waiting for clients" in live.log()


def test_sigint_stops_too(server):
    assert server().stop(signal.SIGINT) < AT_ONCE_S


def test_sigquit_waits_for_the_last_client(server, clip):
    live = server(root="grace_start_wait 300; grace_final_wait 20000;\n")
    client = RtmpClient(live.ports["rtmp"])
    client.play("cam")
    idle = http.client.HTTPConnection("127.0.0.1", live.ports["api"])
    idle.request("GET", "/api/v1/versions")
    assert idle.getresponse().read()
    live.process.send_signal(signal.SIGQUIT)
    wait_until(lambda: not live_server.can_connect(live.ports["rtmp"]), 10, "it listens no more")
    time.sleep(1)
    assert live.process.poll() is None, "it did not wait for its client"
    client.close()
    # It does not wait for a connection without a request (that would be 15 s).
    wait_within(lambda: live.process.poll() is not None, 12, (live,), "it ends")
    idle.close()
    live.stop()


def test_sigterm_ends_a_graceful_stop_at_once(server):
    live = server(root="grace_start_wait 300; grace_final_wait 20000;\n")
    with RtmpClient(live.ports["rtmp"]) as client:
        client.play("cam")
        live.process.send_signal(signal.SIGQUIT)
        live.wait_log("graceful quit waits")
        assert live.stop(signal.SIGTERM) < AT_ONCE_S


def test_the_pid_file_holds_the_pid_and_locks_out_a_second_server(server):
    live = server()
    pid_file = live.folder / "srs.pid"
    assert pid_file.read_text() == str(live.process.pid)
    second = LiveServer(live.folder.parent / "second", conf().replace("$folder/srs.pid", str(pid_file)))
    second.start(ready=False)
    assert second.process.wait(20) == ALREADY_RUNNING
    assert "already running" in second.log()
    assert pid_file.read_text() == str(live.process.pid)
    live.assert_alive()


def test_a_taken_port_is_an_error_with_its_own_status(tmp_path):
    with socket.socket() as taken:
        taken.bind(("127.0.0.1", free_port()))
        taken.listen()
        server = LiveServer(tmp_path, conf(), ports=live_server.Ports(rtmp=taken.getsockname()[1]))
        server.start(ready=False)
        assert server.process.wait(20) == LISTEN_FAILED
        assert str(taken.getsockname()[1]) in server.log()


def test_reload_takes_a_good_file_and_keeps_old_settings_with_a_bad_one(server, clip):
    live = server("play { gop_cache on; }")
    with Bystander(live.ports["rtmp"], clip("basic")) as bystander:
        live.write_conf(conf("play { gop_cache on; }", root="not_a_directive 1;\n"))
        live.process.send_signal(signal.SIGHUP)
        live.wait_log("not_a_directive", 15)
        live.assert_alive()
        more = live_server.free_port()
        live.ports["second"] = more
        live.write_conf(conf("play { gop_cache off; }").replace("listen              127.0.0.1:$rtmp;",
                                                                "listen 127.0.0.1:$rtmp 127.0.0.1:$second;"))
        live.process.send_signal(signal.SIGHUP)
        wait_until(lambda: live_server.can_connect(more), 15, "the new endpoint listens after a reload")
        # gop_cache off: a new player gets no burst.
        wait_until(lambda: 40 < bystander.publisher.frames_since_key() < 48, 10, "the end of a GOP", 0.01)
        player = Player(more, "bystander")
        player.start()
        wait_until(lambda: sum(m.type == VIDEO for m in player.messages) > 10, 15, "pictures")
        first = next(m for m in player.stop() if m.type == VIDEO and not m.is_sequence_header())
        assert not first.is_key_frame() or bystander.publisher.sent_at[first.mark()] > player.asked_at - 0.5, "the cache is still on"


def test_sigusr1_reopens_the_log(tmp_path):
    log = tmp_path / "srs.log"
    text = conf().replace("srs_log_tank        console;", f"srs_log_tank file; srs_log_file {log};")
    server = LiveServer(tmp_path, text).start()
    try:
        with RtmpClient(server.ports["rtmp"]) as client:
            client.connect()
        wait_until(lambda: log.stat().st_size > 0, 15, "something in the log")
        log.rename(tmp_path / "srs.log.1")
        server.process.send_signal(signal.SIGUSR1)
        wait_until(log.exists, 15, "a new log file")
        with RtmpClient(server.ports["rtmp"]) as client:
            client.connect()
        wait_until(lambda: log.stat().st_size > 0, 15, "something in the new log")
        server.process.send_signal(signal.SIGTERM)
        assert server.process.wait(15) == 0
        assert "srs terminated" in log.read_text().strip().splitlines()[-1]
    finally:
        server.kill()


def test_environment_only(tmp_path):
    rtmp, api = free_port(), free_port()
    names = {"SRS_LISTEN": f"127.0.0.1:{rtmp}", "SRS_HTTP_API_ENABLED": "on", "SRS_HTTP_API_LISTEN": f"127.0.0.1:{api}",
             "SRS_PID": str(tmp_path / "srs.pid"), "SRS_VHOST_PLAY_GOP_CACHE": "off"}
    server = LiveServer(tmp_path, "", ports=live_server.Ports(rtmp=rtmp, api=api), environment=names)
    try:
        server.start(["-e"])
        with RtmpClient(rtmp) as client:
            assert client.connect()["code"] == "NetConnection.Connect.Success"
        server.stop()
    finally:
        server.kill()


def status_of(port: int, path: str, method: str = "GET", token: str | None = None) -> tuple[int, str | None]:
    """The status, and how the server wants to be asked."""
    request = urllib.request.Request(f"http://127.0.0.1:{port}{path}", data=b"v=0" if method == "POST" else None, method=method)
    if method == "POST":
        request.add_header("Content-Type", "application/sdp")
    if token is not None:
        request.add_header("Authorization", f"Bearer {token}")
    try:
        with urllib.request.urlopen(request, timeout=10) as answer:
            return answer.status, None
    except urllib.error.HTTPError as error:
        return error.code, error.headers["WWW-Authenticate"]


def test_environment_only_with_the_names_of_newer_guides(tmp_path):
    rtmp, api, rtc = free_port(), free_port(), free_port()
    names = {"SRS_RTMP_ENABLED": "on", "SRS_RTMP_LISTEN": f"127.0.0.1:{rtmp}", "SRS_RTMP_CHUNK_SIZE": "4096", "SRS_HTTP_API_ENABLED": "on",
             "SRS_HTTP_API_LISTEN": f"127.0.0.1:{api}", "SRS_PID": str(tmp_path / "srs.pid"), "SRS_RTC_SERVER_ENABLED": "on",
             "SRS_RTC_SERVER_LISTEN": f"127.0.0.1:{rtc}", "SRS_VHOST_RTC_ENABLED": "on", "SRS_HTTP_API_AUTH_ENABLED": "on",
             "SRS_HTTP_API_AUTH_TOKEN": "hush", "SRS_HTTP_API_AUTH_RTC_BEARER_ENABLED": "on"}
    server = LiveServer(tmp_path, "", ports=live_server.Ports(rtmp=rtmp, api=api), environment=names)
    try:
        server.start(["-e"], ready=False)
        wait_until(lambda: can_connect(rtmp) and can_connect(api), 20, server.log)
        assert "sets nothing" not in server.log().replace("SRS_BINARY sets nothing", "")
        with RtmpClient(rtmp) as client:
            assert client.connect()["code"] == "NetConnection.Connect.Success"
        for path, method in (("/api/v1/versions", "GET"), ("/rtc/v1/whip/?app=live&stream=cam", "POST")):
            assert status_of(api, path, method) == (401, "Bearer"), path
            # An address that has sent a wrong token must wait.
            wait_until(lambda path=path, method=method: status_of(api, path, method, "hust") == (401, "Bearer"), 20, path)
            wait_until(lambda path=path, method=method: status_of(api, path, method, "hush")[0] not in (401, 503), 20, path)
        server.stop()
    finally:
        server.kill()


@pytest.mark.parametrize("enabled, missing", [("SRS_HTTP_API_AUTH_ENABLED", "SRS_HTTP_API_AUTH_TOKEN"), ("SRS_HEARTBEAT_AUTH_ENABLED", "SRS_HEARTBEAT_AUTH_TOKEN")])
def test_authentication_without_a_token_names_its_variable(tmp_path, enabled, missing):
    environment = {"SRS_RTMP_LISTEN": f"127.0.0.1:{free_port()}", "SRS_PID": str(tmp_path / "srs.pid"), "SRS_HTTP_API_ENABLED": "on",
                   "SRS_HTTP_API_LISTEN": f"127.0.0.1:{free_port()}", "SRS_HEARTBEAT_ENABLED": "on", enabled: "on"}
    for options in (["-t", "-e"], ["-e"]):
        done = run(*options, cwd=tmp_path, environment=environment)
        assert done.returncode == CONFIG_ERROR and missing in done.stderr, f"{options}: {done.returncode} {done.stderr}"


def test_a_server_may_be_without_rtmp(tmp_path):
    rtmp, api = free_port(), free_port()
    text = f"rtmp {{ enabled off; listen 127.0.0.1:{rtmp}; }}\ndaemon off; srs_log_tank console; pid $folder/srs.pid;\n"
    text += f"http_api {{ enabled on; listen 127.0.0.1:{api}; }}\nvhost __defaultVhost__ {{ }}\n"
    server = LiveServer(tmp_path, text, ports=live_server.Ports(rtmp=rtmp, api=api), environment={"SRS_LISTEN": f"127.0.0.1:{rtmp}"})
    try:
        server.start(ready=False)
        wait_until(lambda: can_connect(api), 20, server.log)
        assert not can_connect(rtmp)
        server.stop()
    finally:
        server.kill()


def test_the_environment_wins_over_the_file(tmp_path):
    other = free_port()
    server = LiveServer(tmp_path, conf(), environment={"SRS_LISTEN": f"127.0.0.1:{other}"})
    server.ports["rtmp"] = other
    try:
        server.start()
        server.stop()
    finally:
        server.kill()


def daemon_is_gone(pid: int) -> bool:
    try:
        return Path(f"/proc/{pid}/stat").read_text().split()[2] == "Z"
    except FileNotFoundError:
        return True


def test_daemon_mode_returns_at_once_and_runs_on(tmp_path):
    log = tmp_path / "srs.log"
    text = conf().replace("daemon              off;", "daemon on; disable_daemon_for_docker off;").replace(
        "srs_log_tank        console;", f"srs_log_tank file; srs_log_file {log};")
    server = LiveServer(tmp_path, text)
    done = run("-c", server.conf_path, cwd=tmp_path)
    assert done.returncode == 0 and "tail" in done.stdout
    wait_until((tmp_path / "srs.pid").exists, 15, "a pid file")
    pid = int(wait_until((tmp_path / "srs.pid").read_text, 15, "a pid in it"))
    try:
        wait_until(lambda: live_server.can_connect(server.ports["rtmp"]), 20, "the daemon listens")
        assert os.getsid(pid) != os.getsid(0)
    finally:
        os.kill(pid, signal.SIGTERM)
    wait_until(lambda: daemon_is_gone(pid), 20, "the daemon ends on SIGTERM")
    assert "srs terminated" in log.read_text().strip().splitlines()[-1]


def test_a_low_limit_of_open_files_is_a_warning_and_a_clamp(tmp_path):
    def lower():
        resource.setrlimit(resource.RLIMIT_NOFILE, (300, 300))

    server = LiveServer(tmp_path, conf().replace("max_connections     1000;", "max_connections 10240;"))
    try:
        server.start(preexec=lower)
        server.wait_log("10240")
        warning = [line for line in server.complaints() if "10240" in line]
        assert warning and "300" in warning[0], "no warning with both numbers:\n" + "\n".join(server.complaints())
        # Whether or not it may raise the limit, it must serve.
        with RtmpClient(server.ports["rtmp"]) as client:
            client.connect()
        server.stop()
    finally:
        server.kill()


def test_the_soft_limit_is_raised_to_the_hard_one(tmp_path):
    hard = resource.getrlimit(resource.RLIMIT_NOFILE)[1]
    server = LiveServer(tmp_path, conf())
    try:
        server.start(preexec=lambda: resource.setrlimit(resource.RLIMIT_NOFILE, (256, hard)))
        limits = Path(f"/proc/{server.process.pid}/limits").read_text()
        soft = int(re.search(r"Max open files\s+(\d+)", limits).group(1))
        assert soft >= 1128, f"the soft limit is {soft}, too little for 1,000 connections"
        server.stop()
    finally:
        server.kill()


def test_running_out_of_files_refuses_newcomers_and_recovers(tmp_path, clip):
    server = LiveServer(tmp_path, conf())
    try:
        server.start(preexec=lambda: resource.setrlimit(resource.RLIMIT_NOFILE, (200, 200)))
        with Bystander(server.ports["rtmp"], clip("basic")):
            crowd = [RtmpClient(server.ports["rtmp"]) for _ in range(260)]
            time.sleep(1)
            for client in crowd:
                client.close()
            wait_until(lambda: is_welcome(server), 15, "it serves again")
        server.stop()
    finally:
        server.kill()


def test_log_lines_have_the_agreed_form_and_keywords(server, clip):
    live = server()
    with FfmpegPublisher(live.url("cam"), clip("basic")):
        wait_playable(live.url("cam"))
        with RtmpClient(live.ports["rtmp"]) as client:
            client.play("cam")
            time.sleep(0.5)
    live.wait_log("cleanup when unpublish")
    live.wait_log("client disconnect peer. ret=1007")
    log = live.log()
    form = re.compile(r"^\[\d{4}-\d\d-\d\d \d\d:\d\d:\d\d\.\d{3}\]\[(TRACE|DEBUG|INFO|WARN|ERROR)\]\[\d+\]\[[0-9a-z]{8}\]")
    odd = [line for line in log.splitlines() if line and not form.match(line)]
    assert not odd, "lines of another form:\n" + "\n".join(odd[:5])
    for words in ("RTMP listen at tcp://127.0.0.1", "signal installed, reload=1, reopen=10, fast_quit=15, grace_quit=3", "RTMP client ip=127.0.0.1",
                  "connect app, tcUrl=", "client identified, type=fmle-publish", "source url=/live/cam", "start publish mr=0/350, p1stpt=20000, pnt=5000",
                  "start play smi=0ms, mw_sleep=350, mw_msgs=8, realtime=0", "got metadata, width=640, height=360", "audio sh, codec(10", "video sh, codec(7",
                  "client disconnect peer. ret=1007"):
        assert words in log, words


def test_a_changed_conf_file_is_loaded(server):
    """inotify_auto_reload: after a write in place, and after a file was moved there."""
    live = server(root="inotify_auto_reload on; srs_log_level trace;")
    first = live.conf_path.read_text()
    live.conf_path.write_text(first.replace("max_connections     1000", "max_connections     900"))
    live.wait_log("reload: max_connections was 1000, is 900")
    live.wait_log("reload finished, code=0")
    other = live.folder / "other.conf"
    other.write_text(first.replace("max_connections     1000", "max_connections     800"))
    other.rename(live.conf_path)
    live.wait_log("reload: max_connections was 900, is 800")
    live.conf_path.write_text("listen nonsense;")
    live.wait_log("reload finished, keeping the current settings, code=1023")
