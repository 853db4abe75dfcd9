#include "api/streams/stream_list_handler.hpp"

#include <algorithm>
#include <charconv>
#include <cmath>
#include <iterator>
#include <unordered_map>
#include <unordered_set>
#include <utility>

#include <fmt/format.h>

#include "api/common/health_rows.hpp"
#include "api/common/rows.hpp"
#include "api/common/track_rows.hpp"
#include "base/version.hpp"
#include "engine/workers/row_report.hpp"
#include "wire/http/status.hpp"
#include "wire/http/target.hpp"

namespace live::api {

namespace {

using service::stats::StreamRow;
using service::stats::StreamStats;
using session::http::error_reply;
using session::http::Reply;
using session::http::Request;

using wire::http::Status;

// Fields that only workers exchange.
constexpr const char* kByRtc = "by_rtc";
constexpr const char* kHls = "hls";
constexpr const char* kUrl = "url";

constexpr const char* kViewers = "viewers";

std::optional<std::uint64_t> count_of(std::string_view text) {
    std::uint64_t number = 0;
    const auto end = std::from_chars(text.data(), text.data() + text.size(), number);
    return !text.empty() && end.ec == std::errc() && end.ptr == text.data() + text.size() ? std::optional(number) : std::nullopt;
}

Rows rows_of(const std::vector<StreamAddress>& addresses) {
    Rows rows;
    for (const auto& [format, url] : addresses)
        rows.push_back({{"format", format}, {"url", url}});
    return rows;
}

Row row_of(const StreamListView::ApiPlace& place) {
    return place.missing.empty() ? Row{{"url", place.url}} : Row{{"url", nullptr}, {"missing", place.missing}};
}

// Without the addresses, which depend on the client.
Row row_of(const StreamRow& stream, bool comes_by_rtc, std::string_view hls) {
    const auto live = std::chrono::duration_cast<std::chrono::seconds>(io::now() - stream.published_at);
    return {{"vhost", stream.vhost->name},
            {"app", stream.app},
            {"name", stream.name},
            {"video", video_row(stream)},
            {"audio", audio_row(stream)},
            {"fps", std::round(stream.frames_per_second() * 100) / 100},
            {"kbps", service::stats::kbps(stream.usage.rates.per_second().first)},
            {"live_seconds", live.count()},
            {kUrl, stream.url},
            {kByRtc, comes_by_rtc},
            {kHls, hls}};
}

// Where a page begins: a worker, and the number of a stream there. Without workers, the number alone.
struct Place {
    static constexpr unsigned kNumberBits = 44;  // with a worker's 8, what a page's script can count
    static constexpr std::uint64_t kNumberMax = (std::uint64_t{1} << kNumberBits) - 1;

    std::size_t worker = 0;
    std::uint64_t number = 0;

    static Place of(std::uint64_t text) { return {static_cast<std::size_t>(text >> kNumberBits), text & kNumberMax}; }
    std::uint64_t text() const { return (static_cast<std::uint64_t>(worker) << kNumberBits) | number; }
};

struct Found {
    Rows streams;
    std::optional<std::uint64_t> next;  // start of the next page
};

Row row_of(const StreamRow& stream, const StreamStats& stats, const StreamListSettings& settings) {
    const auto* publisher = stats.find_client(stream.publisher);
    return row_of(stream, publisher != nullptr && publisher->kind.row().sends_rtp,
                  settings.hls_format({stream.vhost->name, stream.app, stream.name}));
}

// The stream of a URL alone, with its health.
Found own_stream(const StreamStats& stats, const StreamListSettings& settings, const std::string& url,
                 const StreamListView* view) {
    Found page;
    const StreamRow* stream = stats.find_stream_of(url);
    if (stream == nullptr || stream->publisher.empty() || (view != nullptr && !view->shows(stream->vhost->name)))
        return page;
    Row row = row_of(*stream, stats, settings);
    row.add("health", health_rows(*stream, io::now()));
    page.streams.push_back(std::move(row));
    return page;
}

// At most `count` streams of this worker, starting at number `from`. The rules of `view` hide some; nullptr: all are listed.
Found own_page(const StreamStats& stats, const StreamListSettings& settings, std::uint64_t from, std::size_t count,
               const StreamListView* view) {
    Found page;
    std::unordered_map<std::string, bool> shown;  // by virtual host
    const auto is_shown = [&](const std::string& vhost) {
        const auto known = shown.find(vhost);
        return known != shown.end() ? known->second : shown.emplace(vhost, view->shows(vhost)).first->second;
    };
    std::size_t looks = 0;
    for (auto at = stats.streams().lower_bound(from); at != stats.streams().end(); ++at) {
        if (page.streams.size() == count || ++looks > StreamListHandler::kLooksMax) {
            page.next = at->first;
            break;
        }
        const StreamRow& stream = *at->second;
        if (stream.publisher.empty() || (view != nullptr && !is_shown(stream.vhost->name)))
            continue;
        page.streams.push_back(row_of(stream, stats, settings));
    }
    return page;
}

// The viewers that this worker has of streams, also of those that another worker publishes: of one stream, or of the first ones.
Found own_viewers(const StreamStats& stats, const std::string& url) {
    Found found;
    const auto add = [&](const StreamRow& stream) {
        Rows viewers = viewer_rows(stats.players().kinds, stream.viewers);
        if (!viewers.empty())
            found.streams.push_back({{kUrl, stream.url}, {kViewers, std::move(viewers), kAdd}});
    };
    if (!url.empty()) {
        if (const StreamRow* stream = stats.find_stream_of(url))
            add(*stream);
        return found;
    }
    std::size_t looks = 0;
    for (auto at = stats.streams().begin(); at != stats.streams().end() && ++looks <= StreamListHandler::kLooksMax; ++at)
        add(*at->second);
    return found;
}

// Parses another worker's report; one that cannot be read gives an empty page.
Found parsed_page(const std::string& body) {
    auto report = engine::workers::parse_row_report(as_bytes(body));
    if (!report.ok())
        return {};
    const auto* next = report->head.find<std::uint64_t>("next");
    return {std::move(report->rows), next == nullptr ? std::nullopt : std::optional(*next)};
}

std::string report_of(const Found& page) {
    std::string report = engine::workers::write_row_report({{"next", page.next}});
    for (const Row& stream : page.streams)
        engine::workers::append_row(report, stream);
    return report;
}

std::string whole_name_of(const Row& stream) {
    return fmt::format("{}/{}/{}", stream.text("vhost"), stream.text("app"), stream.text("name"));
}

// Those that the view shows, with their addresses there. A stream that several workers have is there once; its playlist is one
// worker's, and served by all.
// `viewers`: by the URL of the stream.
Rows shown(const Rows& streams, const StreamListView& view, std::unordered_map<std::string, Rows> viewers) {
    std::unordered_map<std::string, std::string> playlists;  // formats by stream
    for (const Row& stream : streams)
        if (std::string& format = playlists[whole_name_of(stream)]; format.empty())
            format = stream.text(kHls);
    Rows list;
    for (Row stream : streams) {
        const auto playlist = playlists.extract(whole_name_of(stream));
        const std::string_view vhost = stream.text("vhost");
        if (playlist.empty() || !view.shows(vhost))
            continue;
        stream.add(kViewers, std::move(viewers[std::string(stream.text(kUrl))]));
        const bool* comes_by_rtc = stream.find<bool>(kByRtc);
        Rows addresses = rows_of(view.play_addresses(
            {vhost, stream.text("app"), stream.text("name"), comes_by_rtc != nullptr && *comes_by_rtc, playlist.mapped()}));
        std::erase_if(stream.fields,
                      [](const auto& field) { return field.name == kByRtc || field.name == kHls || field.name == kUrl; });
        stream.add("formats", std::move(addresses));
        list.push_back(std::move(stream));
    }
    return list;
}

}  // namespace

struct StreamListHandler::Page : Found {};

// Every worker returns the same order, so that pages fit together.
std::vector<std::size_t> StreamListHandler::everybody() const {
    std::vector<std::size_t> all;
    if (workers_ == nullptr || !workers_->is_on())
        return all;
    std::ranges::copy(workers_->everybody_else(), std::back_inserter(all));
    if (all.empty())
        return all;
    all.push_back(workers_->identity().address());
    std::ranges::sort(all);
    return all;
}

StreamListHandler::Page StreamListHandler::others_page(std::size_t worker, const std::string& target,
                                                       io::Deadline deadline) const {
    service::http_client::HttpCall call;
    call.method = "GET";
    call.url = "http://worker" + target;
    call.headers.add("Accept", std::string(engine::workers::kReportType));
    call.answer_bytes_max = kAnswerBytesMax;
    const auto limit = deadline.sooner(io::Deadline::after(kAnswerLimit));
    const auto answer = workers_->ask(static_cast<engine::workers::Worker>(worker), call, limit);
    return {answer.ok() && answer->status == Status::ok ? parsed_page(answer->body) : Found()};
}

StreamListHandler::Page StreamListHandler::whole_page(const Request& request, std::uint64_t from, std::size_t count,
                                                      io::Deadline deadline) const {
    const auto workers = everybody();
    const auto own = [&](std::uint64_t number, std::size_t room) {
        return Page{own_page(stream_stats_, settings_, number, room, settings_.view(request).get())};
    };
    if (workers.empty())
        return own(from, count);
    Page whole;
    const Place first = Place::of(from);
    for (auto worker = std::ranges::lower_bound(workers, first.worker); worker != workers.end(); ++worker) {
        if (whole.streams.size() == count) {
            whole.next = Place{*worker, 0}.text();
            break;
        }
        const std::uint64_t number = *worker == first.worker ? first.number : 0;
        const std::size_t room = count - whole.streams.size();
        Page page = *worker == workers_->identity().address()
                        ? own(number, room)
                        : others_page(*worker, fmt::format("{}?from={}&count={}", kPath, number, room), deadline);
        std::ranges::move(page.streams, std::back_inserter(whole.streams));
        if (page.next) {
            whole.next = Place{*worker, *page.next}.text();
            break;
        }
    }
    return whole;
}

StreamListHandler::Page StreamListHandler::one_stream(const Request& request, const std::string& url,
                                                      io::Deadline deadline) const {
    Page whole{own_stream(stream_stats_, settings_, url, settings_.view(request).get())};
    for (const std::size_t worker : everybody())
        if (worker != workers_->identity().address()) {
            Page page = others_page(worker, fmt::format("{}?stream={}", kPath, wire::http::percent_encode(url)), deadline);
            std::ranges::move(page.streams, std::back_inserter(whole.streams));
        }
    return whole;
}

StreamListHandler::Viewers StreamListHandler::viewers_of(const Page& page, const std::string& url, io::Deadline deadline) const {
    Viewers viewers;
    for (const std::size_t worker : everybody()) {
        if (worker == workers_->identity().address())
            continue;
        const std::string target = fmt::format("{}?viewers=1&stream={}", kPath, wire::http::percent_encode(url));
        for (const Row& stream : others_page(worker, target, deadline).streams)
            if (const auto* there = stream.find<Rows>(kViewers))
                engine::workers::join(viewers[std::string(stream.text(kUrl))], *there);
    }
    std::unordered_set<std::string> counted;  // a stream that two workers publish is there twice
    for (const Row& stream : page.streams) {
        const std::string own(stream.text(kUrl));
        const StreamRow* here = stream_stats_.find_stream_of(own);
        if (here != nullptr && counted.insert(own).second)
            engine::workers::join(viewers[own], viewer_rows(stream_stats_.players().kinds, here->viewers));
    }
    return viewers;
}

Reply StreamListHandler::handle(const Request& request, io::Deadline deadline) {
    const auto& query = request.target.query;
    const auto asked = count_of(query.get("count")).value_or(kCountDefault);
    const auto count = static_cast<std::size_t>(std::clamp<std::uint64_t>(asked, 1, kCountMax));
    const auto from = count_of(query.get("from")).value_or(0);
    const std::string url(query.get("stream"));
    if (asks_report(request))
        return report_reply(report_of(query.find("viewers") ? own_viewers(stream_stats_, url)
                                      : url.empty()         ? own_page(stream_stats_, settings_, from, count, nullptr)
                                                            : own_stream(stream_stats_, settings_, url, nullptr)));
    if (!settings_.is_enabled())
        return error_reply(Status::not_found, "this server does not list its streams (http_server { stream_list off; })");
    constexpr const char* kNoHost = "the Host field names no host";
    if (settings_.view(request) == nullptr)
        return error_reply(Status::bad_request, kNoHost);
    const Page page = url.empty() ? whole_page(request, from, count, deadline) : one_stream(request, url, deadline);
    Viewers viewers = viewers_of(page, url, deadline);
    const auto view = settings_.view(request);  // settings may have changed during the wait
    if (view == nullptr)
        return error_reply(Status::bad_request, kNoHost);
    const Row answer = {{"code", 0},
                        {"server", server_.server_id},
                        {"service", server_.service_id},
                        {"version", kVersion},
                        {"streams", shown(page.streams, *view, std::move(viewers))},
                        {"next", page.next},
                        {"hides_some", view->hides_some()},
                        {"publish", rows_of(view->publish_addresses())},
                        {"api", row_of(view->api())}};
    // Another client may see other streams and other URLs.
    return {.body = json_text(answer) + "\n", .headers = {{"Cache-Control", "no-store"}}};
}

}  // namespace live::api
