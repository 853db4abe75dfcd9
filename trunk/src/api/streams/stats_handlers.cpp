#include "api/streams/stats_handlers.hpp"

#include <algorithm>
#include <cmath>
#include <utility>

#include "api/common/envelope.hpp"
#include "api/common/track_rows.hpp"
#include "api/streams/clusters_handler.hpp"
#include "api/streams/forwards_handler.hpp"
#include "base/net/endpoint.hpp"
#include "io/fibers/loop.hpp"
#include "wire/http/status.hpp"

namespace live::api {

namespace {

using engine::workers::Names;
using engine::workers::Workers;
using service::stats::ClientRow;
using service::stats::kbps;
using service::stats::StreamRow;
using service::stats::StreamStats;
using service::stats::VhostRow;
using session::http::error_reply;
using session::http::Reply;
using session::http::Request;

using wire::http::Status;
constexpr int kVhostNotFound = 2014;
constexpr int kStreamNotFound = 2048;
constexpr int kClientNotFound = 2049;

Row kbps_of(const service::stats::Usage& usage) {
    const auto gain = usage.rates.per_second();
    return {{"recv_30s", kbps(gain.first), kAdd}, {"send_30s", kbps(gain.second), kAdd}};
}

double seconds_of(std::chrono::microseconds time) {
    return static_cast<double>(std::chrono::duration_cast<std::chrono::milliseconds>(time).count()) / 1000;
}

std::int64_t unix_milliseconds() {
    const auto now = std::chrono::system_clock::now().time_since_epoch();
    return std::chrono::duration_cast<std::chrono::milliseconds>(now).count();
}

Row row_of(const VhostRow& vhost, const VhostSettings::Shown& settings, const StreamStats& stats) {
    Row row = {{"id", vhost.id},
               {"name", vhost.name},
               {"enabled", settings.enabled},
               {"clients", vhost.clients, kAdd},
               {"streams", Names(), kAdd},
               {"send_bytes", vhost.usage.sent_bytes, kAdd},
               {"recv_bytes", vhost.usage.received_bytes, kAdd},
               {"kbps", kbps_of(vhost.usage)},
               {"hls", Row{{"enabled", settings.hls_fragment.has_value()}}}};
    row.key = vhost.name;
    for (const auto& [number, stream] : stats.streams())
        if (stream->vhost == &vhost && stream->clients > 0)
            row.at<Names>("streams").insert(stream->url);
    if (settings.hls_fragment)
        row.at<Row>("hls").add("fragment", seconds_of(*settings.hls_fragment));
    return row;
}

std::optional<double> optional_seconds(const std::optional<MediaTime>& time) {
    return time ? std::optional(seconds_of(*time)) : std::nullopt;
}

Row track_of(const media::SourceCounters& counters, MediaKind kind) {
    return {{"packets", counters.packets[index_of(kind)]}, {"bytes", counters.bytes[index_of(kind)]}};
}

// The row of the worker that has the publisher leads.
Row row_of(const StreamRow& stream, const service::relay::RelayService* relay, const service::forward::ForwardService* forwards) {
    const auto counters = stream.counters();
    Row publish = {{"active", !stream.publisher.empty()}};
    if (!stream.publisher.empty())
        publish.add("cid", stream.publisher);
    Row row = {{"id", stream.id},
               {"name", stream.name},
               {"vhost", stream.vhost->id},
               {"app", stream.app},
               {"tcUrl", stream.tc_url},
               {"url", stream.url},
               {"live_ms", unix_milliseconds()},
               {"clients", stream.clients, kAdd},
               {"frames", counters.packets[index_of(MediaKind::video)]},
               {"send_bytes", stream.usage.sent_bytes, kAdd},
               {"recv_bytes", stream.usage.received_bytes, kAdd},
               {"kbps", kbps_of(stream.usage)},
               {"publish", std::move(publish)},
               {"video", video_row(stream)},
               {"audio", audio_row(stream)},
               // The following members are ours.
               {"fps", std::round(stream.frames_per_second() * 100) / 100},
               {"b_frames", stream.has_b_frames()},
               {"slate", stream.shows_slate()},
               {"gop", Row{{"seconds", optional_seconds(stream.gop())},
                           {"since_key_frame", optional_seconds(stream.since_key_frame(io::now()))}}},
               {"tracks", Row{{"video", track_of(counters, MediaKind::video)},
                              {"audio", track_of(counters, MediaKind::audio)},
                              {"data", track_of(counters, MediaKind::data)}}},
               {"track_list", track_rows(stream)},
               {"dropped_packets", counters.dropped_packets}};
    row.key = stream.url;
    row.rank = !stream.publisher.empty();
    const auto pull = relay == nullptr ? std::nullopt : relay->find(stream.url);
    row.add("role", pull ? "edge" : "origin");
    if (pull)
        row.add("origin", pull_row(*pull, io::now()));
    Rows pushes;
    if (forwards != nullptr)
        for (const auto& forward : forwards->list_of(stream.url))
            pushes.push_back(forward_row(forward, io::now()));
    row.add("forwards", std::move(pushes));
    row.add("workers", Workers{.is_list = true}, kAdd);
    return row;
}

Row row_of(const session::LinkFigures& link) {
    Row row;
    for (const auto& [name, value] : link.values)
        std::visit([&, key = name](const auto& one) { row.add(key, one); }, value);
    return row;
}

Row row_of(const ClientRow& client) {
    const session::ClientRequest& request = client.entry->client().request();
    const session::ClientFigures figures = client.entry->figures();
    const auto alive = std::chrono::duration_cast<std::chrono::microseconds>(io::now() - client.entry->since());
    Row row = {{"id", request.id},
               {"vhost", client.stream->vhost->id},
               {"stream", client.stream->id},
               {"ip", request.ip},
               {"pageUrl", request.page_url},
               {"swfUrl", request.swf_url},
               {"tcUrl", request.tc_url},
               {"url", client.stream->url},
               {"name", request.stream + request.extension},
               {"type", session::name_of(request.kind)},
               {"publish", session::is_publisher(request.kind)},
               {"alive", seconds_of(alive)},
               {"send_bytes", figures.sent_bytes},
               {"recv_bytes", figures.received_bytes},
               {"kbps", kbps_of(client.usage)},
               // The following members are ours.
               {"relay", request.is_relay()},
               {"delivered_packets", figures.delivered_packets},
               {"dropped_packets", figures.dropped_packets},
               {"queued_packets", figures.queued_packets},
               {"queue_delay_ms", std::chrono::duration_cast<std::chrono::milliseconds>(figures.queue_delay).count()}};
    if (const auto link = client.entry->client().link_figures())
        row.add(link->name, row_of(*link));
    row.add("worker", Workers());
    return row;
}

// One page of a map ordered by number. Other fibers run between portions and may change the map: the page resumes by number.
template <class Map, class Shows, class Make>
Result<void> write_page(const Map& map, const Page& page, ListAnswer& answer, io::Deadline deadline, Shows&& shows, Make&& make) {
    std::size_t passed = 0;
    for (auto at = map.begin(); at != map.end() && answer.size() < page.count;) {
        const auto number = at->first;
        if (shows(at->second) && passed++ >= page.start) {
            answer.add(make(at->second));
            if (answer.size() % ListHandler::kPortion == 0) {
                TRY(io::yield(deadline));
                at = map.upper_bound(number);
                continue;
            }
        }
        ++at;
    }
    return {};
}

}  // namespace

bool ListHandler::remove(const std::string&) const { return false; }

Reply ListHandler::handle(const Request& request, io::Deadline deadline) {
    const std::string id = request.path().substr(std::min(route_.path.size(), request.path().size()));
    const Missing gone = missing();
    if (!request.is_get())
        return remove(id) ? json_reply(request, envelope(server_)) : error_reply(Status::not_found, gone.code, gone.sentence);
    if (!id.empty()) {
        const auto found = one(id);
        return found ? row_reply(request, server_, route_.answer.one, *found)
                     : error_reply(Status::not_found, gone.code, gone.sentence);
    }
    const auto page = page_of(request, route_.answer.page_size);
    if (!page.ok())
        return refuse_page(page.error());
    ListAnswer answer(request);
    const auto total = list(*page, request.target.query.get("stream"), answer, deadline);
    return total.ok() ? answer.reply(server_, route_.answer.key, *page, *total)
                      : error_reply(Status::service_unavailable, "the server stops");
}

ListHandler::Missing VhostsHandler::missing() const { return {kVhostNotFound, "there is no such virtual host"}; }

Result<std::size_t> VhostsHandler::list(const Page& page, std::string_view, ListAnswer& answer, io::Deadline) const {
    const auto& vhosts = stream_stats_.vhosts();
    for (std::size_t at = page.start; at < vhosts.size() && answer.size() < page.count; ++at)
        answer.add(row_of(*vhosts[at], settings_.find(vhosts[at]->name), stream_stats_));
    return vhosts.size();
}

std::optional<Row> VhostsHandler::one(const std::string& id) const {
    const VhostRow* vhost = stream_stats_.find_vhost(id);
    return vhost == nullptr ? std::nullopt : std::optional(row_of(*vhost, settings_.find(vhost->name), stream_stats_));
}

ListHandler::Missing StreamsHandler::missing() const { return {kStreamNotFound, "there is no such stream"}; }

Result<std::size_t> StreamsHandler::list(const Page& page, std::string_view, ListAnswer& answer, io::Deadline deadline) const {
    TRY(write_page(
        stream_stats_.streams(), page, answer, deadline, [](const auto& stream) { return stream->clients > 0; },
        [this](const auto& stream) { return row_of(*stream, relay_, forwards_); }));
    return stream_stats_.stream_count();
}

std::optional<Row> StreamsHandler::one(const std::string& id) const {
    const StreamRow* stream = stream_stats_.find_stream(id);
    return stream == nullptr ? std::nullopt : std::optional(row_of(*stream, relay_, forwards_));
}

ListHandler::Missing ClientsHandler::missing() const { return {kClientNotFound, "there is no such client"}; }

Result<std::size_t> ClientsHandler::list(const Page& page, std::string_view stream, ListAnswer& answer,
                                         io::Deadline deadline) const {
    TRY(write_page(
        stream_stats_.clients(), page, answer, deadline,
        [stream](const ClientRow& client) { return stream.empty() || client.stream->id == stream; },
        [](const ClientRow& client) { return row_of(client); }));
    if (stream.empty())
        return stream_stats_.clients().size();
    const StreamRow* found = stream_stats_.find_stream(std::string(stream));
    return found == nullptr ? 0 : found->clients;
}

std::optional<Row> ClientsHandler::one(const std::string& id) const {
    const ClientRow* client = stream_stats_.find_client(id);
    return client == nullptr ? std::nullopt : std::optional(row_of(*client));
}

bool ClientsHandler::remove(const std::string& id) const {
    const ClientRow* client = stream_stats_.find_client(id);
    if (client == nullptr)
        return false;
    client->entry->kick("an operator has ended it");
    return true;
}

void add_stats(Endpoints& endpoints, const service::stats::StreamStats& stream_stats, const VhostSettings& settings,
               const service::relay::RelayService* relay, const service::forward::ForwardService* forwards) {
    const ServerInfo& server = endpoints.server();
    endpoints.add<VhostsHandler>("/api/v1/vhosts/", server, stream_stats, settings);
    endpoints.add<StreamsHandler>("/api/v1/streams/", server, stream_stats, relay, forwards);
    endpoints.add<ClientsHandler>("/api/v1/clients/", server, stream_stats);
}

}  // namespace live::api
