#include "media/ring/sync_log.hpp"

#include <algorithm>

#include "base/check.hpp"

namespace live::media {

const SyncLog::Entry* SyncLog::append(Entry entry) {
    CHECK(entry.message.series.size() <= SyncMessage::kSeriesMax && entry.message.text.size() <= SyncMessage::kTextMax);
    CHECK(entries_.empty() || entries_.back().before <= entry.before);
    if (entries_.size() >= kMax)
        return nullptr;
    const auto series_of = [](const Entry& one) -> const std::string& { return one.message.series; };
    const auto newest = std::ranges::find(newest_, entry.message.series, series_of);
    if (newest != newest_.end())
        *newest = entry;
    else if (entry.message.series != kRelayStart && newest_.size() < kSeriesMax)
        newest_.push_back(entry);
    return &entries_.emplace_back(std::move(entry));
}

const SyncLog::Entry& SyncLog::at(std::uint64_t number) const {
    CHECK(number >= first_ && number < next());
    return entries_[static_cast<std::size_t>(number - first_)];
}

std::span<const SyncLog::Entry> SyncLog::before(Sequence sequence) const {
    const auto first = std::ranges::lower_bound(entries_, sequence, {}, &Entry::before);
    return {first, std::ranges::upper_bound(first, entries_.end(), sequence, {}, &Entry::before)};
}

std::size_t SyncLog::held_bytes() const {
    std::size_t sum = 0;
    for (const std::vector<Entry>* entries : {&entries_, &newest_})
        for (const Entry& entry : *entries)
            sum += sizeof(Entry) + entry.message.text.size();
    return sum;
}

void SyncLog::drop(Sequence sequence) {
    const auto kept = std::ranges::lower_bound(entries_, sequence, {}, &Entry::before);
    first_ += static_cast<std::uint64_t>(kept - entries_.begin());
    entries_.erase(entries_.begin(), kept);
}

Packet packet_of(const SyncLog::Entry& entry) {
    Packet packet;
    packet.dts = entry.time;
    packet.payload = write_sync_message(entry.message);
    return packet;
}

}  // namespace live::media
