#include "app/vhosts/stream_list.hpp"

#include <algorithm>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include <fmt/format.h>

#include "base/net/endpoint.hpp"
#include "base/text/ascii.hpp"
#include "base/text/variables.hpp"
#include "service/access/refer.hpp"
#include "service/access/security.hpp"
#include "service/hls/files/names.hpp"
#include "service/hls/stream_output.hpp"
#include "wire/http/target.hpp"

namespace live::app {

namespace {

using settings::HttpApiOptions;
using settings::Settings;
using settings::Vhost;

using api::ListedStream;
using api::StreamAddress;
using session::http::Request;
using wire::http::percent_encode;
using wire::http::percent_encode_path;

// The parsed Host field (RFC 9110, 7.2).
struct AskedHost {
    std::string name;  // with the brackets of an IPv6 address
    std::string port;  // with its colon; empty when absent

    bool is_loopback() const {
        return name == "localhost" || name.ends_with(".localhost") || name.starts_with("127.") || name == "[::1]";
    }
};

bool is_digits(std::string_view text) {
    return std::ranges::all_of(text, [](char letter) { return letter >= '0' && letter <= '9'; });
}

// It is used in URLs, so only a name or an address is accepted.
std::optional<AskedHost> host_of(const Request& request) {
    constexpr std::size_t kHostBytesMax = 255 + 6;  // a DNS name and a port
    const std::string_view text = request.message.headers.find("Host").value_or("");
    const bool is_ipv6 = text.starts_with('[');
    const std::size_t end = is_ipv6 ? text.find(']') + 1 : std::min(text.find(':'), text.size());
    const std::string_view name = text.substr(0, end);
    const std::string_view port = text.substr(end);
    const auto is_good = [is_ipv6](char letter) {
        return ascii::is_alphanumeric(letter) ||
               std::string_view(is_ipv6 ? "[]:." : "-._").find(letter) != std::string_view::npos;
    };
    if (name.empty() || text.size() > kHostBytesMax || !std::ranges::all_of(name, is_good))
        return std::nullopt;
    if (!port.empty() && (port.front() != ':' || port.size() > 6 || !is_digits(port.substr(1))))
        return std::nullopt;
    return AskedHost{std::string(name), std::string(port)};
}

bool share_an_endpoint(const std::vector<std::string>& some, const std::vector<std::string>& others) {
    return std::ranges::any_of(some, [&](const std::string& text) {
        const auto endpoints = parse_endpoint(text);
        return endpoints.ok() && std::ranges::any_of(others, [&](const std::string& other) {
                   const auto known = parse_endpoint(other);
                   return known.ok() && std::ranges::find_first_of(*endpoints, *known) != endpoints->end();
               });
    });
}

service::hls::Names names_of(const Vhost& vhost, const ListedStream& stream) {
    return {vhost.hls, {std::string(stream.vhost), std::string(stream.app), std::string(stream.name)}, Zone::utc};
}

const Vhost* find_named(const Settings& settings, std::string_view vhost) {
    const Vhost* found = settings.find_vhost(vhost);
    return found != nullptr && found->name == vhost && found->enabled ? found : nullptr;
}

class View final : public api::StreamListView {
public:
    View(const Settings& settings, const session::Protocols& protocols, const session::http::Handler& dash,
         const Request& request, AskedHost host)
        : settings_(settings), protocols_(protocols), dash_(dash), request_(request), host_(std::move(host)) {
        site_.host = host_.name;
        site_.port = host_.port;
        site_.is_local = host_.is_loopback();
        // A proxy may have terminated TLS; a forged header only affects the client that sent it.
        site_.is_secure = request.secure || request.message.headers.find("X-Forwarded-Proto") == "https";
    }
    View(const View&) = delete;
    View& operator=(const View&) = delete;

    bool shows(std::string_view vhost) const override;
    bool hides_some() const override;
    std::vector<StreamAddress> play_addresses(const ListedStream& stream) const override;
    std::vector<StreamAddress> publish_addresses() const override;
    ApiPlace api() const override;

private:
    const Vhost* named(std::string_view vhost) const { return find_named(settings_, vhost); }
    // "vhost=NAME" where the host alone does not select it.
    std::string vhost_query(const Vhost& vhost) const;
    void add_hls(std::vector<StreamAddress>& to, const Vhost& vhost, const ListedStream& stream, std::string_view query) const;
    void add_dash(std::vector<StreamAddress>& to, const Vhost& vhost, const ListedStream& stream, std::string_view query) const;

    const Settings& settings_;
    const session::Protocols& protocols_;
    const session::http::Handler& dash_;
    const Request& request_;
    const AskedHost host_;
    session::UrlRequest site_;  // without a stream
};

// Another server decides who may play, a callback's or the origin, and would count the question as a player. Or a token does,
// which a request for the list does not have.
bool is_guarded_elsewhere(const Vhost& vhost) {
    const auto& cluster = vhost.cluster;
    return (vhost.http_hooks.enabled && !vhost.http_hooks.on_play.empty()) || service::tokens::guards_play(vhost.access) ||
           (cluster.token_traverse && cluster.mode == service::relay::ClusterMode::remote);
}

// Checked like a player coming from the requesting page.
bool View::shows(std::string_view vhost) const {
    namespace access = service::access;
    const Vhost* found = named(vhost);
    if (found == nullptr || is_guarded_elsewhere(*found) ||
        !access::check_security(found->security, access::Role::play, request_.peer_ip).ok())
        return false;
    const std::string_view page = request_.message.headers.find("Referer").value_or("");
    return !found->refer.enabled ||
           (access::check_refer(found->refer.all, page).ok() && access::check_refer(found->refer.play, page).ok());
}

bool View::hides_some() const {
    return std::ranges::any_of(settings_.vhosts, [](const Vhost& vhost) { return vhost.enabled && is_guarded_elsewhere(vhost); });
}

std::string View::vhost_query(const Vhost& vhost) const {
    const bool is_ipv6 = host_.name.starts_with('[');
    const std::string_view name = is_ipv6 ? std::string_view(host_.name).substr(1, host_.name.size() - 2) : host_.name;
    return settings_.find_vhost(name) == &vhost ? "" : "vhost=" + percent_encode(vhost.name);
}

std::vector<StreamAddress> View::play_addresses(const ListedStream& stream) const {
    const Vhost* vhost = named(stream.vhost);
    if (vhost == nullptr)
        return {};
    const std::string query = vhost_query(*vhost);
    const auto& bridge = vhost->play.bridge;
    session::UrlRequest asked = site_;
    asked.vhost = vhost->name;
    asked.app = stream.app;
    asked.stream = stream.name;
    asked.query = query;
    asked.has_frames = !stream.comes_by_rtc || bridge.rtc_to_rtmp;
    asked.has_rtp = stream.comes_by_rtc || bridge.rtmp_to_rtc;
    auto addresses = session::urls_of(protocols_, asked);
    if (asked.has_frames) {
        add_hls(addresses, *vhost, stream, query);
        add_dash(addresses, *vhost, stream, query);
    }
    return addresses;
}

std::vector<StreamAddress> View::publish_addresses() const {
    const std::string vhost = request_.vhost();
    session::UrlRequest asked = site_;
    asked.purpose = session::UrlRequest::Purpose::publish;
    asked.vhost = vhost;
    asked.app = "live";
    asked.stream = "livestream";
    asked.has_rtp = true;
    return session::urls_of(protocols_, asked);
}

api::StreamListView::ApiPlace View::api() const {
    const HttpApiOptions& api = settings_.http_api;
    if (!api.enabled)
        return {.url = {}, .missing = "off"};
    if (share_an_endpoint(api.listen, settings_.http_server.listen))
        return {.url = site_.http_origin()};
    if (site_.is_secure && !api.https.enabled)
        return {.url = {}, .missing = "https"};
    const auto port = site_.port_for(site_.is_secure ? api.https.listen : api.listen);
    if (!port)
        return {.url = {}, .missing = "loopback"};
    return {.url = fmt::format("{}://{}:{}", site_.is_secure ? "https" : "http", host_.name, *port)};
}

void View::add_hls(std::vector<StreamAddress>& to, const Vhost& vhost, const ListedStream& stream, std::string_view query) const {
    if (!vhost.hls.enabled || stream.hls.empty())
        return;
    to.push_back({std::string(stream.hls), site_.http_origin() + "/" +
                                               percent_encode_path(names_of(vhost, stream).playlist_url()) +
                                               (query.empty() ? "" : "?") + std::string(query)});
}

void View::add_dash(std::vector<StreamAddress>& to, const Vhost& vhost, const ListedStream& stream,
                    std::string_view query) const {
    if (!vhost.dash.enabled)
        return;
    const std::string name = replace_variables(
        vhost.dash.mpd_file,
        {{"vhost", std::string(stream.vhost)}, {"app", std::string(stream.app)}, {"stream", std::string(stream.name)}});
    const std::string address = "/" + percent_encode_path(name) + (query.empty() ? "" : "?") + std::string(query);
    Request asked = request_;
    auto target = wire::http::parse_target(address);
    if (!target.ok())
        return;
    asked.target = *std::move(target);
    if (dash_.takes(asked))
        to.push_back({"dash", site_.http_origin() + address});
}

}  // namespace

std::string_view StreamList::hls_format(const ListedStream& stream) const {
    const Vhost* vhost = find_named(*settings_, stream.vhost);
    if (vhost == nullptr || !vhost->hls.enabled)
        return {};
    const auto* file = hls_.find(names_of(*vhost, stream).playlist_file());
    if (file == nullptr || file->output->name().vhost != vhost->name || !file->output->is_published() ||
        !file->output->renditions().has_playlist())
        return {};
    return file->output->is_low_latency() ? "ll-hls" : "hls";
}

std::unique_ptr<api::StreamListView> StreamList::view(const Request& request) const {
    auto host = host_of(request);
    return host ? std::make_unique<View>(*settings_, protocols_, dash_, request, *std::move(host)) : nullptr;
}

}  // namespace live::app
