"""The tables of the migration pages: each setting of the other server is in one of them, and each directive that they propose exists."""

import os
import re
import subprocess
import sys

import pytest

from live_server import BINARY, TRUNK

sys.path.insert(0, str(TRUNK / "tools/manual"))
import migrations  # pylint: disable=wrong-import-position

# The directives of the module's documentation.
NGINX_RTMP = """
ack_window access_log allow application buflen chunk_size dash dash_cleanup dash_fragment dash_nested dash_path dash_playlist_length deny drop_idle_publisher exec exec_kill_signal
exec_options exec_play exec_play_done exec_publish exec_publish_done exec_pull exec_push exec_record_done exec_static hls hls_base_url hls_cleanup hls_continuous hls_fragment
hls_fragment_naming hls_fragment_naming_granularity hls_fragment_slicing hls_fragments_per_key hls_key_path hls_key_url hls_keys hls_nested hls_path hls_playlist_length hls_sync
hls_type hls_variant idle_streams interleave listen live log_format max_connections max_message max_queue max_streams meta notify_method notify_relay_redirect
notify_update_strict notify_update_timeout on_connect on_disconnect on_done on_play on_play_done on_publish on_publish_done on_record_done on_update out_cork out_queue ping
ping_timeout play play_local_path play_restart play_temp_path publish_notify pull push push_reconnect record record_append record_interval record_lock record_max_frames
record_max_size record_notify record_path record_suffix record_unique recorder respawn respawn_timeout rtmp rtmp_auto_push rtmp_auto_push_reconnect rtmp_control rtmp_socket_dir
rtmp_stat rtmp_stat_stylesheet server session_relay sync timeout wait_key wait_video
"""
# The settings of the description of its API (GlobalConf and PathConf), without deprecated ones; all of the Raspberry Pi camera are one.
MEDIAMTX = """
alwaysAvailable alwaysAvailableFile alwaysAvailableRecorded alwaysAvailableTracks api apiAddress apiAllowOrigins apiEncryption apiServerCert apiServerKey apiTrustedProxies
authHTTPAddress authHTTPExclude authHTTPFingerprint authInternalUsers authJWTAudience authJWTClaimKey authJWTExclude authJWTIssuer authJWTJWKS authJWTJWKSFingerprint authMethod
dumpPackets forward hls hlsAddress hlsAllowOrigins hlsAlwaysRemux hlsCDNSecret hlsDirectory hlsEncryption hlsMuxerCloseAfter hlsPartDuration hlsSegmentCount hlsSegmentDuration
hlsSegmentMaxSize hlsServerCert hlsServerKey hlsTrustedProxies hlsVariant logDestinations logFile logLevel logStructured maxReaders metrics metricsAddress metricsAllowOrigins
metricsEncryption metricsServerCert metricsServerKey metricsTrustedProxies moq moqAllowOrigins moqHTTP2Address moqHTTP3Address moqQUICAddress moqServerCert moqServerKey
moqTransport moqTrustedProxies multicastIPRange multicastRTCPPort multicastRTPPort multicastSRTCPPort multicastSRTPPort overridePublisher playback playbackAddress
playbackAllowOrigins playbackEncryption playbackServerCert playbackServerKey playbackTrustedProxies pprof pprofAddress pprofAllowOrigins pprofEncryption pprofServerCert
pprofServerKey pprofTrustedProxies readTimeout record recordDeleteAfter recordFormat recordMaxPartSize recordPartDuration recordPath recordSegmentDuration rpiCameraWidth
rtcpAddress rtmp rtmpAddress rtmpEncryption rtmpServerCert rtmpServerKey rtmpTrustedProxies rtmpsAddress rtpAddress rtpSDP rtsp rtspAddress rtspAnyPort rtspAuthMethods
rtspDemuxMpegts rtspEncryption rtspRangeStart rtspRangeType rtspScale rtspServerCert rtspServerKey rtspTransport rtspTransports rtspTrustedProxies rtspUDPSourcePortRange
rtspsAddress runOnAvailable runOnAvailableRestart runOnAvailableStdin runOnAvailableStdinRestart runOnConnect runOnConnectRestart runOnDemand runOnDemandCloseAfter
runOnDemandRestart runOnDemandStartTimeout runOnDisconnect runOnInit runOnInitRestart runOnOffline runOnOnline runOnOnlineRestart runOnRead runOnReadRestart
runOnRecordSegmentComplete runOnRecordSegmentCreate runOnUnDemand runOnUnavailable runOnUnread source sourceFingerprint sourceOnDemand sourceOnDemandCloseAfter
sourceOnDemandStartTimeout sourceRedirect srt srtAddress srtPublishPassphrase srtReadPassphrase srtcpAddress srtpAddress sysLogPrefix udpMaxPayloadSize udpReadBufferSize
useAbsoluteTimestamp webrtc webrtcAdditionalHosts webrtcAddress webrtcAllowOrigins webrtcEncryption webrtcHandshakeTimeout webrtcICEServers2 webrtcIPsFromInterfaces
webrtcIPsFromInterfacesExcludeList webrtcIPsFromInterfacesList webrtcLocalTCPAddress webrtcLocalUDPAddress webrtcSTUNGatherTimeout webrtcServerCert webrtcServerKey
webrtcTrackGatherTimeout webrtcTrustedProxies whepBearerToken whepHandshakeTimeout whepSTUNGatherTimeout whepTrackGatherTimeout writeQueueSize writeTimeout
"""
SETTINGS = {"migrate-nginx-rtmp": NGINX_RTMP.split(), "migrate-mediamtx": MEDIAMTX.split()}
ROW = re.compile(r"^\| (.*?) \| (.*) \|$", re.M)
# A name in front of its value or of its block.
DIRECTIVE = re.compile(r"(?:^|[{;]\s*)([a-z][a-z0-9_]+)(?=(?:\s[^{};]*)?[;{])")


def rows(page: str) -> list[tuple[str, str]]:
    text = (TRUNK / f"doc/manual/{page}.md").read_text()
    assert page != "migrate-srs" or "<!-- generated: srs -->" in text
    return ROW.findall(text.replace("<!-- generated: srs -->", migrations.srs(TRUNK)))


@pytest.mark.parametrize("page", list(SETTINGS))
def test_every_setting_is_in_a_table(page):
    names = set(re.findall(r"[\w*]+", " ".join(theirs for theirs, _ in rows(page))))
    patterns = [re.compile(name.replace("*", r"\w*")) for name in names if "*" in name]
    assert len(SETTINGS[page]) > 90
    assert [name for name in SETTINGS[page] if name not in names and not any(pattern.fullmatch(name) for pattern in patterns)] == []


@pytest.mark.parametrize("page", [*SETTINGS, "migrate-srs"])
def test_every_proposed_directive_exists(page):
    existing = set(re.findall(r"^\s*#?\s*([a-z][a-z0-9_]+)\b", (TRUNK / "conf/full.conf").read_text(), re.M))
    proposed = {name for _, ours in rows(page) for code in re.findall(r"`([^`]+)`", ours) for name in DIRECTIVE.findall(code)}
    assert len(proposed) >= 40 and proposed - existing == set()


def checked(folder, conf: str) -> tuple[str, list[str]]:
    """The result of `srs -t`, and its warnings."""
    (folder / "objs").mkdir(exist_ok=True)
    (folder / "srs.conf").write_text(conf)
    environment = {name: value for name, value in os.environ.items() if not name.startswith("SRS_")}
    done = subprocess.run([BINARY, "-t", "-c", "srs.conf"], cwd=folder, capture_output=True, text=True, check=False, env=environment)
    assert done.returncode == 0, f"{conf}\n{done.stdout}{done.stderr}"
    return done.stdout, done.stderr.splitlines()


def conf_of(settings) -> str:
    """A conf file with all of these settings, in their blocks."""
    tree: dict = {}
    for block, name, value, _ in settings:
        at = tree
        for part in filter(None, block.split(".")):
            at = at.setdefault(part, {})
        at[name] = value

    def text(at) -> str:
        names = {"vhost": "vhost __defaultVhost__", "ingest": "ingest camera"}
        return "".join(f"{names.get(name, name)} {{\n{text(value)}}}\n" if isinstance(value, dict) else f"{name} {value}{'' if value.startswith('{') else ';'}\n"
                       for name, value in at.items())
    return text(tree)


def test_every_setting_of_srs_is_in_the_table_once():
    found = {}
    for theirs, ours in ROW.findall(migrations.srs(TRUNK)):
        place = re.match(r"(?:`([\w {}]+)`: )?((?:`\w+`(?:, )?)+)$", theirs)
        if place:
            block = ".".join(re.findall(r"\w+", place[1] or ""))
            for name in re.findall(r"\w+", place[2]):
                assert (block, name) not in found, (block, name)
                found[block, name] = ours
    settings = [(block, name) for block, name, _, _ in migrations.srs_settings(TRUNK)]
    assert len(settings) == len(set(settings)) > 300 and set(settings) <= set(found)
    assert {text.split(":")[0] for text in found.values()} >= {"the same", "differs", "accepted, no effect"}
    # From the option rows: the state, and a default that is not theirs.
    assert found["vhost.hds", "hds_fragment"].startswith("accepted, no effect") and found["vhost.rtc", "nack"] == "the same"
    assert found["http_api", "listen"].endswith("the default is `127.0.0.1:1985`, not `1985`")


def test_a_conf_with_every_setting_of_srs_is_valid(tmp_path):
    settings = migrations.srs_settings(TRUNK)
    _, warnings = checked(tmp_path, conf_of(settings))
    assert [line for line in warnings if "has no effect in this server" not in line] == []


@pytest.mark.parametrize("name, use, form", migrations.OLD, ids=[use for _, use, _ in migrations.OLD])
def test_old_forms_of_srs_are_read_as_the_table_says(tmp_path, name, use, form):
    listen, empty = "listen 1935;\ndaemon off;\n", "\nvhost __defaultVhost__ { }\n"
    of_vhost = use.startswith("vhost {")
    _, warnings = checked(tmp_path, listen + (use.replace("vhost {", "vhost __defaultVhost__ {", 1) if of_vhost else use + empty))
    assert any(f'"{name}" is an old form' in line and ("no effect" in line) == (not form) for line in warnings), warnings
    if form:
        _, left = checked(tmp_path, listen + (f"vhost __defaultVhost__ {{ {form} }}\n" if of_vhost else form + empty))
        assert [line for line in left if '"stream_caster.sip" has no effect' not in line] == []
