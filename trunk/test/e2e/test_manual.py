"""The manual: its pages in Chromium, its links, its search, the generated list of errors, and its commands, which a test runs."""

import contextlib
import html
import json
import os
import re
import shutil
import subprocess
import sys
import textwrap
import urllib.request
from pathlib import Path

import pytest

import own_network
from hook_server import Answer, HookServer
from live_server import BINARY, TRUNK, can_connect, free_port, wait_until
from page_site import AUDIT, fixture_site  # noqa: F401
from players import FfmpegPublisher
from rtmp_client import Player, Publisher

MANUAL = TRUNK / "doc/manual"
BUILD = TRUNK / "tools/manual/build.py"
MENU = ["Streams", "Player", "WebRTC", "Publish", "Console", "Manual"]
SIZES = [(320, 640, "light"), (768, 1024, "dark"), (1280, 860, "light"), (1920, 1080, "dark")]
# Text that is wider than its box, where the box does not scroll.
CLIPPED = """[...document.querySelectorAll('article *, .side a')].filter((one) => one.checkVisibility() && !one.closest('pre, .scroll'))
    .filter((one) => one.getBoundingClientRect().right > innerWidth + 1).map((one) => one.textContent.slice(0, 60))"""
# A block for a test: the language, and a word for the way to run it.
BLOCK = re.compile(r"^```(?:sh|python) (test|publish|play|service)\n(.*?)^```$", re.M | re.S)


def blocks(kind: str) -> list[tuple[str, str]]:
    return [(path.stem, text) for path in sorted(MANUAL.glob("*.md")) for found, text in BLOCK.findall(path.read_text()) if found == kind]


def python() -> str:
    for candidate in (sys.executable, "/usr/bin/python3"):
        if subprocess.run([candidate, "-c", "import markdown"], capture_output=True, check=False).returncode == 0:
            return candidate
    pytest.skip("no Python-Markdown here")


def build(trunk: Path, folder: Path) -> subprocess.CompletedProcess:
    return subprocess.run([python(), "-B", BUILD, trunk, folder], capture_output=True, text=True, timeout=60, check=False)


@pytest.fixture(name="pages", scope="module")
def fixture_pages(tmp_path_factory):
    folder = tmp_path_factory.mktemp("manual")
    done = build(TRUNK, folder)
    assert done.returncode == 0, done.stderr
    return folder


def test_every_page_is_in_the_menu_and_every_link_leads_somewhere(pages):
    listed = subprocess.run([sys.executable, "-B", BUILD, TRUNK, "--list"], capture_output=True, text=True, check=True).stdout.split()
    assert sorted(path.name for path in pages.iterdir()) == listed
    for path in pages.glob("*.html"):
        text = path.read_text()
        for target in re.findall(r'(?:href|src)="([^"#]+)', text):
            if re.match(r"https?:", target):
                continue
            name = target.rsplit("/", 1)[-1] or "index.html"
            places = [pages, TRUNK / "research/html", TRUNK / "research/html/players", TRUNK / "research/html/console", TRUNK / "research/html/console/lib"]
            assert any((place / name).exists() for place in places), f"{path.name}: {target}"
        assert "<!-- generated" not in text
    # Files of the sources that are no pages.
    assert "(<code>trunk/deploy/README.md</code> in the sources)" in (pages / "scale.html").read_text()
    assert "<code>trunk/conf/access.conf</code> is a complete example" in (pages / "access.html").read_text()


@pytest.mark.parametrize("name", ["access", "cameras", "ladder"])
def test_pages_that_issues_and_old_links_name_are_those_of_the_manual(pages, name):
    second = TRUNK / f"doc/{name}.md"
    assert os.readlink(second) == f"manual/{name}.md" and second.samefile(MANUAL / f"{name}.md")
    assert (pages / f"{name}.html").is_file()


def test_a_broken_link_fails_the_build(tmp_path):
    trunk = tmp_path / "trunk"
    for name in ("doc", "tools/manual", "src/base", "src/wire/http", "conf", "deploy", "research/html"):
        shutil.copytree(TRUNK / name, trunk / name)
    with open(trunk / "doc/manual/tls.md", "a", encoding="utf-8") as page:
        page.write("\n[nowhere](nowhere.md)\n")
    done = build(trunk, tmp_path / "out")
    assert done.returncode == 1 and "nowhere.md leads nowhere" in done.stderr
    page = trunk / "doc/manual/tls.md"
    page.write_text(page.read_text().replace("nowhere.md", "srt.md#no-such-heading"))
    done = build(trunk, tmp_path / "out")
    assert done.returncode == 1 and "no heading no-such-heading in srt" in done.stderr


def test_the_errors_are_those_of_the_sources(pages):
    text = (pages / "errors.html").read_text()
    for row in ("<td>1023</td>", "<td>3082</td>", "stream … is published already", "<code>not_found</code>"):
        assert row in text, row
    assert text.count("<tr>") > 1400 and "libFuzzer" not in text
    # Made by a function from its argument, a branch of a conditional, by the operating system, a code inside a sentence, over HTTP, in the conf.
    for kind, sentence in (("denied", "the token is not valid: it has expired"), ("not_found", "no origin has sent the stream in time"), ("system", "connecting to …: …"),
                           ("3063", "The callback's answer is empty. The callback's answer is not JSON."), ("404", "there is no such worker"),
                           ("malformed", "found a zero byte in a word, expected text (with file, line and column)")):
        assert re.search(rf"<td>{kind}</td>\s*<td>{re.escape(sentence)}</td>", html.unescape(text)), sentence
    # Codes of calls of another server, and what is put in front of a sentence.
    for row in ("<td>-100</td>", "<td>-300</td>", "<td>-1</td>", "<td>following a redirect: …</td>", "<td>connecting to …: …</td>"):
        assert row in text, row
    rows = re.findall(r"<tr>\s*<td>(.*?)</td>\s*<td>(.*?)</td>", text)
    assert not [row for row in rows if "{}" in row[1] or "fmt::" in row[1] or "Errc" in row[1]]


def test_metrics_and_callbacks_are_those_of_the_sources(pages):
    """test_metrics.py compares the metrics with those that are served, and the samples below are compared with requests."""
    metrics = dict(re.findall(r"<td><code>((?:millrace|srs)_\w+)</code></td>\s*<td>(gauge|counter|histogram)</td>", (pages / "monitoring.html").read_text()))
    assert len(metrics) > 150 and metrics["millrace_loop_lag_seconds"] == "histogram" and metrics["millrace_srt_packets_total"] == "counter"
    callbacks = (pages / "callbacks.html").read_text()
    rows = dict(re.findall(r"<td>(?:<code>forward \{ backend URL; \}</code>: )?<code>(on_\w+)</code></td>\s*<td>.+?</td>\s*<td>(.*?)</td>", callbacks))
    directives = set(re.findall(r"`SRS_VHOST_HTTP_HOOKS_(ON_\w+)`", (TRUNK / "doc/config.md").read_text()))
    assert {name.lower() for name in directives} | {"on_forward"} == set(rows) and len(rows) == 11
    assert [name for name, members in rows.items() if "<code>" not in members] == ["on_hls_notify"]
    assert "Common members: <code>server_id</code>" in callbacks and "<code>clients</code>" in rows["on_stop"] and "<code>vhost</code>" not in rows["on_stop"]


@pytest.mark.parametrize("expression, made", [
    ('"a" "b"', ["ab"]), ('"the name " + name + " is taken"', ["the name … is taken"]), ('fmt::format("{} of {:.1f} {{}}", a, b)', ["… of … {}"]),
    ('late ? "too late" : "too early"', ["too late", "too early"]), ('"it " + std::string(late ? "waits" : "ends")', ["it waits", "it ends"]),
    ('a ? "x" : b ? "y" : live::z("q")', ["x", "y", "…"]), ('std::string("STUN: ") + why', ["STUN: no cookie"]), ('fmt::format("the URL {}", why)', ["the URL no cookie"]),
    (r'"found \"" + text + "\", expected {}"', ['found "…", expected {}']), ('"f(a, b)" + g(a, b)', ["f(a, b)…"])])
def test_sentences_are_read_from_expressions(expression, made):
    script = "import json, sys; sys.path.insert(0, sys.argv[1]); import sentences; print(json.dumps(sentences.texts(sys.argv[2], {'why': ['no cookie']})))"
    done = subprocess.run([sys.executable, "-B", "-c", script, TRUNK / "tools/manual", expression], capture_output=True, text=True, check=True)
    assert json.loads(done.stdout) == made


def test_metrics_endpoints_and_samples_that_the_manual_names_exist():
    text = "".join(path.read_text() for path in MANUAL.glob("*.md"))
    sources = "".join(path.read_text() for path in (TRUNK / "src").rglob("*.[ch]pp") if not re.search(r"_(test|bench|fuzz)\.", path.name))
    metrics = set(re.findall(r"`((?:millrace|srs)_[a-z0-9_]+)", text)) - {"srs_player"}
    assert len(metrics) > 40 and {name for name in metrics if name not in sources} == set()
    routes = re.findall(r'Route\{"(/api/v1/[^"]+)"', (TRUNK / "src/api/common/routes.cpp").read_text())
    patterns = [re.sub(r"\{\w+\}", "[^/]+", re.escape(path).replace(r"\{", "{").replace(r"\}", "}")) for path in routes]
    patterns = [f"{pattern[:-1]}(/.*)?" if pattern.endswith("/") else pattern for pattern in patterns]
    # An unknown path, and addresses of other servers.
    others = {"/api/v1/nosuch", "/api/v1/servers", "/api/v1/srs/register"}
    named = set(re.findall(r"/api/v1/[A-Za-z0-9_/.-]+[A-Za-z]", text)) - others
    assert len(named) > 25 and {path for path in named if not any(re.fullmatch(pattern, path) for pattern in patterns)} == set()
    samples = set(re.findall(r"conf/([a-z0-9._-]+\.conf)", text)) - {"my.conf"}
    assert len(samples) > 8 and {name for name in samples if not (TRUNK / "conf" / name).exists()} == set()


def test_the_codes_of_srt_refusals_are_those_of_the_sources():
    engine, session = TRUNK / "src/engine/srt", TRUNK / "src/session/srt"
    codes = dict(re.findall(r"^    (\w+) = (\d{4}),", (engine / "handshake/handshake_message.hpp").read_text(), re.M))
    table = re.search(r"## Refusal reasons\n.*?\n\n(\|.*?)\n\n", (MANUAL / "srt.md").read_text(), re.S)[1]
    documented = set(re.findall(r"\b1\d{3}\b", table))
    sent = {name for path in (session / "opener.cpp", session / "key_check.cpp") for name in re.findall(r"RejectReason::(\w+)", path.read_text())}
    assert len(sent) > 8 and {codes[name] for name in sent} <= documented <= set(codes.values())


def test_the_manual_says_what_is_not_supported():
    """A reader who looks for it finds the sentence; a page that claims it would be wrong."""
    texts = {path.stem: path.read_text() for path in MANUAL.glob("*.md")}
    for page, subject in (("protocols", "RIST"), ("migrate-nginx-rtmp", "record_max_size")):
        assert re.search(subject + r"[^.]*not supported yet|not supported yet[^.]*" + subject, texts[page].replace("\n", " ")), (page, subject)


@pytest.mark.parametrize("width, height, scheme", SIZES, ids=[str(size[0]) for size in SIZES])
def test_pages_fit(site, width, height, scheme):
    python()  # skips where the build makes no manual
    one = site()
    names = ["", "install.html", "config.html", "errors.html", "migrate-nginx-rtmp.html", "callbacks.html", "srt.html"]
    for name in names:
        page = one.open(f"/docs/{name}", viewport={"width": width, "height": height}, colorScheme=scheme)
        page.wait("document.getElementById('search').checkVisibility() || !document.getElementById('contents').open")
        assert page.value("[...document.querySelectorAll('.bar nav a')].map((one) => one.textContent)") == MENU
        assert page.value("document.querySelector('.bar [aria-current]').textContent") == "Manual"
        assert page.value(CLIPPED) == [], name
        assert page.value(AUDIT) == [], name
        # axe-core takes minutes for a thousand rows.
        assert name in ("errors.html", "config.html") or page.barriers() == [], name
        assert page.value("document.getElementById('contents').open") == (width >= 960)
        if name != "errors.html" and name != "config.html":
            page.shot(f"manual-{width}-{name.removesuffix('.html') or 'index'}", whole=True)


def test_search_finds_sections(site):
    python()
    one = site()
    page = one.open("/docs/", viewport={"width": 1280, "height": 860})
    page.value("(() => { const query = document.getElementById('query'); query.value = 'passphrase callback'; query.dispatchEvent(new Event('input')); })()")
    page.wait("document.querySelectorAll('#found a').length > 0")
    assert "srt.html#encryption" in page.value("[...document.querySelectorAll('#found a')].map((one) => one.getAttribute('href'))")
    page.shot("manual-search")
    page.value("(() => { const query = document.getElementById('query'); query.value = 'xyzzy'; query.dispatchEvent(new Event('input')); })()")
    page.wait("document.getElementById('found').textContent === 'Nothing found'")


def test_every_conf_in_the_manual_is_valid(tmp_path):
    (tmp_path / "objs").mkdir()
    environment = {name: value for name, value in os.environ.items() if not name.startswith("SRS_")}
    count = 0
    for path in sorted(MANUAL.glob("*.md")):
        for language, text in re.findall(r"^ {0,3}```(conf|engine)\n(.*?)^ {0,3}```$", path.read_text(), re.M | re.S):
            text = textwrap.dedent(text)
            text = text if language == "conf" else f"transcode {{ enabled on; ffmpeg {shutil.which('true')}; {text} }}\n"
            whole = text if re.match(r"\s*(#.*\n)*(vhost|listen|http_server|rtmps|http_api|cluster|srt_server|rtsp_server|stream_caster|exporter|tracing|rtc_server|user|playback|recordings|upload|limits|jwks)\b", text) else \
                f"vhost __defaultVhost__ {{\n{text}}}\n"
            whole = ("" if re.search(r"^listen", whole, re.M) else "listen 1935;\n") + whole.replace("/etc/millrace/", f"{TRUNK}/conf/")
            whole += "" if re.search(r"^vhost", whole, re.M) else "\nvhost __defaultVhost__ { }\n"
            (tmp_path / "page.conf").write_text(whole if "daemon " in whole else "daemon off;\n" + whole)
            done = subprocess.run([BINARY, "-t", "-c", "page.conf"], cwd=tmp_path, capture_output=True, text=True, check=False, env=environment)
            complaints = [line for line in done.stderr.splitlines() if "/var/lib/millrace" not in line]
            assert done.returncode == 0 and not complaints, f"{path.name}: {text}\n{done.stdout}{done.stderr}"
            count += 1
    assert count >= 44, count


def packaged_conf(folder: Path) -> str:
    """The conf of the package, in a folder of its own, with RTSP and the casters of two pages; the ports are those of the manual."""
    text = (TRUNK / "packaging/debian/millrace.conf").read_text()
    for place in ("/var/lib/millrace", "/var/log/millrace"):
        (folder / place[1:]).mkdir(parents=True)
        text = text.replace(place, str(folder / place[1:]))
    text = re.sub(r"(rtsp_server \{\s+enabled\s+)off", r"\1on", text)
    for page in ("publish-hardware", "publish-cameras"):
        text += re.search(r"^stream_caster \{(?:[^\n]*\}\n|\n.*?^\}\n)", (MANUAL / f"{page}.md").read_text(), re.M | re.S)[0]
    return text.replace("/usr/share/millrace/html", str(TRUNK / "research/html"))


def shell(text: str, folder: Path, limit_s: float = 40) -> subprocess.CompletedProcess:
    environment = {name: value for name, value in os.environ.items() if not name.startswith("SRS_")}
    environment["PATH"] = f"{folder}:{environment['PATH']}"
    return subprocess.run(["bash", "-euc", text], cwd=folder, env=environment, capture_output=True, text=True, timeout=limit_s, check=False)


def is_live() -> bool:
    with urllib.request.urlopen("http://127.0.0.1:1985/api/v1/streams/", timeout=5) as answer:
        return b'"active":true' in answer.read().replace(b" ", b"")


def publish(text: str, folder: Path) -> subprocess.Popen:
    process = subprocess.Popen(["bash", "-euc", f"exec {text}"], cwd=folder, stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, text=True)
    try:
        wait_until(lambda: is_live() or process.poll() is not None, 30, "the stream is live")
    except AssertionError:
        process.kill()
        raise
    assert process.poll() is None, process.stderr.read()
    return process


def end(process: subprocess.Popen) -> None:
    process.kill()
    process.wait()
    process.stderr.close()
    wait_until(lambda: not is_live(), 20, "the stream has ended")


def missing_elements(text: str) -> list[str]:
    """The programs and GStreamer elements of a command that are not installed."""
    if not shutil.which("gst-inspect-1.0") or not shutil.which("gst-launch-1.0"):
        return ["gst-launch-1.0"]
    names = set(re.findall(r"\b(x264enc|voaacenc|mpegtsmux|rtmp2sink|srtsink|flvmux)\b", text))
    return sorted(name for name in names if subprocess.run(["gst-inspect-1.0", name], capture_output=True, check=False).returncode != 0)


@contextlib.contextmanager
def packaged_server(folder: Path):
    (folder / "millrace.conf").write_text(packaged_conf(folder))
    (folder / "srs").symlink_to(BINARY)
    with open(folder / "console", "wb") as console:
        server = subprocess.Popen([folder / "srs", "-c", folder / "millrace.conf"], stdout=console, stderr=console)
    try:
        wait_until(lambda: can_connect(1985) and can_connect(8080), 20, "the server of the manual")
        yield
    finally:
        server.terminate()
        server.wait(20)


def run_commands(folder: Path) -> None:
    ran = []
    with packaged_server(folder):
        for page, text in blocks("test"):
            done = shell(text, folder)
            assert done.returncode == 0, f"{page}: {text}\n{done.stdout}{done.stderr}"
            ran.append(page)
        (_, first), *others = sorted(blocks("publish"), key=lambda row: row[0] != "publish-ffmpeg")
        tried = {first}  # below
        for page, text in others:
            if (page, text) in GSTREAMER:
                continue
            if text not in tried:
                end(publish(text, folder))
            tried.add(text)
            ran.append(page)
        publisher = publish(first, folder)
        try:
            wait_until(lambda: shell("curl -sfL http://127.0.0.1:8080/live/cam.m3u8", folder).returncode == 0, 30, "HLS")
            for page, text in blocks("play"):
                done = shell(text, folder)
                assert done.returncode == 0, f"{page}: {text}\n{done.stdout}{done.stderr}"
                ran.append(page)
        finally:
            end(publisher)
    assert {"install", "configuration", "tls", "publish-ffmpeg", "play-browser", "play-players", "monitoring", "recording",
            "rtsp", "srt", "captions", "markers", "transcoding", "ladder", "publish-hardware", "publish-cameras"} <= set(ran), ran


def test_the_commands_work(tmp_path, clip):
    for program in ("ffmpeg", "ffprobe", "curl", "openssl"):
        if not shutil.which(program):
            pytest.skip(f"no {program} here")
    (tmp_path / "clip.mp4").symlink_to(clip("basic"))
    own_network.run(run_commands, tmp_path, limit_s=300)


# Apart from the others, so that a machine without an element reports the command that was not run.
GSTREAMER = [(page, text) for page, text in blocks("publish") if "gst-launch-1.0" in text]


def run_publisher(folder: Path, text: str) -> None:
    with packaged_server(folder):
        end(publish(text, folder))


@pytest.mark.parametrize("text", [text for _, text in GSTREAMER], ids=[f"{page}-{index}" for index, (page, _) in enumerate(GSTREAMER)])
def test_the_commands_of_gstreamer_work(tmp_path, text):
    if missing := missing_elements(text):
        pytest.skip(f"not run, {', '.join(missing)} missing: {text}")
    own_network.run(run_publisher, tmp_path, text, limit_s=120)


def test_the_service_of_20_lines_decides(server, clip, tmp_path):
    ((_, text),) = blocks("service")
    assert len([line for line in text.splitlines() if line.strip()]) <= 20
    with HookServer() as free:
        port = free.port
    (tmp_path / "service.py").write_text(text.replace("8085", str(port)))
    with open(tmp_path / "said", "w+", encoding="utf-8") as said:
        service = subprocess.Popen([sys.executable, "service.py"], cwd=tmp_path, stdout=said, stderr=subprocess.STDOUT)
        try:
            wait_until(lambda: can_connect(port), 20, "the service")
            url = f"http://127.0.0.1:{port}/hook"
            live = server(vhost=f"http_hooks {{ enabled on; on_publish {url}; on_play {url}; on_unpublish {url}; on_stop {url}; }}")
            refused = Publisher(live.ports["rtmp"], "cam?token=WRONG", clip("basic"))
            assert refused.status["code"] != "NetStream.Publish.Start" and "the token is wrong" in refused.status["description"]
            admitted = Publisher(live.ports["rtmp"], "cam?token=SECRET", clip("basic"))
            assert admitted.status["code"] == "NetStream.Publish.Start", admitted.status
            admitted.start()
            admitted.stop()
            wait_until(lambda: "on_unpublish 127.0.0.1 /live/cam" in (tmp_path / "said").read_text(), 20, "the event")
        finally:
            service.kill()
            service.wait()


# A sample of a callback in the manual: its name is the word after the language.
SAMPLE = re.compile(r"^```json (on_\w+)\n(.*?)^```$", re.M | re.S)


def test_the_samples_of_callbacks_have_the_members_of_requests(server, clip):
    samples = {name: json.loads(text) for name, text in SAMPLE.findall((MANUAL / "callbacks.md").read_text())}
    with HookServer() as hooks:
        urls = " ".join(f"{name} {hooks.url('/' + name)};" for name in samples if name != "on_forward")
        live = server(f"http_hooks {{ enabled on; {urls} }} forward {{ enabled on; backend {hooks.url('/on_forward')}; }} hls {{ enabled on; hls_fragment 1; hls_path $folder/hls; }} "
                      "dvr { enabled on; dvr_path $folder/dvr/[stream].flv; }")
        hooks.answers["/on_forward"] = Answer(json.dumps({"code": 0, "data": {"urls": [f"rtmp://127.0.0.1:{free_port()}/live/cam"]}}))
        publisher = FfmpegPublisher(live.url("cam?token=SECRET"), clip("basic"))
        hooks.wait_for("on_publish", limit_s=20)
        player = Player(live.ports["rtmp"], "cam")
        player.start()
        hooks.wait_for("on_hls", limit_s=30)
        player.stop()
        publisher.kill()
        hooks.wait_for("on_dvr", limit_s=20)
        hooks.wait_for("on_close", 2)
        for name, sample in samples.items():
            sent = hooks.first(name).body
            assert {key: type(value) for key, value in sample.items()} == {key: type(value) for key, value in sent.items()}, name
            assert sample["action"] == name
    assert len(samples) == 9
