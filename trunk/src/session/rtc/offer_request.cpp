#include "session/rtc/offer_request.hpp"

#include <algorithm>
#include <charconv>
#include <utility>

#include "base/text/ascii.hpp"
#include "session/http/client.hpp"
#include "wire/http/target.hpp"
#include "wire/rtmp/stream_url.hpp"

namespace live::session::rtc {

using wire::http::Query;
using wire::sdp::Purpose;

namespace {

Result<std::string> codec_of(std::string_view asked) {
    constexpr std::pair<std::string_view, const char*> kNames[] = {{"", ""},         {"h264", "H264"}, {"avc", "H264"},
                                                                   {"h265", "H265"}, {"hevc", "H265"}, {"av1", "AV1"},
                                                                   {"vp8", "VP8"},   {"vp9", "VP9"}};
    for (const auto& [name, codec] : kNames)
        if (ascii::are_same(asked, name))
            return std::string(codec);
    return Error(Errc::malformed, "codec is one of h264, hevc, av1, vp8, vp9");
}

// A track by its ID: one byte, as in enhanced RTMP.
Result<std::optional<media::TrackId>> track_of(std::string_view name, std::string_view asked) {
    if (asked.empty())
        return std::optional<media::TrackId>();
    std::uint8_t id = 0;
    const auto [end, error] = std::from_chars(asked.data(), asked.data() + asked.size(), id);
    if (error != std::errc() || end != asked.data() + asked.size())
        return Error(Errc::malformed, std::string(name) + " is the number of a track, 0 to 255");
    return std::optional(media::TrackId(id));
}

// The parameters common to all APIs; the first query that has one wins.
Result<void> read_parameters(const std::vector<const Query*>& queries, OfferRequest& offered) {
    const auto get = [&](std::string_view name) -> std::string_view {
        for (const Query* query : queries)
            if (const auto found = query->find(name))
                return *found;
        return {};
    };
    const std::string_view eip = get("eip").empty() ? get("candidate") : get("eip");
    if (!eip.empty()) {
        const auto candidate = parse_host(eip);
        if (!candidate.ok())
            return Error(Errc::malformed, "the candidate cannot be used: " + candidate.error().sentence());
        offered.candidate = *candidate;
    }
    offered.codec = TRY(codec_of(get("codec").empty() ? get("vcodec") : get("codec")));
    if (offered.purpose == Purpose::play) {
        offered.tracks.audio = TRY(track_of("audio", get("audio")));
        offered.tracks.video = TRY(track_of("video", get("video")));
        offered.rendition = get("rendition");
    }
    offered.dtls = get("dtls") != "false";
    offered.ufrag = get("ice-ufrag");
    offered.pwd = get("ice-pwd");
    return {};
}

std::string host_of_url(std::string_view url) {
    const std::size_t scheme = url.find("://");
    if (scheme == std::string_view::npos)
        return {};
    const std::string_view rest = url.substr(scheme + 3);
    return std::string(http::host_of_authority(rest.substr(0, rest.find_first_of("/?"))));
}

ClientRequest client_of(const http::Request& request, const char* protocol, ShowBearer bearer) {
    ClientRequest client;
    client.ip = request.client_ip();
    client.peer_ip = request.peer_ip;
    client.peer = request.peer;
    client.protocol = protocol;
    client.is_secure = request.secure;
    client.page_url = request.message.headers.find("Referer").value_or("");
    client.claims = http::traced_claims(request);
    if (bearer == ShowBearer::yes)
        client.credentials = http::credentials_of(request);
    return client;
}

Result<void> admit_names(const ClientRequest& client) {
    TRY(wire::rtmp::admit_vhost(client.vhost));
    TRY(wire::rtmp::admit_name(client.app));
    return wire::rtmp::admit_name(client.stream);
}

// RFC 6750, 2.1.
std::string_view bearer_of(const http::Request& request) {
    constexpr std::string_view kScheme = "Bearer ";
    const std::string_view value = request.message.headers.find("Authorization").value_or("");
    if (value.size() <= kScheme.size() || !ascii::are_same(value.substr(0, kScheme.size()), kScheme))
        return {};
    return ascii::trimmed(value.substr(kScheme.size()), " ");
}

}  // namespace

Result<OfferRequest> offer_request_of(const http::Request& request, Purpose path_purpose, ShowBearer bearer) {
    const Query& query = request.target.query;
    OfferRequest offered;
    offered.purpose = query.get("action") == "play" ? Purpose::play : path_purpose;
    offered.client = client_of(request, offered.purpose == Purpose::play ? "whep" : "whip", bearer);
    offered.client.vhost = request.vhost().empty() ? std::string(wire::rtmp::kDefaultVhost) : request.vhost();
    offered.client.app = query.get("app", "live");
    offered.client.stream = query.get("stream", "livestream");
    TRY(admit_names(offered.client));
    offered.client.tc_url = "rtmp://" + offered.client.vhost + "/" + offered.client.app;
    offered.client.param = request.target.raw_query;
    if (const auto token = bearer_of(request); bearer == ShowBearer::yes && !token.empty() && !query.find("token"))
        offered.client.param += (offered.client.param.empty() ? "token=" : "&token=") + wire::http::percent_encode(token);
    offered.api_host = request.host();
    TRY(read_parameters({&query}, offered));
    offered.offer = request.message.body;
    return offered;
}

Result<OfferRequest> offer_request_of(const http::Request& request, Purpose purpose, UrlOfferRequest asked) {
    OfferRequest offered;
    offered.purpose = purpose;
    offered.client = client_of(request, "webrtc", ShowBearer::no);
    offered.client.credentials = user_info_of(asked.stream_url);
    if (!asked.client_ip.empty())
        offered.client.ip = asked.client_ip;
    const auto url = TRY(wire::rtmp::parse_stream_url(asked.stream_url));
    offered.client.vhost = url.vhost;
    offered.client.app = url.app;
    offered.client.stream = url.stream;
    TRY(admit_names(offered.client));
    offered.client.tc_url = "rtmp://" + offered.client.vhost + "/" + offered.client.app;
    offered.client.param = url.param;
    if (purpose == Purpose::publish)
        offered.client.param += url.param.empty() ? "?upstream=rtc" : "&upstream=rtc";
    offered.api_host = asked.api.empty() ? request.host() : host_of_url(asked.api);
    const Query own = TRY(Query::parse(url.param.empty() ? std::string_view() : std::string_view(url.param).substr(1)));
    TRY(read_parameters({&request.target.query, &own}, offered));
    offered.offer = std::move(asked.sdp);
    return offered;
}

}  // namespace live::session::rtc
