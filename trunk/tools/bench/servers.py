"""The servers that bench.py compares: ours, and nginx with its RTMP module as Debian packages it. Each is started on the
server core with the same chunk size; ours merges writes over 350 ms, the peer sends each message as it comes (it has no such setting)."""

import shlex
import shutil
import subprocess
from dataclasses import dataclass
from pathlib import Path

from harness import SERVER_CORE, BenchError, Lab, Process, wait_for_api, wait_for_port

WINDOW_MS = 350
NGINX_MODULES = [Path("/usr/lib/nginx/modules/ngx_rtmp_module.so"), Path("/usr/lib64/nginx/modules/ngx_rtmp_module.so")]

OUR_CONF = """\
listen              127.0.0.1:{port};
max_connections     19000;
daemon              off;
srs_log_tank        console;
srs_log_level_v2    warn;
io_uring            {io_uring};
pid                 {folder}/srs-{port}.pid;
access_log          off;
http_api {{ enabled on; listen 127.0.0.1:{api_port}; }}
http_server {{ enabled on; listen 127.0.0.1:{http_port}; dir {folder}/html; {https} }}
{rtc_server}
{workers}
{root}
vhost __defaultVhost__ {{
    min_latency {min_latency};
    tcp_nodelay {min_latency};
    chunk_size  60000;
    publish {{ mr {mr}; mr_latency 100; }}
    play    {{ gop_cache on; queue_length 30; mw_latency {window_ms}; mw_msgs 0; }}
    http_remux {{ enabled on; mount [vhost]/[app]/[stream].flv; }}
    rtc     {{ enabled {rtc}; rtmp_to_rtc on; }}
    {cluster}
    {vhost}
    hls     {{ enabled {hls}; hls_fragment 2; hls_window 12; hls_ctx off; hls_dispose 0; hls_path {folder}/html; {hls_more} }}
}}
"""

NGINX_CONF = """\
load_module {module};
daemon off; master_process off; worker_processes 1; worker_rlimit_nofile 20000;
user root; pid {folder}/nginx-{port}.pid; error_log stderr error;
events {{ worker_connections 19000; }}
rtmp {{
    access_log off;
    server {{
        listen 127.0.0.1:{port}; chunk_size 60000; max_message 10M;
        application live {{ live on; }}
    }}
}}
"""

# Connections are kept as long as ours, and for as many requests.
NGINX_HTTP_CONF = """\
daemon off; master_process off; worker_processes 1; worker_rlimit_nofile 20000;
user root; pid {folder}/nginx-{port}.pid; error_log stderr error;
events {{ worker_connections 19000; }}
http {{
    access_log off; sendfile on; tcp_nopush on; keepalive_timeout 15s; keepalive_requests 10000;
    server {{
        listen 127.0.0.1:{port}; listen 127.0.0.1:{https_port} ssl; ssl_certificate {cert}; ssl_certificate_key {key};
        # The cipher that our server prefers.
        ssl_prefer_server_ciphers on; ssl_conf_command Ciphersuites TLS_AES_128_GCM_SHA256:TLS_AES_256_GCM_SHA384;
        root {folder}/html; location = /versions {{ default_type application/json; return 200 '{{"code":0}}'; }}
    }}
}}
"""

STATIC_FILES = {"page.html": 10_000, "film.mp4": 700_000}
STATIC_FILE, STATIC_BYTES = next(iter(STATIC_FILES.items()))


@dataclass
class Server:
    name: str
    process: Process
    port: int
    version: str
    http_port: int = 0
    api_port: int = 0
    https_port: int = 0
    rtmps_port: int = 0


def start_ours(lab: Lab, mr: bool = False, min_latency: bool = False, hls: bool = False, io_uring: bool = True, build: Path | None = None,
               rtc: bool = False, cluster: str = "", workers: int = 1, root: str = "", vhost: str = "", https: bool = False, hls_more: str = "",
               core: int = SERVER_CORE) -> Server:
    """`build`: another build of the server. `cluster`: that block of the virtual host. `root`, `vhost`, `hls_more`: further directives there, or of HLS. `https`: RTMPS too. Several workers have a core each,
    from the first on, whichever `core` is."""
    if not lab.server.exists():
        raise BenchError(f"no server at {lab.server}: build it (make) or name one with --server")
    port, api_port, http_port = lab.port(), lab.port(), lab.port()
    https_port, rtmps_port = (lab.port(), lab.port()) if https else (0, 0)
    if https:
        root += f"\nrtmps {tls_block(lab, rtmps_port)}"
    on = {True: "on", False: "off"}
    conf = lab.folder / f"srs-{port}.conf"
    conf.write_text(OUR_CONF.format(port=port, api_port=api_port, http_port=http_port, folder=lab.folder, mr=on[mr], min_latency=on[min_latency], hls=on[hls],
                                    io_uring=on[io_uring], rtc=on[rtc], cluster=cluster, root=root, vhost=vhost, hls_more=hls_more,
                                    workers=f"workers {workers}; worker_affinity on;" if workers > 1 else "",
                                    rtc_server=f"rtc_server {{ enabled on; listen 127.0.0.1:{lab.port()}; }}" if rtc else "",
                                    https=f"https {tls_block(lab, https_port)}" if https else "", window_ms=0 if min_latency else WINDOW_MS))
    everywhere = ["taskset", "-c", f"{SERVER_CORE}-{SERVER_CORE + workers - 1}"] if workers > 1 else []
    process = lab.start("ours", [*everywhere, build or lab.server, "-c", conf], core)
    version = wait_for_api(api_port, process).get("data", {}).get("version", "unknown")
    wait_for_port(port, process)
    return Server("ours", process, port, str(version), http_port, api_port, https_port, rtmps_port)


def make_certificate(lab: Lab) -> tuple[Path, Path]:
    """The key and the certificate, ECDSA P-256, as browsers prefer; made once."""
    key, cert = lab.folder / "bench.key", lab.folder / "bench.crt"
    if not cert.exists():
        subprocess.run(["openssl", "req", "-x509", "-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:P-256", "-nodes", "-days", "2", "-subj", "/CN=localhost",
                        "-keyout", key, "-out", cert], check=True, capture_output=True)
    return key, cert


def tls_block(lab: Lab, port: int) -> str:
    key, cert = make_certificate(lab)
    return f"{{ enabled on; listen 127.0.0.1:{port}; key {key}; cert {cert}; }}"


def make_static_files(lab: Lab) -> None:
    folder = lab.folder / "html"
    folder.mkdir(exist_ok=True)
    for name, size in STATIC_FILES.items():
        (folder / name).write_bytes(b"<!doctype html>".ljust(size, b"."))


def start_nginx_http(lab: Lab) -> Server:
    port, https_port = lab.port(), lab.port()
    key, cert = make_certificate(lab)
    conf = lab.folder / f"nginx-{port}.conf"
    conf.write_text(NGINX_HTTP_CONF.format(port=port, https_port=https_port, folder=lab.folder, key=key, cert=cert))
    process = lab.start("nginx", [shutil.which("nginx"), "-p", lab.folder, "-e", "stderr", "-c", conf], SERVER_CORE)
    wait_for_port(port, process)
    return Server("nginx", process, port, "", port, https_port=https_port)


def nginx_module() -> Path:
    found = [path for path in NGINX_MODULES if path.exists()]
    if shutil.which("nginx") is None or not found:
        raise BenchError("nginx with its RTMP module is not installed (Debian: apt-get install nginx libnginx-mod-rtmp); "
                         "to measure without this peer say --without-nginx")
    return found[0]


def start_nginx(lab: Lab) -> Server:
    module = nginx_module()
    port = lab.port()
    conf = lab.folder / f"nginx-{port}.conf"
    conf.write_text(NGINX_CONF.format(port=port, folder=lab.folder, module=module))
    process = lab.start("nginx", [shutil.which("nginx"), "-p", lab.folder, "-e", "stderr", "-c", conf], SERVER_CORE)
    wait_for_port(port, process)
    return Server("nginx", process, port, "")


@dataclass
class Peer:
    """Another server to compare with: how to start it, and its conf as a template. In both, {port}, {folder} and, in the command,
    {conf} are replaced; braces of the conf's own stay as they are."""
    name: str
    command: str
    template: Path | None

    @staticmethod
    def parse(text: str, template: Path | None) -> "Peer":
        name, equals, command = text.partition("=")
        if not name or not equals or not command.strip():
            raise BenchError(f"--peer: found \"{text}\", expected NAME=COMMAND, such as 'other=/usr/bin/other -c {{conf}}'")
        if "{conf}" in command and template is None:
            raise BenchError(f"--peer {name}: the command wants {{conf}}; name a template with --peer-conf")
        return Peer(name, command, template)


def start_peer(lab: Lab, peer: Peer) -> Server:
    """The peer on the server core, with RTMP on a port of ours: application `live` is what players and publishers ask for."""
    port = lab.port()
    conf = lab.folder / f"{peer.name}-{port}.conf"
    values = {"{port}": str(port), "{folder}": str(lab.folder), "{conf}": str(conf)}

    def filled(text: str) -> str:
        for place, value in values.items():
            text = text.replace(place, value)
        return text
    if peer.template is not None:
        conf.write_text(filled(peer.template.read_text()))
    process = lab.start(peer.name, [filled(word) for word in shlex.split(peer.command)], SERVER_CORE)
    wait_for_port(port, process)
    return Server(peer.name, process, port, "")
