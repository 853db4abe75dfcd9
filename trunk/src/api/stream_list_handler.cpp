#include "api/stream_list_handler.hpp"

#include <algorithm>
#include <charconv>
#include <cmath>
#include <unordered_map>
#include <utility>

#include <nlohmann/json.hpp>

#include "api/track_json.hpp"
#include "base/json_text.hpp"
#include "base/version.hpp"
#include "wire/http/status.hpp"

namespace live::api {

using Json = nlohmann::ordered_json;

namespace {

using service::stats::StreamRow;
using service::stats::StreamStats;
using session::http::error_reply;
using session::http::Reply;
using session::http::Request;

using wire::http::Status;

std::optional<std::uint64_t> count_of(std::string_view text) {
    std::uint64_t number = 0;
    const auto end = std::from_chars(text.data(), text.data() + text.size(), number);
    return !text.empty() && end.ec == std::errc() && end.ptr == text.data() + text.size() ? std::optional(number) : std::nullopt;
}

Json json_of(const std::vector<StreamAddress>& addresses) {
    Json list = Json::array();
    for (const auto& [format, url] : addresses)
        list.push_back({{"format", format}, {"url", url}});
    return list;
}

Json json_of(const StreamListView::ApiPlace& place) {
    return place.missing.empty() ? Json{{"url", place.url}} : Json{{"url", nullptr}, {"missing", place.missing}};
}

Json json_of(const StreamRow& stream, const std::vector<StreamAddress>& addresses) {
    return {{"vhost", stream.vhost->name},
            {"app", stream.app},
            {"name", stream.name},
            {"video", video_json<Json>(stream)},
            {"audio", audio_json<Json>(stream)},
            {"fps", std::round(stream.frames_per_second() * 100) / 100},
            {"kbps", service::stats::kbps(stream.usage.rates.per_second().first)},
            {"formats", json_of(addresses)}};
}

// The part of the stream stats that one response shows.
class Pages {
public:
    Pages(const StreamStats& stream_stats, const StreamListView& view) : stream_stats_(stream_stats), view_(view) {}

    // At most `count` streams, starting at number `from`.
    void read(std::uint64_t from, std::size_t count) {
        std::size_t looks = 0;
        for (auto at = stream_stats_.streams().lower_bound(from); at != stream_stats_.streams().end(); ++at) {
            if (streams.size() == count || ++looks > StreamListHandler::kLooksMax) {
                next = at->first;
                return;
            }
            if (!at->second->publisher.empty() && is_shown(at->second->vhost->name))
                add(*at->second);
        }
    }

    Json streams = Json::array();
    Json next = nullptr;  // start of the next page

private:
    bool is_shown(const std::string& vhost) {
        const auto known = shown_.find(vhost);
        return known != shown_.end() ? known->second : shown_.emplace(vhost, view_.shows(vhost)).first->second;
    }
    void add(const StreamRow& stream) {
        const auto* publisher = stream_stats_.find_client(stream.publisher);
        const bool comes_by_rtc = publisher != nullptr && publisher->kind == session::ClientKind::rtc_publish;
        streams.push_back(json_of(stream, view_.play_addresses({stream.vhost->name, stream.app, stream.name, comes_by_rtc})));
    }

    const StreamStats& stream_stats_;
    const StreamListView& view_;
    std::unordered_map<std::string, bool> shown_;  // by virtual host
};

}  // namespace

Reply StreamListHandler::handle(const Request& request, io::Deadline) {
    if (!request.is_get())
        return session::http::method_not_allowed("GET, HEAD, OPTIONS", "the list of streams is read with GET");
    if (!settings_.is_enabled())
        return error_reply(Status::not_found, "this server does not list its streams (http_server { stream_list off; })");
    const auto view = settings_.view(request);
    if (view == nullptr)
        return error_reply(Status::bad_request, "the Host field names no host");
    const auto& query = request.target.query;
    const auto count = count_of(query.get("count")).value_or(kCountDefault);
    Pages pages(stream_stats_, *view);
    pages.read(count_of(query.get("from")).value_or(0), static_cast<std::size_t>(std::clamp<std::uint64_t>(count, 1, kCountMax)));
    const Json answer = {{"code", 0},
                         {"server", server_.server_id},
                         {"service", server_.service_id},
                         {"version", kVersion},
                         {"streams", std::move(pages.streams)},
                         {"next", std::move(pages.next)},
                         {"publish", json_of(view->publish_addresses())},
                         {"api", json_of(view->api())}};
    // Another client may see other streams and other URLs.
    return {.body = text_of(answer) + "\n", .headers = {{"Cache-Control", "no-store"}}};
}

}  // namespace live::api
