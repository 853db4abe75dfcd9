#include "api/streams/stats_handlers.hpp"

#include <algorithm>
#include <cmath>
#include <utility>

#include <nlohmann/json.hpp>

#include "api/common/envelope.hpp"
#include "api/common/track_json.hpp"
#include "api/streams/clusters_handler.hpp"
#include "api/streams/forwards_handler.hpp"
#include "base/net/endpoint.hpp"
#include "base/text/json_text.hpp"
#include "io/fibers/loop.hpp"
#include "wire/http/status.hpp"

namespace live::api {

namespace {

using Json = nlohmann::ordered_json;
using service::stats::ClientRow;
using service::stats::kbps;
using service::stats::StreamRow;
using service::stats::VhostRow;
using session::http::error_reply;
using session::http::Reply;
using session::http::Request;

using wire::http::Status;
constexpr int kVhostNotFound = 2014;
constexpr int kStreamNotFound = 2048;
constexpr int kClientNotFound = 2049;

Json kbps_of(const service::stats::Usage& usage) {
    const auto gain = usage.rates.per_second();
    return {{"recv_30s", kbps(gain.first)}, {"send_30s", kbps(gain.second)}};
}

double seconds_of(std::chrono::microseconds time) {
    return static_cast<double>(std::chrono::duration_cast<std::chrono::milliseconds>(time).count()) / 1000;
}

std::int64_t unix_milliseconds() {
    const auto now = std::chrono::system_clock::now().time_since_epoch();
    return std::chrono::duration_cast<std::chrono::milliseconds>(now).count();
}

Json json_of(const VhostRow& vhost, const VhostSettings::Shown& settings) {
    Json hls = {{"enabled", settings.hls_fragment.has_value()}};
    if (settings.hls_fragment)
        hls["fragment"] = seconds_of(*settings.hls_fragment);
    return {{"id", vhost.id},
            {"name", vhost.name},
            {"enabled", settings.enabled},
            {"clients", vhost.clients},
            {"streams", vhost.streams},
            {"send_bytes", vhost.usage.sent_bytes},
            {"recv_bytes", vhost.usage.received_bytes},
            {"kbps", kbps_of(vhost.usage)},
            {"hls", std::move(hls)}};
}

Json optional_seconds(const std::optional<MediaTime>& time) { return time ? Json(seconds_of(*time)) : Json(nullptr); }

Json track_of(const media::SourceCounters& counters, MediaKind kind) {
    return {{"packets", counters.packets[index_of(kind)]}, {"bytes", counters.bytes[index_of(kind)]}};
}

Json json_of(const StreamRow& stream, const service::relay::RelayService* relay,
             const service::forward::ForwardService* forwards) {
    const auto counters = stream.counters();
    Json publish = {{"active", !stream.publisher.empty()}};
    if (!stream.publisher.empty())
        publish["cid"] = stream.publisher;
    const double frames_per_second = std::round(stream.frames_per_second() * 100) / 100;
    Json json = {
        {"id", stream.id},
        {"name", stream.name},
        {"vhost", stream.vhost->id},
        {"app", stream.app},
        {"tcUrl", stream.tc_url},
        {"url", stream.url},
        {"live_ms", unix_milliseconds()},
        {"clients", stream.clients},
        {"frames", counters.packets[index_of(MediaKind::video)]},
        {"send_bytes", stream.usage.sent_bytes},
        {"recv_bytes", stream.usage.received_bytes},
        {"kbps", kbps_of(stream.usage)},
        {"publish", std::move(publish)},
        {"video", video_json<Json>(stream)},
        {"audio", audio_json<Json>(stream)},
        // The following members are ours.
        {"fps", frames_per_second},
        {"b_frames", stream.has_b_frames()},
        {"gop",
         {{"seconds", optional_seconds(stream.gop())}, {"since_key_frame", optional_seconds(stream.since_key_frame(io::now()))}}},
        {"tracks",
         {{"video", track_of(counters, MediaKind::video)},
          {"audio", track_of(counters, MediaKind::audio)},
          {"data", track_of(counters, MediaKind::data)}}},
        {"dropped_packets", counters.dropped_packets}};
    const auto pull = relay == nullptr ? std::nullopt : relay->find(stream.url);
    json["role"] = pull ? "edge" : "origin";
    if (pull)
        json["origin"] = pull_json<Json>(*pull, io::now());
    json["forwards"] = Json::array();
    if (forwards != nullptr)
        for (const auto& forward : forwards->list_of(stream.url))
            json["forwards"].push_back(forward_json<Json>(forward, io::now()));
    return json;
}

Json json_of(const session::LinkFigures& link) {
    Json json = Json::object();
    for (const auto& [name, value] : link.values)
        json[std::string(name)] = std::visit([](const auto& one) { return Json(one); }, value);
    return json;
}

Json json_of(const ClientRow& client) {
    const session::ClientRequest& request = client.entry->client().request();
    const session::ClientFigures figures = client.entry->figures();
    const auto alive = std::chrono::duration_cast<std::chrono::microseconds>(io::now() - client.entry->since());
    Json json = {{"id", request.id},
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
        json[std::string(link->name)] = json_of(*link);
    return json;
}

void append(std::string& text, const Json& json) {
    if (!text.empty())
        text += ',';
    text += text_of(json);
}

// One page of a map ordered by number. Other fibers run between portions and may change the map: the page resumes by number.
template <class Map, class Shows, class Write>
Result<ListHandler::Listed> write_page(const Map& map, const Page& page, std::size_t total, io::Deadline deadline, Shows&& shows,
                                       Write&& write) {
    ListHandler::Listed listed{{}, total};
    std::size_t passed = 0;
    std::size_t written = 0;
    for (auto at = map.begin(); at != map.end() && written < page.count;) {
        const auto number = at->first;
        if (shows(at->second) && passed++ >= page.start) {
            append(listed.entries, write(at->second));
            if (++written % ListHandler::kPortion == 0) {
                TRY(io::yield(deadline));
                at = map.upper_bound(number);
                continue;
            }
        }
        ++at;
    }
    return listed;
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
        return found ? json_reply(request, envelope(server_, route_.answer.one, *found))
                     : error_reply(Status::not_found, gone.code, gone.sentence);
    }
    const auto page = page_of(request, default_count());
    if (!page.ok())
        return refuse_page(page.error());
    const auto listed = list(*page, deadline);
    return listed.ok()
               ? json_reply(request, list_envelope(server_, route_.answer.key, "[" + listed->entries + "]", *page, listed->total))
               : error_reply(Status::service_unavailable, "the server stops");
}

ListHandler::Missing VhostsHandler::missing() const { return {kVhostNotFound, "there is no such virtual host"}; }

Result<ListHandler::Listed> VhostsHandler::list(const Page& page, io::Deadline) const {
    const auto& vhosts = stream_stats_.vhosts();
    Listed listed{{}, vhosts.size()};
    for (std::size_t at = page.start; at < vhosts.size() && at - page.start < page.count; ++at)
        append(listed.entries, json_of(*vhosts[at], settings_.find(vhosts[at]->name)));
    return listed;
}

std::optional<std::string> VhostsHandler::one(const std::string& id) const {
    const VhostRow* vhost = stream_stats_.find_vhost(id);
    return vhost == nullptr ? std::nullopt : std::optional(text_of(json_of(*vhost, settings_.find(vhost->name))));
}

ListHandler::Missing StreamsHandler::missing() const { return {kStreamNotFound, "there is no such stream"}; }

Result<ListHandler::Listed> StreamsHandler::list(const Page& page, io::Deadline deadline) const {
    const auto is_shown = [](const auto& stream) { return stream->clients > 0; };
    const auto& streams = stream_stats_.streams();
    const std::size_t total = static_cast<std::size_t>(
        std::ranges::count_if(streams, [&is_shown](const auto& entry) { return is_shown(entry.second); }));
    return write_page(streams, page, total, deadline, is_shown,
                      [this](const auto& stream) { return json_of(*stream, relay_, forwards_); });
}

std::optional<std::string> StreamsHandler::one(const std::string& id) const {
    const StreamRow* stream = stream_stats_.find_stream(id);
    return stream == nullptr ? std::nullopt : std::optional(text_of(json_of(*stream, relay_, forwards_)));
}

ListHandler::Missing ClientsHandler::missing() const { return {kClientNotFound, "there is no such client"}; }

Result<ListHandler::Listed> ClientsHandler::list(const Page& page, io::Deadline deadline) const {
    return write_page(
        stream_stats_.clients(), page, stream_stats_.clients().size(), deadline, [](const ClientRow&) { return true; },
        [](const ClientRow& client) { return json_of(client); });
}

std::optional<std::string> ClientsHandler::one(const std::string& id) const {
    const ClientRow* client = stream_stats_.find_client(id);
    return client == nullptr ? std::nullopt : std::optional(text_of(json_of(*client)));
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
