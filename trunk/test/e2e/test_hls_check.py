"""The judge of playlists is judged: good ones pass, and each kind of bad one is seen."""

import pytest

import hls_check

GOOD = """#EXTM3U
#EXT-X-VERSION:3
#EXT-X-MEDIA-SEQUENCE:12
#EXT-X-TARGETDURATION:4
#EXTINF:3.336, no desc
cam-12.ts
#EXT-X-DISCONTINUITY
#EXTINF:3.003, no desc
cam-13.ts
"""
LOW = """#EXTM3U
#EXT-X-VERSION:9
#EXT-X-MEDIA-SEQUENCE:3
#EXT-X-TARGETDURATION:1
#EXT-X-SERVER-CONTROL:CAN-BLOCK-RELOAD=YES,PART-HOLD-BACK=0.6,CAN-SKIP-UNTIL=6
#EXT-X-PART-INF:PART-TARGET=0.2
#EXT-X-PART:DURATION=0.2,URI="a-3.0.ts",INDEPENDENT=YES
#EXT-X-PART:DURATION=0.1,URI="a-3.1.ts"
#EXTINF:0.300, no desc
a-3.ts
#EXT-X-PART:DURATION=0.2,URI="a-4.0.ts",INDEPENDENT=YES
#EXT-X-PRELOAD-HINT:TYPE=PART,URI="a-4.1.ts"
"""
MASTER = """#EXTM3U
#EXT-X-STREAM-INF:BANDWIDTH=200,AVERAGE-BANDWIDTH=100,CODECS="avc1.42c01e,mp4a.40.2",RESOLUTION=640x360,FRAME-RATE=25.000
/live/cam.m3u8?hls_ctx=12345678
"""


@pytest.mark.parametrize("text", [GOOD, LOW, MASTER])
def test_good_ones_pass(text):
    assert hls_check.check(text) == []
    assert hls_check.check_update(text, text) == []


@pytest.mark.parametrize("text, old, new, section", [
    (GOOD, "#EXTM3U\n", "", "4.3.1.1"),
    (GOOD, "#EXT-X-TARGETDURATION:4\n", "", "4.3.3.1"),
    (GOOD, "TARGETDURATION:4", "TARGETDURATION:2", "4.3.3.1"),
    (GOOD, "TARGETDURATION:4", "TARGETDURATION:4.5", "4.2"),
    (GOOD, "#EXTINF:3.336, no desc\n", "", "4.3.2.1"),
    (GOOD, "#EXTINF:3.336, no desc", "#EXTINF:3.336", "4.3.2.1"),
    (GOOD, "#EXTINF:3.336", "#EXTINF:-3.336", "4.2"),
    (GOOD, "cam-13.ts\n", "", "4.3.2.1"),
    (GOOD, "cam-13.ts\n", "cam-13.ts", "4.1"),
    (GOOD, "cam-13", "cam-12", "an entry"),
    (GOOD, "VERSION:3", "VERSION:2", "7"),
    (GOOD, "#EXT-X-VERSION:3\n", "#EXT-X-VERSION:3\n#EXT-X-VERSION:3\n", "4.3"),
    (GOOD, "#EXT-X-DISCONTINUITY\n", "#EXT-X-KEY:METHOD=AES-128,URI=\"k\",IV=0x12\n", "4.3.2.4"),
    (GOOD, "#EXT-X-DISCONTINUITY\n", "#EXT-X-KEY:METHOD=AES-128\n", "4.3.2.4"),
    (GOOD, "#EXT-X-DISCONTINUITY\n", "#EXT-X-MAP:URI=\"init.mp4\"\n", "7"),
    (GOOD, "#EXT-X-DISCONTINUITY\n", "#EXT-X-GAP\n", "bis 8"),
    (GOOD, "#EXT-X-DISCONTINUITY\n", "#EXT-X-DISCONTINUTY\n", "a tag"),
    (GOOD, "#EXT-X-DISCONTINUITY\n", "#EXT-X-MEDIA-SEQUENCE:12\n", "4.3"),
    (GOOD, "cam-12.ts", "cam-12.m4s", "3.3"),
    (LOW, "CAN-BLOCK-RELOAD=YES,", "", "bis B.1"),
    (LOW, "#EXT-X-PRELOAD-HINT", "#EXT-X-RENDITION-REPORT:URI=\"b.m3u8\",LAST-PART=0\n#EXT-X-PRELOAD-HINT", "bis 4.4.5.4"),
    (LOW, "#EXT-X-PART-INF", "#EXT-X-SKIP:SKIPPED-SEGMENTS=0\n#EXT-X-PART-INF", "bis 4.4.5.2"),
    (LOW, "HOLD-BACK=0.6", "HOLD-BACK=0.3", "bis 4.4.3.8"),
    (LOW, "UNTIL=6", "UNTIL=5", "bis 4.4.3.8"),
    (LOW, "#EXT-X-PART-INF:PART-TARGET=0.2\n", "", "bis 4.4.3.7"),
    (LOW, "PART-TARGET=0.2", "PART-TARGET=0.19", "bis 4.4.4.9"),
    (LOW, "DURATION=0.1,", "DURATION=0.2,", "bis 4.4.4.9"),
    (LOW, "DURATION=0.2,URI=\"a-3.0.ts\"", "DURATION=0.15,URI=\"a-3.0.ts\"", "bis 4.4.4.9"),
    (LOW, "a-4.1.ts", "a-4.0.ts", "bis 4.4.5.3"),
    (LOW, "TYPE=PART,", "", "bis 4.4.5.3"),
    (LOW, "URI=\"a-3.1.ts\"", "URI=a-3.1.ts,", "4.2"),
    (MASTER, "BANDWIDTH=200,AVERAGE-BANDWIDTH=100", "AVERAGE-BANDWIDTH=100", "4.3.4.2"),
    (MASTER, "AVERAGE-BANDWIDTH=100", "AVERAGE-BANDWIDTH=300", "4.3.4.2"),
    (MASTER, "640x360", "640*360", "4.3.4.2"),
    (MASTER, "25.000", "25.0001", "4.3.4.2"),
    (MASTER, "avc1.42c01e,mp4a.40.2", "avc1.42c01e, mp4a.40.2", "4.3.4.2"),
    (MASTER, "/live/cam.m3u8?hls_ctx=12345678\n", "", "4.3.4.2"),
])
def test_each_kind_of_bad_one_is_seen(text, old, new, section):
    assert old in text
    complaints = hls_check.check(text.replace(old, new, 1))
    assert any(complaint.startswith(section) for complaint in complaints), complaints


@pytest.mark.parametrize("old, new, section", [
    ("SEQUENCE:12", "SEQUENCE:11", "6.2.2"),
    ("cam-13.ts", "cam-14.ts", "6.2.1"),
    ("3.003", "3.004", "6.2.1"),
    ("#EXT-X-DISCONTINUITY\n", "", "6.2.1"),
    ("#EXT-X-DISCONTINUITY\n#EXTINF:3.003, no desc\ncam-13.ts\n", "", "6.2.1"),
    ("SEQUENCE:12", "SEQUENCE:15", "6.2.1"),
])
def test_each_kind_of_bad_update_is_seen(old, new, section):
    assert old in GOOD
    complaints = hls_check.check_update(GOOD, GOOD.replace(old, new, 1))
    assert any(complaint.startswith(section) for complaint in complaints), complaints


def test_a_discontinuity_that_leaves_is_counted():
    later = GOOD.replace("SEQUENCE:12", "SEQUENCE:14").replace("cam-12", "cam-14").replace("cam-13", "cam-15").replace(
        "#EXT-X-DISCONTINUITY\n", "")
    assert any(complaint.startswith("6.2.2") for complaint in hls_check.check_update(GOOD, later))
    counted = later.replace("SEQUENCE:14\n", "SEQUENCE:14\n#EXT-X-DISCONTINUITY-SEQUENCE:1\n")
    assert hls_check.check_update(GOOD, counted) == []
