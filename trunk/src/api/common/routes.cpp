#include <algorithm>
#include <array>

#include "api/common/answers.hpp"
#include "api/common/page.hpp"
#include "api/common/route.hpp"
#include "session/http/router.hpp"

namespace live::api {

namespace {

// Forms of answers.
constexpr std::string_view kJson = "application/json";
constexpr std::string_view kPlain = "text/plain";
constexpr Answer kUrls{.content_type = kJson, .key = "urls", .one = {}, .type = JsonType::open};
constexpr Answer kReserved{.content_type = kJson, .key = "data", .one = {}, .type = JsonType::open};
constexpr Answer kDone{kJson, {}, {}};
constexpr Answer kText{kPlain, {}, {}};
constexpr Answer data_of(std::span<const Member> members) {
    return {.content_type = kJson, .key = "data", .one = {}, .of = members};
}
constexpr Answer list_of(std::string_view key, std::string_view one, std::span<const Member> members,
                         std::size_t page_size = 10) {
    return {.content_type = kJson, .key = key, .one = one, .page_size = page_size, .type = JsonType::list, .of = members};
}
constexpr Answer kPrometheus{"text/plain; version=0.0.4; charset=utf-8", {}, {}};
constexpr Answer kSdp{"application/sdp", {}, {}};
constexpr Answer kSdpInJson{.content_type = kJson, .key = {}, .one = {}, .beside = answers::kOfferAnswer};
constexpr Answer kRawAnswer{.content_type = kJson,
                            .key = "http_api",
                            .one = {},
                            .of = answers::kRaw,
                            .presence = Presence::sometimes,
                            .beside = answers::kReloadBeside};
constexpr Answer kStreamList{.content_type = kJson,
                             .key = "streams",
                             .one = {},
                             .type = JsonType::list,
                             .of = answers::kPageStream,
                             .beside = answers::kStreamListBeside,
                             .envelope = Envelope::without_pid};
constexpr Answer kDescription{.content_type = kJson, .key = {}, .one = {}, .envelope = Envelope::none};
// Platforms expect these forms.
constexpr Answer kGbOpened{
    .content_type = kJson, .key = {}, .one = {}, .beside = answers::kGbOpened, .envelope = Envelope::code_alone};
constexpr Answer kRtpAnswer{
    .content_type = kJson, .key = {}, .one = {}, .beside = answers::kRtpAnswer, .envelope = Envelope::code_alone};
constexpr Answer with_other_type(Answer answer, std::string_view type) {
    answer.other_content_type = type;
    return answer;
}
constexpr Answer kReference = with_other_type(kUrls, "text/html");
constexpr Answer with_status(Answer answer, int status) {
    answer.status = status;
    return answer;
}

constexpr Methods kAny = Methods::any();
constexpr Methods kRead = Methods::read();
constexpr Methods kReadOrStart = {Method::get, Method::post};
constexpr Methods kCall = {Method::get, Method::post};
constexpr Methods kSession = {Method::post, Method::del, Method::patch};

constexpr Ports kApi = Ports::api | Ports::workers;
constexpr Ports kEverywhere = kApi | Ports::streams;
constexpr Ports kMonitoring = kApi | Ports::exporter;

constexpr std::array kNone = std::array<Parameter, 0>{};
constexpr std::array kPage = {Parameter{"start", "index of the first entry", JsonType::integer},
                              Parameter{"count", "the most entries to return", JsonType::integer}};
constexpr std::array kClientPage = {kPage[0], kPage[1], Parameter{"stream", "the id of a stream: its clients alone"}};
constexpr std::array kListPage = {Parameter{"from", "the number to start at: `next` of the previous page", JsonType::integer},
                                  Parameter{"count", "the most streams to return", JsonType::integer},
                                  Parameter{"stream", "[vhost]/app/stream: this stream alone, with its health"}};
constexpr std::array kRaw = {Parameter{"rpc", "raw, reload or reload-fetch"}};
constexpr std::array kStream = {Parameter{"ip", "repeated in the answer"}, Parameter{"vhost", "the virtual host of the stream"},
                                Parameter{"app", "the application of the stream"}, Parameter{"stream", "the name of the stream"},
                                Parameter{"coworker", "host:port at which the sender reached this server"}};
constexpr std::array kStreamUrl = {Parameter{"stream", "[vhost]/app/stream"}};
constexpr std::array kHistory = {Parameter{"stream", "[vhost]/app/stream: the last hour of a stream"},
                                 Parameter{"since", "a time in seconds: only the points after it"}};
constexpr std::array kRecordingTimes = {kStreamUrl[0], Parameter{"begin", "RFC 3339: recordings that begin at or after it"},
                                        Parameter{"end", "RFC 3339: recordings that begin before it"}};
constexpr std::array kRecordingFiles = {kStreamUrl[0], kRecordingTimes[1], kRecordingTimes[2], kPage[0], kPage[1]};
constexpr std::array kOwnPart = {Parameter{"own", "1: this process only"}};
constexpr std::array kMark = {Parameter{"mark", "1: remember these counts"},
                              Parameter{"since", "mark: show the growth since the remembered counts"}};
constexpr std::array kProfile = {Parameter{"seconds", "1 to 60", JsonType::integer}, Parameter{"format", "pprof or folded"}};
constexpr std::array kAllocator = {Parameter{"page", "summary: the allocator's own text"}};
constexpr std::array kValgrind = {Parameter{"check", "full, quick, added, changed or new"}};
constexpr std::array kFault = {Parameter{"kind", "leak, overflow, use_after_free, stack_overflow or uninitialised"}};
constexpr std::array kMatch = {Parameter{"match", "a pattern of stream URLs, '*' for any text"}};
constexpr std::array kVhost = {Parameter{"vhost", "the virtual host of the stream"}};
constexpr Parameter kRtpSecret{"secret", "that of stream_caster.zlm_api"};
constexpr Parameter kRtpStream{"stream_id", "the id of the session"};
constexpr std::array kSecret = {kRtpSecret};
constexpr std::array kOpenRtp = {kRtpSecret, kRtpStream, Parameter{"port", "its own port; 0: any, or that of all with an ssrc"},
                                 Parameter{"tcp_mode", "0: UDP, 1: TCP, 2: the server connects"},
                                 Parameter{"ssrc", "decimal; without it any"}};
constexpr std::array kConnectRtp = {kRtpSecret, kRtpStream, Parameter{"dst_url", "the address of the device"},
                                    Parameter{"dst_port", "its port"}};
constexpr std::array kCloseRtp = {kRtpSecret, kRtpStream};
constexpr std::array kGbId = {Parameter{"id", "DELETE: the id of the session"}};
constexpr std::array kOffered = {Parameter{"app", "the application of the stream"}, Parameter{"stream", "the name of the stream"},
                                 Parameter{"vhost", "the virtual host of the stream"}};

constexpr std::array kSessionAt = {Parameter{"token", "from the Location field of the answer to the offer"},
                                   Parameter{"session", "from the Location field of the answer to the offer"}};

// Errors and redirects.
constexpr std::array kRecordingFails = {Failure{400, "the stream or a time is missing, or no time"},
                                        Failure{404, "there is no recording of this stream"}};
constexpr std::array kRecordingChangeFails = {kRecordingFails[0], Failure{403, "a page of another site asks for a change"},
                                              Failure{503, "the disk is busy, or the server stops"}};
constexpr std::array kClipFails = {Failure{400, "the body is no such object"}, kRecordingChangeFails[1],
                                   Failure{404, "there is no such stream, or it is not recorded as fragmented MP4"},
                                   Failure{503, "too many clips are being made"}};
constexpr std::array kTimedEventFails = {Failure{400, "the body is no event"}, kRecordingChangeFails[1],
                                         Failure{404, "there is no such live stream"}};
constexpr std::array kSubtitles = {
    Parameter{"language", "of the cues, a tag of RFC 5646"},
    Parameter{"delay", "seconds from now to the time zero of the cues, at most 600", JsonType::number}};
constexpr std::array kSubtitlesFails = {Failure{400, "the body is no WebVTT, or beyond a limit"}, kRecordingChangeFails[1],
                                        kTimedEventFails[2]};
constexpr std::array kExists = {Failure{404, "there is no such entry"}};
constexpr std::array kRawFails = {Failure{403, "switched off, or a page of another site asks for a change"}};
constexpr std::array kChangeFails = {Failure{403, "a page of another site asks for a change"}};
constexpr std::array kDrainFails = {Failure{403, "only this machine, or a client with http_api.auth, starts it"}};
constexpr std::array kUpgradeFails = {kDrainFails[0], Failure{409, "an upgrade is under way"},
                                      Failure{500, "the new program did not start"}};
constexpr std::array kSnapshotFails = {Failure{403, "the client must not play the stream"},
                                       Failure{404, "there is no such stream"},
                                       Failure{415, "no image can be made of this codec"},
                                       Failure{500, "the image could not be made"}, Failure{503, "too many requests wait"}};
constexpr std::array kThumbnailFails = {Failure{404, "there is no thumbnail of this stream"}, kSnapshotFails[2],
                                        kSnapshotFails[3], kSnapshotFails[4]};
constexpr std::array kHistoryFails = {Failure{404, "there is no such stream"}};
constexpr std::array kProfileFails = {kChangeFails[0], Failure{409, "another profile runs"}, Failure{503, "the server stops"}};
constexpr std::array kSelfTestFails = {Failure{404, "there is no self-test of this name"}, Failure{503, "the server stops"}};
constexpr std::array kExporterFails = {Failure{404, "exporter is off"}};
constexpr std::array kReadyFails = {Failure{503, "not ready"}};
constexpr std::array kStreamListFails = {Failure{404, "http_server.stream_list is off"}};
constexpr std::array kOfferFails = {Failure{302, "another server has the stream"},
                                    Failure{307, "another server has the stream"},
                                    Failure{403, "the client must not publish or play the stream"},
                                    Failure{404, "there is no such stream"},
                                    Failure{409, "the stream is published already"},
                                    Failure{415, "the offer is not application/sdp"},
                                    Failure{503, "too many clients"}};
constexpr std::array kTrickleFails = {Failure{404, "there is no such session"}, Failure{412, "the ETag is another session's"},
                                      Failure{415, "the body is no list of candidates"}, Failure{422, "ICE is not restarted"}};

// Methods with other answers.
constexpr std::array kRecordingActions = {Action{Method::del,
                                                 "deletes these recordings, except pinned ones and those in progress",
                                                 data_of(answers::kRecordingChange),
                                                 {},
                                                 kRecordingTimes,
                                                 kRecordingChangeFails}};
constexpr std::array kRecordingPinActions = {
    Action{Method::del, "releases them", data_of(answers::kRecordingChange), {}, kRecordingTimes, kRecordingChangeFails}};
constexpr std::array kGbActions = {Action{Method::del, "closes the session", kDone, {}, kGbId, kExists}};
constexpr std::array kDrainActions = {
    Action{Method::post, "empties and stops this server", data_of(answers::kDrain), {}, {}, kDrainFails}};
constexpr std::array kUpgradeActions = {
    Action{Method::post, "starts the new program", data_of(answers::kUpgrade), {}, {}, kUpgradeFails}};
constexpr std::array kClientActions = {Action{Method::del, "ends the client", kDone, {}, {}, kExists}};
constexpr std::array kSessionActions = {
    Action{Method::post, "opens a session", with_status(kSdp, 201), {"application/sdp", {}}, kOffered, kOfferFails},
    Action{Method::del, "ends the session", kText, {}, kSessionAt, {}},
    Action{Method::patch,
           "receives candidates of the client",
           Answer{{}, {}, {}, 0, JsonType::object, {}, Presence::always, {}, 204},
           {"application/trickle-ice-sdpfrag", {}},
           kSessionAt,
           kTrickleFails}};

using enum Listing;
using enum Answerer;

// Listed in the order of the index. `perf`, `nack` and `[vhost]` are listed for clients of this family and are not served.
constexpr std::array kRoutes = {
    Route{"/", kAny, Ports::api, kNone, kUrls, "the endpoints", never},
    Route{"/api/", kAny, kApi, kNone, kReference, "the API"},
    Route{"/api/v1/", kAny, kApi, kNone, kUrls, "version 1 of the API"},
    Route{"/api/v1/openapi.json", kRead, kEverywhere, kNone, kDescription, "this table as an OpenAPI description", never},
    Route{"/api/v1/versions", kAny, kEverywhere, kNone, data_of(answers::kVersions), "version of the server"},
    Route{"/api/v1/summaries", kAny, kApi, kNone, data_of(answers::kSummaries),
          "the server and its machine in short: processor, memory, network", always, all},
    Route{"/api/v1/rusages", kAny, kApi, kNone, data_of(answers::kRusages), "what the process has used, by getrusage", always,
          own},
    Route{"/api/v1/self_proc_stats", kAny, kApi, kNone, data_of(answers::kSelfStat), "/proc/self/stat", always, own},
    Route{"/api/v1/system_proc_stats", kAny, kApi, kNone, data_of(answers::kSystemStat), "the processors, from /proc/stat"},
    Route{"/api/v1/meminfos", kAny, kApi, kNone, data_of(answers::kMemoryInfo), "the memory, from /proc/meminfo"},
    Route{"/api/v1/authors", kAny, kApi, kNone, data_of(answers::kAuthors), "licence and contributors"},
    Route{"/api/v1/features", kAny, kApi, kNone, data_of(answers::kFeatures), "the features of this build"},
    Route{"/api/v1/requests", kAny, kApi, kNone, data_of(answers::kRequest), "the request as it arrived"},
    Route{"/api/v1/vhosts/", kRead, kApi, kPage, list_of("vhosts", "vhost", answers::kVhost, Page::kMost),
          "virtual hosts in use; /vhosts/ID is one of them", always, joined},
    Route{"/api/v1/streams/", kRead, kApi, kPage, list_of("streams", "stream", answers::kStream),
          "live streams; /streams/ID is one of them", always, joined},
    Route{"/api/v1/streams/{id}/clip",
          {Method::post},
          kApi,
          kNone,
          data_of(answers::kClip),
          "keeps a span around now as a file of its own",
          never,
          holder,
          kClipFails,
          {},
          {"application/json", answers::kClipRequest}},
    Route{"/api/v1/streams/{id}/events",
          {Method::post},
          kApi,
          kNone,
          data_of(answers::kTimedEvent),
          "puts a marker, timed metadata or a subtitle into the stream",
          never,
          holder,
          kTimedEventFails,
          {},
          {"application/json", answers::kTimedEventRequest}},
    Route{"/api/v1/streams/{id}/subtitles",
          {Method::post},
          kApi,
          kSubtitles,
          data_of(answers::kPostedCues),
          "puts the cues of a WebVTT text into the stream, as subtitles",
          never,
          holder,
          kSubtitlesFails,
          {},
          {"text/vtt"}},
    Route{"/api/v1/clients/",
          {Method::get, Method::head, Method::del},
          kApi,
          kClientPage,
          list_of("clients", "client", answers::kClient),
          "connected clients; /clients/ID is one of them, DELETE ends it",
          always,
          entries,
          std::span<const Failure>(),
          {},
          {},
          kClientActions},
    Route{"/api/v1/history", kRead, kApi, kHistory, data_of(answers::kHistory),
          "the last hour of the server, or of a stream with its events and health", always, all, kHistoryFails},
    Route{"/api/v1/raw", kRead, kApi, kRaw, kRawAnswer, "reload and questions about the settings, when switched on", always,
          receiver, kRawFails},
    Route{"/api/v1/configs/warnings", kRead, kApi, kNone,
          Answer{.content_type = kJson, .key = "warnings", .one = {}, .type = JsonType::texts},
          "the warnings about the settings in use"},
    Route{"/api/v1/warnings", kRead, kApi, kNone, data_of(answers::kWarnings), "the newest warnings and errors of the log",
          always, all},
    Route{"/api/v1/clusters", kAny, kApi, kStream, data_of(answers::kClusters),
          "where a stream is published in a cluster of origins", always, all},
    Route{"/api/v1/cluster/where", kAny, kApi, kStreamUrl, data_of(answers::kWhere), "the node of the cluster that has a stream",
          never},
    Route{"/api/v1/drain",
          kReadOrStart,
          kApi,
          kNone,
          data_of(answers::kDrain),
          "empties and stops this server with POST, shows the progress with GET",
          always,
          all,
          {},
          {},
          {},
          kDrainActions},
    Route{"/api/v1/upgrade",
          kReadOrStart,
          kApi,
          kOwnPart,
          data_of(answers::kUpgrade),
          "starts the new program with POST, shows the progress with GET",
          never,
          receiver,
          {},
          {},
          {},
          kUpgradeActions},
    Route{"/api/v1/forwards", kRead, kApi, kPage, list_of("forwards", {}, answers::kListedForward),
          "where streams are pushed, and the state of each", always, entries},
    Route{"/api/v1/ingests", kRead, kApi, kPage, list_of("ingests", {}, answers::kIngest),
          "where streams are pulled from, and the state of each", always, joined},
    Route{"/api/v1/dvrs", kRead, kApi, kPage, list_of("dvrs", {}, answers::kDvr), "recordings", always, entries},
    Route{"/api/v1/transcodes", kRead, kApi, kPage, list_of("transcodes", {}, answers::kTranscode),
          "the ladders and engines that encode streams, with their ffmpeg processes", always, entries},
    Route{"/api/v1/recordings", kRead, kApi, kPage, list_of("recordings", {}, answers::kRecordedStream),
          "the recordings of all streams"},
    Route{"/api/v1/recordings/files",
          {Method::get, Method::head, Method::del},
          kApi,
          kRecordingFiles,
          list_of("files", {}, answers::kRecordingFile),
          "the recordings of a stream by time; DELETE removes them from the disk",
          never,
          receiver,
          kRecordingFails,
          {},
          {},
          kRecordingActions},
    Route{"/api/v1/recordings/pin",
          {Method::put, Method::del},
          kApi,
          kRecordingTimes,
          data_of(answers::kRecordingChange),
          "keeps recordings of a stream, whatever the rules of recordings {} say",
          never,
          receiver,
          kRecordingChangeFails,
          {},
          {},
          kRecordingPinActions},
    Route{"/api/v1/recordings/disk", kRead, kApi, kNone, data_of(answers::kRecordingDisk),
          "the space that recordings have, and for how long", never},
    Route{"/api/v1/uploads", kRead, kApi, kPage, list_of("uploads", {}, answers::kUpload),
          "recordings on their way to the object storage", always, entries},
    Route{"/api/v1/uploads/state", kRead, kApi, kNone, data_of(answers::kUploadState),
          "what waits for the object storage, and why nothing is sent", never, all},
    Route{"/api/v1/snapshot/", kRead, kApi, kVhost, Answer{"image/jpeg", {}, {}},
          "/snapshot/APP/STREAM.jpg is an image of a stream", never, receiver, kSnapshotFails, "{app}/{stream}.jpg"},
    Route{"/api/v1/thumbnail/", kRead, Ports::streams | Ports::workers, kVhost, Answer{"image/jpeg", {}, {}},
          "/thumbnail/APP/STREAM.jpg is a small image of a stream, for pages", never, receiver, kThumbnailFails,
          "{app}/{stream}.jpg"},
    Route{"/api/v1/perf", kRead, kApi, kNone, kReserved, "reserved"},
    Route{"/api/v1/memory", kRead, kApi, kMark, data_of(answers::kMemory),
          "the objects in the process; mark=1 remembers them, since=mark shows the growth", always, all, kChangeFails},
    Route{"/api/v1/fibers", kRead, kApi, kPage, data_of(answers::kFibers), "the coroutines of the process, by start and count",
          always, own},
    Route{"/api/v1/profile", kRead, kApi, kProfile, with_other_type({"application/octet-stream", {}, {}}, kPlain),
          "a CPU profile of so many seconds, for pprof or folded", always, own, kProfileFails},
    Route{"/api/v1/tcmalloc", kRead, kApi, kAllocator, with_other_type(data_of(answers::kAllocator), kPlain),
          "the allocator, in builds with gperftools", always, own},
    Route{"/api/v1/tests/requests", kAny, kApi, kNone, data_of(answers::kRequest), "the request as it arrived"},
    Route{"/api/v1/tests/errors", kAny, kApi, kNone, with_status(kDone, 400), "always an error"},
    Route{"/api/v1/tests/redirects", kAny, kApi, kNone, with_status(kText, 301), "always a redirect"},
    Route{"/api/v1/tests/[vhost]", kRead, kApi, kNone, kReserved, "the virtual host of the request"},
    Route{"/api/v1/valgrind", kRead, kApi, kValgrind, data_of(answers::kValgrind),
          "check=added requests a leak check by memcheck", when_served, own, kChangeFails},
    Route{"/api/v1/doctor/", kRead, kApi, kNone, data_of(answers::kSelfTest), "whether clients reach the ports of a protocol",
          never, holder, kSelfTestFails, "{protocol}"},
    Route{"/api/v1/fault", kAny, kApi, kFault, kDone, "a deliberate fault, in builds with --simulator=on", never, receiver,
          kChangeFails},
    Route{"/gb/v1/publish/",
          {Method::post, Method::del},
          kApi,
          kNone,
          kGbOpened,
          "opens a session for a GB28181 device with POST, closes it with DELETE",
          when_served,
          holder,
          {},
          {},
          Body{kJson, answers::kGbDevice},
          kGbActions},
    Route{"/index/api/openRtpServer", kCall, kApi, kOpenRtp, kRtpAnswer, "opens a session for a GB28181 device", never, holder},
    Route{"/index/api/connectRtpServer", kCall, kApi, kConnectRtp, kRtpAnswer, "connects a session to its device", never, holder},
    Route{"/index/api/closeRtpServer", kCall, kApi, kCloseRtp, kRtpAnswer, "closes a session", never, holder},
    Route{"/index/api/listRtpServer", kCall, kApi, kSecret, kRtpAnswer, "lists the sessions", never, holder},
    Route{"/gb/v1/sessions", kRead, kApi, kPage, list_of("sessions", {}, answers::kGbSession), "sessions of GB28181 devices",
          when_served, entries},
    Route{"/rtc/v1/play/",
          {Method::post},
          kEverywhere,
          kNone,
          kSdpInJson,
          "plays a stream in a browser: an SDP offer for an answer",
          always,
          receiver,
          {},
          {},
          Body{kJson, answers::kOffer}},
    Route{"/rtc/v1/publish/",
          {Method::post},
          kEverywhere,
          kNone,
          kSdpInJson,
          "publishes from a browser: an SDP offer for an answer",
          always,
          receiver,
          {},
          {},
          Body{kJson, answers::kOffer}},
    Route{"/rtc/v1/nack/", {Method::post}, kEverywhere, kNone, kDone, "simulates packet loss, in builds for it"},
    Route{
        "/rtc/v1/whip/", kSession, kEverywhere, kOffered, kSdp, "publishes by WHIP", never, session, {}, {}, {}, kSessionActions},
    Route{"/rtc/v1/whep/", kSession, kEverywhere, kOffered, kSdp, "plays by WHEP", never, session, {}, {}, {}, kSessionActions},
    Route{"/rtc/v1/whip-play/",
          kSession,
          kEverywhere,
          kOffered,
          kSdp,
          "plays by WHEP",
          never,
          session,
          {},
          {},
          {},
          kSessionActions},
    Route{"/metrics", kRead, kMonitoring, kNone, kPrometheus, "totals for Prometheus", never, metrics, kExporterFails},
    Route{"/metrics/streams", kRead, kMonitoring, kMatch, kPrometheus, "single streams for Prometheus", never, metrics,
          kExporterFails},
    Route{"/healthz", kAny, kMonitoring, kNone, kText, "200 while the process responds", never},
    Route{"/readyz", kAny, kMonitoring, kNone, kText, "200 while the server accepts clients, otherwise 503", never, receiver,
          kReadyFails},
    Route{"/streams.json", kRead, Ports::streams | Ports::workers, kListPage, kStreamList, "the streams that pages may show",
          never, receiver, kStreamListFails},
};

struct NamedMethod {
    Method method;
    std::string_view name;
};
constexpr std::array kMethodNames = {NamedMethod{Method::get, "GET"},     NamedMethod{Method::head, "HEAD"},
                                     NamedMethod{Method::post, "POST"},   NamedMethod{Method::del, "DELETE"},
                                     NamedMethod{Method::patch, "PATCH"}, NamedMethod{Method::put, "PUT"}};

bool serves(const Route& route, std::string_view path) {
    if (!route.is_folder())
        return path == route.path || (path.ends_with('/') && path.substr(0, path.size() - 1) == route.path);
    return path.starts_with(route.path) || (route.serves_without_slash() && path == route.path.substr(0, route.path.size() - 1));
}

}  // namespace

bool Methods::allow(std::string_view method) const {
    return is_any() || std::ranges::any_of(kMethodNames,
                                           [&](const NamedMethod& named) { return names(named.method) && named.name == method; });
}

std::string Methods::text() const {
    std::string text;
    for (const auto& [method, name] : kMethodNames)
        if (is_any() || names(method))
            text.append(name) += ", ";
    return text + "OPTIONS";
}

std::span<const Route> routes() { return kRoutes; }

// The longest path wins; an exact one is longer than the folders above it.
const Route* find_route(std::string_view path) {
    const Route* best = nullptr;
    const std::string named = session::http::with_id(path);
    for (const Route& route : kRoutes)
        if ((serves(route, path) || route.path == named) && (best == nullptr || route.path.size() > best->path.size()))
            best = &route;
    return best;
}

}  // namespace live::api
