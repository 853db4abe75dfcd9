"""The checks of testssl.sh on every TLS port: protocols, ciphers, renegotiation; and clients that are within the protocol and a nuisance: floods of key updates,
records of one byte, half-closed connections. Each ends, or is answered, and the next client is served."""

import contextlib
import json
import shutil
import socket
import ssl
import subprocess
import warnings

import pytest

from live_server import wait_until

pytestmark = pytest.mark.workers

SERVICES = ("rtmps", "http_tls", "api_tls")
REQUEST = b"GET /api/v1/versions HTTP/1.1\r\nHost: localhost\r\n\r\n"
KEY_UPDATES = 500
KEY_UPDATES_ACCEPTED = 30  # A minute; the server's limit is 32.
# Findings of testssl.sh for which the tests' certificate accounts, and the client's choice among the ciphers.
EXPECTED = {"cert_trust", "cert_chain_of_trust", "cert_expirationStatus", "cert_revocation", "cert_subjectAltName", "cert_crlDistributionPoints", "cert_ocspURL",
            "cert_extlifeSpan", "cert_validityPeriod", "cipher_order", "cipher_order-tls1_2", "OCSP_stapling", "DNS_CAArecord", "cert_signatureAlgorithm",
            "cert_notAfter"}


def client_context(**versions) -> ssl.SSLContext:
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_CLIENT)
    context.check_hostname, context.verify_mode = False, ssl.CERT_NONE
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", DeprecationWarning)
        for name, value in versions.items():
            setattr(context, name, value)
    return context


def connect(port: int, context: ssl.SSLContext | None = None) -> ssl.SSLSocket:
    return (context or client_context()).wrap_socket(socket.create_connection(("127.0.0.1", port), 20))


def answer_of(client: ssl.SSLSocket) -> bytes:
    """A whole response with Content-Length."""
    got = b""
    while b"\r\n\r\n" not in got:
        piece = client.recv(65536)
        assert piece, f"closed after {got!r}"
        got += piece
    head, body = got.split(b"\r\n\r\n", 1)
    length = int(next(line for line in head.split(b"\r\n") if line.lower().startswith(b"content-length:")).split(b":")[1])
    while len(body) < length:
        body += client.recv(65536)
    return head.split(b"\r\n")[0]


@pytest.fixture(name="live")
def fixture_live(server, certificate):
    key, cert = certificate
    files = f"key {key}; cert {cert};"
    live = server(conf=f"""
listen 127.0.0.1:$rtmp; daemon off; srs_log_tank console; pid $folder/srs.pid;
rtmps {{ enabled on; listen 127.0.0.1:$rtmps; {files} }}
http_api {{ enabled on; listen 127.0.0.1:$api; https {{ enabled on; listen 127.0.0.1:$api_tls; {files} }} }}
http_server {{ enabled on; listen 127.0.0.1:$http; dir $folder/html; https {{ enabled on; listen 127.0.0.1:$http_tls; {files} }} }}
vhost __defaultVhost__ {{ }}
""")
    yield live
    with connect(live.ports["api_tls"]) as after:
        after.sendall(REQUEST)
        assert answer_of(after) == b"HTTP/1.1 200 OK"
    live.assert_alive()


def test_protocols_from_tls_1_2_on_are_spoken(live):
    for name in SERVICES:
        for version in (ssl.TLSVersion.TLSv1_2, ssl.TLSVersion.TLSv1_3):
            with connect(live.ports[name], client_context(minimum_version=version, maximum_version=version)) as client:
                assert client.version() == {ssl.TLSVersion.TLSv1_2: "TLSv1.2", ssl.TLSVersion.TLSv1_3: "TLSv1.3"}[version]
        for old in (ssl.TLSVersion.TLSv1, ssl.TLSVersion.TLSv1_1):
            context = client_context(minimum_version=old, maximum_version=old)
            context.set_ciphers("ALL:@SECLEVEL=0")
            with pytest.raises((ssl.SSLError, ConnectionError)):
                connect(live.ports[name], context)


def test_weak_ciphers_are_refused(live):
    for name in SERVICES:
        # The last ones: CBC, and keys without forward secrecy.
        for weak in ("aNULL", "eNULL", "EXPORT", "RC4", "3DES", "MD5", "LOW", "SHA1", "SHA256:!AESGCM", "SHA384:!AESGCM", "kRSA"):
            context = client_context(maximum_version=ssl.TLSVersion.TLSv1_2)
            try:
                context.set_ciphers(f"{weak}:@SECLEVEL=0")
            except ssl.SSLError:
                continue  # This client's library has none.
            with pytest.raises((ssl.SSLError, ConnectionError)):
                connect(live.ports[name], context)


def s_client(port: int, words: bytes, *options: str) -> subprocess.CompletedProcess:
    """openssl s_client executes a letter at the start of what it reads: R renegotiates, K updates the keys and requests an update."""
    return subprocess.run(["openssl", "s_client", "-connect", f"127.0.0.1:{port}", *options], input=words, capture_output=True, timeout=60, check=False)


def test_renegotiation_is_refused(live):
    for name in SERVICES:
        done = s_client(live.ports[name], b"R\n" * 3, "-tls1_2")
        assert b"RENEGOTIATING" in done.stdout + done.stderr, "the client did not try"
        assert b"no renegotiation" in done.stderr, done.stderr.decode(errors="replace")[-500:]


def update_keys(port: int, count: int) -> int:
    """Returns the number of updates before the server ends the connection, at most `count`. Each follows when the client has done the one before, so that it
    reads each letter alone."""
    with subprocess.Popen(["openssl", "s_client", "-connect", f"127.0.0.1:{port}", "-tls1_3"], stdin=subprocess.PIPE, stdout=subprocess.DEVNULL,
                          stderr=subprocess.PIPE) as client:
        done = 0
        with contextlib.suppress(BrokenPipeError):
            while done < count:
                client.stdin.write(b"K\n")
                client.stdin.flush()
                while (line := client.stderr.readline()) not in (b"KEYUPDATE\n", b""):
                    pass
                if not line:
                    break
                done += 1
        with contextlib.suppress(BrokenPipeError):
            client.stdin.close()
        client.wait(20)
        return done


def resident_kib(live) -> int:
    return sum(int(line.split()[1]) for pid in live.pids() for line in open(f"/proc/{pid}/status", encoding="ascii") if line.startswith("VmRSS:"))


def test_a_flood_of_key_updates_ends_its_connection(live):
    assert update_keys(live.ports["http_tls"], KEY_UPDATES_ACCEPTED) == KEY_UPDATES_ACCEPTED
    before = resident_kib(live)
    for name in SERVICES:
        assert KEY_UPDATES_ACCEPTED < update_keys(live.ports[name], KEY_UPDATES) < KEY_UPDATES, name
    wait_until(lambda: resident_kib(live) < before + 4096, 10, lambda: f"{resident_kib(live) - before} KiB more")


def test_a_request_in_records_of_one_byte_is_answered(live):
    with connect(live.ports["api_tls"]) as client:
        client.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
        for at in range(len(REQUEST)):
            client.sendall(REQUEST[at:at + 1])
        assert answer_of(client) == b"HTTP/1.1 200 OK"


class Session:
    """TLS over a socket by hand, so that one direction can be closed alone."""

    def __init__(self, port: int):
        self.socket = socket.create_connection(("127.0.0.1", port), 20)
        self.input, self.output = ssl.MemoryBIO(), ssl.MemoryBIO()
        self.tls = client_context().wrap_bio(self.input, self.output)
        self.run(self.tls.do_handshake)

    def flush(self) -> None:
        if self.output.pending:
            self.socket.sendall(self.output.read())

    def run(self, step):
        while True:
            try:
                return step()
            except ssl.SSLWantReadError:
                self.flush()
                got = self.socket.recv(65536)
                if not got:
                    return None
                self.input.write(got)
            finally:
                self.flush()

    def rest(self) -> bytes:
        """Everything up to the end of the connection, which must come."""
        got = b""
        while True:
            try:
                piece = self.run(lambda: self.tls.read(65536))
            except (ssl.SSLError, ConnectionError):
                return got
            if not piece:
                return got
            got += piece


@pytest.mark.parametrize("ends", ["close_notify", "fin"])
def test_a_half_closed_connection_is_answered_and_ends(live, ends):
    session = Session(live.ports["api_tls"])
    session.tls.write(REQUEST)
    session.flush()
    if ends == "close_notify":
        with pytest.raises(ssl.SSLWantReadError):
            session.tls.unwrap()
        session.flush()
    else:
        session.socket.shutdown(socket.SHUT_WR)
    # After its own close_notify this client's library reads no more data: the end of the connection is seen below TLS.
    if ends == "close_notify":
        received = 0
        while piece := session.socket.recv(65536):
            received += len(piece)
        assert received > 100, "an answer came"
    else:
        assert session.rest().startswith(b"HTTP/1.1 200 OK")
    session.socket.close()


@pytest.mark.long
@pytest.mark.parametrize("service", SERVICES)
def test_testssl_finds_nothing(live, service, tmp_path):
    program = shutil.which("testssl") or shutil.which("testssl.sh")
    if program is None:
        pytest.skip("testssl.sh is not installed")
    report = tmp_path / "findings.json"
    target = f"{'https://' if service != 'rtmps' else ''}127.0.0.1:{live.ports[service]}"
    subprocess.run([program, "--quiet", "--color", "0", "--warnings", "batch", "--nodns", "none", "--fast", "--assume-http", "--ip", "127.0.0.1",
                    "-p", "-s", "-f", "-P", "-S", "-U", "--jsonfile", str(report), target], capture_output=True, timeout=600, check=False)
    findings = json.loads(report.read_text())
    assert any(one["id"] == "TLS1_3" and "offered" in one["finding"] for one in findings), "testssl.sh did not reach the port"
    bad = [f"{one['id']}: {one['severity']} {one['finding']}" for one in findings
           if one["severity"] in ("LOW", "MEDIUM", "HIGH", "CRITICAL") and one["id"].split(" ")[0] not in EXPECTED]
    assert not bad, "\n".join(bad)
