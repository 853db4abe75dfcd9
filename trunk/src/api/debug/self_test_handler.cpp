#include "api/debug/self_test_handler.hpp"

#include <algorithm>

#include <nlohmann/json.hpp>

#include "api/common/envelope.hpp"
#include "base/text/ascii.hpp"
#include "base/text/json_text.hpp"
#include "wire/http/status.hpp"

namespace live::api {
using session::http::Reply;
using session::http::Request;
using wire::http::Status;

namespace {

using Json = nlohmann::ordered_json;

Json json_of(const session::SelfTestReport& report) {
    Json probes = Json::array();
    for (const session::SelfTestReport::Probe& probe : report.probes)
        probes.push_back({{"address", probe.address},
                          {"port", probe.port},
                          {"transport", probe.transport},
                          {"ok", probe.is_reached},
                          {"ms", static_cast<double>(probe.took.count()) / 1000},
                          {"finding", probe.finding}});
    return {{"enabled", report.is_enabled},
            {"ok", report.is_well},
            {std::string(report.probes_name), std::move(probes)},
            {"advice", report.advice}};
}

}  // namespace

Reply SelfTestHandler::handle(const Request& request, io::Deadline deadline) {
    const std::string path(ascii::trimmed(request.path(), "/"));
    const std::string name = path.substr(path.rfind('/') + 1);
    const auto protocol = std::ranges::find(protocols_, name, &session::Protocol::name);
    if (protocol == protocols_.end() || !protocol->self_test)
        return session::http::error_reply(Status::not_found, "there is no self-test of this name");
    const auto report = protocol->self_test(request.host(), deadline);
    if (!report.ok())
        return session::http::error_reply(Status::service_unavailable, report.error().sentence());
    return json_reply(request, envelope(server_, "data", text_of(json_of(*report))));
}

}  // namespace live::api
