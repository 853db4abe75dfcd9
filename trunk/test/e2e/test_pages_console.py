"""The console with more than a page of clients, and its view of the inside of the server, in a real Chromium."""

import urllib.parse

from fake_api import JsonServer, serving
from page_site import fixture_site  # noqa: F401

CLIENTS = 10_000


class BusyApi(JsonServer):
    """An API with ten thousand clients, in a cluster, with workers."""

    counts: list[int] = []  # asked for
    points = [{"time": 1_000_000 + 10 * at, "recv_kbps": 500 + at, "send_kbps": 2000 + 5 * at, "cpu_percent": 0.2 + at / 2000, "machine_cpu_percent": 0.4,
               "mem_bytes": (50 + at % 60) << 20, "lag_ms": at % 7, "connections": 9, "streams": 1,
               "viewers": [{"type": "rtmp-play", "count": at}, {"type": "hls-play", "count": 400 - at}]} for at in range(360) if not 100 < at < 130]
    clients = [{"id": f"c{at}", "type": "hls-play" if at % 3 else "rtmp-play", "ip": f"10.0.{at // 250}.{at % 250}", "url": f"/live/cam{at % 40}", "publish": False,
                "kbps": {"recv_30s": 0, "send_30s": (at * 7919) % 5000}, "send_bytes": at * 1000, "recv_bytes": 10, "queue_delay_ms": at % 300, "dropped_packets": 0,
                "alive": float(at)} for at in range(CLIENTS)]
    answers = {
        "summaries": {"data": {"ok": True, "now_ms": 1, "self": {"version": "7.1.0", "pid": 1, "argv": "srs", "cpu_percent": 0.5, "mem_percent": 0.1, "mem_kbyte": 90_000},
                               "system": {"conn_srs": CLIENTS, "mem_ram_kbyte": 8_000_000, "cpus_online": 4, "srs_sample_time": 1},
                               "workers": [{"worker": at, "pid": 100 + at, "mem_kbyte": 40_000, "cpu_percent": 0.25, "srs_uptime": 4000, "conn_srs": 5000} for at in (1, 2)]}},
        "streams": {"streams": [], "total": 0}, "vhosts": {"vhosts": []},
        "memory": {"data": {"kinds": {"wire_slabs": {"objects": 12, "bytes": 12 << 16}, "addresses": {"objects": 7, "bytes": None}}}},
        "clusters": {"data": {"cluster": {"nodes": [{"id": "edge-1", "host": "10.0.0.7", "state": "up", "load": 12_500_000, "capacity": 125_000_000, "region": "eu",
                                                     "version": "7.1.0"}]}}},
        "history": {"data": {"interval": 10, "points": points, "viewers": []}},
    }

    def told(self, name: str) -> dict:
        log = [{"time": 1_000, "level": "warning", "text": "a disk is slow", "times": 3, "worker": 2}]
        warnings = {"data": {"warnings": log}} if self.path == "/api/v1/warnings" else {"warnings": []}
        answer = warnings if name == "warnings" else self.answers.get(name, {})
        if name == "clients":
            count = int(urllib.parse.parse_qs(self.path.split("?")[1])["count"][0])
            self.counts.append(count)
            answer = {"clients": self.clients[:count], "total": 12_000}
        return {"server": "vid-1", "service": "s1", **answer}


def test_the_console_searches_and_sorts_ten_thousand_clients(site):
    with serving(BusyApi) as port:
        page = site().open(f"/console/?api=127.0.0.1:{port}")
        page.wait("document.querySelectorAll('#clients tbody tr').length === 50")
        assert page.text("#clients-part") == "The first 10,000 of 12,000 are shown."
        assert page.text("#clients-pager span") == "1 to 50 of 12000" and set(BusyApi.counts) == {50}, "all are asked for when they are needed"
        page.click("#clients-pager button:text-is('Next')")
        page.wait("document.querySelector('#clients-pager span').textContent === '51 to 100 of 10000'")
        page.click("#clients-pager button:text-is('Previous')")
        first = "document.querySelector('#clients tbody th').textContent"
        sort = "#clients thead th:has(button:text-is('%s')) button"
        page.click(sort % "Connected")
        page.wait(f"{first} === 'c9999'")
        assert page.value("document.querySelector('#clients [aria-sort]').ariaSort") == "descending"
        page.click(sort % "Connected")
        page.wait(f"{first} === 'c0'")
        page.fill("#clients-search", "RTMP-play cam3 10.0.1")
        page.wait("/^1 to \\d+ of \\d+$/.test(document.querySelector('#clients-pager span').textContent)")
        rows = page.value("[...document.querySelectorAll('#clients tbody tr')].map((row) => row.textContent)")
        assert rows and all("rtmp-play" in row and "10.0.1" in row and "cam3" in row for row in rows)
        page.fill("#clients-search", "nobody has this")
        page.wait("document.getElementById('clients-none').checkVisibility()")
        page.fill("#clients-search", "")
        page.wait("document.querySelectorAll('#clients tbody tr').length === 50")
        # The time that a keystroke takes; the bound is generous for a machine that does other things too.
        took = page.value("""(() => { const field = document.getElementById('clients-search'); const began = performance.now();
            field.value = 'cam1'; field.dispatchEvent(new Event('input')); return performance.now() - began; })()""")
        print(f"a search over {CLIENTS} clients took {took:.0f} ms")
        assert took < 300
        page.shot("console-busy", whole=True)


def test_the_console_shows_the_inside_of_the_server(site):
    with serving(BusyApi) as port:
        page = site().open(f"/console/?api=127.0.0.1:{port}")
        page.wait("document.querySelector('#log')?.checkVisibility()")
        assert "worker 2, a disk is slow (3 times)" in page.text("#log")
        assert "Worker 1, process 101" in page.text("#workers") and "5,000 connections, 25 % CPU" in page.text("#workers")
        assert "edge-1" in page.text("#nodes") and "up, 10.0.0.7, eu, sends 100 Mbps of 1 Gbps, 7.1.0" in page.text("#nodes")
        assert page.text("#memory") == "wire slabs768 KiB, 12 objects"
        names = page.value("[...document.querySelectorAll('.chart .keys')].map((one) => one.textContent)")
        assert "all 400" in names[1] and "RTMP 359" in names[1] and "HLS 41" in names[1]
        # At the left end, the first point.
        page.value("(() => { const svg = document.querySelector('.chart svg'); const { left, top } = svg.getBoundingClientRect();"
                   " svg.dispatchEvent(new PointerEvent('pointermove', { clientX: left, clientY: top })); })()")
        assert page.text(".chart .keys") == "out 2 Mbpsin 500 kbps" and "minutes" not in page.text(".chart .scale")
        page.value("document.querySelector('.chart svg').dispatchEvent(new PointerEvent('pointerleave'))")
        assert page.text(".chart .keys") == "out 3.8 Mbpsin 859 kbps"
        # The five minutes without points are a gap of the line.
        assert page.value("document.querySelector('.chart .line').getAttribute('d').split('M').length") == 3
        assert page.value("[...document.querySelectorAll('.chart .scale')].every((one) => one.textContent.startsWith('last 60 minutes'))")
