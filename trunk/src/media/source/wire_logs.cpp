#include "media/source/wire_logs.hpp"

#include <algorithm>
#include <iterator>
#include <limits>

#include "base/check.hpp"

namespace live::media {

WireLogs::Encoded WireLogs::append(const Packet& packet) {
    Encoded encoded = Encoded::all;
    for (Held& held : logs_) {
        if (held.wire_log->next() != ring_.next())
            continue;
        if (held.wire_log->encoder().is_slow(packet))
            encoded = Encoded::left;
        else
            held.wire_log->append(packet);
    }
    return encoded;
}

// A log that lacks packets takes the message from the SyncLog when it reaches the message's position.
void WireLogs::append_sync(const SyncLog::Entry& entry) {
    for (Held& held : logs_)
        if (held.format.is_relayed() && held.wire_log->next() == entry.before)
            held.wire_log->append_sync(packet_of(entry));
}

bool WireLogs::encode_some() {
    for (Held& held : logs_)
        if (held.has_caught_up && held.wire_log->next() < ring_.next()) {
            catch_up(held, kCatchUpBytes);
            return true;
        }
    return false;
}

void WireLogs::drop_before(Sequence sequence) {
    for (Held& held : logs_)
        held.wire_log->drop_before(sequence);
}

void WireLogs::set_chunk_size(std::uint32_t bytes) {
    next_chunk_size_ = bytes;
    if (readers_.count() == 0)
        chunk_size_ = bytes;
}

std::unique_ptr<WireEncoder> WireLogs::encoder_for(const WireFormat& format) const {
    return format.container.make_encoder({format.framing, format.kinds, tracks_.config(MediaKind::audio),
                                          tracks_.config(MediaKind::video), chunk_size_, unix_at_zero_, format.list,
                                          tracks_.extra_configs()});
}

WireLog& WireLogs::hold(const WireFormat& format, bool catches_up, Audience audience) {
    auto held = std::ranges::find(logs_, format, &Held::format);
    if (held == logs_.end()) {
        if (format.container == Container::rtmp)
            chunk_size_ = next_chunk_size_;
        const SyncLog* syncs = format.is_relayed() ? &syncs_ : nullptr;
        logs_.push_back({format, std::make_unique<WireLog>(encoder_for(format), pool_, ring_.first(), format.tracks, syncs), 0});
        readers_.add_log();
        held = std::prev(logs_.end());
    }
    if (!catches_up)
        catch_up(*held, std::numeric_limits<std::size_t>::max());
    ++held->holders;
    WireLog& wire_log = *held->wire_log;
    readers_.add_log_reader(audience);
    return wire_log;
}

bool WireLogs::catch_up(const WireFormat& format, std::size_t bytes) {
    const auto held = std::ranges::find(logs_, format, &Held::format);
    return held == logs_.end() || catch_up(*held, bytes);
}

bool WireLogs::catch_up(Held& held, std::size_t bytes) const {
    const bool has_all = held.wire_log->catch_up(ring_, bytes);
    held.has_caught_up = held.has_caught_up || has_all;
    return has_all;
}

void WireLogs::release(const WireFormat& format, Audience audience) {
    const auto held = std::ranges::find(logs_, format, &Held::format);
    CHECK(held != logs_.end());
    if (--held->holders == 0) {
        logs_.erase(held);
        readers_.remove_log();
    }
    readers_.remove_log_reader(audience);
}

WireLog* WireLogs::find(const WireFormat& format) const {
    const auto held = std::ranges::find(logs_, format, &Held::format);
    return held == logs_.end() ? nullptr : held->wire_log.get();
}

std::size_t WireLogs::held_bytes() const {
    std::size_t sum = 0;
    for_each([&sum](const WireLog& wire_log) { sum += wire_log.bytes(); });
    return sum;
}

}  // namespace live::media
