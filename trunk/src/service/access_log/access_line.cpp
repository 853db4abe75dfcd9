#include "service/access_log/access_line.hpp"

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include "base/text/json_text.hpp"

namespace live::service::access_log {

namespace {

using Json = nlohmann::ordered_json;

// UTC, so that the hour when the clocks go back occurs once. RFC 3339.
std::string time_text(std::chrono::system_clock::time_point time) {
    const auto day = std::chrono::floor<std::chrono::days>(time);
    const std::chrono::year_month_day date(day);
    const std::chrono::hh_mm_ss clock(std::chrono::floor<std::chrono::milliseconds>(time - day));
    return fmt::format("{:04}-{:02}-{:02}T{:02}:{:02}:{:02}.{:03}Z", static_cast<int>(date.year()),
                       static_cast<unsigned>(date.month()), static_cast<unsigned>(date.day()), clock.hours().count(),
                       clock.minutes().count(), clock.seconds().count(), clock.subseconds().count());
}

std::string_view role_of(session::ClientKind kind) {
    if (kind == session::ClientKind::unknown)
        return "unknown";
    return session::is_publisher(kind) ? "publish" : "play";
}

std::string_view name_of(Outcome outcome) {
    switch (outcome) {
        case Outcome::failed: return "failed";
        case Outcome::refused: return "refused";
        case Outcome::ended: break;
    }
    return "ended";
}

std::string_view cut(std::string_view text) { return text.substr(0, kTextBytesMax); }

}  // namespace

std::string line_of(const Visit& visit) {
    const session::ClientRequest& request = visit.request;
    Json line;
    line["time"] = time_text(visit.ended);
    line["id"] = cut(request.id);
    line["protocol"] = cut(request.protocol);
    line["peer"] = cut(request.peer);
    line["ip"] = cut(request.ip);
    line["role"] = role_of(request.kind);
    line["vhost"] = cut(visit.vhost);
    line["app"] = cut(request.app);
    line["stream"] = cut(request.stream);
    line["duration"] = std::chrono::duration<double>(visit.duration).count();
    line["received_bytes"] = visit.figures.received_bytes;
    line["sent_bytes"] = visit.figures.sent_bytes;
    line["dropped_packets"] = visit.figures.dropped_packets;
    line["result"] = name_of(visit.outcome);
    line["reason"] = cut(visit.reason);
    return text_of(line) + "\n";
}

}  // namespace live::service::access_log
