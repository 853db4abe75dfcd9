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
#include "session/http_live/mount.hpp"
#include "wire/http/target.hpp"

namespace live::app {

namespace {

using settings::HttpApiOptions;
using settings::kDefaultVhost;
using settings::Settings;
using settings::Vhost;

using api::ListedStream;
using api::StreamAddress;
using session::http::Request;
using wire::http::percent_encode;
using wire::http::percent_encode_path;

constexpr std::uint16_t kRtmpPort = 1935;
constexpr std::uint16_t kRtmpsPort = 443;

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

// The first port of these endpoints that a client of `host` can reach; none when they are all on loopback.
std::optional<std::uint16_t> port_for(const std::vector<std::string>& listen, const AskedHost& host) {
    for (const std::string& text : listen)
        if (const auto endpoints = parse_endpoint(text); endpoints.ok())
            for (const Endpoint& endpoint : *endpoints)
                if (!endpoint.is_loopback() || host.is_loopback())
                    return endpoint.port;
    return std::nullopt;
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
    View(const Settings& settings, const session::http::Handler& dash, const Request& request, AskedHost host)
        : settings_(settings), dash_(dash), request_(request), host_(std::move(host)) {
        // A proxy may have terminated TLS; a forged header only affects the client that sent it.
        secure_ = request.secure || request.message.headers.find("X-Forwarded-Proto") == "https";
        origin_ = fmt::format("{}://{}{}", secure_ ? "https" : "http", host_.name, host_.port);
    }

    bool shows(std::string_view vhost) const override;
    bool hides_some() const override;
    std::vector<StreamAddress> play_addresses(const ListedStream& stream) const override;
    std::vector<StreamAddress> publish_addresses() const override;
    ApiPlace api() const override;

private:
    const Vhost* named(std::string_view vhost) const { return find_named(settings_, vhost); }
    // "vhost=NAME" where the host alone does not select it.
    std::string vhost_query(const Vhost& vhost) const;
    void add_rtmp(std::vector<StreamAddress>& to, std::string_view app, std::string_view stream, std::string_view query) const;
    void add_srt(std::vector<StreamAddress>& to, const Vhost* vhost, std::string_view resource, std::string_view mode) const;
    void add_remux(std::vector<StreamAddress>& to, const Vhost& vhost, const ListedStream& stream, std::string_view query) const;
    void add_hls(std::vector<StreamAddress>& to, const Vhost& vhost, const ListedStream& stream, std::string_view query) const;
    void add_dash(std::vector<StreamAddress>& to, const Vhost& vhost, const ListedStream& stream, std::string_view query) const;
    std::string rtc_address(std::string_view kind, std::string_view app, std::string_view stream, std::string_view query) const;

    const Settings& settings_;
    const session::http::Handler& dash_;
    const Request& request_;
    const AskedHost host_;
    bool secure_ = false;
    std::string origin_;
};

// Another server decides who may play: a callback's, or the origin. They would count the question as a player.
bool is_guarded_elsewhere(const Vhost& vhost) {
    const auto& cluster = vhost.cluster;
    return (vhost.http_hooks.enabled && !vhost.http_hooks.on_play.empty()) ||
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
    std::vector<StreamAddress> addresses;
    const Vhost* vhost = named(stream.vhost);
    if (vhost == nullptr)
        return addresses;
    const std::string query = vhost_query(*vhost);
    const auto& bridge = vhost->play.bridge;
    if (!stream.comes_by_rtc || bridge.rtc_to_rtmp) {
        add_rtmp(addresses, stream.app, stream.name, query);
        add_srt(addresses, vhost, fmt::format("{}/{}", stream.app, stream.name), "request");
        add_remux(addresses, *vhost, stream, query);
        add_hls(addresses, *vhost, stream, query);
        add_dash(addresses, *vhost, stream, query);
    }
    if (settings_.rtc_server.enabled && vhost->rtc.enabled && (stream.comes_by_rtc || bridge.rtmp_to_rtc))
        addresses.push_back({"whep", rtc_address("whep", stream.app, stream.name, query)});
    return addresses;
}

std::vector<StreamAddress> View::publish_addresses() const {
    constexpr std::string_view kApp = "live";
    constexpr std::string_view kStream = "livestream";
    std::vector<StreamAddress> addresses;
    add_rtmp(addresses, kApp, kStream, "");
    const Vhost* vhost = settings_.find_vhost(request_.vhost());
    add_srt(addresses, settings_.find_vhost(kDefaultVhost), fmt::format("{}/{}", kApp, kStream), "publish");
    if (settings_.rtc_server.enabled && vhost != nullptr && vhost->enabled && vhost->rtc.enabled)
        addresses.push_back({"whip", rtc_address("whip", kApp, kStream, "")});
    return addresses;
}

api::StreamListView::ApiPlace View::api() const {
    const HttpApiOptions& api = settings_.http_api;
    if (!api.enabled)
        return {.url = {}, .missing = "off"};
    if (share_an_endpoint(api.listen, settings_.http_server.listen))
        return {.url = origin_};
    if (secure_ && !api.https.enabled)
        return {.url = {}, .missing = "https"};
    const auto port = port_for(secure_ ? api.https.listen : api.listen, host_);
    if (!port)
        return {.url = {}, .missing = "loopback"};
    return {.url = fmt::format("{}://{}:{}", secure_ ? "https" : "http", host_.name, *port)};
}

// RTMP clients use a URL as written.
void View::add_rtmp(std::vector<StreamAddress>& to, std::string_view app, std::string_view stream, std::string_view query) const {
    const auto add = [&](std::string_view scheme, const std::vector<std::string>& listen, std::uint16_t usual) {
        const auto port = port_for(listen, host_);
        if (!port)
            return;
        const std::string place = *port == usual ? host_.name : fmt::format("{}:{}", host_.name, *port);
        to.push_back(
            {std::string(scheme), fmt::format("{}://{}/{}/{}{}{}", scheme, place, app, stream, query.empty() ? "" : "?", query)});
    };
    add("rtmp", settings_.listen, kRtmpPort);
    if (settings_.rtmps.enabled)
        add("rtmps", settings_.rtmps.listen, kRtmpsPort);
}

// The form of SRT's access control, which names everything; a client of it states no host.
void View::add_srt(std::vector<StreamAddress>& to, const Vhost* vhost, std::string_view resource, std::string_view mode) const {
    // Separators of a stream id and of a query. Escapes do not help: some clients decode them, others send them as they are.
    constexpr std::string_view kSeparators = ",=&#?%+ ";
    const auto port = port_for(settings_.srt_server.listen, host_);
    if (!settings_.srt_server.enabled || vhost == nullptr || !vhost->enabled || !vhost->srt.enabled || !port ||
        resource.find_first_of(kSeparators) != std::string_view::npos)
        return;
    const std::string where = vhost->name == kDefaultVhost ? "" : fmt::format("h={},", vhost->name);
    to.push_back({"srt", fmt::format("srt://{}:{}?streamid=#!::{}r={},m={}", host_.name, *port, where, resource, mode)});
}

void View::add_remux(std::vector<StreamAddress>& to, const Vhost& vhost, const ListedStream& stream,
                     std::string_view query) const {
    const auto mount = session::http_live::Mount::parse(vhost.http_remux.mount);
    if (!vhost.http_remux.enabled || !mount.ok())
        return;
    const auto path = mount->path_of(stream.app, stream.name);
    if (!path)
        return;
    const std::string rest = percent_encode_path(*path) + (query.empty() ? "" : "?") + std::string(query);
    const std::string format = vhost.http_remux.mount.substr(vhost.http_remux.mount.rfind('.') + 1);
    to.push_back({format, origin_ + rest});
    if (!mount->format().audio)
        to.push_back({"ws-" + format, fmt::format("{}://{}{}{}", secure_ ? "wss" : "ws", host_.name, host_.port, rest)});
}

void View::add_hls(std::vector<StreamAddress>& to, const Vhost& vhost, const ListedStream& stream, std::string_view query) const {
    if (!vhost.hls.enabled || stream.hls.empty())
        return;
    to.push_back({std::string(stream.hls), origin_ + "/" + percent_encode_path(names_of(vhost, stream).playlist_url()) +
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
        to.push_back({"dash", origin_ + address});
}

std::string View::rtc_address(std::string_view kind, std::string_view app, std::string_view stream,
                              std::string_view query) const {
    return fmt::format("{}/rtc/v1/{}/?app={}&stream={}{}{}", origin_, kind, percent_encode(app), percent_encode(stream),
                       query.empty() ? "" : "&", query);
}

}  // namespace

std::string_view StreamList::hls_format(const ListedStream& stream) const {
    const Vhost* vhost = find_named(*settings_, stream.vhost);
    if (vhost == nullptr || !vhost->hls.enabled)
        return {};
    const auto* file = hls_.find(names_of(*vhost, stream).playlist_file());
    if (file == nullptr || file->output->name().vhost != vhost->name || !file->output->is_published() ||
        !file->output->has_playlist())
        return {};
    return file->output->is_low_latency() ? "ll-hls" : "hls";
}

std::unique_ptr<api::StreamListView> StreamList::view(const Request& request) const {
    auto host = host_of(request);
    return host ? std::make_unique<View>(*settings_, dash_, request, *std::move(host)) : nullptr;
}

}  // namespace live::app
