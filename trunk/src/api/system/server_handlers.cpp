#include "api/system/server_handlers.hpp"

#include <chrono>

#include <nlohmann/json.hpp>

#include "api/common/envelope.hpp"
#include "base/text/ascii.hpp"
#include "base/text/json_text.hpp"
#include "base/version.hpp"
#include "io/fibers/deadline.hpp"
#include "io/process/leak_check.hpp"
#include "session/http/handler.hpp"
#include "wire/http/status.hpp"

namespace live::api {

using Json = nlohmann::ordered_json;

namespace {

using session::http::Reply;
using session::http::Request;

std::string root_index(const ServerInfo& server) {
    const Json rtc = {{"play", "plays a stream in a browser: an SDP offer for an answer"},
                      {"publish", "publishes from a browser: an SDP offer for an answer"},
                      {"nack", "simulates packet loss, in builds for it"}};
    Json urls;
    urls["api"] = "the API";
    urls["rtc"]["v1"] = rtc;
    return envelope(server, "urls", text_of(urls));
}

std::string api_index(const ServerInfo& server) {
    Json urls;
    urls["v1"] = "version 1 of the API";
    return envelope(server, "urls", text_of(urls));
}

std::string v1_index(const ServerInfo& server) {
    Json urls = {{"versions", "version of the server"},
                 {"summaries", "the server and its machine in short: processor, memory, network"},
                 {"rusages", "what the process has used, by getrusage"},
                 {"self_proc_stats", "/proc/self/stat"},
                 {"system_proc_stats", "the processors, from /proc/stat"},
                 {"meminfos", "the memory, from /proc/meminfo"},
                 {"authors", "licence and contributors"},
                 {"features", "what this build can do"},
                 {"requests", "the request as it arrived"},
                 {"vhosts", "virtual hosts in use; /vhosts/ID is one of them"},
                 {"streams", "live streams; /streams/ID is one of them"},
                 {"clients", "connected clients; /clients/ID is one of them, DELETE ends it"},
                 {"raw", "reload and questions about the settings, when switched on"},
                 {"configs/warnings", "the warnings about the settings in use"},
                 {"clusters", "where a stream is published in a cluster of origins"},
                 {"drain", "empties and stops this server with POST, and says how far it is with GET"},
                 {"forwards", "where streams are pushed, and how that goes"},
                 {"dvrs", "recordings"},
                 {"perf", "reserved"},
                 {"memory", "what lives in the process; mark=1 remembers it, since=mark shows the growth"},
                 {"fibers", "the coroutines of the process, by start and count"},
                 {"profile", "a CPU profile of so many seconds, for pprof or folded"},
                 {"tcmalloc", "the allocator, in builds with gperftools"},
                 {"tests",
                  {{"requests", "the request as it arrived"},
                   {"errors", "always an error"},
                   {"redirects", "always a redirect"},
                   {"[vhost]", "the virtual host of the request"}}}};
    if (io::can_check_leaks())
        urls["valgrind"] = "check=added asks memcheck for a leak check";
    return envelope(server, "urls", text_of(urls));
}

std::string versions(const ServerInfo& server) {
    return envelope(
        server, "data",
        text_of(Json{{"major", kVersionMajor}, {"minor", kVersionMinor}, {"revision", kVersionRevision}, {"version", kVersion}}));
}

Json self_of(const ServerInfo& server, const SystemFigures& figures) {
    return {{"version", kVersion},
            {"pid", server.process_id},
            {"ppid", server.parent_id},
            {"argv", server.command_line},
            {"cwd", server.working_folder},
            {"mem_kbyte", figures.peak_resident_kbyte},
            {"mem_percent", figures.resident_share},
            {"cpu_percent", figures.self_cpu_share},
            {"srs_uptime", std::chrono::duration_cast<std::chrono::seconds>(io::now() - server.started).count()}};
}

Json system_of(const SystemFigures& figures) {
    const auto sampled_at = figures.sampled_at.count();
    return {{"cpu_percent", figures.cpu_share},
            {"disk_read_KBps", figures.disk_read_kbyte_per_second},
            {"disk_write_KBps", figures.disk_write_kbyte_per_second},
            {"disk_busy_percent", figures.disk_busy_share},
            {"mem_ram_kbyte", figures.memory.total_kbyte},
            {"mem_ram_percent", figures.memory_share},
            {"mem_swap_kbyte", figures.memory.swap_total_kbyte},
            {"mem_swap_percent", figures.swap_share},
            {"cpus", figures.processors},
            {"cpus_online", figures.processors_online},
            {"uptime", figures.uptime.seconds},
            {"ilde_time", figures.uptime.idle_seconds},  // spelled as clients expect it
            {"load_1m", figures.load.one_minute},
            {"load_5m", figures.load.five_minutes},
            {"load_15m", figures.load.fifteen_minutes},
            {"net_sample_time", sampled_at},
            {"net_recv_bytes", figures.internet.received},
            {"net_send_bytes", figures.internet.sent},
            {"net_recvi_bytes", figures.intranet.received},
            {"net_sendi_bytes", figures.intranet.sent},
            {"srs_sample_time", sampled_at},
            {"srs_recv_bytes", figures.totals.received_bytes},
            {"srs_send_bytes", figures.totals.sent_bytes},
            {"conn_sys", figures.sockets.tcp},
            {"conn_sys_et", figures.sockets.tcp_established},
            {"conn_sys_tw", figures.sockets.tcp_time_wait},
            {"conn_sys_udp", figures.sockets.udp},
            {"conn_srs", figures.totals.connections}};
}

}  // namespace

Reply FixedHandler::handle(const Request& request, io::Deadline) {
    // Mounted at a folder, it is asked for everything below that nobody else has.
    if (ascii::trimmed(request.path(), "/") != ascii::trimmed(path_, "/"))
        return session::http::error_reply(wire::http::Status::not_found,
                                          "there is nothing at this address; /api/v1/ lists what there is");
    return json_reply(request, json_);
}

Reply SummariesHandler::handle(const Request& request, io::Deadline) {
    return json_reply(request, envelope(server_, "data", data()));
}

std::string SummariesHandler::data() const {
    const SystemFigures& figures = sampler_.figures();
    const auto now = std::chrono::system_clock::now().time_since_epoch();
    const Json data = {{"ok", figures.is_complete},
                       {"now_ms", std::chrono::duration_cast<std::chrono::milliseconds>(now).count()},
                       {"self", self_of(server_, figures)},
                       {"system", system_of(figures)}};
    return text_of(data);
}

ServerApi::ServerApi(const ServerInfo& server, const SystemSampler& sampler)
    : root_("/", root_index(server)),
      api_("/api/", api_index(server)),
      v1_("/api/v1/", v1_index(server)),
      versions_("/api/v1/versions", versions(server)),
      summaries_(server, sampler) {}

void ServerApi::mount_root(session::http::Router& router) { router.add("/", root_); }

void ServerApi::mount(session::http::Router& router) {
    router.add("/api/", api_);
    router.add("/api/v1/", v1_);
    router.add("/api/v1/summaries", summaries_);
    mount_versions(router);
}

void ServerApi::mount_versions(session::http::Router& router) { router.add("/api/v1/versions", versions_); }

}  // namespace live::api
