#include "service/tracing/otlp.hpp"

#include <nlohmann/json.hpp>

#include "base/text/json_text.hpp"
#include "base/version.hpp"

namespace live::service::tracing {

namespace {

using Json = nlohmann::ordered_json;

// 64-bit numbers are texts in the JSON of protocol buffers.
struct ValueJson {
    Json operator()(const std::string& value) const { return {{"stringValue", value}}; }
    Json operator()(std::int64_t value) const { return {{"intValue", std::to_string(value)}}; }
    Json operator()(bool value) const { return {{"boolValue", value}}; }
};

Json attribute(std::string_view key, const Span::Value& value) {
    return {{"key", key}, {"value", std::visit(ValueJson(), value)}};
}

std::string nanoseconds(std::chrono::system_clock::time_point time) {
    return std::to_string(std::chrono::duration_cast<std::chrono::nanoseconds>(time.time_since_epoch()).count());
}

Json json_of(const Span& span) {
    constexpr int kStatusError = 2;
    Json json = {{"traceId", span.context.trace_text()}, {"spanId", span.context.span_text()}};
    if (!span.parent.empty())
        json["parentSpanId"] = span.parent;
    json["name"] = span.name;
    json["kind"] = static_cast<int>(span.kind);
    json["startTimeUnixNano"] = nanoseconds(span.begin);
    json["endTimeUnixNano"] = nanoseconds(span.end);
    json["attributes"] = Json::array();
    for (const auto& [key, value] : span.attributes)
        json["attributes"].push_back(attribute(key, value));
    json["status"] = Json::object();
    if (span.has_failed)
        json["status"] = {{"code", kStatusError}, {"message", span.failure}};
    return json;
}

}  // namespace

std::string otlp_json(const Resource& resource, std::span<const Span> spans) {
    Json list = Json::array();
    for (const Span& span : spans)
        list.push_back(json_of(span));
    const Json about =
        Json::array({attribute("service.name", resource.service_name), attribute("service.version", std::string(kVersion)),
                     attribute("service.instance.id", resource.server_id + "-" + resource.service_id),
                     attribute("process.pid", resource.process_id)});
    const Json scope = {{"scope", {{"name", kProduct}, {"version", kVersion}}}, {"spans", std::move(list)}};
    const Json request = {
        {"resourceSpans", Json::array({Json{{"resource", {{"attributes", about}}}, {"scopeSpans", Json::array({scope})}}})}};
    return text_of(request);
}

}  // namespace live::service::tracing
