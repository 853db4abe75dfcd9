"""The Helm chart in deploy/helm: rendered by Helm itself with several sets of values, each manifest judged by the schemas of Kubernetes, the oldest
that the chart wants and the newest that are known, and what no schema knows: that names, ports and settings fit each other.

Helm is taken from HELM, the PATH or the cache folder. It is built, from the module proxy, with --long only: that takes some 100 s of two cores
(200 s of CPU) and a Go of version 1.24 or later. Without it all of this file is skipped."""

import os
import re
import shutil
import subprocess
import tempfile
from pathlib import Path

import pytest

from cached_venv import cache_folder, python_with
from deploy_files import OTHER_VARIABLES, assert_conf_is_valid, server_variables, yaml
from live_server import TRUNK

CHART = TRUNK / "deploy/helm/millrace"
HELM_VERSION = "v3.18.6"
GO_MIN = (1, 24)
SETS = {
    "default": "",
    "host_network": "origins.hostNetwork=true,edges.hostNetwork=true",
    "edges_only": "origins.enabled=false,cluster.registry=rediss://registry.example:6380",
    "origins_only": "edges.enabled=false,cluster.existingSecret=mine",
    "no_autoscaling": "edges.autoscaling.enabled=false,edges.replicas=3,edges.capacity=",
    "no_webrtc": "origins.rtc.enabled=false,edges.rtc.enabled=false,edges.service.type=NodePort",
    "metrics": "metrics.serviceMonitor.enabled=true,metrics.dashboard.enabled=true,metrics.serviceMonitor.labels.release=prometheus",
    "placed": "edges.nodeSelector.zone=a,edges.podAnnotations.a=b,imagePullSecrets[0].name=pull,image.tag=x,fullnameOverride=live,"
              "edges.env[0].name=SRS_VHOST_DASH_ENABLED,edges.env[0].value=on,edges.tolerations[0].operator=Exists",
}
UNKNOWN_TO_SCHEMAS = "ServiceMonitor"


def go_version() -> tuple[int, ...]:
    if shutil.which("go") is None:
        return ()
    done = subprocess.run(["go", "env", "GOVERSION"], capture_output=True, text=True, check=False)
    return tuple(int(number) for number in re.findall(r"\d+", done.stdout)[:2]) if done.returncode == 0 else ()


def build_helm(into: Path) -> None:
    """Only the program is kept: neither the modules' source nor what was compiled of it."""
    with tempfile.TemporaryDirectory(prefix="helm-") as work:
        environment = {**os.environ, "GOPATH": f"{work}/path", "GOMODCACHE": f"{work}/path/pkg/mod", "GOCACHE": f"{work}/cache", "GOBIN": f"{work}/bin",
                       "GOFLAGS": "-modcacherw", "GOTOOLCHAIN": "local", "CGO_ENABLED": "0"}
        done = subprocess.run(["go", "install", f"helm.sh/helm/v3/cmd/helm@{HELM_VERSION}"], cwd=work, env=environment, capture_output=True, text=True,
                              timeout=1500, check=False)
        if done.returncode != 0:
            pytest.skip(f"helm could not be built: {done.stderr.strip()[-300:]}")
        into.parent.mkdir(parents=True, exist_ok=True)
        shutil.copy(f"{work}/bin/helm", f"{into}.{os.getpid()}")
        os.replace(f"{into}.{os.getpid()}", into)


@pytest.fixture(name="helm", scope="module")
def fixture_helm(request, tmp_path_factory):
    """helm(arguments...) runs it, with a home of its own."""
    cached = cache_folder() / f"helm-{HELM_VERSION}"
    program = os.environ.get("HELM") or shutil.which("helm") or (str(cached) if cached.exists() else None)
    if program is None:
        if not request.config.getoption("--long"):
            pytest.skip("helm is neither installed nor in the cache folder: --long builds it, in some minutes")
        if go_version() < GO_MIN:
            pytest.skip("helm is not installed, and there is no Go of version 1.24 or later to build it")
        build_helm(cached)
        program = str(cached)
    home = tmp_path_factory.mktemp("helm")

    def run(*arguments, check: bool = True) -> subprocess.CompletedProcess:
        return subprocess.run([program, *(str(word) for word in arguments)], env={**os.environ, "HOME": str(home)}, capture_output=True, text=True,
                              timeout=60, check=check)

    return run


@pytest.fixture(name="judge", scope="module")
def fixture_judge():
    return python_with("kubernetes", Path(__file__).resolve().parent / "kubernetes/requirements.txt", "kubernetes-validate")


_rendered: dict[tuple[str, str], str] = {}


def render(helm, values: str, kube_version: str = "1.32.0") -> str:
    sets = ["--set", values] if values else []
    if (values, kube_version) not in _rendered:
        _rendered[values, kube_version] = helm("template", "tv", CHART, "--namespace", "live", "--kube-version", kube_version, *sets).stdout
    return _rendered[values, kube_version]


class Manifests(dict):
    """By kind and name."""

    def __init__(self, text: str):
        super().__init__()
        for one in yaml.safe_load_all(text):
            if one:
                key = (one["kind"], one["metadata"]["name"])
                assert key not in self, f"{key} twice"
                self[key] = one

    def of(self, kind: str) -> list[dict]:
        return [one for (its_kind, _), one in self.items() if its_kind == kind]

    def workloads(self) -> list[dict]:
        return self.of("StatefulSet") + self.of("Deployment")

    def nodes(self) -> list[dict]:
        return [one for one in self.workloads() if one["metadata"]["labels"]["app.kubernetes.io/component"] in ("origin", "edge")]


def fits(selector: dict, labels: dict) -> bool:
    return selector.items() <= labels.items()


def container_of(workload: dict) -> dict:
    (container,) = workload["spec"]["template"]["spec"]["containers"]
    return container


def judged(judge: Path, path: Path, version: str) -> tuple[int, str]:
    done = subprocess.run([str(judge), "-m", "kubernetes_validate", "--strict", "-k", version, str(path)], capture_output=True, text=True, timeout=120,
                          check=False)
    return done.returncode, done.stdout + done.stderr


@pytest.mark.parametrize("version", ["1.25", "1.37"])
def test_the_schemas_of_kubernetes_accept_all_manifests(helm, judge, tmp_path, version):
    different = {yaml.safe_dump(one) for values in SETS.values() for one in Manifests(render(helm, values, version + ".0")).values()}
    assert len(different) > 30
    path = tmp_path / "all.yaml"
    path.write_text("---\n".join(sorted(different)))
    status, said = judged(judge, path, version)
    lines = said.strip().splitlines()
    assert status == 0 and len(lines) == len(different), said
    for line in lines:
        assert line.startswith("INFO") or (line.startswith("WARN") and UNKNOWN_TO_SCHEMAS in line), line


def test_the_judge_sees_a_wrong_manifest(helm, judge, tmp_path):
    path = tmp_path / "wrong.yaml"
    edge = yaml.safe_dump(Manifests(render(helm, ""))["Deployment", "tv-millrace-edge"])
    for right, wrong in (("terminationGracePeriodSeconds: ", "terminationGracePeriodSecond: "), ("containerPort: 1935", "containerPort: rtmp"),
                         ("apps/v1", "apps/v9")):
        assert right in edge
        path.write_text(edge.replace(right, wrong))
        status, said = judged(judge, path, "1.37")
        assert status != 0 or "WARN" in said, wrong


def test_helm_has_nothing_to_say(helm):
    done = helm("lint", "--strict", CHART)
    assert "0 chart(s) failed" in done.stdout and "WARNING" not in done.stdout, done.stdout


@pytest.mark.parametrize("values", ["origins.enabled=false,edges.enabled=false", "valkey.enabled=false", "edges.capacity="])
def test_values_that_make_no_cluster_are_refused(helm, values):
    done = helm("template", "tv", CHART, "--kube-version", "1.32.0", "--set", values, check=False)
    assert done.returncode != 0 and re.search("there is nothing to install|nodes need a registry|needs edges.capacity", done.stderr), done.stderr


@pytest.mark.parametrize("name", list(SETS))
def test_named_files_exist(helm, name):
    manifests = Manifests(render(helm, SETS[name]))
    names = set(manifests)
    pods = [one["spec"]["template"]["metadata"]["labels"] for one in manifests.workloads()]
    for workload in manifests.workloads():
        spec, labels = workload["spec"], workload["spec"]["template"]["metadata"]["labels"]
        assert fits(spec["selector"]["matchLabels"], labels)
        volumes = {volume["name"] for volume in spec["template"]["spec"]["volumes"]}
        container = container_of(workload)
        assert {mount["name"] for mount in container["volumeMounts"]} == volumes
        for volume in spec["template"]["spec"]["volumes"]:
            assert "configMap" not in volume or ("ConfigMap", volume["configMap"]["name"]) in names
        ports = {port["name"] for port in container["ports"]}
        for probe in ("startupProbe", "livenessProbe", "readinessProbe"):
            action = container.get(probe, {}).get("httpGet") or container.get(probe, {}).get("tcpSocket")
            assert action is None or action["port"] in ports
        for variable in container.get("env", []):
            secret = variable.get("valueFrom", {}).get("secretKeyRef")
            if secret and secret["name"] != "mine":
                assert secret["key"] in manifests["Secret", secret["name"]]["stringData"]
    for service in manifests.of("Service"):
        chosen = [labels for labels in pods if fits(service["spec"]["selector"], labels)]
        assert chosen, service["metadata"]["name"]
    for budget in manifests.of("PodDisruptionBudget"):
        assert sum(fits(budget["spec"]["selector"]["matchLabels"], labels) for labels in pods) == 1
    for workload in manifests.of("StatefulSet"):
        assert manifests["Service", workload["spec"]["serviceName"]]["spec"]["clusterIP"] == "None"
    for scaler in manifests.of("HorizontalPodAutoscaler"):
        target = scaler["spec"]["scaleTargetRef"]
        assert "replicas" not in manifests[target["kind"], target["name"]]["spec"], "the scaler alone says how many"
    for monitor in manifests.of("ServiceMonitor"):
        (service,) = [one for one in manifests.of("Service") if fits(monitor["spec"]["selector"]["matchLabels"], one["metadata"]["labels"])]
        assert monitor["spec"]["endpoints"][0]["port"] in {port["name"] for port in service["spec"]["ports"]}
        assert all(fits(service["spec"]["selector"], one["spec"]["template"]["metadata"]["labels"]) for one in manifests.nodes())
        assert monitor["apiVersion"] == "monitoring.coreos.com/v1" and monitor["spec"]["endpoints"][0]["path"] == "/metrics"


@pytest.mark.parametrize("name", list(SETS))
def test_no_pod_has_rights(helm, name):
    manifests = Manifests(render(helm, SETS[name]))
    for workload in manifests.workloads():
        spec, container = workload["spec"]["template"]["spec"], container_of(workload)
        assert spec["automountServiceAccountToken"] is False
        assert spec["securityContext"]["runAsNonRoot"] is True and spec["securityContext"]["runAsUser"] > 0
        assert spec["securityContext"]["seccompProfile"] == {"type": "RuntimeDefault"}
        assert container["securityContext"] == {"allowPrivilegeEscalation": False, "readOnlyRootFilesystem": True, "capabilities": {"drop": ["ALL"]}}
        assert container["resources"]["requests"]["cpu"] and container["resources"]["limits"]["memory"] and "cpu" not in container["resources"]["limits"]
        assert "hostPID" not in spec and "hostIPC" not in spec and not [volume for volume in spec["volumes"] if "hostPath" in volume]
    has_valkey = any(its_name.endswith("-valkey") for _, its_name in manifests)
    assert bool(manifests.of("NetworkPolicy")) == (has_valkey and name != "host_network"), "only nodes reach it, where a policy can tell them"


@pytest.mark.parametrize("name", list(SETS))
def test_a_node_of_the_chart(helm, name, tmp_path):
    manifests = Manifests(render(helm, SETS[name]))
    assert manifests.nodes()
    for workload in manifests.nodes():
        pod, container = workload["spec"]["template"]["spec"], container_of(workload)
        variables = {one["name"]: one.get("value") for one in container["env"]}
        assert len(variables) == len(container["env"]), "none twice"
        own = {"POD_NAME", "POD_IP", "HOST_IP"}
        assert set(variables) - server_variables() - OTHER_VARIABLES - own == set(), "variables that nobody reads"
        for value in variables.values():
            assert set(re.findall(r"\$\((\w+)\)", value or "")) <= own
        (config,) = [volume["configMap"]["name"] for volume in pod["volumes"] if "configMap" in volume]
        conf = tmp_path / f"{config}.conf"
        conf.write_text(manifests["ConfigMap", config]["data"]["millrace.conf"])
        said = {key: value for key, value in variables.items() if value and "$(" not in value}
        assert_conf_is_valid(conf, said | {"SRS_CLUSTER_REGISTRY": "redis://h", "CANDIDATE": "127.0.0.1"}, tmp_path)
        mounted = {mount["mountPath"] for mount in container["volumeMounts"] if not mount.get("readOnly")}
        for directive in ("pid", "access_log", "hls_path"):
            assert re.search(rf"\s{directive}\s+(\S+);", conf.read_text()).group(1).startswith(tuple(mounted)), directive
        assert container["args"] == ["-c", "/etc/millrace/millrace.conf"]
        assert container["readinessProbe"]["httpGet"] == {"path": "/readyz", "port": "metrics"}
        assert container["livenessProbe"]["httpGet"] == container["startupProbe"]["httpGet"] == {"path": "/healthz", "port": "metrics"}
        interpreter, script, seconds = container["lifecycle"]["preStop"]["exec"]["command"]
        assert interpreter == "perl" and (TRUNK / script).is_file()
        final_s = int(variables["SRS_GRACE_FINAL_WAIT"]) / 1000
        assert int(seconds) >= int(variables["SRS_CLUSTER_DRAIN_LIMIT"]) + final_s + 5, "preStop waits for the whole stop"
        assert pod["terminationGracePeriodSeconds"] >= int(seconds) + final_s + 10, "longer than all that is waited for"
        ports = {port["name"]: port for port in container["ports"]}
        assert (ports["rtmp"]["containerPort"], ports["http"]["containerPort"], ports["metrics"]["containerPort"]) == (1935, 8080, 9972)
        assert ("rtc" in ports) == (variables["SRS_RTC_SERVER_ENABLED"] == "on") == (name != "no_webrtc")
        if "rtc" in ports:
            port = int(variables["SRS_RTC_SERVER_LISTEN"])
            assert ports["rtc"] == {"name": "rtc", "containerPort": port, "hostPort": port, "protocol": "UDP"}, "answers name the port of the server"
        assert pod.get("hostNetwork", False) == (name == "host_network") and ("hostPort" in str(ports)) == ("rtc" in ports)


def test_rendered_values(helm):
    sets = {name: Manifests(render(helm, values)) for name, values in SETS.items()}
    base = sets["default"]
    assert {key[0] for key in base} == {"ConfigMap", "Deployment", "HorizontalPodAutoscaler", "NetworkPolicy", "PodDisruptionBudget", "Secret", "Service",
                                        "StatefulSet"}
    (scaler,) = base.of("HorizontalPodAutoscaler")
    assert scaler["spec"]["metrics"][0]["pods"]["metric"]["name"] == "millrace_cluster_capacity_used"
    said = {one["name"]: one.get("value") for one in container_of(base["Deployment", "tv-millrace-edge"])["env"]}
    assert said["SRS_CLUSTER_CAPACITY"] == "875000000", "a whole number, however large"
    strategy = base["Deployment", "tv-millrace-edge"]["spec"]["strategy"]["rollingUpdate"]
    assert strategy == {"maxSurge": 0, "maxUnavailable": 1}, "a port of a node is one pod's"
    assert sets["no_webrtc"]["Deployment", "tv-millrace-edge"]["spec"]["strategy"]["rollingUpdate"] == {"maxSurge": 1, "maxUnavailable": 0}
    assert sets["host_network"]["Deployment", "tv-millrace-edge"]["spec"]["template"]["spec"]["dnsPolicy"] == "ClusterFirstWithHostNet"
    assert not sets["edges_only"].of("StatefulSet") and "tv-millrace-valkey" not in {name for _, name in sets["edges_only"]}
    assert sets["edges_only"]["Secret", "tv-millrace-cluster"]["stringData"]["registry"] == "rediss://registry.example:6380"
    assert not sets["origins_only"].of("Secret") and not sets["origins_only"].of("Deployment")
    assert not sets["no_autoscaling"].of("HorizontalPodAutoscaler")
    assert sets["no_autoscaling"]["Deployment", "tv-millrace-edge"]["spec"]["replicas"] == 3
    assert len(sets["metrics"].of("ServiceMonitor")) == 1
    dashboard = sets["metrics"]["ConfigMap", "tv-millrace-dashboard"]["data"]["millrace.json"]
    assert dashboard.strip() == (CHART / "files/dashboard.json").read_text().strip()
    edge = sets["placed"]["Deployment", "live-edge"]["spec"]["template"]
    assert edge["spec"]["nodeSelector"] == {"zone": "a"} and edge["metadata"]["annotations"]["a"] == "b"
    assert container_of({"spec": {"template": edge}})["image"] == "millrace:x"
