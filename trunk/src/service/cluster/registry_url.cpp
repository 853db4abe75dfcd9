#include "service/cluster/registry_url.hpp"

#include <fmt/format.h>

#include <charconv>

#include "base/net/endpoint.hpp"
#include "base/net/host_and_port.hpp"
#include "base/text/ascii.hpp"
#include "engine/cluster/records.hpp"
#include "service/cluster/options.hpp"

namespace live::service::cluster {

namespace {

constexpr std::size_t kUrlBytesMax = 2048;
constexpr std::uint16_t kPort = 6379;
constexpr std::uint16_t kSentinelPort = 26379;
constexpr std::uint32_t kDatabaseMax = 65'535;

Error bad_registry(std::string_view what) { return {Errc::malformed, fmt::format("the registry's URL {}", what)}; }

Result<std::string> decoded(std::string_view text) {
    std::string plain;
    for (std::size_t at = 0; at < text.size(); ++at) {
        if (text[at] != '%') {
            plain += text[at];
            continue;
        }
        const int byte = ascii::escaped_byte(text.substr(at));
        if (byte < 0)
            return bad_registry("has a broken percent sign");
        plain += static_cast<char>(byte);
        at += 2;
    }
    return plain;
}

Result<void> read_user(RegistryUrl& url, std::string_view text) {
    const std::size_t colon = text.find(':');
    if (colon == std::string_view::npos)
        return bad_registry("has a user without a password");
    url.user = TRY(decoded(text.substr(0, colon)));
    url.password = TRY(decoded(text.substr(colon + 1)));
    return url.password.empty() ? Result<void>(bad_registry("has an empty password")) : Result<void>();
}

Result<void> read_places(RegistryUrl& url, std::string_view text, std::uint16_t usual_port) {
    for (bool more = true; more;) {
        const std::size_t comma = text.find(',');
        const auto place = parse_host(text.substr(0, comma));
        if (!place.ok())
            return bad_registry(fmt::format("names no host: {}", place.error().sentence()));
        url.places.push_back({place->host, place->port.value_or(usual_port)});
        more = comma != std::string_view::npos;
        text.remove_prefix(more ? comma + 1 : text.size());
        if (url.places.size() > RegistryUrl::kPlacesMax)
            return bad_registry("names too many hosts");
    }
    return {};
}

Result<void> read_database(RegistryUrl& url, std::string_view text) {
    const auto [stop, failure] = std::from_chars(text.data(), text.data() + text.size(), url.database);
    if (text.empty() || failure != std::errc() || stop != text.data() + text.size() || url.database > kDatabaseMax)
        return bad_registry("has no number of a database after its last '/'");
    return {};
}

bool take_scheme(std::string_view& text, std::string_view scheme) {
    if (!text.starts_with(scheme))
        return false;
    text.remove_prefix(scheme.size());
    return true;
}

}  // namespace

std::string RegistryUrl::label() const {
    std::string text = !master.empty() ? "redis+sentinel://" : is_secure ? "rediss://" : "redis://";
    for (const RegistryPlace& place : places)
        text += (&place == &places.front() ? "" : ",") + Endpoint{place.host, place.port}.text();
    return text + (master.empty() ? "" : "/" + master) + (database == 0 ? "" : fmt::format("/{}", database));
}

Result<RegistryUrl> parse_registry_url(std::string_view text) {
    RegistryUrl url;
    if (text.size() > kUrlBytesMax)
        return bad_registry("is too long");
    const bool has_sentinels = take_scheme(text, "redis+sentinel://");
    url.is_secure = !has_sentinels && take_scheme(text, "rediss://");
    if (!has_sentinels && !url.is_secure && !take_scheme(text, "redis://"))
        return bad_registry("begins with none of redis://, rediss:// and redis+sentinel://");
    if (const std::size_t at = text.rfind('@'); at != std::string_view::npos) {
        TRY(read_user(url, text.substr(0, at)));
        text.remove_prefix(at + 1);
    }
    const std::size_t slash = std::min(text.find('/'), text.size());
    TRY(read_places(url, text.substr(0, slash), has_sentinels ? kSentinelPort : kPort));
    if (url.places.size() > 1 && !has_sentinels)
        return bad_registry("names several hosts, which only redis+sentinel:// can have");
    std::string_view rest = text.substr(slash);
    if (has_sentinels) {
        const std::size_t end = rest.empty() ? 0 : std::min(rest.find('/', 1), rest.size());
        url.master = rest.empty() ? std::string() : std::string(rest.substr(1, end - 1));
        if (url.master.empty())
            return bad_registry("lacks the name of the sentinels' master");
        rest.remove_prefix(end);
    }
    if (!rest.empty() && rest != "/")
        TRY(read_database(url, rest.substr(1)));
    return url;
}

Result<RegistryPlace> parse_master(std::string_view host, std::string_view port) {
    const auto place = parse_host(host);
    const auto number = parse_port(port);
    if (!place.ok() || place->port || !number.ok())
        return Error(Errc::malformed, "a sentinel sent no address of the master");
    return RegistryPlace{place->host, *number};
}

// The registry's URL is not repeated: it may have a password.
config::Findings check_registry_options(const RegistryOptions& options, const config::CheckContext&) {
    using config::Findings;
    if (options.registry.empty())
        return {};
    const auto url = parse_registry_url(options.registry);
    if (!url.ok())
        return Findings::broken("cluster.registry: " + url.error().sentence());
    if (!options.node_id.empty() && !engine::cluster::is_good_id(options.node_id))
        return Findings::broken(fmt::format("cluster.node_id is \"{}\", expected letters, digits, '.', '_' and '-', at most {}",
                                            options.node_id, engine::cluster::kIdBytesMax));
    if (!options.region.empty() && !engine::cluster::is_good_id(options.region))
        return Findings::broken(
            fmt::format("cluster.region is \"{}\", expected letters, digits, '.', '_' and '-'", options.region));
    if (!options.advertise.empty() && !parse_host(options.advertise).ok())
        return Findings::broken(fmt::format("cluster.advertise is \"{}\", expected host or host:port", options.advertise));
    if (options.lease < 2 * options.beat)
        return Findings::broken("cluster.lease is less than twice cluster.beat");
    return {};
}

}  // namespace live::service::cluster
