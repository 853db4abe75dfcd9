#include "api/clusters_handler.hpp"

#include "api/envelope.hpp"
#include "base/endpoint.hpp"
#include "base/host_and_port.hpp"
#include "io/loop.hpp"
#include "wire/rtmp/stream_url.hpp"

namespace live::api {

using session::http::Reply;
using session::http::Request;

// An old edge or another origin asks who has a stream. It is answered for this server alone.
Reply ClustersHandler::find_stream(const Request& request) const {
    const auto& asked = request.target.query;
    Json query;
    for (const char* name : {"ip", "vhost", "app", "stream"})
        query[name] = asked.get(name);
    Json data = {{"query", query}, {"origin", nullptr}};
    const std::string vhost(asked.get("vhost", wire::rtmp::kDefaultVhost));
    if (const auto here = facts_.find(vhost, std::string(asked.get("app")), std::string(asked.get("stream")))) {
        // The address under which it was found is one that works, as far as is known.
        const auto coworker = parse_host(asked.get("coworker"));
        const std::string known = coworker.ok() ? coworker->host : request.host();
        const std::string ip = here->rtmp_ip.empty() || Endpoint{here->rtmp_ip, 1}.is_loopback() ? known : here->rtmp_ip;
        const std::string api =
            coworker.ok() && coworker->port ? Endpoint{coworker->host, *coworker->port}.text() : std::string();
        data["origin"] = {{"ip", ip}, {"port", here->rtmp_port}, {"vhost", vhost}, {"api", api}, {"routers", Json::array({api})}};
        if (here->http_port != 0)
            data["origin"]["http"] = Endpoint{ip, here->http_port}.text();
    }
    return json_reply(request, envelope(server_, "data", text_of(data)));
}

Reply ClustersHandler::handle(const Request& request, io::Deadline) {
    if (request.target.query.find("stream"))
        return find_stream(request);
    const TimePoint now = io::now();
    Json origins = Json::array();
    relay_.book().for_each([&](const std::string& url, const service::relay::OriginBook::Health& health) {
        origins.push_back({{"url", url},
                           {"state", health.is_up ? "up" : "down"},
                           {"since_ms", (now - health.since) / std::chrono::milliseconds(1)},
                           {"tries", health.tries},
                           {"failures", health.failures},
                           {"last_error", health.last_error},
                           {"rtt_ms", std::chrono::duration<double, std::milli>(health.rtt).count()}});
    });
    Json pulls = Json::array();
    for (const auto& pull : relay_.list()) {
        Json one = {{"stream", pull.url}, {"vhost", pull.vhost}};
        one["origin"] = pull_json<Json>(pull, now);
        pulls.push_back(std::move(one));
    }
    const auto& totals = relay_.totals();
    const Json data = {
        {"origins", origins},
        {"pulls", pulls},
        {"pushes", relay_.pushes()},
        {"totals", {{"pulls", totals.pulls}, {"connections", totals.connections}, {"failovers", totals.failovers}}}};
    return json_reply(request, envelope(server_, "data", text_of(data)));
}

}  // namespace live::api
