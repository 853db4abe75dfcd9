"""Conf files with every kind of error: status 255, and a message with the file, the line, the column and what would have been right."""

import signal
import subprocess

import pytest

from live_server import BINARY, TRUNK, conf, wait_until

GOOD = "listen 25999;\nmax_connections 10;\ndaemon off;\nsrs_log_tank console;\n"

# name: (text, line, column or None, words of the message)
BAD = {
    "unknown directive": (GOOD + "listenn 1;\n", 5, 1, ["listenn", '"listen"']),
    "unknown in a block": (GOOD + "http_api {\n    enabeld on;\n}\n", 6, 5, ["enabeld", '"enabled"']),
    "unknown in a vhost": (GOOD + "vhost a {\n  play {\n    gop_cach on;\n  }\n}\n", 7, 5, ["gop_cach", '"gop_cache"']),
    "unknown block in a vhost": (GOOD + "vhost a {\n  plya {\n  }\n}\n", 6, 3, ["plya", '"play"']),
    "newline before the semicolon": ("listen 25999\nmax_connections 10;\n", 1, None, []),
    "end of file in a block": (GOOD + "vhost a {\n  enabled on;\n", None, None, ["}"]),
    "end of file in a directive": (GOOD + "chunk_size 60000", 5, None, [";"]),
    "stray closing brace": (GOOD + "}\n", 5, 1, []),
    "stray opening brace": (GOOD + "{\n", 5, 1, []),
    "stray semicolon": (GOOD + ";\n", 5, 1, []),
    "unclosed quote": (GOOD + 'pid "abc;\n', 5, None, []),
    "text behind a quote": (GOOD + 'pid "abc"def;\n', 5, None, []),
    "number with letters": (GOOD + "chunk_size 12x;\n", 5, None, ["chunk_size", "12x"]),
    "number too large": (GOOD + "pithy_print_ms 99999999999999999999;\n", 5, None, ["pithy_print_ms"]),
    "negative number": ("listen 25999;\nmax_connections -5;\n", 2, None, ["max_connections"]),
    "zero connections": ("listen 25999;\nmax_connections 0;\n", 2, None, ["max_connections"]),
    "word not of the list": (GOOD + "vhost a {\n  play {\n    time_jitter fulll;\n  }\n}\n", 7, None, ["time_jitter", "fulll", "full"]),
    "port too large": ("listen 70000;\n", 1, None, ["listen", "70000"]),
    "port is no number": ("listen abc;\n", 1, None, ["listen", "abc"]),
    "address is no address": ("listen 300.1.2.3:1935;\n", 1, None, ["listen"]),
    "include of nothing": (GOOD + "include absent.conf;\n", 5, None, ["absent.conf"]),
    "file log without a name": ("listen 25999;\nsrs_log_tank file;\nsrs_log_file \"\";\n", None, None, ["srs_log_file"]),
    "asprocess and daemon": ("listen 25999;\ndaemon on;\ndisable_daemon_for_docker off;\nasprocess on;\n", None, None, ["asprocess", "daemon"]),
    "kickoff and forward": (GOOD + "vhost a {\n  publish { kickoff_for_idle 5; }\n  forward { enabled on; destination 127.0.0.1:1; }\n}\n", None, None,
                            ["kickoff_for_idle", "forward"]),
    "two ingests of one id": (GOOD + "vhost a {\n  ingest x { }\n  ingest x { }\n}\n", None, None, ["ingest", "x"]),
    "trusted by no network": (GOOD + "limits { trusted 10.0.0.0/8 10.0.0.0/99; }\n", None, None, ["limits.trusted", "10.0.0.0/99"]),
    "a limit of nothing": (GOOD + "limits {\n  connections_per_ip 0;\n}\n", 6, None, ["connections_per_ip"]),
    "edge without an origin": (GOOD + "vhost a {\n  cluster { mode remote; }\n}\n", None, None, ["vhost a", "cluster.mode", "origin"]),
    "destination without a value": (GOOD + "vhost a {\n  forward {\n    enabled on;\n    destination ;\n  }\n}\n", 8, 5, ["destination"]),
    "switch that is neither on nor off": (GOOD + "vhost a {\n  hls {\n    enabled true;\n  }\n}\n", 7, 13, ["enabled", "true", "on or off"]),
    "recording of another container": (GOOD + "vhost a {\n  dvr { enabled on; dvr_path x.mkv; }\n}\n", None, None, ["dvr_path", "x.mkv", ".mp4"]),
    "candidate that is no address": (GOOD + "rtc_server { enabled on; candidate not_an_ip!; }\n", None, None, ["candidate", "not_an_ip!"]),
    "fragments of one name": (GOOD + "vhost a {\n  hls { enabled on; hls_ts_file a.ts; }\n}\n", None, None, ["hls_ts_file", "[seq]"]),
    "two services at one port": (GOOD + "http_api { enabled on; listen 25999; }\n", None, None, ["listen", "http_api.listen", "25999"]),
    "documentation sample": (GOOD + "is_full on;\n", None, None, ["is_full"]),
}


def test_conf(path, folder) -> subprocess.CompletedProcess:
    return subprocess.run([str(BINARY), "-t", "-c", str(path)], capture_output=True, text=True, timeout=60, cwd=folder, check=False)


test_conf.__test__ = False  # A helper named after the option it uses.


@pytest.mark.parametrize("case", list(BAD))
def test_a_bad_conf_is_refused_with_its_place(tmp_path, case):
    text, line, column, words = BAD[case]
    path = tmp_path / "bad.conf"
    path.write_text(text)
    done = test_conf(path, tmp_path)
    out = done.stdout + done.stderr
    assert done.returncode == 255, f"status {done.returncode}: {out}"
    assert "bad.conf" in out
    if line is not None:
        assert f"line {line}" in out and f"bad.conf:{line}:" in out, f"line {line} is not named: {out}"
    if column is not None:
        assert f"bad.conf:{line}:{column}" in out, f"column {column} is not named: {out}"
    for word in words:
        assert word in out, f"{word} is not named: {out}"


@pytest.mark.parametrize("text", ["", "# only a comment\n", "\x00\x01\x02", "listen " + "1" * 100_000 + ";", "a {" * 5000], ids=["empty", "comment", "binary", "long", "deep"])
def test_odd_files_are_refused_not_fatal(tmp_path, text):
    path = tmp_path / "odd.conf"
    path.write_text(text)
    assert test_conf(path, tmp_path).returncode == 255


def test_the_rtsp_caster_of_old_files_is_a_warning(tmp_path):
    path = tmp_path / "old.conf"
    path.write_text(GOOD + "pid x.pid;\nvhost a { }\nstream_caster {\n  enabled on;\n  caster rtsp;\n  listen 554;\n"
                    "  output rtmp://127.0.0.1/[app]/[stream];\n  rtp_port_min 57200;\n  rtp_port_max 57300;\n}\n")
    done = test_conf(path, tmp_path)
    assert done.returncode == 0 and "rtsp_server" in done.stderr and "554" in done.stderr, done.stdout + done.stderr


def test_a_running_start_with_a_bad_conf_has_the_same_status(tmp_path):
    path = tmp_path / "bad.conf"
    path.write_text(BAD["unknown directive"][0])
    done = subprocess.run([str(BINARY), "-c", str(path)], capture_output=True, text=True, timeout=60, cwd=tmp_path, check=False)
    assert done.returncode == 255 and "bad.conf:5:1" in done.stdout + done.stderr


OLDEST = """\
listen 25999;
max_connections 10240;
daemon off;
srs_log_tank console;
http_stream { enabled off; listen 25998; }
vhost __defaultVhost__ {
    gop_cache on;
    queue_length 10;
    mr { enabled off; latency 350; }
    mw_latency 350;
    forward 127.0.0.1:19350;
    refer github.com;
    publish_1stpkt_timeout 20000;
    bandcheck { enabled off; }
}
"""


def test_a_conf_of_the_oldest_generation_loads(tmp_path):
    (tmp_path / "objs").mkdir()  # where its log and pid file would be
    path = tmp_path / "old.conf"
    path.write_text(OLDEST)
    done = test_conf(path, tmp_path)
    assert done.returncode == 0, done.stdout + done.stderr


def test_an_ingest_needs_no_id(tmp_path):
    """As in the reference's demo.conf and ingest.rtsp.conf."""
    (tmp_path / "objs").mkdir()
    path = tmp_path / "ingest.conf"
    path.write_text(GOOD + "vhost a {\n  ingest {\n    enabled off;\n    input { type file; url ./a.flv; }\n"
                    "    engine { enabled off; output rtmp://127.0.0.1/live/a; }\n  }\n}\n")
    done = test_conf(path, tmp_path)
    assert done.returncode == 0, done.stdout + done.stderr


# A *.vhost.conf is a piece that another file includes.
SHIPPED = [path for path in sorted((TRUNK / "conf").glob("*.conf")) if not path.name.endswith(".vhost.conf")]


@pytest.mark.parametrize("path", SHIPPED, ids=lambda p: p.name)
def test_every_shipped_conf_is_valid(path):
    done = test_conf(path, TRUNK)
    if path.name == "full.conf":  # It documents every directive and is marked as not runnable.
        assert done.returncode in (0, 255)
        return
    assert done.returncode == 0, done.stdout + done.stderr


# A conf as it comes from an older server: more warnings than a burst of the log's limit has.
OLD_VHOST = """gop_cache on; queue_length 10; time_jitter full; mix_correct off; atc off; mw_latency 350; send_min_interval 0; chunk_size 4096;
    reduce_sequence_header on; forward 127.0.0.1:1;
    publish_1stpkt_timeout 20000; hds { enabled on; } rtsp { enabled on; }"""
OLD_ROOT = "stream_caster { enabled on; caster rtsp; listen 9000; }\nsrt_server { enabled on; listen $srt; }\n"


def test_each_warning_of_a_conf_is_in_the_log_and_in_the_api(server, tmp_path):
    live = server(conf=conf(vhost=OLD_VHOST, root=OLD_ROOT))
    tested = test_conf(live.conf_path, tmp_path).stderr.splitlines()
    warnings = [line.removeprefix("warning: ") for line in tested if line.startswith("warning: ") and "SRS_BINARY" not in line]
    assert len(warnings) > 12 and any("vhost.hds" in one for one in warnings) and any("no virtual host has srt" in one for one in warnings), warnings
    log = live.log()
    assert not [one for one in warnings if one not in log] and "more like this" not in log, log
    answer = live.api("/api/v1/configs/warnings")
    assert answer["code"] == 0 and not [one for one in warnings if one not in answer["warnings"]], answer
    live.write_conf(conf(vhost="hls { enabled on; hls_fragment 0; }"))
    live.process.send_signal(signal.SIGHUP)
    wait_until(lambda: [one for one in live.api("/api/v1/configs/warnings")["warnings"] if "hls_fragment is 0" in one], 20, live.log)
    assert not [one for one in live.api("/api/v1/configs/warnings")["warnings"] if "vhost.hds" in one]


def test_a_server_in_the_foreground_of_a_container_explains_it(server):
    live = server(conf=conf(root="in_docker on;\n").replace("daemon              off;", "daemon on;"))
    lines = [line for line in live.log().splitlines() if "stays in the foreground" in line]
    assert len(lines) == 1 and "disable_daemon_for_docker off" in lines[0], live.log()
    # A conf that states it needs no reason here.
    live = server(conf=conf(root="in_docker on;\n"))
    assert "stays in the foreground" not in live.log()
