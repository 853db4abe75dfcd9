#include "session/http2/metrics.hpp"

#include <string>

namespace live::session::http2 {

void write_metrics(MetricsText& text, const http::Http2Counters& counters) {
    using Type = MetricsText::Type;
    text.family("millrace_http2_connections", Type::gauge, "HTTP/2 connections.").sample(counters.connections);
    text.family("millrace_http2_requests_total", Type::counter, "Requests over HTTP/2.").sample(counters.requests);
    text.family("millrace_http2_refused_requests_total", Type::counter,
                "HTTP/2 requests refused because their connection, their address or the server has too many.")
        .sample(counters.refused_streams);
    text.family("millrace_http2_floods_total", Type::counter, "HTTP/2 connections closed because of a flood, by its kind.");
    for (std::size_t i = 0; i < counters.floods.size(); ++i)
        text.sample(counters.floods[i], {{"kind", std::string(name_of(static_cast<engine::http2::Flood>(i)))}});
}

}  // namespace live::session::http2
