#include "media/source/retention.hpp"

#include <algorithm>
#include <utility>

namespace live::media {

void Retention::start_publisher() {
    audio_since_video_ = 0;
    published_from_ = ring_.next();
}

void Retention::append(Packet&& packet) {
    if (packet.extra) {
        // A GOP consists of default-track frames.
    } else if (packet.kind == MediaKind::video && !packet.is_config()) {
        audio_since_video_ = 0;
        if (packet.key)
            gop_start_ = ring_.next();
    } else if (packet.kind == MediaKind::audio && gop_start_ && ++audio_since_video_ > kAudioOnlyAfter) {
        gop_start_.reset();
    }
    const std::uint32_t frames_max = parts_.options.gop_cache_frames_max;
    if (gop_start_ && frames_max > 0 && ring_.next() - *gop_start_ > frames_max)
        gop_start_.reset();
    SourceTotals& totals = parts_.pool.totals();
    ++totals.packets;
    totals.packet_bytes += packet.payload.size();
    untrimmed_bytes_ += packet.payload.size();
    is_trim_due_ = (packet.key && !packet.extra) || (ring_.next() & 15U) == 0 || untrimmed_bytes_ >= kTrimBytesMax / 2;
    ring_.append(std::move(packet));
}

// GOPs are tracked only for the default video track.
std::optional<Sequence> Retention::newest_key_of(const TrackChoice& choice) const {
    if (!choice.video)
        return gop_start();
    for (Sequence at = ring_.next(); at > std::max(ring_.first(), published_from_); --at)
        if (const Packet& packet = ring_.at(at - 1); packet.kind == MediaKind::video && packet.key && choice.has(packet))
            return at - 1;
    return std::nullopt;
}

Sequence Retention::join_point() const { return parts_.options.gop_cache ? gop_start().value_or(ring_.next()) : ring_.next(); }

Sequence Retention::join_point(MediaTime age) const {
    if (ring_.size() == 0)
        return join_point();
    const Sequence younger = ring_.find_time(ring_.newest().dts - age + MediaTime(1));
    for (Sequence at = ring_.next(); at-- > ring_.first();) {
        const Packet& packet = ring_.at(at);
        if (packet.is_config() && packet.kind != MediaKind::data)
            break;  // older frames cannot be decoded with the current configurations
        if (at < younger && packet.kind == MediaKind::video && packet.key && !packet.extra)
            return at;
    }
    return parts_.tracks.has_default(MediaKind::video) ? join_point() : std::max(younger, ring_.first() + 1) - 1;
}

bool Retention::is_too_late(Sequence sequence, Sequence floor) const {
    return sequence < floor || ring_.newest().dts - ring_.at(sequence).dts > parts_.options.queue_length;
}

// Drops a sixteenth at once, so that the scan runs every few MiB and not for every packet.
Sequence Retention::first_that_fits() const {
    if (ring_.bytes() <= kRingBytesMax && ring_.size() <= kRingPacketsMax)
        return ring_.first();
    Sequence first = ring_.first();
    for (std::size_t bytes = ring_.bytes(); bytes > kRingBytesMax / 16 * 15; ++first)
        bytes -= ring_.at(first).payload.size();
    return std::max(first, ring_.next() - std::min<Sequence>(ring_.size(), kRingPacketsMax / 16 * 15));
}

Sequence Retention::after_oldest(std::size_t bytes, Sequence end) const {
    Sequence after = ring_.first();
    end = std::min(end, after + kReleasedPacketsMax);
    if (ring_.bytes() <= bytes)
        return end;
    for (std::size_t sum = 0; sum < bytes && after < end; ++after)
        sum += ring_.at(after).payload.size();
    return after;
}

// Iterates backwards: leave_place() may remove this place or append others, which affects only indexes already visited.
Sequence Retention::keep_for_places(Sequence keep, Sequence floor) {
    parts_.wire_logs.for_each([&](const WireLog& wire_log) {
        const auto& places = wire_log.held_places();
        if (places.empty())
            return;
        keep = std::min(keep, wire_log.next());  // packets that append() has left are still to be encoded
        WireLog::Position kept = wire_log.begin_of(keep);
        for (std::size_t i = places.size(); i-- > 0;) {
            const WireLog::Position position = places[i]->held_position();
            if (position >= kept)
                continue;
            const Sequence at = wire_log.needed_at(position);
            if (is_too_late(at, floor)) {
                places[i]->leave_place();
            } else {
                keep = at;
                kept = wire_log.begin_of(at);
            }
        }
    });
    return keep;
}

// Returns the newest key frame if it is ahead of the reader and may be kept; otherwise the end of the ring.
Sequence Retention::landing(const PacketReader& reader, Sequence keep, Sequence floor) const {
    const auto key = gop_start();
    const bool may_stay = key && (*key >= keep || !is_too_late(*key, floor));
    return may_stay && *key > reader.sequence() ? *key : ring_.next();
}

Sequence Retention::keep_for_readers(Sequence keep, Sequence floor) {
    for (PacketReader* reader : parts_.readers.packet_readers()) {
        if (reader->sequence() >= keep)
            continue;
        if (is_too_late(reader->sequence(), floor))
            reader->jump(landing(*reader, keep, floor));
        keep = std::min(keep, reader->sequence());
    }
    return keep;
}

// Checks the age by media time and by the clock, because a publisher's timestamps may not advance.
bool Retention::is_young() const {
    if (!parts_.publications.is_published() || published_from_ < ring_.first())
        return false;
    const Packet& first = ring_.at(published_from_);
    const Packet& newest = ring_.newest();
    return newest.dts - first.dts < kYoung && newest.arrived - first.arrived < kYoung;
}

void Retention::trim() {
    const PlayOptions& options = parts_.options;
    is_trim_due_ = false;
    untrimmed_bytes_ = 0;
    const Sequence floor = first_that_fits();
    if (gop_start_ && *gop_start_ < floor)
        gop_start_.reset();  // a single GOP exceeds the limit
    Sequence keep = options.gop_cache ? gop_start().value_or(ring_.next()) : ring_.next();
    const auto history = std::max<MediaTime>(options.history_min, parts_.readers.count() > 0 ? kHistory : MediaTime::zero());
    if (history > MediaTime::zero())
        keep = std::min(keep, ring_.find_time(ring_.newest().dts - history));
    if (is_young())
        keep = std::min(keep, published_from_);
    drop(std::max(after_oldest(kTrimBytesMax, keep), floor), floor);
}

void Retention::drop(Sequence keep, Sequence floor) {
    if (parts_.readers.any()) {
        keep = keep_for_readers(keep_for_places(keep, floor), floor);
        parts_.wire_logs.drop_before(keep);
    }
    drop_from_ring(keep);
}

void Retention::release_oldest(std::size_t bytes) {
    const Sequence floor = after_oldest(bytes, ring_.next());
    if (gop_start_ && *gop_start_ < floor)
        gop_start_.reset();
    drop(floor, floor);
}

bool Retention::is_needed() const {
    return parts_.readers.has_logs() || std::ranges::any_of(parts_.readers.packet_readers(), [this](const PacketReader* reader) {
               return reader->sequence() < ring_.next();
           });
}

void Retention::drop_from_ring(Sequence keep) {
    SourceTotals& totals = parts_.pool.totals();
    const std::size_t before = ring_.bytes();
    totals.packets -= ring_.size();
    ring_.drop_before(keep, [this](Slice payload) { parts_.pool.recycle(std::move(payload)); });
    parts_.syncs.drop_before(keep);
    totals.packets += ring_.size();
    totals.packet_bytes -= before - ring_.bytes();
    totals.dropped += before - ring_.bytes();
    if (totals.dropped < totals.much)
        return;
    totals.dropped = 0;
    totals.much_dropped.raise();
}

}  // namespace live::media
