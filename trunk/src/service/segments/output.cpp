#include "service/segments/output.hpp"

#include <utility>

#include "io/fibers/loop.hpp"
#include "io/fibers/off_loop.hpp"

namespace live::service::segments {

Output::Output(Setup setup, SegmentWriter& writer, Ref<media::Source> source, Segmenter segmenter, Log log)
    : setup_(std::move(setup)),
      writer_(writer),
      log_(std::move(log)),
      feed_(setup_.name, std::move(source), setup_.wake, log_),
      synced_({setup_.series, setup_.rules, feed_.source(), log_}, std::move(segmenter)) {}

void Output::run(io::Deadline deadline) {
    using Next = SourceFeed::Next;
    const StreamOfFiles& stream = *setup_.stream;
    for (Next next = Next::packets; next != Next::cancelled;) {
        const auto drained = feed_.drain(*this, deadline);
        const bool is_watched = stream.requested_at != TimePoint{} && io::now() - stream.requested_at < stream.idle_limit;
        feed_.set_watched(is_watched);
        if (auto* const maker = source().publications().rendition_maker(); maker != nullptr && is_watched)
            maker->want_renditions();
        handle_events(deadline);
        next = feed_.wait(drained, writer_.time_after_end(), deadline);
        if (next != Next::over)
            continue;
        writer_.dispose(deadline);
        if (!feed_.is_published())
            break;
    }
    // If the server stops, the remaining packets become the last segment.
    while (feed_.drain(*this, deadline) == SourceFeed::Drained::in_part) {
    }
    feed_.flush(*this, deadline);
    is_ending_ = true;
    segmenter().interrupt();
    handle_events(deadline);
    feed_.end();
    is_over_ = true;
    writer_.finish();
}

void Output::follow_shift(MediaTime shift) { synced_.shift(shift - std::exchange(shift_, shift)); }

void Output::on_publisher(const std::optional<session::ClientRequest>& publisher, io::Deadline deadline) {
    const bool relays_next = publisher && publisher->kind == session::ClientKind::relay_pull;
    synced_.end_publisher(relays_next);
    handle_events(deadline);
    if (publisher) {
        synced_.begin_publisher(relays_next);
        configured_.clear();
    }
    writer_.on_publisher_change(publisher, deadline);
}

void Output::on_packet(const media::Packet& packet, io::Deadline deadline) {
    if (packet.is_config() && packet.kind != MediaKind::data && configured_.size() < kTracksMax)
        configured_.emplace(packet.kind, packet.track);
    if (!writer_.accept(packet, deadline))
        return;
    const MediaTime by = shift_ + synced_.to_origin();
    if (by == MediaTime{})
        return synced_.push(packet);
    media::Packet shifted = packet;
    shifted.dts += by;
    synced_.push(shifted);
}

void Output::on_sync(const media::SyncMessage& message, io::Deadline deadline) {
    const auto sync = synced_.read(message);
    if (!sync)
        return;
    // No further packets of the renditions follow.
    if (std::holds_alternative<SegmentsEnded>(sync->event) && !synced_.has_next_publisher())
        feed_.flush(*this, deadline);
    writer_.on_segment_sync(*sync, deadline);
    synced_.follow(*sync);
    handle_events(deadline);
}

void Output::handle_events(io::Deadline deadline) {
    std::vector<SegmenterEvent> events = synced_.take();
    io::free_off_loop(segmenter().take_dropped_blocks());
    const bool has_ended = feed_.has_ended();
    for (SegmenterEvent& event : events) {
        if (const auto* headers = std::get_if<HeadersChanged>(&event))
            writer_.on_headers(*headers);
        else if (const auto* opened = std::get_if<SegmentOpened>(&event))
            writer_.on_opened(opened->state);
        else if (auto* part = std::get_if<PartMade>(&event); part != nullptr && !is_listed_already(part->number))
            writer_.on_part(std::move(*part));
        else if (auto* segment = std::get_if<SegmentMade>(&event); segment != nullptr && !is_listed_already(segment->number))
            writer_.on_segment(std::move(*segment), deadline);
        else if (const auto* dropped = std::get_if<SegmentDropped>(&event))
            writer_.on_dropped(*dropped);
        else if (const auto* ended = std::get_if<SegmentsEnded>(&event))
            synced_.publish(*ended, {});
        else if (const auto* resumed = std::get_if<Resumed>(&event))
            writer_.on_resumed(*resumed);
        else if (const auto* found = std::get_if<EventFound>(&event))
            writer_.on_event(*found);
    }
    writer_.on_events_handled(!events.empty(), has_ended);
}

// Only tracks that the output has reached, in one order, so that all nodes segment them alike. A configuration may be newer than
// the one that it has reached: the output is some packets behind the source at most.
void Output::push_configs() {
    for (const auto& [kind, track] : configured_)
        if (const media::Packet* config = source().tracks().config_of(kind, track))
            segmenter().push(*config);
}

}  // namespace live::service::segments
