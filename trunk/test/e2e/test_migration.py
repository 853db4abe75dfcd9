"""The tables of the migration pages: each setting of the other server is in one of them, and each directive that they propose exists."""

import re

import pytest

from live_server import TRUNK

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
    return ROW.findall((TRUNK / f"doc/manual/{page}.md").read_text())


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
    assert len(proposed) >= (1 if page == "migrate-srs" else 40) and proposed - existing == set()
