#include "api/debug/srt_doctor_handler.hpp"

#include <nlohmann/json.hpp>

#include "api/common/envelope.hpp"
#include "base/text/json_text.hpp"
#include "wire/http/status.hpp"

namespace live::api {

session::http::Reply SrtDoctorHandler::handle(const session::http::Request& request, io::Deadline deadline) {
    const auto report = doctor_.examine(deadline);
    if (!report.ok())
        return session::http::error_reply(wire::http::Status::service_unavailable, report.error().sentence());
    nlohmann::ordered_json data = {{"enabled", !report->probes.empty()},
                                   {"ok", report->is_well()},
                                   {"addresses", nlohmann::ordered_json::array()},
                                   {"advice", report->advice}};
    for (const auto& probe : report->probes)
        data["addresses"].push_back({{"address", probe.endpoint.ip},
                                     {"port", probe.endpoint.port},
                                     {"transport", "udp"},
                                     {"ok", probe.is_reached},
                                     {"ms", static_cast<double>(probe.took.count()) / 1000},
                                     {"finding", probe.finding}});
    return json_reply(request, envelope(server_, "data", text_of(data)));
}

}  // namespace live::api
