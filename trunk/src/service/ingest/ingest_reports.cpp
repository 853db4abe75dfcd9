// The reports of IngestService.
#include <array>
#include <utility>

#include "base/text/secret.hpp"
#include "service/ingest/ingest_service.hpp"
#include "wire/codec/codec.hpp"

namespace live::service::ingest {

std::string IngestService::tracks_of(const std::string& url) const {
    std::string names;
    const auto source = links_.streams.find(url);
    if (!source || !source->is_published())
        return names;
    for (const MediaKind kind : {MediaKind::video, MediaKind::audio})
        if (const media::Track* const track = source->tracks().default_of(kind);
            track != nullptr && source->tracks().has_default(kind))
            names.append(names.empty() ? "" : " ").append(wire::codec::name_of(track->codec));
    return names;
}

IngestFacts IngestService::facts_of(const Child& child) const {
    IngestFacts facts;
    if (const auto* const pull = std::get_if<NativePull>(&child.work)) {
        facts = pull->facts();
    } else {
        const auto& process = std::get<ffmpeg::Supervisor>(child.work).facts();
        facts.input = redacted(child.plan.ingest.input_url);
        facts.pid = process.pid;
        facts.since = process.since;
        facts.restarts = process.starts > 0 ? process.starts - 1 : 0;
        facts.last_error = process.last_error;
        facts.next_attempt = process.next_start;
        facts.link.transport = "ffmpeg";
    }
    facts.vhost = child.plan.place.vhost;
    facts.id = child.plan.ingest.id;
    facts.stream_url = child.plan.url;
    facts.tracks = tracks_of(child.plan.url);
    if (!facts.is_native) {
        facts.link.has_media = facts.pid && !facts.tracks.empty();
        facts.state = facts.link.has_media ? IngestState::running : facts.pid ? IngestState::connecting : IngestState::waiting;
    }
    return facts;
}

std::vector<IngestFacts> IngestService::list() const {
    std::vector<IngestFacts> all;
    children_.for_each([&](const Child& child) { all.push_back(facts_of(child)); });
    return all;
}

IngestService::Totals& IngestService::Totals::operator+=(const IngestFacts& facts) {
    restarts += facts.restarts;
    received_bytes += facts.link.received_bytes;
    packets += facts.link.packets;
    lost_packets += facts.link.lost_packets;
    return *this;
}

void IngestService::write_metrics(MetricsText& text) const {
    using Type = MetricsText::Type;
    std::array<std::uint64_t, kIngestStates.size()> states{};
    Totals totals = ended_;
    children_.for_each([&](const Child& child) {
        const IngestFacts facts = facts_of(child);
        ++states[static_cast<std::size_t>(facts.state)];
        totals += facts;
    });
    text.family("millrace_ingests", Type::gauge, "Ingests by state: idle ones are on demand, waiting ones try again.");
    for (const IngestState state : kIngestStates)
        text.sample(states[static_cast<std::size_t>(state)], {{"state", std::string(name_of(state))}});
    text.family("millrace_ingest_restarts_total", Type::counter, "Restarts of ingests.").sample(totals.restarts);
    text.family("millrace_ingest_received_bytes_total", Type::counter, "Bytes that ingests have received without ffmpeg.")
        .sample(totals.received_bytes);
    text.family("millrace_ingest_packets_total", Type::counter, "Packets that ingests have received without ffmpeg.")
        .sample(totals.packets);
    text.family("millrace_ingest_lost_packets_total", Type::counter, "Packets that ingests have lost.")
        .sample(totals.lost_packets);
}

}  // namespace live::service::ingest
