#include "service/relay/origins/cluster_answer.hpp"

#include <fmt/format.h>

#include <nlohmann/json.hpp>

#include "base/net/endpoint.hpp"
#include "base/net/host_and_port.hpp"
#include "wire/http/target.hpp"

namespace live::service::relay {

namespace {

using Json = nlohmann::json;
using wire::http::percent_encode;

// Returns "host:port", or an empty string for any other text.
std::string place_in(const Json& object, const char* name) {
    const auto found = object.find(name);
    if (found == object.end() || !found->is_string())
        return {};
    const auto place = parse_host(found->get_ref<const std::string&>());
    return place.ok() && place->port ? Endpoint{place->host, *place->port}.text() : std::string();
}

Error malformed(const char* what) { return {Errc::malformed, fmt::format("the answer {}", what)}; }

}  // namespace

std::string cluster_question(std::string_view host, std::string_view coworker, const session::ClientRequest& client) {
    return fmt::format("/api/v1/clusters?vhost={}&ip={}&app={}&stream={}&coworker={}", percent_encode(client.vhost),
                       percent_encode(host), percent_encode(client.app), percent_encode(client.stream), percent_encode(coworker));
}

Result<std::optional<session::Redirect>> parse_cluster_answer(int status, std::string_view body) {
    if (status != 200)
        return Error(Errc::malformed, fmt::format("the answer has status {}", status));
    const Json answer = Json::parse(body, nullptr, false);
    if (!answer.is_object() || answer.value("code", Json()) != 0)
        return malformed("is no object with code 0");
    const auto data = answer.find("data");
    if (data == answer.end() || !data->is_object())
        return malformed("has no data");
    const auto origin = data->find("origin");
    if (origin == data->end() || (!origin->is_object() && !origin->is_null()))
        return malformed("has no origin");
    if (origin->is_null())
        return std::optional<session::Redirect>();
    const auto ip = origin->find("ip");
    const auto port = origin->find("port");
    if (ip == origin->end() || !ip->is_string() || port == origin->end() || !port->is_number_integer())
        return malformed("has an origin without address or port");
    const auto host = parse_host(ip->get_ref<const std::string&>());
    const auto number = port->is_number_unsigned() ? port->get<std::uint64_t>() : 0;
    if (!host.ok() || host->port || number == 0 || number > 65'535)
        return malformed("has an origin with a wrong address or port");
    return std::optional(session::Redirect{Endpoint{host->host, static_cast<std::uint16_t>(number)}.text(),
                                           place_in(*origin, "http"), place_in(*origin, "api")});
}

}  // namespace live::service::relay
