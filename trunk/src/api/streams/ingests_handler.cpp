#include "api/streams/ingests_handler.hpp"

#include <chrono>

#include "io/fibers/loop.hpp"

namespace live::api {

namespace {

using service::ingest::IngestFacts;
using service::ingest::IngestState;

std::optional<std::string> text_or_null(std::string text) { return text.empty() ? std::nullopt : std::optional(std::move(text)); }

// Each worker has the ingests on demand, and one of them pulls. An attempt that fails or has failed is of more interest than
// workers that have not tried; one that waits because the stream is published by another worker is not.
std::uint8_t rank(const IngestFacts& ingest) {
    if (ingest.state == IngestState::running)
        return 3;
    if (!ingest.tracks.empty())
        return 0;
    return ingest.state != IngestState::idle ? 2 : ingest.last_error.empty() ? 0 : 1;
}

}  // namespace

Row ingest_row(const IngestFacts& ingest, TimePoint now) {
    const auto next = ingest.next_attempt
                          ? std::optional(std::max<std::int64_t>((*ingest.next_attempt - now) / std::chrono::milliseconds(1), 0))
                          : std::nullopt;
    Row row{{"vhost", ingest.vhost},
            {"id", ingest.id},
            {"stream_url", text_or_null(ingest.stream_url)},
            {"input", ingest.input},
            {"native", ingest.is_native},
            {"on_demand", ingest.is_on_demand},
            {"state", service::ingest::name_of(ingest.state)},
            {"connected", ingest.is_native ? !ingest.link.transport.empty() : ingest.pid.has_value()},
            {"transport", text_or_null(std::string(ingest.link.transport))},
            {"peer", text_or_null(ingest.link.peer)},
            {"tracks", text_or_null(ingest.tracks)},
            {"since_ms", (now - ingest.since) / std::chrono::milliseconds(1)},
            {"recv_bytes", ingest.link.received_bytes},
            {"packets", ingest.link.packets},
            {"lost_packets", ingest.link.lost_packets},
            {"restarts", ingest.restarts},
            {"last_error", ingest.last_error},
            {"next_attempt_ms", next},
            {"pid", ingest.pid}};
    row.key = ingest.vhost + "/" + ingest.id + " " + ingest.stream_url;
    row.rank = rank(ingest);
    row.add("worker", engine::workers::Workers());
    return row;
}

session::http::Reply IngestsHandler::handle(const session::http::Request& request, io::Deadline) {
    const auto page = page_of(request);
    if (!page.ok())
        return refuse_page(page.error());
    const auto all = ingests_.list();
    ListAnswer answer(request);
    for (std::size_t i = page->start; i < all.size() && answer.size() < page->count; ++i)
        answer.add(ingest_row(all[i], io::now()));
    return answer.reply(server_, "ingests", *page, all.size());
}

}  // namespace live::api
