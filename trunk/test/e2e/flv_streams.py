"""HTTP-FLV streams: configuration, POST of a stream, gaps between tags."""

from http_streams import AUDIO, VIDEO
from players import FfmpegPublisher

FLV = "http_remux { enabled on; mount [vhost]/[app]/[stream].flv; }"
PORT = "http"


def assert_gapless(tags, tolerance_ms: int = 100) -> None:
    for kind in (AUDIO, VIDEO):
        times = [t.timestamp for t in tags if t.type == kind and not t.is_sequence_header()]
        assert times, f"no tag of type {kind}"
        assert all(0 <= b - a <= tolerance_ms for a, b in zip(times, times[1:])), times


CASTER = "stream_caster { enabled on; caster flv; output rtmp://127.0.0.1/[app]/[stream]; listen 127.0.0.1:$caster; }"


def post_flv(server, clip, path="/live/posted.flv"):
    """ffmpeg posts a clip in real time, as one chunked body."""
    url = f"http://127.0.0.1:{server.ports['caster']}{path}"
    return FfmpegPublisher(url, clip, extra=["-method", "POST", "-chunked_post", "1"])
