#include "service/slate/slate_cache.hpp"

#include <algorithm>
#include <utility>

#include "base/log/log_format.hpp"
#include "io/fibers/loop.hpp"
#include "service/slate/slate_encoder.hpp"

namespace live::service::slate {

std::shared_ptr<const PreparedSlate> SlateCache::find(const SlateKey& key) {
    const auto found = entries_.find(key);
    if (found == entries_.end() || found->second.slate == nullptr)
        return nullptr;
    found->second.at = io::now();
    return found->second.slate;
}

void SlateCache::request(const SlateKey& key) {
    const TimePoint now = io::now();
    const auto known = entries_.find(key);
    if (known != entries_.end()) {
        const Entry& entry = known->second;
        if (entry.slate != nullptr || entry.is_waiting || (!entry.failure.empty() && now - entry.at < kRetryAfter))
            return;
    }
    if (queue_.size() >= kWaitingMax)
        return;
    Entry& entry = entries_[key];
    entry.is_waiting = true;
    queue_.push_back(key);
    queued_.raise();
}

Result<std::shared_ptr<const PreparedSlate>> SlateCache::fetch(const SlateKey& key, io::Deadline deadline) {
    request(key);
    Signal prepared;
    fetching_.push_back(&prepared);
    Result<void> waited;
    std::shared_ptr<const PreparedSlate> slate = find(key);
    while (waited.ok() && slate == nullptr) {
        const auto entry = entries_.find(key);
        if (entry == entries_.end() || !entry->second.is_waiting)
            break;
        waited = io::wait(prepared, deadline);
        slate = find(key);
    }
    std::erase(fetching_, &prepared);
    if (slate != nullptr)
        return slate;
    if (!waited.ok())
        return waited.error();
    const auto entry = entries_.find(key);
    return Error(Errc::not_found, entry == entries_.end() || entry->second.failure.empty() ? "too many slates are being prepared"
                                                                                           : entry->second.failure);
}

void SlateCache::forget_failures() {
    std::erase_if(entries_, [](const auto& one) { return !one.second.failure.empty() && !one.second.is_waiting; });
}

void SlateCache::run(io::Deadline deadline) {
    while (io::wait(queued_, deadline).ok()) {
        while (!queue_.empty()) {
            const SlateKey key = queue_.front();
            prepare(key, deadline.sooner(io::Deadline::after(kPrepareLimit)));
            queue_.pop_front();
            for (Signal* const signal : fetching_)
                signal->raise();
        }
    }
}

void SlateCache::prepare(const SlateKey& key, io::Deadline deadline) {
    const TimePoint began = io::now();
    auto slate = encode_slate(key.form, key.file, deadline);
    Entry& entry = entries_[key];
    entry.is_waiting = false;
    entry.at = io::now();
    if (!slate.ok()) {
        ++counters_.failures;
        entry.failure = slate.error().sentence();
        if (slate.code() != Errc::cancelled)
            LOG_ERROR(log_, "SLATE {} cannot be prepared, streams end with their publisher: {}", key.text(), entry.failure);
        return;
    }
    ++counters_.prepared;
    entry.failure.clear();
    // Owners as in find().
    entry.slate = std::make_shared<const PreparedSlate>(*std::move(slate));
    LOG_INFO(log_, "SLATE {} is prepared: {:.1f} s, {} frames, {} bytes, in {} ms", key.text(),
             std::chrono::duration<double>(entry.slate->length).count(), entry.slate->frames.size(), entry.slate->bytes,
             std::chrono::duration_cast<std::chrono::milliseconds>(io::now() - began).count());
    drop_some();
}

std::size_t SlateCache::size() const {
    return static_cast<std::size_t>(std::ranges::count_if(entries_, [](const auto& one) { return one.second.slate != nullptr; }));
}

std::size_t SlateCache::bytes() const {
    std::size_t sum = 0;
    for (const auto& [key, entry] : entries_)
        sum += entry.slate == nullptr ? 0 : entry.slate->bytes;
    return sum;
}

void SlateCache::drop_some() {
    const auto is_older = [](const auto& one, const auto& other) { return one.second.at < other.second.at; };
    while (entries_.size() > kSlatesMax + kWaitingMax || size() > kSlatesMax || bytes() > kBytesMax) {
        auto oldest = entries_.end();
        for (auto one = entries_.begin(); one != entries_.end(); ++one)
            if (!one->second.is_waiting && one->second.slate.use_count() <= 1 &&
                (oldest == entries_.end() || is_older(*one, *oldest)))
                oldest = one;
        if (oldest == entries_.end())
            return;
        entries_.erase(oldest);
    }
}

}  // namespace live::service::slate
