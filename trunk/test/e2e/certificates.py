"""Certificates for tests: pairs of files, and how renewing programs replace them."""

import shutil
import ssl
import subprocess
from pathlib import Path


def make_pair(folder: Path, name: str) -> tuple[Path, Path]:
    key, cert = folder / f"{name}.key", folder / f"{name}.crt"
    command = ["openssl", "req", "-x509", "-newkey", "rsa:2048", "-nodes", "-days", "2", "-subj", f"/CN={name}", "-keyout", key, "-out", cert]
    subprocess.run([str(word) for word in command], capture_output=True, check=True)
    return key, cert


def der(cert: Path) -> bytes:
    return ssl.PEM_cert_to_DER_cert(cert.read_text())


def replace(source: Path, target: Path) -> None:
    shutil.copy(source, f"{target}.new")
    Path(f"{target}.new").rename(target)


def install(pair: tuple[Path, Path], folder: Path) -> None:
    """As renewing programs do it: each file at once, one after the other. A server that looks between the two sees a bad pair."""
    for source, name in zip(pair, ("now.key", "now.crt")):
        replace(source, folder / name)
