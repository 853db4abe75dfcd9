"""A software bill of materials, SPDX 2.3 as JSON: the server, the sources compiled into it, the libraries that it is linked with, and the libraries of
its pages.

sbom.py TRUNK PROGRAM VERSION
"""

import datetime
import hashlib
import json
import os
import re
import subprocess
import sys
from pathlib import Path


def output_of(*command: str) -> str:
    return subprocess.run(command, check=False, capture_output=True, text=True).stdout


def package(name: str, version: str, licence: str, **more) -> dict:
    number = hashlib.sha256(f"{name} {version}".encode()).hexdigest()[:8]
    return {"SPDXID": f"SPDXRef-Package-{re.sub('[^A-Za-z0-9.-]', '-', name)}-{number}", "name": name, "versionInfo": version, "downloadLocation": "NOASSERTION",
            "filesAnalyzed": False, "licenseConcluded": licence, "licenseDeclared": licence, "copyrightText": "NOASSERTION", **more}


def compiled_in(trunk: Path) -> list[dict]:
    """The pins of 3rdparty: the newest version in the list, unless the build took another one of it."""
    found = []
    for pin in sorted(trunk.glob("3rdparty/*/PIN")):
        text = pin.read_text()
        name = re.search(r"^package=(\S+)", text, re.M)[1]
        versions = re.findall(r"^(\d\S+) (\S+\.tar\.\S+) ([0-9a-f]{64})", text, re.M)
        version, file, digest = versions[0]
        licence = {"st": "MPL-1.1 OR GPL-2.0-or-later", "libsrtp2": "BSD-3-Clause"}.get(name, "NOASSERTION")
        found.append(package(name, version.split("-")[0], licence, packageFileName=file, checksums=[{"algorithm": "SHA256", "checksumValue": digest}]))
    return found


def linked_with(program: Path) -> list[dict]:
    """The packages of the system that own the shared libraries."""
    names = set()
    for path in re.findall(r"=> (/\S+)", output_of("ldd", str(program))):
        real = os.path.realpath(path)
        owner = output_of("dpkg-query", "-S", real) or output_of("dpkg-query", "-S", real.removeprefix("/usr"))
        names |= set(re.findall(r"^([^\s:,]+)", owner, re.M))
    rows = [output_of("dpkg-query", "-W", "-f", "${Package} ${Version}\\n", name).split("\n")[0].split() for name in sorted(names)]
    distribution = re.search(r"^ID=(\S+)", Path("/etc/os-release").read_text(), re.M)[1]
    return [package(name, version, "NOASSERTION", externalRefs=[{"referenceCategory": "PACKAGE-MANAGER", "referenceType": "purl",
                                                                 "referenceLocator": f"pkg:deb/{distribution}/{name}@{version}"}]) for name, version in rows]


def of_the_pages(trunk: Path) -> list[dict]:
    lock = json.loads((trunk / "research/html/package-lock.json").read_text())
    wanted = lock["packages"][""]["dependencies"]
    found = []
    for path, row in lock["packages"].items():
        name = path.removeprefix("node_modules/")
        if name in wanted:
            found.append(package(name, row["version"], row.get("license", "NOASSERTION"), externalRefs=[
                {"referenceCategory": "PACKAGE-MANAGER", "referenceType": "purl", "referenceLocator": f"pkg:npm/{name}@{row['version']}"}]))
    return found


def bill(trunk: Path, program: Path, version: str) -> dict:
    own = package("millrace", version, "MIT", checksums=[{"algorithm": "SHA256", "checksumValue": hashlib.sha256(program.read_bytes()).hexdigest()}])
    static, dynamic, pages = compiled_in(trunk), linked_with(program), of_the_pages(trunk)
    related = [(one, "STATIC_LINK") for one in static] + [(one, "DYNAMIC_LINK") for one in dynamic] + [(one, "CONTAINS") for one in pages]
    # The same sources give the same bytes where the build fixes its time.
    when = datetime.datetime.fromtimestamp(int(os.environ.get("SOURCE_DATE_EPOCH", "0")) or datetime.datetime.now().timestamp(), datetime.timezone.utc)
    return {
        "spdxVersion": "SPDX-2.3", "dataLicense": "CC0-1.0", "SPDXID": "SPDXRef-DOCUMENT", "name": f"millrace-{version}",
        "documentNamespace": f"https://spdx.org/spdxdocs/millrace-{version}-{own['checksums'][0]['checksumValue'][:16]}",
        "creationInfo": {"created": when.strftime("%Y-%m-%dT%H:%M:%SZ"), "creators": ["Tool: millrace-sbom"]},
        "packages": [own, *(one for one, _ in related)],
        "relationships": [{"spdxElementId": "SPDXRef-DOCUMENT", "relationshipType": "DESCRIBES", "relatedSpdxElement": own["SPDXID"]},
                          *({"spdxElementId": own["SPDXID"], "relationshipType": kind, "relatedSpdxElement": one["SPDXID"]} for one, kind in related)],
    }


def main() -> None:
    trunk, program, version = sys.argv[1:]
    json.dump(bill(Path(trunk), Path(program), version), sys.stdout, indent=1)
    print()


if __name__ == "__main__":
    main()
