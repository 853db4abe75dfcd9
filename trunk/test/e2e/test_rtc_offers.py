"""WHIP and WHEP offers and their answers, without a connection."""

import pytest

from http_streams import AUDIO
from live_server import wait_until
from rtc_offer import offer, post
from rtmp_client import Publisher, Tag

RTC = "rtc { enabled on; rtmp_to_rtc on; }"
RTC_ROOT = "rtc_server { enabled on; listen 127.0.0.1:$udp; }"


def publish(live, path, form=lambda tags: tags) -> Publisher:
    publisher = Publisher(live.ports["rtmp"], "cam", path)
    publisher.tags = form(publisher.tags)
    publisher.start()
    wait_until(lambda: live.api("/api/v1/streams/")["streams"][0]["frames"] > 5, 10, "the stream")
    return publisher


@pytest.mark.parametrize("head, name", [(0x3E, "PCM"), (0xB6, "Speex")])
def test_audio_that_webrtc_does_not_carry_is_reported(server, clip, head, name):
    live = server(RTC, RTC_ROOT)
    publisher = publish(live, clip("basic"), lambda tags: [Tag(AUDIO, tag.timestamp, bytes([head]) + tag.payload[2:]) if tag.type == AUDIO else tag
                                                           for tag in tags])
    assert post(live.ports["api"], "/rtc/v1/whep/?app=live&stream=cam", offer("recvonly")).status == 201
    live.wait_log(f"WebRTC players get no audio: {name}")
    publisher.stop()


def test_a_data_channel_in_an_offer_is_answered_with_port_zero(server, clip):
    live = server(RTC, RTC_ROOT)
    publisher = publish(live, clip("basic"))
    more = "m=application 9 UDP/DTLS/SCTP webrtc-datachannel\r\nc=IN IP4 0.0.0.0\r\na=mid:2\r\na=sctp-port:5000\r\n"
    for way, direction, stream in (("whep", "recvonly", "cam"), ("whip", "sendonly", "other")):
        asked = offer(direction).replace("BUNDLE 0 1", "BUNDLE 0 1 2") + more
        answer = post(live.ports["api"], f"/rtc/v1/{way}/?app=live&stream={stream}", asked)
        assert answer.status == 201, answer.body
        lines = answer.body.splitlines()
        assert "m=application 0 UDP/DTLS/SCTP webrtc-datachannel" in lines and "a=group:BUNDLE 0 1" in lines, answer.body
    live.wait_log("m=application: neither audio nor video")
    publisher.stop()


@pytest.mark.parametrize("options, has_rtx", [("", True), ("nack off;", False), ("nack_prefer_rtx off;", False)])
def test_rtx_is_agreed_where_it_is_used(server, clip, options, has_rtx):
    live = server(f"rtc {{ enabled on; rtmp_to_rtc on; {options} }}", RTC_ROOT)
    publisher = publish(live, clip("basic"))
    asked = offer("recvonly").replace("SAVPF 102", "SAVPF 102 103") + "a=rtpmap:103 rtx/90000\r\na=fmtp:103 apt=102\r\n"
    answer = post(live.ports["api"], "/rtc/v1/whep/?app=live&stream=cam", asked)
    publisher.stop()
    assert answer.status == 201 and ("rtx/90000" in answer.body) == has_rtx, answer.body
