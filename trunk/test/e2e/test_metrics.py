"""The text for Prometheus by the rules of its format and its naming conventions (as `promtool check metrics` has them), and the series of single
streams."""

import re
import ssl
import subprocess
import sys
import urllib.request
from collections import defaultdict

import pytest

from live_server import ROOT_CONF, TRUNK, wait_until
from rtmp_client import Player, Publisher

sys.path.insert(0, str(TRUNK / "tools/manual"))
import facts  # pylint: disable=wrong-import-position

pytestmark = pytest.mark.workers

ROOT = ("exporter { enabled on; listen 127.0.0.1:$exporter; %s }\nrtc_server { enabled on; listen 127.0.0.1:$udp; }\n"
        "srt_server { enabled on; listen 127.0.0.1:$srt; }\n")
VHOST = ("http_remux { enabled on; mount [vhost]/[app]/[stream].flv; }\nrtc { enabled on; }\nsrt { enabled on; }\nhls { enabled on; }\n"
         "dvr { enabled on; dvr_path $folder/rec/[stream].mp4; }\nforward { enabled on; destination 127.0.0.1:9; }\n")
SAMPLE = re.compile(r'([a-z][a-z0-9_]*)(?:\{((?:[a-z_][a-z0-9_]*="(?:[^"\\\n]|\\[\\"n])*",?)*)\})? (-?[0-9.]+(?:e[+-]?[0-9]+)?|\+Inf|NaN)')
LABEL = re.compile(r'([a-z_][a-z0-9_]*)="((?:[^"\\\n]|\\[\\"n])*)"')
TYPES = {"gauge", "counter", "histogram", "summary"}
# promtool's: base units, no abbreviations, no type in the name.
OTHER_UNITS = {"ms", "milliseconds", "us", "microseconds", "minutes", "hours", "days", "kb", "kib", "kbps", "mb", "mib", "kilobytes", "megabytes", "bits",
               "percent", "s", "sec", "secs", "b", "hz"}
# Names that the family has, and that its dashboards ask for.
OF_THE_FAMILY = "srs_"
# The previous names of ours, until 7.2.
PREVIOUS = "live_"


class Family:
    def __init__(self, name: str, text: str):
        self.name, self.help, self.type, self.samples = name, text, "", []


def read(text: str) -> dict[str, Family]:
    """Families by name. Fails for text that is not of the format 0.0.4."""
    families: dict[str, Family] = {}
    family, series = None, set()
    assert text.endswith("\n")
    for line in text[:-1].split("\n"):
        if line.startswith("# HELP "):
            _, _, name, about = line.split(" ", 3)
            assert name not in families, f"{name} twice"
            family = families[name] = Family(name, about)
        elif line.startswith("# TYPE "):
            _, _, name, kind = line.split(" ")
            assert family is not None and name == family.name and not family.samples and not family.type and kind in TYPES, line
            family.type = kind
        else:
            match = SAMPLE.fullmatch(line)
            assert match, f"no sample: {line}"
            labels = LABEL.findall(match[2] or "")
            assert len(dict(labels)) == len(labels), f"a label twice: {line}"
            key = (match[1], tuple(sorted(labels)))
            assert key not in series, f"a series twice: {line}"
            series.add(key)
            suffix = match[1].removeprefix(family.name)
            assert match[1].startswith(family.name) and suffix in (("_bucket", "_sum", "_count") if family.type == "histogram" else ("",)), line
            family.samples.append((suffix, dict(labels), float(match[3])))
    return families


def faults(family: Family) -> list[str]:
    """As promtool complains."""
    words, found = family.name.split("_"), []
    if not family.help.endswith(".") or len(family.help) < 10:
        found.append(f"the help is no sentence: {family.help}")
    if not family.type:
        found.append("no type")
    if (family.type == "counter") != family.name.endswith("_total"):
        found.append(f"a {family.type}, and the name")
    if family.type != "histogram" and words[-1] in ("bucket", "sum", "count"):
        found.append("a suffix of histograms")
    if set(words) & TYPES:
        found.append("the type in the name")
    if set(words) & OTHER_UNITS:
        found.append(f"a unit that is no base unit: {set(words) & OTHER_UNITS}")
    for unit in ("seconds", "bytes"):
        if unit in words and words[-1] not in (unit, "total", "max") and words[-2:] != [unit, "total"]:
            found.append(f"{unit} not at the end")
    for suffix, labels, value in family.samples:
        if ("le" in labels) != (suffix == "_bucket"):
            found.append(f"the label le: {labels}")
        if set(labels) & {family.name, "job", "instance"}:
            found.append(f"labels that Prometheus sets: {labels}")
        if family.type == "counter" and value < 0:
            found.append("a counter below 0")
    if family.type == "histogram":
        found += histogram_faults(family)
    return [f"{family.name}: {one}" for one in found]


def histogram_faults(family: Family) -> list[str]:
    buckets, counts = defaultdict(list), {}
    for suffix, labels, value in family.samples:
        key = tuple(sorted((name, text) for name, text in labels.items() if name != "le"))
        if suffix == "_bucket":
            buckets[key].append((float(labels["le"]), value))
        elif suffix == "_count":
            counts[key] = value
    found = []
    for key, rows in buckets.items():
        if rows != sorted(rows) or [count for _, count in rows] != sorted(count for _, count in rows) or rows[-1] != (float("inf"), counts.get(key)):
            found.append(f"buckets: {rows}")
    return found


def metrics(live, path: str = "/metrics") -> str:
    with urllib.request.urlopen(f"http://127.0.0.1:{live.ports['exporter']}{path}", timeout=10) as answer:
        assert answer.headers["Content-Type"] == "text/plain; version=0.0.4; charset=utf-8"
        return answer.read().decode()


@pytest.mark.workers(always=True)
def test_metrics_follow_the_conventions(server, clip):
    live = server(VHOST, root=ROOT % "streams on;")
    publisher = Publisher(live.ports["rtmp"], "cam", clip("basic"))
    publisher.start()
    player = Player(live.ports["rtmp"], "cam")
    player.start()
    wait_until(lambda: 'millrace_stream_published{stream="/live/cam"} 1\n' in metrics(live), 15, "the stream has series")
    for path in ("/metrics", "/metrics/streams"):
        families = read(metrics(live, path))
        own = {name: family for name, family in families.items() if not name.startswith((OF_THE_FAMILY, PREVIOUS))}
        assert len(own) > (60 if path == "/metrics" else 9) and all(name.startswith("millrace_") for name in own), sorted(own)
        wrong = [one for family in own.values() for one in faults(family)]
        assert not wrong, "\n".join(wrong)
        assert all(family.type and family.help for family in families.values())
        # The manual lists them as they are served; it has them from the sources.
        listed = {name: (kind, about) for name, kind, about in facts.metrics_of(TRUNK)}
        served = {name: (family.type, family.help) for name, family in families.items() if not name.startswith(PREVIOUS)}
        assert {name: family for name, family in served.items() if listed.get(name) != family} == {}
    player.stop()
    publisher.stop()


def test_faults_are_found():
    def of(name: str, kind: str, about: str = "A sentence about it.", samples: str = "NAME 1\n") -> list[str]:
        text = f"# HELP {name} {about}\n# TYPE {name} {kind}\n" + samples.replace("NAME", name)
        return faults(read(text)[name])
    assert not of("a_bytes_total", "counter") and not of("a_delay_seconds", "gauge")
    assert of("a_bytes", "counter") and of("a_total", "gauge") and of("a_gauge", "gauge") and of("a_delay_ms", "gauge") and of("a_count", "gauge")
    assert of("a_seconds_lost", "gauge") and of("a", "gauge", "words") and of("a", "gauge", samples='NAME{job="x"} 1\n')
    assert of("a", "histogram", samples='NAME_bucket{le="1"} 2\nNAME_bucket{le="+Inf"} 1\nNAME_sum 1\nNAME_count 1\n')
    assert not of("a", "histogram", samples='NAME_bucket{le="1"} 1\nNAME_bucket{le="+Inf"} 2\nNAME_sum 1\nNAME_count 2\n')
    for text in ("a 1", "# HELP a b c\n# TYPE a gauge\na 1\na 1\n", "# HELP a b c\n# TYPE a gauge\na{x=1} 1\n", "# HELP a b c\n# TYPE a what\n"):
        with pytest.raises(AssertionError):
            read(text)


def test_series_of_streams_are_bounded(server, clip):
    live = server(root=ROOT % "streams on; streams_max 2;")
    publishers = [Publisher(live.ports["rtmp"], f"cam{number}", clip("audio")) for number in range(3)]
    for one in publishers:
        one.start()
    wait_until(lambda: live.api("/api/v1/streams/")["total"] == 3, 15, "three streams")
    workers = len(live.pids())
    families = read(metrics(live))
    shown = {labels["stream"] for _, labels, _ in families["millrace_stream_published"].samples}
    (omitted,) = [value for _, labels, value in families["millrace_streams_omitted"].samples if not labels]
    assert len(shown) + omitted == 3 and (workers > 1 or len(shown) == 2), (shown, omitted)
    for one in publishers:
        one.stop()


def test_certificates_have_an_expiry_and_orders_are_counted(server, certificate):
    """An authority that does not answer fails the first order at once."""
    key, cert = certificate
    live = server(conf=ROOT_CONF.replace("http_server { enabled on;", f"http_server {{ enabled on; https {{ enabled on; listen 127.0.0.1:$https; key {key}; cert {cert}; }}") + ROOT % "" +
                  "acme { enabled on; accept_terms on; domain a.example.com b.example.com; directory http://127.0.0.1:9/; listen 127.0.0.1:$acme; }\nvhost __defaultVhost__ { }\n")
    end = subprocess.run(["openssl", "x509", "-in", cert, "-noout", "-enddate"], capture_output=True, text=True, check=True, timeout=20).stdout.strip()
    expiries = read(metrics(live))["millrace_certificate_expiry_timestamp_seconds"].samples
    assert expiries == [("", {"service": "HTTPS server"}, ssl.cert_time_to_seconds(end.removeprefix("notAfter=")))]

    def orders() -> dict:
        return {(labels["name"], labels["result"]): value for _, labels, value in read(metrics(live))["millrace_acme_orders_total"].samples}
    wait_until(lambda: orders() == {(name, result): float(result == "failed") for name in ("a.example.com", "b.example.com") for result in ("issued", "failed")}, 30, orders)
