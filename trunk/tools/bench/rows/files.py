"""Files of 10 kB and 700 kB over HTTP and HTTPS, beside nginx with the same files: both at the same time on the server's core, each asked by a wrk of its own
over kept connections."""

import re
import shutil
import subprocess
from statistics import median

from harness import LOAD_CORE, BenchError, Lab
from plan import Plan, say
from report import Row
from servers import STATIC_FILES, Server, make_static_files, start_nginx_http, start_ours

CONNECTIONS = 100
LIMITS = {("http", 10_000): 1.2, ("http", 700_000): 1.0, ("https", 700_000): 0.9}  # Of nginx's time.


def url_of(server: Server, scheme: str, name: str) -> str:
    return f"{scheme}://127.0.0.1:{server.https_port if scheme == 'https' else server.http_port}/{name}"


def start_wrk(url: str, seconds: float, connections: int = CONNECTIONS) -> subprocess.Popen:
    if shutil.which("wrk") is None:
        raise BenchError("wrk is not installed (Debian: apt-get install wrk)")
    return subprocess.Popen(["taskset", "-c", str(LOAD_CORE), "wrk", "-t1", f"-c{connections}", f"-d{max(1, round(seconds))}s", url],
                            stdout=subprocess.PIPE, text=True)


def counts_of(url: str, report: str) -> tuple[int, float]:
    """Complete responses, and bytes of all of them, from the words of wrk."""
    found = re.search(r"(\d+) requests in [^,]+, ([\d.]+)(B|KB|MB|GB) read", report)
    if found is None or "Non-2xx" in report:
        raise BenchError(f"{url}: {report.strip()}")
    return int(found.group(1)), float(found.group(2)) * {"B": 1, "KB": 2**10, "MB": 2**20, "GB": 2**30}[found.group(3)]


def requests_of(url: str, report: str, bytes_each: int) -> int:
    requests, read = counts_of(url, report)
    if not requests or read < 0.98 * requests * bytes_each:
        raise BenchError(f"{url}: {requests} responses of {bytes_each} bytes are more than the {read:.0f} bytes read")
    return requests


def microseconds_each(servers: list[Server], scheme: str, name: str, seconds: float) -> list[float]:
    """The CPU time of each server per request, of the same seconds."""
    before = [server.process.cpu_seconds() for server in servers]
    urls = [url_of(server, scheme, name) for server in servers]
    loads = [start_wrk(url, seconds) for url in urls]
    reports = [load.communicate(timeout=seconds + 30)[0] for load in loads]
    cpu = [server.process.cpu_seconds() - then for server, then in zip(servers, before)]
    return [1e6 * used / requests_of(url, report, STATIC_FILES[name]) for used, url, report in zip(cpu, urls, reports)]


def beside(work: str, measure: str, ours: list[float], peer: list[float], limit: float | None, plan: Plan, note: str = "") -> Row:
    """A row whose ratio is to nginx: the median of the pairs, with their spread in the note."""
    if not peer:
        return Row(work, measure, median(ours), note="; ".join(filter(None, (note, "nginx not asked"))), command=plan.command)
    quotients = [a / b for a, b in zip(ours, peer)]
    ratio = median(quotients)
    notes = [f"{ratio:.2f} x nginx ({min(quotients):.2f}-{max(quotients):.2f})", note]
    return Row(work, measure, median(ours), "-", median(peer), None, f"<= {limit:.1f} x nginx" if limit else "",
               ratio <= limit * plan.slack if limit else None, "; ".join(filter(None, notes)), {"ours": ours, "nginx": peer}, plan.command)


def files_rows(lab: Lab, plan: Plan) -> list[Row]:
    make_static_files(lab)
    servers = [start_ours(lab, https=True), *([start_nginx_http(lab)] if plan.with_nginx else [])]
    rows = []
    for scheme in ("http", "https"):
        for name, size in STATIC_FILES.items():
            say(f"files: {scheme}, {size // 1000} kB")
            microseconds_each(servers, scheme, name, 1)  # The handshakes, and the first read of the file.
            turns = [microseconds_each(servers, scheme, name, max(2, plan.seconds / 2)) for _ in range(plan.repeats)]
            rows.append(beside(f"GET of a file of {size // 1000} kB over {scheme.upper()}, {CONNECTIONS} kept connections", "us of CPU a request",
                               [turn[0] for turn in turns], [turn[1] for turn in turns if len(turn) > 1], LIMITS.get((scheme, size)), plan))
    for server in servers:
        server.process.stop()
    return rows
