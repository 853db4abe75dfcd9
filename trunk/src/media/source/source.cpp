#include "media/source/source.hpp"

#include <algorithm>
#include <optional>
#include <string>
#include <utility>

#include "base/bytes/hot_lines.hpp"
#include "base/check.hpp"
#include "media/ring/rendition_names.hpp"

namespace live::media {

Source::Source(std::string url, const PlayOptions& options, std::uint32_t chunk_size, SlabPool& pool)
    : url_(std::move(url)),
      options_(options),
      pool_(pool),
      retention_({options_, tracks_, publications_, syncs_, readers_, wire_logs_, pool}),
      backlog_(*this, url_, wire_logs_, rtp_logs_),
      readers_(watches_),
      publications_(watches_),
      wire_logs_(retention_.ring(), syncs_, tracks_, readers_, pool, chunk_size),
      rtp_logs_({options_, retention_, timeline_, tracks_, publications_, readers_}) {
    ++pool_.totals().sources;
}

Source::~Source() {
    CHECK(!is_published());
    --pool_.totals().sources;
}

void Source::start_publication(Publisher& publisher) {
    if (publications_.must_wait(publisher))
        return publications_.reserve(publisher);
    begin_publication(publisher);
}

void Source::begin_publication(Publisher& publisher) {
    publications_.evict();
    timeline_.start_publisher();
    tracks_.start_publisher();
    retention_.start_publisher();
    backlog_.start_publisher();
    rtp_logs_.start_publisher();
    syncs_.start_publisher();
    ends_when_encoded_ = false;
    publications_.start(publisher);
}

void Source::end_publication(Publisher& publisher) {
    const bool fed_nothing = publisher.is_waiting();
    publications_.end(publisher);
    if (fed_nothing)
        return;
    if (Publisher* const coming = publications_.coming())
        return begin_publication(*coming);
    if (StandIn* const stand_in = publications_.stand_in())
        stand_in->on_publisher_gone();
    if (is_published())
        return;
    backlog_.have_encoded();
    if (backlog_.empty())
        rtp_logs_.end_publisher();
    ends_when_encoded_ = !backlog_.empty();
    if (!ends_when_encoded_)
        publications_.note_stream_ended();
}

void Source::prefetch() const {
    prefetch_members(retention_, readers_);
    tracks_.prefetch();
}

void Source::append(Packet&& packet, Origin origin) {
    const bool is_publishers = origin == Origin::publisher;
    if (is_publishers ? backlog_.is_outrun_by(packet) : backlog_.is_outrun()) {
        ++counters_.dropped_packets;
        return;
    }
    packet.arrived = arrival_;
    if (is_publishers)
        tracks_.note(packet);
    else
        tracks_.note_rendition(packet);
    const std::size_t kind = index_of(packet.kind);
    counters_.bytes[kind] += packet.payload.size();
    if (!packet.extra) {
        ++counters_.packets[kind];
        if (packet.kind == MediaKind::video && packet.key && !packet.is_config())
            ++counters_.key_frames;
    }
    const bool was_left = !backlog_.empty();
    const bool has_logs = readers_.any() || was_left;
    if (has_logs) {
        const bool is_wire_left = wire_logs_.append(packet) == WireLogs::Encoded::left;
        const bool is_rtp_left = rtp_logs_.append(packet, was_left) == RtpLogs::Converted::left;
        if (was_left || is_wire_left || is_rtp_left)
            backlog_.add(packet);
    }
    retention_.append(std::move(packet));
    if (has_logs)
        backlog_.limit();
    retention_.trim_if_due();
}

void Source::append_sync(SyncMessage message) {
    if (const auto* entry = syncs_.append({ring().next(), timeline_.newest(), std::move(message)}))
        wire_logs_.append_sync(*entry);
}

void Source::announce_renditions() {
    if (!is_published() || publications_.relays_renditions())
        return;
    RenditionList list;
    const bool are_awaited = publications_.expected_renditions() > 0;
    const auto add = [&list, are_awaited](std::optional<TrackId> track, const std::string& name) {
        const bool is_known = std::ranges::find(list.entries, name, &RenditionList::Entry::name) != list.entries.end();
        if (list.entries.size() < RenditionList::kMax && !name.empty() && is_track_name(name) && !is_known)
            list.entries.push_back({track, name, !track && are_awaited});
    };
    for (const Track& track : tracks_.all())
        if (track.kind == MediaKind::video && track.rendition != RenditionId::none)
            add(track.id, track.name);
    for (const std::string& name : publications_.rendition_names())
        add(std::nullopt, name);
    std::string text = write_rendition_list(list);
    const auto is_list = [](const SyncLog::Entry& entry) { return entry.message.series == kRelayRenditions; };
    const auto known = std::ranges::find_if(syncs_.newest(), is_list);
    if (known == syncs_.newest().end() ? !text.empty() : known->message.text != text)
        append_sync({std::string(kRelayRenditions), std::move(text), {}});
}

void Source::flush() {
    backlog_.have_encoded();
    if (!readers_.any() && !ends_when_encoded_)
        return;
    rtp_logs_.flush();
    readers_.notify();
    if (backlog_.empty() && std::exchange(ends_when_encoded_, false))
        publications_.note_stream_ended();
}

std::size_t Source::held_bytes() const {
    return retention_.held_bytes() + syncs_.held_bytes() + wire_logs_.held_bytes() + rtp_logs_.held_bytes();
}

}  // namespace live::media
