#include "api/debug/doctor_handler.hpp"

#include <nlohmann/json.hpp>

#include "api/common/envelope.hpp"
#include "base/text/json_text.hpp"
#include "session/rtc/offer_request.hpp"
#include "wire/http/status.hpp"

namespace live::api {
using session::http::Reply;
using session::http::Request;

namespace {

using Json = nlohmann::ordered_json;

Json json_of(const session::rtc::Doctor::Probe& probe) {
    return {{"address", probe.candidate.host},
            {"port", probe.candidate.port},
            {"transport", probe.candidate.is_tcp ? "tcp" : "udp"},
            {"ok", probe.is_reached},
            {"ms", static_cast<double>(probe.took.count()) / 1000},
            {"finding", probe.finding}};
}

}  // namespace

Reply DoctorHandler::handle(const Request& request, io::Deadline deadline) {
    Json data = {{"enabled", doctor_ != nullptr}, {"ok", false}, {"candidates", Json::array()}, {"advice", Json::array()}};
    if (doctor_ == nullptr) {
        data["advice"].push_back("WebRTC is off: rtc_server { enabled on; } and vhost { rtc { enabled on; } }");
        return json_reply(request, envelope(server_, "data", text_of(data)));
    }
    const auto report = doctor_->examine(request.host(), deadline);
    if (!report.ok()) {
        return session::http::error_reply(wire::http::Status::service_unavailable, report.error().sentence());
    }
    data["ok"] = report->is_well();
    for (const auto& probe : report->probes)
        data["candidates"].push_back(json_of(probe));
    data["advice"] = report->advice;
    return json_reply(request, envelope(server_, "data", text_of(data)));
}

}  // namespace live::api
