"""The folder deploy: its compose file, the topology it describes (run here without containers), what Prometheus and Grafana ask for, and what
containers do before they stop. The Helm chart is in test_helm.py."""

import base64
import http.server
import json
import os
import re
import signal
import subprocess
import threading
import time
import urllib.request
from pathlib import Path

import pytest

import play_check
from deploy_files import OTHER_VARIABLES, assert_conf_is_valid, server_variables, yaml
from live_server import TRUNK, LiveServer, wait_until
from players import FfmpegPublisher, wait_playable
from registry_server import RegistryServer
from rtmp_client import Closed, Publisher


DEPLOY = TRUNK / "deploy"
COMPOSE = yaml.safe_load((DEPLOY / "compose.yaml").read_text())
SERVICES = COMPOSE["services"]
NODES = [name for name, service in SERVICES.items() if service["image"] == "millrace"]
DASHBOARD = json.loads((DEPLOY / "grafana/dashboard.json").read_text())
# Those of folded rows too.
PANELS = [one for panel in DASHBOARD["panels"] for one in (panel, *panel.get("panels", []))]
PROMETHEUS = yaml.safe_load((DEPLOY / "prometheus/prometheus.yml").read_text())


def said(value: str) -> str:
    """A value of the compose file without variables in the environment."""
    return re.sub(r"\$\{\w+:-([^}]*)\}", r"\1", str(value))


def environment_of(name: str) -> dict[str, str]:
    return {key: said(value) for key, value in SERVICES[name].get("environment", {}).items()}


def mounts_of(name: str) -> dict[str, Path]:
    """Files and folders of deploy by where they are in the container."""
    pairs = [mount.split(":") for mount in SERVICES[name].get("volumes", [])]
    return {pair[1]: DEPLOY / pair[0] for pair in pairs if pair[0].startswith(".")}


def conf_of(name: str) -> Path:
    return mounts_of(name)["/etc/millrace/millrace.conf"]


def milliseconds(conf: Path, name: str) -> int:
    return int(re.search(rf"^{name}\s+(\d+);", conf.read_text(), re.MULTILINE).group(1))


def test_the_compose_file_names_existing_files():
    assert [SERVICES[name]["image"].split("/")[-1].split(":")[0] for name in SERVICES if name not in NODES] == ["valkey", "prometheus", "grafana"]
    assert NODES == ["origin1", "origin2", "edge1", "edge2"]
    assert (DEPLOY / SERVICES["origin1"]["build"] / "Dockerfile").is_file()
    volumes = set(COMPOSE["volumes"])
    for name, service in SERVICES.items():
        assert set(mounts_of(name).values()) or name == "valkey"
        for path in mounts_of(name).values():
            assert path.exists(), f"{name}: {path}"
        for mount in service.get("volumes", []):
            assert mount.startswith("./") or mount.split(":")[0] in volumes, mount
        if name not in NODES:
            assert re.fullmatch(r"[a-z]+/[a-z]+:v?\d+\.\d+[\w.-]*", service["image"]), "an image with its version"


def test_the_compose_file_gives_no_rights():
    for name, service in SERVICES.items():
        assert service["cap_drop"] == ["ALL"] and service["security_opt"] == ["no-new-privileges:true"], name
        assert service["read_only"] is True and "privileged" not in service and "network_mode" not in service, name
    for name in ("prometheus", "grafana"):
        assert all(port.startswith("127.0.0.1:") for port in SERVICES[name]["ports"]), "they have no password, or a well-known one"
    assert "ports" not in SERVICES["valkey"]
    assert not [port for name in NODES for port in SERVICES[name]["ports"] if re.search(r":(1985|9972)\b", port)], "the API and metrics are not for all"


@pytest.mark.parametrize("name", NODES)
def test_a_node_of_the_compose_file(name, tmp_path):
    environment = environment_of(name)
    known = server_variables()
    assert len(known) > 100
    assert set(environment) - known - OTHER_VARIABLES == set(), "variables that nobody reads"
    assert environment["SRS_CLUSTER_ADVERTISE"] == environment["SRS_CLUSTER_NODE_ID"] == name, "its name in the network of compose"
    assert environment["SRS_CLUSTER_REGISTRY"] == "redis://valkey:6379"
    assert_conf_is_valid(conf_of(name), environment, tmp_path)
    text = conf_of(name).read_text()
    temporary = tuple(SERVICES[name]["tmpfs"])
    for directive in ("pid", "access_log", "hls_path"):
        assert re.search(rf"\s{directive}\s+(\S+);", "\n" + text).group(1).startswith(temporary), f"{directive} is where it can be written"
    listens = {"1935", "8080", environment["SRS_RTC_SERVER_LISTEN"] + "/udp"}
    assert {port.split(":")[-1] for port in SERVICES[name]["ports"]} == listens
    outside = [port for port in SERVICES[name]["ports"] if port.endswith("/udp")][0]
    assert outside.split("/")[0].split(":")[0] == environment["SRS_RTC_SERVER_LISTEN"], "answers name the port that the server listens on"
    patience = int(SERVICES[name]["stop_grace_period"].removesuffix("s")) * 1000
    drain = int(environment["SRS_CLUSTER_DRAIN_LIMIT"]) * 1000
    assert patience > drain + milliseconds(conf_of(name), "grace_start_wait") + milliseconds(conf_of(name), "grace_final_wait") + 5000


def test_no_two_services_publish_one_port():
    ports = [port.rsplit(":", 1)[0] + ("/udp" if port.endswith("/udp") else "") for service in SERVICES.values() for port in service.get("ports", [])]
    assert len(ports) == len(set(ports)), ports


def metrics_of(node: LiveServer) -> str:
    with urllib.request.urlopen(f"http://127.0.0.1:{node.ports['exporter']}/metrics", timeout=5) as answer:
        return answer.read().decode()


def status_of(node: LiveServer, path: str) -> int:
    with urllib.request.urlopen(f"http://127.0.0.1:{node.ports['exporter']}{path}", timeout=5) as answer:
        return answer.status


class Topology:
    """What compose.yaml starts, with its confs and its environment; only ports, addresses and folders are this machine's."""

    def __init__(self, folder: Path):
        self.registry = RegistryServer(folder / "valkey", more=SERVICES["valkey"]["command"][1:])
        self.nodes: dict[str, LiveServer] = {}
        for name in NODES:
            node = LiveServer(folder / name, conf_of(name).read_text())
            here = {"SRS_LISTEN": "rtmp", "SRS_HTTP_API_LISTEN": "api", "SRS_HTTP_SERVER_LISTEN": "http", "SRS_EXPORTER_LISTEN": "exporter",
                    "SRS_RTC_SERVER_LISTEN": "rtc"}
            node.environment |= environment_of(name) | {variable: f"127.0.0.1:{node.ports[port]}" for variable, port in here.items()}
            node.environment |= {"SRS_PID": f"{node.folder}/srs.pid", "SRS_ACCESS_LOG": f"{node.folder}/access.log",
                                 "SRS_VHOST_HLS_HLS_PATH": f"{node.folder}/data", "SRS_CLUSTER_REGISTRY": self.registry.url(),
                                 "SRS_CLUSTER_ADVERTISE": f"127.0.0.1:{node.ports['rtmp']}"}
            self.nodes[name] = node

    def start(self) -> "Topology":
        self.registry.start()
        for node in self.nodes.values():
            node.start()
        for node in self.nodes.values():
            wait_until(lambda one=node: self.cluster(one)["registry"]["state"] == "up", 20, "the registry is connected")
        return self

    @staticmethod
    def cluster(node: LiveServer) -> dict:
        return node.api("/api/v1/clusters")["data"]["cluster"]

    def kill(self) -> None:
        for node in self.nodes.values():
            node.kill()
        self.registry.stop()


@pytest.fixture(name="topology", scope="module")
def fixture_topology(tmp_path_factory):
    one = Topology(tmp_path_factory.mktemp("compose"))
    try:
        yield one.start()
        for node in one.nodes.values():
            node.assert_no_report()
    finally:
        one.kill()


def test_a_stream_of_one_origin_plays_from_an_edge(topology, clip):
    nodes = topology.nodes
    with FfmpegPublisher(nodes["origin1"].url("cam"), clip("basic")):
        wait_playable(nodes["edge2"].url("cam"))
        http_port = nodes["edge2"].ports["http"]
        for url in (nodes["edge2"].url("cam"), f"http://127.0.0.1:{http_port}/live/cam.flv"):
            assert play_check.play(url, 3).problems() == [], url
        wait_playable(f"http://127.0.0.1:{http_port}/live/cam.m3u8", 25)
        wait_until(lambda: {one["stream"]: one["node"] for one in topology.cluster(nodes["edge1"])["streams"]} == {"/live/cam": "origin1"}, 20,
                   "another edge knows where it is")
        assert 'millrace_relay_streams{direction="pull"} 1' in metrics_of(nodes["edge2"])
        assert 'millrace_relay_streams{direction="pull"} 0' in metrics_of(nodes["origin2"])
    wait_until(lambda: {one["id"] for one in topology.cluster(nodes["edge1"])["nodes"]} == set(NODES), 20, "all nodes are listed")


def test_an_edge_takes_no_publisher(topology, clip):
    try:
        assert Publisher(topology.nodes["edge1"].ports["rtmp"], "cam2", clip("basic")).status["code"] != "NetStream.Publish.Start"
    except Closed:
        pass
    topology.nodes["edge1"].wait_log("this node of the cluster takes no publishers")


def test_prometheus_targets_respond(topology):
    (job,) = PROMETHEUS["scrape_configs"]
    targets = [(target, group["labels"]) for group in job["static_configs"] for target in group["targets"]]
    assert [target.split(":")[0] for target, _ in targets] == NODES
    for target, labels in targets:
        name, port = target.split(":")
        text = conf_of(name).read_text()
        assert re.search(rf"exporter \{{[^}}]*\blisten\s+{port};", text), "the exporter listens there"
        assert re.search(rf"exporter \{{[^}}]*\btag\s+{labels['role']};", text) and labels["role"] in name
        with urllib.request.urlopen(f"http://127.0.0.1:{topology.nodes[name].ports['exporter']}{job['metrics_path']}", timeout=5) as answer:
            assert answer.status == 200 and b"srs_build_info{" in answer.read()
        assert status_of(topology.nodes[name], "/healthz") == status_of(topology.nodes[name], "/readyz") == 200
    for name in PROMETHEUS["rule_files"]:
        assert (DEPLOY / "prometheus" / name).is_file()


def known_metrics(text: str) -> set[str]:
    names = set()
    for name, kind in re.findall(r"^# TYPE (\S+) (\S+)$", text, re.MULTILINE):
        names |= {name + ending for ending in (("_bucket", "_sum", "_count") if kind == "histogram" else ("",))}
    return names
FUNCTIONS = {"sum", "max", "count", "rate", "increase", "histogram_quantile", "vector", "or", "by", "on", "time"}


def metrics_in(expression: str) -> set[str]:
    """The metrics of a PromQL expression: names that are neither functions of ours, nor labels, nor in quotes."""
    bare = re.sub(r"\{[^}]*\}|\[[^\]]*\]|\b(?:by|on)\s*\([^)]*\)", " ", expression)
    return set(re.findall(r"\b[a-zA-Z_][a-zA-Z0-9_]*\b", bare)) - FUNCTIONS


def test_every_metric_of_dashboard_and_alerts_exists(topology, server):
    orders = server(root="exporter { enabled on; listen 127.0.0.1:$exporter; }\n"
                         "acme { enabled on; accept_terms on; domain live.example.com; directory http://127.0.0.1:9/; listen 127.0.0.1:$acme; }\n")
    known = set().union(*(known_metrics(metrics_of(node)) for node in [orders, *topology.nodes.values()])) | {"up"}
    assert len(known) > 60
    alerts = yaml.safe_load((DEPLOY / "prometheus/alerts.yml").read_text())
    asked = {rule["expr"] for group in alerts["groups"] for rule in group["rules"]}
    asked |= {target["expr"] for panel in PANELS for target in panel.get("targets", [])}
    asked |= {re.search(r"label_values\((.*), \w+\)", one["query"]["query"]).group(1) for one in DASHBOARD["templating"]["list"] if one["type"] == "query"}
    assert len(asked) > 40
    unknown = {}
    for expression in asked:
        names = metrics_in(expression)
        assert names, expression
        for name in names - known:
            unknown.setdefault(name, []).append(expression)
    assert {name: unknown[name] for name in unknown} == {}


def test_one_server_fills_the_dashboard(server, clip):
    """Without a cluster; what needs one is in a row of its own, which is folded."""
    live = server("", "exporter { enabled on; listen 127.0.0.1:$exporter; }\n")
    with FfmpegPublisher(live.url("cam"), clip("basic")):
        wait_until(lambda: "\nsrs_streams 1\n" in re.sub(r"\{[^}]*\}", "", metrics_of(live)), 15, "the stream is counted")
        filled = set(re.findall(r"^([a-zA-Z_]\w*)(?:\{.*\})? ", metrics_of(live), re.MULTILINE)) | {"up"}
    empty = {target["expr"]: panel["title"] for panel in DASHBOARD["panels"] for target in panel.get("targets", [])
             if not any(metrics_in(way) <= filled for way in target["expr"].split(" or "))}
    assert empty == {}
    streams = next(panel for panel in DASHBOARD["panels"] if panel["title"] == "Streams")
    assert "srs_streams" in streams["targets"][0]["expr"]
    folded = [panel for row in DASHBOARD["panels"] if row.get("collapsed") for panel in row["panels"]]
    assert folded and all(name.startswith("millrace_cluster_") for panel in folded for target in panel["targets"] for name in metrics_in(target["expr"]))


def test_the_dashboard_is_where_grafana_looks():
    mounts = {inside: path for inside, path in mounts_of("grafana").items()}
    provider = yaml.safe_load((DEPLOY / "grafana/provisioning/dashboards/millrace.yaml").read_text())["providers"][0]
    assert mounts[provider["options"]["path"] + "/millrace.json"] == DEPLOY / "grafana/dashboard.json"
    source = yaml.safe_load((DEPLOY / "grafana/provisioning/datasources/prometheus.yaml").read_text())["datasources"][0]
    assert source["url"] == "http://prometheus:9090" and source["type"] == "prometheus"
    chart = DEPLOY / "helm/millrace/files/dashboard.json"
    assert chart.is_symlink() and json.loads(chart.read_text()) == DASHBOARD, "the chart has the same one"
    ids = [panel["id"] for panel in PANELS]
    assert len(ids) == len(set(ids))
    taken = set()
    for panel in PANELS:
        place = panel["gridPos"]
        cells = {(x, y) for x in range(place["x"], place["x"] + place["w"]) for y in range(place["y"], place["y"] + place["h"])}
        assert not cells & taken and place["x"] + place["w"] <= 24, panel["title"]
        taken |= cells


DRAIN = TRUNK / "scripts/docker-drain.pl"


class DrainListener(http.server.BaseHTTPRequestHandler):
    """Keeps what it is asked, and knows one path."""

    asked: list = []

    def do_POST(self):  # pylint: disable=invalid-name
        self.asked.append((self.path, self.headers.get("Authorization"), self.headers.get("Content-Length")))
        self.send_response(200 if self.path == "/api/v1/drain" else 404)
        self.end_headers()

    def log_message(self, *_):  # pylint: disable=arguments-differ
        pass


@pytest.mark.parametrize("login", [{}, {"ENABLED": "on", "USERNAME": "admin", "PASSWORD": "a pass:wörd"}, {"ENABLED": "on", "TYPE": "bearer", "TOKEN": "hush"},
                                   {"ENABLED": "on", "TOKEN": "hush"}], ids=["open", "basic", "bearer", "token"])
def test_before_the_stop_signal_a_container_asks_for_a_drain(login):
    listener = http.server.HTTPServer(("127.0.0.1", 0), DrainListener)
    DrainListener.asked = []
    threading.Thread(target=listener.serve_forever, daemon=True).start()
    try:
        environment = {**os.environ, "SRS_HTTP_API_ENABLED": "on", "SRS_HTTP_API_LISTEN": f"0.0.0.0:{listener.server_port}",
                       **{f"SRS_HTTP_API_AUTH_{name}": value for name, value in login.items()}}
        done = subprocess.run(["perl", str(DRAIN), "0", str(os.getpid())], env=environment, capture_output=True, text=True, timeout=30, check=False)
    finally:
        listener.shutdown()
        listener.server_close()
    wanted = {"": None, "basic": "Basic " + base64.b64encode("admin:a pass:wörd".encode()).decode(), "bearer": "Bearer hush"}
    assert (done.returncode, done.stdout) == (0, "drain: 200\n"), done.stderr
    assert DrainListener.asked == [("/api/v1/drain", wanted[("bearer" if "TOKEN" in login else "basic") if login else ""], "0")]


def test_the_stop_signal_comes_after_the_drain(tmp_path):
    """The server is a process of init's here, for a child of ours would not be gone at its end."""
    listener = http.server.HTTPServer(("127.0.0.1", 0), DrainListener)
    threading.Thread(target=listener.serve_forever, daemon=True).start()
    began = time.monotonic()
    pid = subprocess.run(["sh", "-c", "sleep 3 >/dev/null 2>&1 & echo $!"], capture_output=True, text=True, check=True).stdout.strip()
    environment = {**os.environ, "SRS_HTTP_API_ENABLED": "on", "SRS_HTTP_API_LISTEN": f"127.0.0.1:{listener.server_port}"}
    try:
        done = subprocess.run(["perl", str(DRAIN), "60", pid], env=environment, cwd=tmp_path, capture_output=True, text=True, timeout=70, check=False)
        took = time.monotonic() - began
    finally:
        listener.shutdown()
        listener.server_close()
    assert (done.returncode, done.stdout) == (0, "drain: 200\n") and 3 <= took < 30, f"{took:.1f} s: {done.stderr}"


def test_an_edge_is_drained_and_stopped(topology, clip):
    """Last of this file: what Kubernetes does, preStop and then the image's stop signal."""
    edge, other = topology.nodes["edge1"], topology.nodes["edge2"]
    with FfmpegPublisher(topology.nodes["origin2"].url("cam"), clip("basic")):
        wait_playable(edge.url("cam"))
        done = subprocess.run(["perl", str(DRAIN), "1", str(edge.process.pid)], env=edge.environment, capture_output=True, text=True, timeout=30, check=False)
        assert done.returncode == 0 and re.fullmatch(r"drain: \d+\n", done.stdout), done.stdout + done.stderr
        edge.stop(signal.SIGQUIT, limit_s=40)
        wait_playable(other.url("cam"))
