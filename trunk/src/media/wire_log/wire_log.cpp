#include "media/wire_log/wire_log.hpp"

#include <algorithm>
#include <utility>

#include "base/check.hpp"

namespace live::media {

WireLog::WireLog(std::unique_ptr<WireEncoder> encoder, SlabPool& pool, Sequence first, TrackSelection tracks,
                 const SyncLog* syncs)
    : encoder_(std::move(encoder)), syncs_(syncs), tracks_(tracks), log_(pool), first_(first) {}

bool WireLog::catch_up(const Ring& ring, std::size_t bytes) {
    const Position begin = head();
    while (next() < ring.next() && head() - begin < bytes) {
        const Packet& packet = ring.at(next());
        if (encoder_->is_slow(packet) && !encoder_->prepare(packet, bytes))
            return false;
        append(packet);
        if (syncs_ != nullptr)
            for (const SyncLog::Entry& entry : syncs_->before(next()))
                append_sync(packet_of(entry));
    }
    return next() == ring.next();
}

void WireLog::append(const Packet& packet) {
    const Position offset = log_.head();
    if (!packet.is_of(tracks_)) {
        entries_.push_back({.offset = offset});
        return;
    }
    const WireEncoder::Encoded encoded = encoder_->encode(packet, log_);
    entries_.push_back({offset, encoded.header_bytes, encoded.needs_own_header, encoded.has_introduction});
    kinds_.add(packet.kind);
    if (encoded.needs_own_header)
        ++epoch_;
}

void WireLog::append_sync(const Packet& message) {
    if (sync_places_.empty() || sync_places_.back().before != next())
        sync_places_.push_back({next(), head()});
    encoder_->encode(message, log_);
}

void WireLog::drop_before(Sequence sequence) {
    CHECK(sequence >= first_);
    if (sequence > next()) {
        CHECK(held_places_.empty());
        log_.drop_before(head());
        entries_.clear();
        sync_places_.clear();
        first_ = sequence;
        return;
    }
    log_.drop_before(begin_of(sequence));
    if (!sync_places_.empty() && sync_places_.front().before < sequence)
        std::erase_if(sync_places_, [sequence](const Sync& sync) { return sync.before < sequence; });
    for (; first_ < sequence; ++first_)
        entries_.pop_front();
}

const WireLog::Entry& WireLog::entry(Sequence sequence) const {
    CHECK(sequence >= first_ && sequence < next());
    return entries_[static_cast<std::size_t>(sequence - first_)];
}

WireLog::Position WireLog::offset_of(Sequence sequence) const { return sequence == next() ? head() : entry(sequence).offset; }

WireLog::Position WireLog::begin_of(Sequence sequence) const {
    if (!sync_places_.empty() && sync_places_.back().before >= sequence) {
        const auto found = std::ranges::lower_bound(sync_places_, sequence, {}, &Sync::before);
        if (found->before == sequence)
            return found->begin;
    }
    return offset_of(sequence);
}

Sequence WireLog::needed_at(Position position) const {
    const Sequence at = find(position);
    return begin_of(at) > position ? at - 1 : at;
}

Sequence WireLog::find(Position position) const {
    const auto at = std::lower_bound(entries_.begin(), entries_.end(), position,
                                     [](const Entry& entry, Position wanted) { return entry.offset < wanted; });
    return first_ + static_cast<Sequence>(at - entries_.begin());
}

void WireLog::hold(HeldPlace& place) {
    place.index_ = held_places_.size();
    held_places_.push_back(&place);
}

void WireLog::release(HeldPlace& place) {
    CHECK(held_places_[place.index_] == &place);
    held_places_[place.index_] = held_places_.back();
    held_places_[place.index_]->index_ = place.index_;
    held_places_.pop_back();
}

}  // namespace live::media
