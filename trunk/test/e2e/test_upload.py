"""Recordings are copied to object storage: whole, once, through cut connections, kills, wrong credentials, wrong clocks and refusals; nothing is
deleted here that is not there.

Complaints about other servers: mtx#4056, #2403; srs#3119; AMS#3549: upload to S3 in the server."""

import hashlib
import json
import os
import random
import re
import time
import urllib.request
from pathlib import Path

import pytest

from hook_server import HookServer
from live_server import TRUNK, wait_until
from object_storage import BUCKET, KEY, KEYS, SECRET, Gate, Storage, chaos
from players import FfmpegPublisher

MIB = 1 << 20
DVR = "dvr { enabled on; dvr_path $folder/rec/[app]/[stream].[timestamp].flv; }\n"


def upload(port: int, more: str = KEYS) -> str:
    return f"upload {{ enabled on; endpoint http://127.0.0.1:{port}; bucket {BUCKET}; part_size 5; {more} }}\n"


def make_recording(folder: Path, name: str, size: int) -> Path:
    """An FLV file of that size, as a recorder could have left it: named by stream and time, its tags full of noise."""
    path = folder / "rec" / "live" / f"{name}.{1_700_000_000_000 + len(name)}.flv"
    path.parent.mkdir(parents=True, exist_ok=True)
    chance = random.Random(name)
    with open(path, "wb") as out:
        out.write(b"FLV\x01\x05\x00\x00\x00\x09\x00\x00\x00\x00")
        while out.tell() < size:
            body = chance.randbytes(min(60_000, max(1, size - out.tell() - 15)))
            out.write(b"\x09" + len(body).to_bytes(3, "big") + bytes(7) + body + (len(body) + 11).to_bytes(4, "big"))
    return path


def state(live) -> dict:
    return live.api("/api/v1/uploads/state")["data"]


def wait_uploaded(live, count: int, limit_s: float = 60) -> dict:
    return wait_until(lambda: state(live)["uploaded_files"] >= count and state(live), limit_s, lambda: f"{count} uploads: {state(live)} {live.log()[-1500:]}")


def key_of(path: Path) -> str:
    return f"live/{path.name}"


def assert_same(storage: Storage, paths: dict[Path, str], prefix: str = "") -> None:
    """Objects have the hashes that the files had, and there are no others."""
    assert set(storage.objects()) == {prefix + key_of(path) for path in paths}
    for path, md5 in paths.items():
        assert storage.md5_of(prefix + key_of(path)) == md5, path


def hashed(*paths: Path) -> dict[Path, str]:
    return {path: hashlib.md5(path.read_bytes()).hexdigest() for path in paths}


@pytest.mark.parametrize("kind", ["moto", "seaweedfs"])
def test_recordings_become_objects(server, clip, tmp_path, kind):
    with Storage(tmp_path / "storage", kind) as storage, Gate(storage) as gate, HookServer() as hooks:
        old = make_recording(tmp_path / "server0", "old", 12 * MIB)
        live = server(DVR + f"http_hooks {{ enabled on; on_upload {hooks.url('/on_upload')}; }}", root=upload(gate.port, KEYS + "prefix [vhost]/a+b/;"))
        wait_uploaded(live, 1)
        with FfmpegPublisher(live.url("cam"), clip("basic"), speed=4):
            wait_until(lambda: live.api("/api/v1/dvrs")["dvrs"], 10, "it is recorded")
            time.sleep(1)
        wait_uploaded(live, 2)
        (new,) = [path for path in old.parent.glob("cam.*.flv")]
        assert_same(storage, hashed(old, new), "__defaultVhost__/a+b/")
        assert not gate.wrong and set(gate.writes().values()) == {1}
        assert [target for method, target in gate.done if method == "PUT" and "partNumber=3" in target], "12 MiB are sent in parts"
        assert not storage.open_uploads()
        hooks.wait_for("on_upload", 2)
        told = {event.body["object"]: event.body for event in hooks.events if event.action == "on_upload"}
        body = told[f"__defaultVhost__/a+b/{key_of(old)}"]
        assert (body["bucket"], body["bytes"], body["app"], body["stream"], body["file"]) == (BUCKET, old.stat().st_size, "live", "old", str(old))
        assert "error" not in body and body["etag"].endswith("-3")
        sample = json.loads(re.search(r"### on_upload.*?```json\n(.*?)```", (TRUNK / "doc/manual/callbacks.md").read_text(), re.S)[1])
        assert {key: type(value) for key, value in sample.items()} == {key: type(value) for key, value in body.items()}
        # Not again after a restart.
        requests = len(gate.requests)
        live.stop()
        live.start()
        wait_until(lambda: "files of" in live.log().rsplit("recordings go to", 1)[1], 10, "the library is read")
        time.sleep(2)
        assert len(gate.requests) == requests and state(live)["files"] == 0


def test_storage_over_tls_gets_recordings_if_its_certificate_is_trusted(server, tmp_path, certificate):
    """Neither a key nor a byte of a recording goes to a server whose certificate nobody vouches for."""
    with Storage(tmp_path / "storage") as storage, Gate(storage, certificate=certificate) as gate:
        root = upload(gate.port, KEYS + "delete_local on;").replace("http://127.0.0.1", "https://localhost")
        path = make_recording(tmp_path / "server0", "cam", 6 * MIB)
        files = hashed(path)
        stranger = server(DVR, root=root)
        error = wait_until(lambda: state(stranger)["error"], 20, "the error")
        assert "certificate" in error and path.exists() and not gate.requests, error
        stranger.stop()
        path = path.rename(tmp_path / path.name)
        trusted = make_recording(tmp_path / "server1", "cam", 6 * MIB)
        server(DVR, root=root + f"tls_client {{ ca_file {certificate[1]}; }}\n")
        wait_until(lambda: not trusted.exists(), 40, "it is uploaded and deleted")
        assert_same(storage, {trusted: files[tmp_path / "server0" / "rec" / "live" / path.name]})
        assert not gate.wrong and set(gate.writes().values()) == {1}
        assert [target for method, target in gate.done if method == "PUT" and "partNumber=2" in target], "6 MiB are sent in parts"


@pytest.mark.parametrize("seed", [0, pytest.param(1, marks=pytest.mark.long)])
def test_every_object_is_whole_and_there_once_whatever_happens(server, tmp_path, seed):
    with Storage(tmp_path / "storage") as storage, Gate(storage, chaos(seed)) as gate:
        paths = [make_recording(tmp_path / "server0", f"cam{i}", size) for i, size in enumerate([1, 300_000, 5 * MIB, 5 * MIB + 1, 13 * MIB, 17 * MIB])]
        files = hashed(*paths)
        live = server(DVR, root=upload(gate.port, KEYS + "delete_local on; parallel 3;"))
        chance = random.Random(seed)
        for _ in range(3):
            time.sleep(chance.random() * 2)
            live.kill()
            # What is gone here is there.
            for path in paths:
                assert path.exists() or storage.md5_of(key_of(path)) == files[path]
            live.start()
        wait_until(lambda: not any(path.exists() for path in paths), 120, lambda: f"{state(live)} {live.api('/api/v1/uploads')}")
        wait_until(lambda: state(live)["files"] == 0, 10, "nothing is left")
        assert_same(storage, files)
        assert not gate.wrong and set(gate.writes().values()) == {1}, gate.writes()
        assert not list(paths[0].parent.iterdir()), "no note stays"


def test_a_killed_server_goes_on_with_the_parts_that_are_there(server, tmp_path):
    with Storage(tmp_path / "storage") as storage, Gate(storage) as gate:
        path = make_recording(tmp_path / "server0", "cam", 23 * MIB)
        gate.rule = lambda method, target: ("cut", 1000) if "partNumber=4" in target else None
        live = server(DVR, root=upload(gate.port, KEYS + "parallel 1;"))
        wait_until(lambda: any("partNumber=4" in target for _, target in gate.requests), 30, lambda: live.log()[-1000:])
        live.kill()
        gate.rule = None
        assert sum("partNumber" in target for (_, target) in gate.done) == 3
        live.start()
        wait_uploaded(live, 1)
        assert sum(count for (_, target), count in gate.done.items() if "partNumber" in target) == 5, "three before, two after"
        assert_same(storage, hashed(path))


def test_wrong_credentials_are_said_once_and_the_right_ones_are_taken(server, tmp_path):
    with Storage(tmp_path / "storage") as storage, Gate(storage) as gate:
        path = make_recording(tmp_path / "server0", "cam", 100_000)
        keys = tmp_path / "credentials"
        keys.write_text(f"[other]\naws_access_key_id = {KEY}\n[test]\naws_access_key_id = {KEY}\naws_secret_access_key = wrong\n")
        live = server(DVR, root=upload(gate.port, f"credentials_file {keys}; profile test; delete_local on;"))
        error = wait_until(lambda: state(live)["error"], 20, "the error")
        assert error.startswith("SignatureDoesNotMatch") and path.exists()
        wait_until(lambda: len(gate.wrong) >= 4, 20, "it is tried again")
        assert live.log().count("takes no files now: SignatureDoesNotMatch") == 1 and SECRET not in live.log()
        keys.write_text(f"[test]\naws_access_key_id = {KEY}\naws_secret_access_key = {SECRET}\n")
        files = hashed(path)
        wait_until(lambda: not path.exists(), 40, "it is uploaded and deleted")
        assert_same(storage, files)
        assert "accepts files again" in live.log() and state(live)["error"] is None


@pytest.mark.parametrize("clock_s", [-7_200, pytest.param(90_000, marks=pytest.mark.long)])
def test_a_wrong_clock_is_corrected_by_the_servers_date(server, tmp_path, clock_s):
    with Storage(tmp_path / "storage") as storage, Gate(storage, clock_s=clock_s) as gate:
        path = make_recording(tmp_path / "server0", "cam", 6 * MIB)
        live = server(DVR, root=upload(gate.port))
        wait_uploaded(live, 1)
        assert_same(storage, hashed(path))
        assert live.log().count("the clock of this machine is") == 1 and not gate.wrong


def test_slow_down_makes_pauses_and_fewer_requests(server, tmp_path):
    refused: list = []

    def rule(_method, _target):
        if len(refused) < 8:
            refused.append(time.monotonic())
            return ("refuse", 503, "SlowDown")
        return None
    with Storage(tmp_path / "storage") as storage, Gate(storage, rule) as gate:
        paths = [make_recording(tmp_path / "server0", f"cam{i}", 10_000) for i in range(20)]
        live = server(DVR, root=upload(gate.port, KEYS + "parallel 4;"))
        wait_until(lambda: state(live)["parallel"] < 4, 20, "fewer requests at the same time")
        wait_uploaded(live, 20)
        assert_same(storage, hashed(*paths))
        # Four at once, then two, then one, after pauses that grow.
        pauses = [b - a for a, b in zip(refused, refused[1:]) if b - a > 0.3]
        assert len(pauses) == 3 and pauses[0] < pauses[1] < pauses[2], pauses


def test_a_server_that_is_killed_gets_the_rest_later(server, tmp_path):
    with Storage(tmp_path / "storage", "seaweedfs") as storage:
        live = server(DVR, root=upload(storage.port, KEYS + "delete_local on;"))
        storage.kill()
        path = make_recording(tmp_path / "server0", "cam", 11 * MIB)
        files = hashed(path)
        live.stop()
        live.start()
        wait_until(lambda: state(live)["error"], 20, "the error")
        assert path.exists() and state(live)["files"] == 1
        (row,) = live.api("/api/v1/uploads")["uploads"]
        assert (row["state"], row["object"], row["bytes"]) == ("waiting", key_of(path), path.stat().st_size) and row["error"]
        storage.start()
        wait_until(lambda: not path.exists(), 90, lambda: f"{state(live)}")
        assert_same(storage, files)


def test_another_object_of_the_name_is_never_replaced(server, tmp_path):
    with Storage(tmp_path / "storage") as storage, Gate(storage) as gate, HookServer() as hooks:
        path = make_recording(tmp_path / "server0", "cam", 100_000)
        storage.ask("put_object", Key=key_of(path), ContentType="text/plain")
        live = server(DVR + f"http_hooks {{ enabled on; on_upload {hooks.url('/on_upload')}; }}", root=upload(gate.port, KEYS + "delete_local on;"))
        (row,) = wait_until(lambda: [one for one in live.api("/api/v1/uploads")["uploads"] if one["state"] == "conflict"], 20, "the conflict")
        assert "another object" in row["error"] and state(live)["conflicts"] == 1
        assert path.exists() and storage.objects() == {key_of(path): 0}
        hooks.wait_for("on_upload", 1)
        assert [event.body["error"] for event in hooks.events if event.action == "on_upload"]


def test_pinned_recordings_are_copied_once_and_stay(server, tmp_path):
    with Storage(tmp_path / "storage") as storage, Gate(storage) as gate, HookServer() as hooks:
        pinned, other = (make_recording(tmp_path / "server0", name, 1_000) for name in ("pinned", "a"))
        pinned.with_name(pinned.name + ".pin").touch()
        files = hashed(pinned, other)
        live = server(DVR + f"http_hooks {{ enabled on; on_upload {hooks.url('/on_upload')}; }}", root=upload(gate.port, KEYS + "delete_local on;"))
        wait_until(lambda: not other.exists() and state(live)["uploaded_files"] == 2, 20, lambda: f"{state(live)}")
        assert_same(storage, files)
        requests = len(gate.requests)
        live.stop()
        live.start()
        wait_until(lambda: "files of" in live.log().rsplit("recordings go to", 1)[1], 10, "the library is read")
        time.sleep(2)
        assert pinned.exists() and len(gate.requests) == requests and hooks.wait_for("on_upload", 2)
        assert len([event for event in hooks.events if event.action == "on_upload"]) == 2


def test_the_note_goes_with_the_recording(server, tmp_path):
    with Storage(tmp_path / "storage") as storage, Gate(storage) as gate:
        path = make_recording(tmp_path / "server0", "cam", 1_000)
        live = server(DVR, root=upload(gate.port))
        wait_uploaded(live, 1)
        wait_until(lambda: "done" in path.with_name(path.name + ".upload").read_text(), 10, "the note")
        request = urllib.request.Request(f"http://127.0.0.1:{live.ports['api']}/api/v1/recordings/files?stream=/live/cam&begin=2000-01-01T00:00:00Z&end=2099-01-01T00:00:00Z", method="DELETE")
        with urllib.request.urlopen(request, timeout=10) as answer:
            assert json.load(answer)["data"]["changed"] == 1
        assert not list(path.parent.iterdir()) and list(storage.objects()) == [key_of(path)]


def test_credentials_of_the_instance(server, tmp_path):
    with Storage(tmp_path / "storage") as storage, Gate(storage) as gate, HookServer() as service:
        service.judge = lambda event: instance_answer(event)
        path = make_recording(tmp_path / "server0", "cam", 1_000)
        live = server(DVR, root=upload(gate.port, f"instance_credentials on; metadata_url {service.url('')};"))
        wait_uploaded(live, 1)
        assert_same(storage, hashed(path))
        assert not os.environ.get("AWS_ACCESS_KEY_ID")


def instance_answer(event):
    from hook_server import Answer  # pylint: disable=import-outside-toplevel
    if event.path == "/latest/api/token":
        return Answer("the-token")
    assert event.headers["X-aws-ec2-metadata-token"] == "the-token"
    if event.path.endswith("/security-credentials/"):
        return Answer("role")
    return Answer(json.dumps({"Code": "Success", "AccessKeyId": KEY, "SecretAccessKey": SECRET, "Token": "", "Expiration": "2036-01-01T00:00:00Z"}))
