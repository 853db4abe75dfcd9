"""A server with `access`, its credentials, and the ways in which real clients use them."""

import json
import subprocess
import urllib.error
import urllib.request

import rtc_offer
from live_server import BINARY, LiveServer, wait_until

ACCESS = """access { enabled on; key_file $folder/access.key; anybody play live/open*; }
    hls { enabled on; hls_fragment 1; hls_window 20; hls_path $folder/html; }
    dash { enabled on; dash_fragment 1; dash_path $folder/html; }
    http_remux { enabled on; mount [vhost]/[app]/[stream].flv; }
    rtc { enabled on; rtmp_to_rtc on; } srt { enabled on; } rtsp { enabled on; }
"""
PORTS = """rtc_server { enabled on; listen 127.0.0.1:$udp_rtc; candidate 127.0.0.1; }
srt_server { enabled on; listen 127.0.0.1:$udp_srt; }
rtsp_server { enabled on; listen 127.0.0.1:$rtsp; rtp_port_min 0; }
"""


def run(live: LiveServer, *arguments: str, given: str = "") -> str:
    """The line that a command of the server prints."""
    made = subprocess.run([str(BINARY), *arguments], cwd=live.folder, text=True, capture_output=True, timeout=20, check=True, input=given)
    assert made.stdout.count("\n") == 1, made
    return made.stdout.strip()


def token(live: LiveServer, *arguments: str) -> str:
    return run(live, "token", "-c", str(live.conf_path), *arguments)


def signed(live: LiveServer, *arguments: str) -> str:
    """The query of a signed URL."""
    return run(live, "sign", "-c", str(live.conf_path), *arguments).partition("?")[2]


def user(name: str, hashed: str, *rights: str, more: str = "") -> str:
    """A block of the conf."""
    return f"user {name} {{ password {hashed.replace('$', '$$')}; {' '.join(f'allow {right};' for right in rights)} {more} }}\n"


def get(live: LiveServer, path: str, limit: int = 400, **headers: str) -> tuple[int, str]:
    """The status of a response, and its beginning."""
    asked = urllib.request.Request(f"http://127.0.0.1:{live.ports['http']}{path}", headers={name.replace("_", "-"): value for name, value in headers.items()})
    try:
        with urllib.request.urlopen(asked, timeout=20) as answer:
            return answer.status, answer.read(limit).decode(errors="replace")
    except urllib.error.HTTPError as error:
        return error.code, error.read(400).decode(errors="replace")


def ffmpeg_reads(url: str) -> bool:
    """Whether ffmpeg gets media of this URL."""
    got = subprocess.run(["ffmpeg", "-nostdin", "-loglevel", "error", "-i", url, "-t", "0.5", "-c", "copy", "-f", "null", "-"], capture_output=True, timeout=30,
                         check=False)
    if got.returncode != 0:
        print(got.stderr.decode(errors="replace"))
    return got.returncode == 0


def is_published(live: LiveServer, name: str) -> bool:
    return any(stream["name"] == name and stream["publish"]["active"] for stream in live.api("/api/v1/streams")["streams"])


def start_ffmpeg(clip, url: str, form: str = "flv") -> subprocess.Popen:
    return subprocess.Popen(["ffmpeg", "-nostdin", "-loglevel", "error", "-re", "-stream_loop", "-1", "-i", str(clip("basic")), "-c", "copy", "-f", form, url],
                            stdin=subprocess.DEVNULL, stderr=subprocess.DEVNULL)


def ffmpeg_publishes(live: LiveServer, clip, url: str, name: str, form: str = "flv") -> bool:
    """Whether ffmpeg can publish to this URL."""
    sender = start_ffmpeg(clip, url, form)
    try:
        wait_until(lambda: sender.poll() is not None or is_published(live, name), 20, "the server accepts or refuses the publisher")
        return sender.poll() is None
    finally:
        sender.kill()
        sender.wait()


def takes_offer(live: LiveServer, verb: str, stream: str, query: str) -> bool:
    """The API before WHIP and WHEP: its URL of the stream has the query."""
    offer = rtc_offer.offer("recvonly" if verb == "play" else "sendonly")
    asked = {"streamurl": f"webrtc://127.0.0.1/live/{stream}?{query}", "sdp": offer}
    return rtc_offer.ask(live.ports["http"], "POST", f"/rtc/v1/{verb}/", json.dumps(asked)).json()["code"] == 0


def players(live: LiveServer, stream: str) -> dict:
    """By protocol: whether a query lets its client play."""
    srt = f"srt://127.0.0.1:{live.ports['udp_srt']}?streamid=#!::r=live/{stream},%sm=request"
    rtsp = live.url(stream, port="rtsp", schema="rtsp")
    return {
        "rtmp": lambda query: ffmpeg_reads(live.url(f"{stream}?{query}")),
        "flv": lambda query: get(live, f"/live/{stream}.flv?{query}")[0] == 200,
        "hls": lambda query: get(live, f"/live/{stream}.m3u8?{query}")[0] == 200,
        # All of the same address and program.
        "dash": lambda query: get(live, f"/live/{stream}.mpd?{query}")[0] == 200,
        "whep": lambda query: rtc_offer.post(live.ports["http"], f"/rtc/v1/whep/?app=live&stream={stream}&{query}", rtc_offer.offer("recvonly")).status == 201,
        "rtc play": lambda query: takes_offer(live, "play", stream, query),
        "srt": lambda query: ffmpeg_reads(srt % (query and query.replace("&", ",") + ",")),
        "rtsp": lambda query: ffmpeg_reads(f"{rtsp}?{query}"),
    }


def publishers(live: LiveServer, clip, stream: str) -> dict:
    """By protocol: whether a query lets its client publish."""
    srt = f"srt://127.0.0.1:{live.ports['udp_srt']}?streamid=#!::r=live/{stream},%sm=publish"
    rtsp = live.url(stream, port="rtsp", schema="rtsp")
    return {
        "rtmp": lambda query: ffmpeg_publishes(live, clip, live.url(f"{stream}?{query}"), stream),
        "srt": lambda query: ffmpeg_publishes(live, clip, srt % (query and query.replace("&", ",") + ","), stream, "mpegts"),
        "rtsp": lambda query: ffmpeg_publishes(live, clip, f"{rtsp}?{query}", stream, "rtsp"),
        "whip": lambda query: rtc_offer.post(live.ports["http"], f"/rtc/v1/whip/?app=live&stream={stream}&{query}", rtc_offer.offer()).status == 201,
    }
