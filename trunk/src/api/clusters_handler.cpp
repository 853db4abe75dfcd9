#include "api/clusters_handler.hpp"

#include "api/envelope.hpp"
#include "io/loop.hpp"

namespace live::api {

using session::http::Reply;
using session::http::Request;

Reply ClustersHandler::handle(const Request& request, io::Deadline) {
    if (request.target.query.find("stream")) {
        Json query;
        for (const char* name : {"ip", "vhost", "app", "stream"})
            query[name] = request.target.query.get(name);
        // This server knows of no other origin.
        const Json data = {{"query", query}, {"origin", nullptr}};
        return json_reply(request, envelope(server_, "data", text_of(data)));
    }
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
