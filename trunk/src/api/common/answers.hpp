// The members of the API's answers and request bodies, for the rows of routes.cpp. test_openapi.py compares them with the answers
// of a server.
#pragma once

#include <array>

#include "api/common/schema.hpp"

namespace live::api::answers {

using enum JsonType;
using enum Presence;

inline constexpr std::array kKbps = {Member{"recv_30s send_30s", integer, {}, always, "kbit/s, average of 30 s"}};
inline constexpr std::array kWorkers = {
    Member{"workers", numbers, {}, sometimes, "with several workers: those that have a part of it"}};

inline constexpr std::array kVersions = {Member{"major minor revision", integer}, Member{"version"}};

inline constexpr std::array kSelf = {Member{"version argv cwd"}, Member{"pid ppid", integer},
                                     Member{"mem_kbyte", integer, {}, always, "largest resident size"},
                                     Member{"mem_percent cpu_percent", number, {}, always, "share, 1 is all"},
                                     Member{"srs_uptime", integer, {}, always, "seconds"}};
inline constexpr std::array kSystem = {
    Member{"cpu_percent disk_busy_percent mem_ram_percent mem_swap_percent", number, {}, always, "share, 1 is all"},
    Member{"uptime ilde_time", number, {}, always, "seconds"},
    Member{"load_1m load_5m load_15m", number},
    Member{"disk_read_KBps disk_write_KBps mem_ram_kbyte mem_swap_kbyte cpus cpus_online", integer},
    Member{"net_sample_time srs_sample_time", integer, {}, always, "milliseconds since 1970"},
    Member{"net_recv_bytes net_send_bytes net_recvi_bytes net_sendi_bytes srs_recv_bytes srs_send_bytes", integer},
    Member{"conn_sys conn_sys_et conn_sys_tw conn_sys_udp conn_srs", integer, {}, always, "connections"}};
inline constexpr std::array kWorkerSummary = {Member{"worker pid mem_kbyte srs_uptime conn_srs", integer},
                                              Member{"cpu_percent", number}};
inline constexpr std::array kSummaries = {Member{"ok", boolean, {}, always, "false until there are two readings"},
                                          Member{"now_ms", integer, {}, always, "milliseconds since 1970"},
                                          Member{"self", object, kSelf}, Member{"system", object, kSystem},
                                          Member{"workers", list, kWorkerSummary, sometimes, "with several workers: each one"}};

inline constexpr std::array kRusages = {
    Member{"ok", boolean}, Member{"sample_time ru_utime ru_stime", integer},
    Member{"ru_maxrss ru_ixrss ru_idrss ru_isrss ru_minflt ru_majflt ru_nswap ru_inblock ru_oublock "
           "ru_msgsnd ru_msgrcv ru_nsignals ru_nvcsw ru_nivcsw",
           integer}};
inline constexpr std::array kSelfStat = {
    Member{"ok", boolean}, Member{"sample_time", integer}, Member{"percent", number}, Member{"comm state"},
    Member{"pid ppid pgrp session tty_nr tpgid flags minflt cminflt majflt cmajflt utime stime cutime cstime priority nice "
           "num_threads "
           "itrealvalue starttime vsize rss rsslim startcode endcode startstack kstkesp kstkeip signal blocked sigignore "
           "sigcatch wchan nswap "
           "cnswap exit_signal processor rt_priority policy delayacct_blkio_ticks guest_time cguest_time",
           integer,
           {},
           always,
           "as in proc(5)"}};
inline constexpr std::array kSystemStat = {
    Member{"ok", boolean}, Member{"sample_time", integer}, Member{"percent", number},
    Member{"user nice sys idle iowait irq softirq steal guest", integer, {}, always, "ticks"}};
inline constexpr std::array kMemoryInfo = {
    Member{"ok", boolean}, Member{"sample_time", integer},
    Member{"percent_ram percent_swap", number, {}, always, "share, 1 is all"},
    Member{"MemActive RealInUse NotInUse MemTotal MemFree Buffers Cached SwapTotal SwapFree", integer, {}, always, "KiB"}};
inline constexpr std::array kAuthors = {Member{"license contributors"}};
inline constexpr std::array kFeatures = {Member{"options options2 build build2"}, Member{"features", flags}};
inline constexpr std::array kOwnHeaders = {Member{"sigature version link"},
                                           Member{"time", integer, {}, always, "milliseconds since 1970"}};
inline constexpr std::array kRequest = {
    Member{"uri path METHOD"}, Member{"headers", open, kOwnHeaders, always, "header fields of the request and of this server"}};

inline constexpr std::array kVhostHls = {Member{"enabled", boolean}, Member{"fragment", number, {}, sometimes, "seconds"}};
inline constexpr std::array kVhost = {Member{"id name"}, Member{"enabled", boolean},
                                      Member{"clients streams send_bytes recv_bytes", integer}, Member{"kbps", object, kKbps},
                                      Member{"hls", object, kVhostHls}};

inline constexpr std::array kForward = {Member{"to"},
                                        Member{"state", text, {}, always, "connecting, pushing, waiting or another state"},
                                        Member{"since_ms tries sent_bytes", integer}, Member{"last_error"}};
inline constexpr std::array kListedForward = {Member{"stream_url to state last_error"},
                                              Member{"since_ms tries sent_bytes", integer},
                                              Member{"worker", integer, {}, sometimes}};
inline constexpr std::array kIngest = {Member{"vhost id"},
                                       Member{"stream_url", text, {}, nullable, "null if the output is no stream of this server"},
                                       Member{"input", text, {}, always, "the URL without secrets"},
                                       Member{"native", boolean, {}, always, "pulled without ffmpeg"},
                                       Member{"on_demand connected", boolean},
                                       Member{"state", text, {}, always, "idle, connecting, running or waiting"},
                                       Member{"transport", text, {}, nullable, "tcp, udp, tls, srt or ffmpeg"},
                                       Member{"peer tracks", text, {}, nullable},
                                       Member{"since_ms recv_bytes packets lost_packets restarts", integer},
                                       Member{"last_error"},
                                       Member{"next_attempt_ms pid", integer, {}, nullable},
                                       Member{"worker", integer, {}, sometimes}};
inline constexpr std::array kPull = {Member{"url state last_error"}, Member{"since_ms tries", integer}, Member{"rtt_ms", number}};
inline constexpr std::array kPublish = {Member{"active", boolean}, Member{"cid", text, {}, sometimes, "id of the publisher"}};
inline constexpr std::array kVideo = {Member{"codec profile level"}, Member{"width height", integer}};
inline constexpr std::array kAudio = {Member{"codec profile"}, Member{"sample_rate channel", integer},
                                      Member{"problem", text, {}, sometimes, "the reason why some players do not get the audio"}};
inline constexpr std::array kGop = {Member{"seconds since_key_frame", number, {}, nullable}};
inline constexpr std::array kTrackCounts = {Member{"packets bytes", integer}};
inline constexpr std::array kTracks = {Member{"video audio data", object, kTrackCounts}};
inline constexpr std::array kListedTrack = {
    Member{"kind", text, {}, always, "video or audio"},
    Member{"id", integer},
    Member{"default", boolean, {}, always, "for players without multitrack support"},
    Member{"rendition", boolean, {}, always, "added by a ladder or a further publisher"},
    Member{"language name"},
    Member{"captions", texts, {}, sometimes, "closed captions in the video: CC1 to CC4, SERVICE1 to SERVICE63"},
    Member{"video", object, kVideo, sometimes},
    Member{"audio", object, kAudio, sometimes}};
inline constexpr std::array kStream = {Member{"id name vhost app tcUrl url"},
                                       Member{"live_ms", integer, {}, always, "milliseconds since 1970"},
                                       Member{"clients frames send_bytes recv_bytes", integer},
                                       Member{"kbps", object, kKbps},
                                       Member{"publish", object, kPublish},
                                       Member{"video", object, kVideo, nullable},
                                       Member{"audio", object, kAudio, nullable},
                                       Member{"fps", number},
                                       Member{"b_frames", boolean},
                                       Member{"slate", boolean, {}, always, "the publisher is away, and players see the slate"},
                                       Member{"gop", object, kGop},
                                       Member{"tracks", object, kTracks},
                                       Member{"track_list", list, kListedTrack},
                                       Member{"dropped_packets", integer},
                                       Member{"role", text, {}, always, "origin or edge"},
                                       Member{"origin", object, kPull, sometimes, "of an edge"},
                                       Member{"forwards", list, kForward},
                                       kWorkers[0]};

inline constexpr std::array kSrtLink = {Member{"rtt_ms", number}, Member{"loss retrans drop latency_ms key_bits", integer},
                                        Member{"peer_version"}, Member{"encrypted", boolean}};
inline constexpr std::array kRtcLink = {
    Member{"layer", text, {}, always, "of a publisher with simulcast; else empty"}, Member{"layer_changes", integer},
    Member{"estimate_kbps", integer, {}, always, "what the link carries; 0 while unknown"}, Member{"loss rtt_ms", number}};
inline constexpr std::array kClient = {Member{"id vhost stream ip pageUrl swfUrl tcUrl url name type"},
                                       Member{"publish relay", boolean},
                                       Member{"alive", number, {}, always, "seconds"},
                                       Member{"send_bytes recv_bytes", integer},
                                       Member{"kbps", object, kKbps},
                                       Member{"delivered_packets dropped_packets queued_packets queue_delay_ms", integer},
                                       Member{"srt", object, kSrtLink, sometimes, "the link of an SRT client"},
                                       Member{"rtc", object, kRtcLink, sometimes, "the link of a WebRTC player"},
                                       Member{"worker", integer, {}, sometimes}};

inline constexpr std::array kViewers = {Member{"type"}, Member{"count", integer}};
inline constexpr std::array kHealth = {Member{"level code"}, Member{"text", text, {}, always, "one sentence"}};
inline constexpr std::array kPoint = {
    Member{"time", integer, {}, always, "seconds since 1970"},
    Member{"recv_kbps send_kbps", number},
    Member{"viewers", list, kViewers},
    Member{"fps", number, {}, sometimes, "of a stream"},
    Member{"gop delay_ms", number, {}, maybe, "of a stream"},
    Member{"cpu_percent machine_cpu_percent", number, {}, sometimes, "of the server: share, 1 is all"},
    Member{"lag_ms", number, {}, sometimes, "of the server"},
    Member{"mem_bytes connections streams", integer, {}, sometimes, "of the server"}};
inline constexpr std::array kEvent = {Member{"time", integer, {}, always, "seconds since 1970"}, Member{"event client text"}};
inline constexpr std::array kHistory = {Member{"interval", integer, {}, always, "seconds between two points"},
                                        Member{"points", list, kPoint},
                                        Member{"viewers", list, kViewers},
                                        Member{"id publisher", text, {}, sometimes, "of a stream"},
                                        Member{"live_seconds", integer, {}, maybe, "of a stream; null: it is not published"},
                                        Member{"health", list, kHealth, sometimes, "of a stream"},
                                        Member{"events", list, kEvent, sometimes, "of a stream"}};
inline constexpr std::array kWarning = {Member{"time", integer, {}, always, "milliseconds since 1970"}, Member{"level id text"},
                                        Member{"times", integer}, Member{"worker", integer, {}, sometimes}};
inline constexpr std::array kWarnings = {Member{"warnings", list, kWarning}};

inline constexpr std::array kRawSwitches = {Member{"enabled allow_reload allow_query allow_update", boolean}};
inline constexpr std::array kRaw = {Member{"enabled crossdomain", boolean}, Member{"listen"},
                                    Member{"raw_api", object, kRawSwitches}};
inline constexpr std::array kReload = {Member{"err state", integer}, Member{"msg rid"}};
inline constexpr std::array kReloadBeside = {Member{"data", object, kReload, sometimes, "of rpc=reload-fetch: the last reload"}};

inline constexpr std::array kClusterQuery = {Member{"ip vhost app stream"}};
inline constexpr std::array kClusterOrigin = {Member{"ip vhost api"}, Member{"port", integer}, Member{"routers", texts},
                                              Member{"http", text, {}, sometimes}};
inline constexpr std::array kOrigin = {Member{"url state last_error"}, Member{"since_ms tries failures", integer},
                                       Member{"rtt_ms", number}};
inline constexpr std::array kListedPull = {Member{"stream vhost"}, Member{"origin", object, kPull},
                                           Member{"worker", integer, {}, sometimes}};
inline constexpr std::array kRelayTotals = {Member{"pulls connections failovers", integer}};
inline constexpr std::array kNode = {Member{"id host region state version"}, Member{"rtmp http api", integer},
                                     Member{"capacity load", integer}, Member{"share", number}};
inline constexpr std::array kRegistry = {Member{"state"}, Member{"latency_ms", number},
                                         Member{"connections commands timeouts", integer}};
inline constexpr std::array kPlacements = {Member{"sent stayed", integer}};
inline constexpr std::array kOwnedStream = {Member{"stream node"}, Member{"epoch since_ms", integer}};
inline constexpr std::array kCluster = {Member{"node"},
                                        Member{"owned unannounced lost", integer},
                                        Member{"registry", object, kRegistry},
                                        Member{"nodes", list, kNode},
                                        Member{"redirect", boolean},
                                        Member{"players", object, kPlacements},
                                        Member{"streams", list, kOwnedStream},
                                        Member{"streams_whole", boolean, {}, always, "false: the list is not complete"}};
// With stream=, the first two; without, the others.
inline constexpr std::array kClusters = {Member{"query", object, kClusterQuery, sometimes, "with stream=: repeated"},
                                         Member{"origin", object, kClusterOrigin, maybe, "with stream=: the server that has it"},
                                         Member{"origins", list, kOrigin, sometimes},
                                         Member{"pulls", list, kListedPull, sometimes},
                                         Member{"pushes", integer, {}, sometimes},
                                         Member{"totals", object, kRelayTotals, sometimes},
                                         Member{"cluster", object, kCluster, sometimes}};
inline constexpr std::array kWhere = {Member{"stream"},
                                      Member{"state", text, {}, always, "here, there, nowhere, unknown or alone"},
                                      Member{"node", object, kNode, nullable}, Member{"epoch", integer, {}, sometimes}};

inline constexpr std::array kDrain = {Member{"state", text, {}, always, "serving or draining"},
                                      Member{"lasted_ms limit_ms publishers players asked redirected", integer}};
inline constexpr std::array kUpgradeOf = {Member{"state", text, {}, always, "serving, starting or draining"},
                                          Member{"pid", integer},
                                          Member{"successor", integer, {}, nullable, "process id of the new program"},
                                          Member{"error"}, Member{"lasted_ms limit_ms publishers players asked", integer}};
inline constexpr std::array kUpgrade = {
    kUpgradeOf[0], kUpgradeOf[1],
    kUpgradeOf[2], kUpgradeOf[3],
    kUpgradeOf[4], Member{"others", list, kUpgradeOf, sometimes, "the other programs of an upgrade; not with own=1"}};

inline constexpr std::array kDvr = {
    Member{"stream_url file"},      Member{"active", boolean},           Member{"duration", number, {}, always, "seconds"},
    Member{"bytes files", integer}, Member{"error", text, {}, nullable}, Member{"worker", integer, {}, sometimes}};

inline constexpr std::array kRung = {Member{"name codec"}, Member{"height kbps", integer}};
inline constexpr std::array kTranscode = {
    Member{"stream_url"},
    Member{"kind", text, {}, always, "ladder, or engine: of a transcode {}"},
    Member{"engine", text, {}, nullable, "its name"},
    Member{"output", text, {}, nullable, "of an engine, without secrets"},
    Member{"state", text, {}, always, "waiting, running, pausing, idle or unusable"},
    Member{"renditions", list, kRung, always, "of a ladder"},
    Member{"starts", integer, {}, always, "of its process, which engines may share"},
    Member{"last_end", text, {}, nullable, "why the last process ended"},
    Member{"dropped_packets", integer, {}, always, "input that was not encoded, because the process was too slow"},
    Member{"output_bytes", integer, {}, nullable, "of the running process, for this ladder or engine"},
    Member{"pid frames dropped_frames memory_bytes", integer, {}, nullable, "of the running process"},
    Member{"fps speed cpu_seconds", number, {}, nullable, "of the running process; speed 1 is real time"},
    Member{"worker", integer, {}, sometimes}};
inline constexpr std::array kRecordedStream = {Member{"stream_url vhost app stream"}, Member{"files spans bytes pinned", integer},
                                               Member{"duration", number, {}, always, "seconds, without the gaps"},
                                               Member{"start end", text, {}, always, "RFC 3339, in UTC"},
                                               Member{"recording", boolean}};
inline constexpr std::array kRecordingFile = {Member{"start", text, {}, always, "RFC 3339, in UTC"},
                                              Member{"duration", number, {}, always, "seconds"},
                                              Member{"bytes", integer},
                                              Member{"file"},
                                              Member{"format", text, {}, always, "fmp4, mp4 or flv"},
                                              Member{"pinned recording", boolean}};
inline constexpr std::array kClipRequest = {Member{"before after", number, {}, sometimes, "seconds; together 3600 at most"}};
inline constexpr std::array kClip = {Member{"file", text, {}, always, "once it is complete, on_dvr reports it"},
                                     Member{"start", text, {}, always, "RFC 3339, in UTC"},
                                     Member{"duration", number, {}, always, "seconds"}};
inline constexpr std::array kTimedEventRequest = {Member{"scte35 id3", text, {}, sometimes, "a section or a tag in Base64"},
                                                  Member{"cue", text, {}, sometimes, "out: a break begins, in: it ends"},
                                                  Member{"id", integer, {}, sometimes, "of the break"},
                                                  Member{"text language", text, {}, sometimes, "a line of subtitles"},
                                                  Member{"duration", number, {}, sometimes, "seconds, of the break or the line"},
                                                  Member{"name", text, {}, sometimes, "of a message, whose object is data"},
                                                  Member{"delay", number, {}, sometimes, "seconds until the event, at most 600"}};
inline constexpr std::array kTimedEvent = {Member{"kind", text, {}, always, "scte35, id3 or text"},
                                           Member{"time", number, {}, always, "seconds, on the timeline of the stream"}};
inline constexpr std::array kPostedCues = {Member{"cues", integer, {}, always, "lines of subtitles that were added"},
                                           Member{"time", number, {}, always, "their time zero, on the timeline of the stream"}};
inline constexpr std::array kRecordingChange = {Member{"changed", integer},
                                                Member{"kept", integer, {}, always, "pinned, in progress, or the disk refuses"}};
inline constexpr std::array kRecordingDisk = {
    Member{"streams files bytes deleted_files deleted_bytes", integer},
    Member{"is_complete", boolean, {}, always, "false while the files are read after a start"},
    Member{"free_bytes", integer, {}, nullable}, Member{"growth_bytes_per_second", number, {}, always, "over the last hour"},
    Member{"full_in_seconds", integer, {}, nullable, "at this rate, until the disk is full or recordings are deleted for space"}};

inline constexpr std::array kUpload = {
    Member{"vhost app stream file object"}, Member{"state", text, {}, always, "queued, sending, waiting or conflict"},
    Member{"bytes sent_bytes", integer}, Member{"error", text, {}, nullable, "why the last attempt failed"},
    Member{"worker", integer, {}, sometimes}};
inline constexpr std::array kUploadState = {
    Member{"enabled", boolean},
    Member{"files bytes", integer, {}, always, "that are not uploaded yet"},
    Member{"uploaded_files uploaded_bytes", integer, {}, always, "since the start"},
    Member{"deleted_files", integer, {}, always, "after their upload"},
    Member{"conflicts", integer, {}, always, "files whose name another object has"},
    Member{"parallel", integer, {}, always, "requests that are allowed at the same time now"},
    Member{"error", text, {}, nullable, "why nothing is sent"}};

inline constexpr std::array kCounts = {Member{"objects", integer}, Member{"bytes", integer, {}, nullable}};
inline constexpr std::array kMemoryKind = {kCounts[0], kCounts[1],
                                           Member{"growth", object, kCounts, sometimes, "with since=mark"}};
inline constexpr std::array kMemoryOfWorker = {kCounts[0], kCounts[1], Member{"worker", integer},
                                               Member{"growth", object, kCounts, sometimes}};
inline constexpr std::array kMemory = {Member{"since_seconds", number, {}, nullable}, Member{"kinds", map, kMemoryKind},
                                       Member{"workers", list, kMemoryOfWorker, sometimes, "with several workers: each one"}};
inline constexpr std::array kFiber = {Member{"id stack_high_water_bytes", integer}, Member{"name scope state waits_for"},
                                      Member{"age_seconds", number}, Member{"due_in_seconds", number, {}, nullable},
                                      Member{"cancelled", boolean}};
inline constexpr std::array kFibers = {Member{"total stack_bytes", integer}, Member{"fibers", list, kFiber}};
inline constexpr std::array kAllocatorQuery = {Member{"page help"}};
inline constexpr std::array kAllocatorGeneric = {Member{"current_allocated_bytes heap_size", integer}};
inline constexpr std::array kAllocatorOwn = {
    Member{"pageheap_free_bytes pageheap_unmapped_bytes slack_bytes max_total_thread_cache_bytes "
           "current_total_thread_cache_bytes",
           integer}};
inline constexpr std::array kAllocator = {Member{"query", object, kAllocatorQuery}, Member{"release_rate", number},
                                          Member{"generic", object, kAllocatorGeneric},
                                          Member{"tcmalloc", object, kAllocatorOwn}};
inline constexpr std::array kValgrind = {Member{"check help see call"}};
inline constexpr std::array kProbe = {Member{"address transport finding"}, Member{"port", integer}, Member{"ok", boolean},
                                      Member{"ms", number}};
inline constexpr std::array kSelfTest = {Member{"enabled ok", boolean},
                                         Member{"candidates addresses", list, kProbe, sometimes, "one test each"},
                                         Member{"advice", texts}};

inline constexpr std::array kOfferAnswer = {
    Member{"sdp", text, {}, sometimes, "the answer"}, Member{"sessionid", text, {}, sometimes},
    Member{"message", text, {}, sometimes, "the reason of a refusal, with a code that is not 0"}};
inline constexpr std::array kOffer = {Member{"sdp", text, {}, always, "the offer"},
                                      Member{"streamurl", text, {}, always, "webrtc://HOST/APP/STREAM"},
                                      Member{"api clientip", text, {}, sometimes}};

inline constexpr std::array kGbDevice = {Member{"id ssrc"}, Member{"transport", text, {}, sometimes, "tcp, udp or tcp_active"},
                                         Member{"address", text, {}, sometimes, "with tcp_active: ip:port of the device"}};
inline constexpr std::array kGbOpened = {Member{"port", integer, {}, sometimes}, Member{"is_tcp", boolean, {}, sometimes},
                                         Member{"message", text, {}, sometimes, "with a code that is not 0"}};
inline constexpr std::array kGbSession = {Member{"id transport state codecs"}, Member{"ssrc device", text, {}, nullable},
                                          Member{"port age_ms recv_bytes", integer}, Member{"worker", integer, {}, sometimes}};
inline constexpr std::array kRtpServer = {Member{"port", integer}, Member{"stream_id"}};
inline constexpr std::array kRtpAnswer = {Member{"msg", text, {}, sometimes, "with a code that is not 0"},
                                          Member{"port hit", integer, {}, sometimes},
                                          Member{"data", list, kRtpServer, sometimes}};

inline constexpr std::array kFormat = {Member{"format url"}};
inline constexpr std::array kApiPlace = {Member{"url", text, {}, nullable},
                                         Member{"missing", text, {}, sometimes, "the reason why this client has no API"}};
inline constexpr std::array kPageStream = {Member{"vhost app name"},
                                           Member{"video", object, kVideo, nullable},
                                           Member{"audio", object, kAudio, nullable},
                                           Member{"fps", number},
                                           Member{"kbps live_seconds", integer},
                                           Member{"viewers", list, kViewers},
                                           Member{"health", list, kHealth, sometimes, "with stream="},
                                           Member{"formats", list, kFormat}};
inline constexpr std::array kStreamListBeside = {
    Member{"version"}, Member{"next", integer, {}, nullable, "`from` of the next page"},
    Member{"hides_some", boolean, {}, always, "the rules hide streams from this client"}, Member{"publish", list, kFormat},
    Member{"api", object, kApiPlace}};

}  // namespace live::api::answers
