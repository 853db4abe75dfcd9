#include "api/system/server_handlers.hpp"

#include <chrono>

#include "api/common/envelope.hpp"
#include "api/common/rows.hpp"
#include "base/version.hpp"
#include "io/fibers/deadline.hpp"

namespace live::api {

namespace {

using session::http::Reply;
using session::http::Request;

std::string versions(const ServerInfo& server) {
    return envelope(
        server, "data",
        json_text({{"major", kVersionMajor}, {"minor", kVersionMinor}, {"revision", kVersionRevision}, {"version", kVersion}}));
}

Row self_of(const ServerInfo& server, const SystemFigures& figures) {
    return {{"version", kVersion},
            {"pid", server.process_id},
            {"ppid", server.parent_id},
            {"argv", server.command_line},
            {"cwd", server.working_folder},
            {"mem_kbyte", figures.peak_resident_kbyte, kAdd},
            {"mem_percent", figures.resident_share, kAdd},
            {"cpu_percent", figures.self_cpu_share, kAdd},
            {"srs_uptime", std::chrono::duration_cast<std::chrono::seconds>(io::now() - server.started).count()}};
}

Row system_of(const SystemFigures& figures) {
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
            {"srs_recv_bytes", figures.totals.received_bytes, kAdd},
            {"srs_send_bytes", figures.totals.sent_bytes, kAdd},
            {"conn_sys", figures.sockets.tcp},
            {"conn_sys_et", figures.sockets.tcp_established},
            {"conn_sys_tw", figures.sockets.tcp_time_wait},
            {"conn_sys_udp", figures.sockets.udp},
            {"conn_srs", figures.totals.connections, kAdd}};
}

Row summary_of(const ServerInfo& server, const SystemFigures& figures) {
    const auto now = std::chrono::system_clock::now().time_since_epoch();
    return {{"ok", figures.is_complete},
            {"now_ms", std::chrono::duration_cast<std::chrono::milliseconds>(now).count()},
            {"self", self_of(server, figures)},
            {"system", system_of(figures)}};
}

class SummariesHandler final : public session::http::Handler {
public:
    SummariesHandler(const ServerInfo& server, const SystemSampler& sampler) : server_(server), sampler_(sampler) {}
    Reply handle(const Request& request, io::Deadline) override {
        Row data = summary_of(server_, sampler_.figures());
        if (asks_report(request)) {  // the sum lists each worker's own
            Row own = {{"worker", engine::workers::Workers()}};
            for (const char* name : {"pid", "mem_kbyte", "cpu_percent", "srs_uptime"})
                own.fields.push_back(*data.at<Row>("self").find(name));
            own.fields.push_back(*data.at<Row>("system").find("conn_srs"));
            data.add("workers", Rows{std::move(own)}, kAdd);
        }
        return row_reply(request, server_, "data", data);
    }

private:
    const ServerInfo& server_;
    const SystemSampler& sampler_;
};

}  // namespace

Reply FixedHandler::handle(const Request& request, io::Deadline) { return json_reply(request, json_); }

std::string summaries(const ServerInfo& server, const SystemSampler& sampler) {
    return json_text(summary_of(server, sampler.figures()));
}

void add_server(Endpoints& endpoints, const SystemSampler& sampler) {
    endpoints.add<FixedHandler>("/api/v1/versions", versions(endpoints.server()));
    endpoints.add<SummariesHandler>("/api/v1/summaries", endpoints.server(), sampler);
}

}  // namespace live::api
