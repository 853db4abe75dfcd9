#include <algorithm>
#include <array>

#include "api/common/page.hpp"
#include "api/common/route.hpp"

namespace live::api {

namespace {

// Forms of answers.
constexpr std::string_view kJson = "application/json";
constexpr std::string_view kPlain = "text/plain";
constexpr Answer kData{kJson, "data", {}};
constexpr Answer kUrls{kJson, "urls", {}};
constexpr Answer kDone{kJson, {}, {}};
constexpr Answer kText{kPlain, {}, {}};
constexpr Answer kPrometheus{"text/plain; charset=utf-8", {}, {}};
constexpr Answer kSdp{"application/sdp", {}, {}};
constexpr Answer kSdpInJson{kJson, "sdp", {}};

constexpr Methods kAny = Methods::any();
constexpr Methods kRead = Methods::read();
constexpr Methods kReadOrStart = {Method::get, Method::post};
constexpr Methods kCall = {Method::get, Method::post};
constexpr Methods kSession = {Method::post, Method::del, Method::patch};

constexpr Ports kApi = Ports::api | Ports::workers;
constexpr Ports kEverywhere = kApi | Ports::streams;
constexpr Ports kMonitoring = kApi | Ports::exporter;

constexpr std::array kNone = std::array<Parameter, 0>{};
constexpr std::array kPage = {Parameter{"start", "index of the first entry"}, Parameter{"count", "the most entries to return"}};
constexpr std::array kClientPage = {kPage[0], kPage[1], Parameter{"stream", "the id of a stream: its clients alone"}};
constexpr std::array kListPage = {Parameter{"from", "the number to start at: `next` of the previous page"},
                                  Parameter{"count", "the most streams to return"},
                                  Parameter{"stream", "[vhost]/app/stream: this stream alone, with its health"}};
constexpr std::array kRaw = {Parameter{"rpc", "raw, reload or reload-fetch"}};
constexpr std::array kStream = {Parameter{"ip", "repeated in the answer"}, Parameter{"vhost", "the virtual host of the stream"},
                                Parameter{"app", "the application of the stream"}, Parameter{"stream", "the name of the stream"},
                                Parameter{"coworker", "host:port at which the sender reached this server"}};
constexpr std::array kStreamUrl = {Parameter{"stream", "[vhost]/app/stream"}};
constexpr std::array kHistory = {Parameter{"stream", "[vhost]/app/stream: the last hour of a stream"},
                                 Parameter{"since", "a time in seconds: only the points after it"}};
constexpr std::array kOwnPart = {Parameter{"own", "1: this process only"}};
constexpr std::array kMark = {Parameter{"mark", "1: remember these counts"},
                              Parameter{"since", "mark: show the growth since the remembered counts"}};
constexpr std::array kProfile = {Parameter{"seconds", "1 to 60"}, Parameter{"format", "pprof or folded"}};
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

using enum Listing;
using enum Answerer;

// Listed in the order of the index. `perf`, `nack` and `[vhost]` are listed for clients of this family and are not served.
constexpr std::array kRoutes = {
    Route{"/", kAny, Ports::api, kNone, kUrls, "the endpoints", never},
    Route{"/api/", kAny, kApi, kNone, kUrls, "the API"},
    Route{"/api/v1/", kAny, kApi, kNone, kUrls, "version 1 of the API"},
    Route{"/api/v1/versions", kAny, kEverywhere, kNone, kData, "version of the server"},
    Route{"/api/v1/summaries", kAny, kApi, kNone, kData, "the server and its machine in short: processor, memory, network",
          always, all},
    Route{"/api/v1/rusages", kAny, kApi, kNone, kData, "what the process has used, by getrusage", always, own},
    Route{"/api/v1/self_proc_stats", kAny, kApi, kNone, kData, "/proc/self/stat", always, own},
    Route{"/api/v1/system_proc_stats", kAny, kApi, kNone, kData, "the processors, from /proc/stat"},
    Route{"/api/v1/meminfos", kAny, kApi, kNone, kData, "the memory, from /proc/meminfo"},
    Route{"/api/v1/authors", kAny, kApi, kNone, kData, "licence and contributors"},
    Route{"/api/v1/features", kAny, kApi, kNone, kData, "the features of this build"},
    Route{"/api/v1/requests", kAny, kApi, kNone, kData, "the request as it arrived"},
    Route{"/api/v1/vhosts/", kRead, kApi, kPage, Answer{kJson, "vhosts", "vhost", Page::kMost},
          "virtual hosts in use; /vhosts/ID is one of them", always, joined},
    Route{"/api/v1/streams/", kRead, kApi, kPage, Answer{kJson, "streams", "stream"}, "live streams; /streams/ID is one of them",
          always, joined},
    Route{"/api/v1/clients/",
          {Method::get, Method::head, Method::del},
          kApi,
          kClientPage,
          Answer{kJson, "clients", "client"},
          "connected clients; /clients/ID is one of them, DELETE ends it",
          always,
          entries},
    Route{"/api/v1/history", kRead, kApi, kHistory, kData,
          "the last hour of the server, or of a stream with its events and health", always, all},
    Route{"/api/v1/raw", kRead, kApi, kRaw, Answer{kJson, "http_api", {}},
          "reload and questions about the settings, when switched on"},
    Route{"/api/v1/configs/warnings", kRead, kApi, kNone, Answer{kJson, "warnings", {}},
          "the warnings about the settings in use"},
    Route{"/api/v1/warnings", kRead, kApi, kNone, kData, "the newest warnings and errors of the log", always, all},
    Route{"/api/v1/clusters", kAny, kApi, kStream, kData, "where a stream is published in a cluster of origins", always, all},
    Route{"/api/v1/cluster/where", kAny, kApi, kStreamUrl, kData, "the node of the cluster that has a stream", never},
    Route{"/api/v1/drain", kReadOrStart, kApi, kNone, kData,
          "empties and stops this server with POST, shows the progress with GET", always, all},
    Route{"/api/v1/upgrade", kReadOrStart, kApi, kOwnPart, kData, "starts the new program with POST, shows the progress with GET",
          never},
    Route{"/api/v1/forwards", kRead, kApi, kPage, Answer{kJson, "forwards", {}},
          "where streams are pushed, and the state of each", always, entries},
    Route{"/api/v1/dvrs", kRead, kApi, kPage, Answer{kJson, "dvrs", {}}, "recordings", always, entries},
    Route{"/api/v1/snapshot/", kRead, kApi, kVhost, Answer{"image/jpeg", {}, {}},
          "/snapshot/APP/STREAM.jpg is an image of a stream", never},
    Route{"/api/v1/thumbnail/", kRead, Ports::streams | Ports::workers, kVhost, Answer{"image/jpeg", {}, {}},
          "/thumbnail/APP/STREAM.jpg is a small image of a stream, for pages", never},
    Route{"/api/v1/perf", kRead, kApi, kNone, kData, "reserved"},
    Route{"/api/v1/memory", kRead, kApi, kMark, kData,
          "the objects in the process; mark=1 remembers them, since=mark shows the growth", always, all},
    Route{"/api/v1/fibers", kRead, kApi, kPage, kData, "the coroutines of the process, by start and count", always, own},
    Route{"/api/v1/profile", kRead, kApi, kProfile, Answer{"application/octet-stream", {}, {}},
          "a CPU profile of so many seconds, for pprof or folded", always, own},
    Route{"/api/v1/tcmalloc", kRead, kApi, kAllocator, kData, "the allocator, in builds with gperftools", always, own},
    Route{"/api/v1/tests/requests", kAny, kApi, kNone, kData, "the request as it arrived"},
    Route{"/api/v1/tests/errors", kAny, kApi, kNone, kDone, "always an error"},
    Route{"/api/v1/tests/redirects", kAny, kApi, kNone, kText, "always a redirect"},
    Route{"/api/v1/tests/[vhost]", kRead, kApi, kNone, kData, "the virtual host of the request"},
    Route{"/api/v1/valgrind", kRead, kApi, kValgrind, kData, "check=added requests a leak check by memcheck", when_served, own},
    Route{"/api/v1/doctor/", kRead, kApi, kNone, kData, "whether clients reach the ports of a protocol", never, holder},
    Route{"/api/v1/fault", kAny, kApi, kFault, kDone, "a deliberate fault, in builds with --simulator=on", never},
    Route{"/gb/v1/publish/",
          {Method::post, Method::del},
          kApi,
          kGbId,
          kDone,
          "opens a session for a GB28181 device with POST, closes it with DELETE",
          when_served,
          holder},
    Route{"/index/api/openRtpServer", kCall, kApi, kOpenRtp, kDone, "opens a session for a GB28181 device", never, holder},
    Route{"/index/api/connectRtpServer", kCall, kApi, kConnectRtp, kDone, "connects a session to its device", never, holder},
    Route{"/index/api/closeRtpServer", kCall, kApi, kCloseRtp, kDone, "closes a session", never, holder},
    Route{"/index/api/listRtpServer", kCall, kApi, kSecret, Answer{kJson, "data", {}}, "lists the sessions", never, holder},
    Route{"/gb/v1/sessions", kRead, kApi, kPage, Answer{kJson, "sessions", {}}, "sessions of GB28181 devices", when_served,
          entries},
    Route{"/rtc/v1/play/",
          {Method::post},
          kEverywhere,
          kNone,
          kSdpInJson,
          "plays a stream in a browser: an SDP offer for an answer"},
    Route{"/rtc/v1/publish/",
          {Method::post},
          kEverywhere,
          kNone,
          kSdpInJson,
          "publishes from a browser: an SDP offer for an answer"},
    Route{"/rtc/v1/nack/", {Method::post}, kEverywhere, kNone, kDone, "simulates packet loss, in builds for it"},
    Route{"/rtc/v1/whip/", kSession, kEverywhere, kOffered, kSdp, "publishes by WHIP", never, session},
    Route{"/rtc/v1/whep/", kSession, kEverywhere, kOffered, kSdp, "plays by WHEP", never, session},
    Route{"/rtc/v1/whip-play/", kSession, kEverywhere, kOffered, kSdp, "plays by WHEP", never, session},
    Route{"/metrics", kRead, kMonitoring, kNone, kPrometheus, "totals for Prometheus", never, metrics},
    Route{"/metrics/streams", kRead, kMonitoring, kMatch, kPrometheus, "single streams for Prometheus", never, metrics},
    Route{"/healthz", kAny, kMonitoring, kNone, kText, "200 while the process responds", never},
    Route{"/readyz", kAny, kMonitoring, kNone, kText, "200 while the server accepts clients, otherwise 503", never},
    Route{"/streams.json", kRead, Ports::streams | Ports::workers, kListPage, Answer{kJson, "streams", {}},
          "the streams that pages may show", never},
};

struct NamedMethod {
    Method method;
    std::string_view name;
};
constexpr std::array kMethodNames = {NamedMethod{Method::get, "GET"}, NamedMethod{Method::head, "HEAD"},
                                     NamedMethod{Method::post, "POST"}, NamedMethod{Method::del, "DELETE"},
                                     NamedMethod{Method::patch, "PATCH"}};

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
    for (const Route& route : kRoutes)
        if (serves(route, path) && (best == nullptr || route.path.size() > best->path.size()))
            best = &route;
    return best;
}

}  // namespace live::api
