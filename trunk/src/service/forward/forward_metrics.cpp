#include <algorithm>

#include "service/forward/forward_service.hpp"

namespace live::service::forward {

void ForwardService::write_metrics(MetricsText& text) const {
    const auto all = list();
    const auto totals = this->totals();
    text.family("millrace_forwards", MetricsText::Type::gauge, "Forwards of published streams, by their state.");
    for (const ForwardFacts::State state : ForwardFacts::kStates)
        text.sample(static_cast<std::uint64_t>(std::ranges::count(all, state, &ForwardFacts::state)),
                    {{"state", std::string(ForwardFacts::name_of(state))}});
    text.family("millrace_forward_connections_total", MetricsText::Type::counter,
                "Connections to destinations that forwards have tried.")
        .sample(totals.tries);
    text.family("millrace_forward_failures_total", MetricsText::Type::counter,
                "Forward connections that failed or ended before their stream did.")
        .sample(totals.failures);
    text.family("millrace_forward_sent_bytes_total", MetricsText::Type::counter, "Bytes that forwards have sent.")
        .sample(totals.sent_bytes);
}

}  // namespace live::service::forward
