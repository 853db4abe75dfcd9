#include "service/recordings/retention.hpp"

#include <algorithm>
#include <unordered_set>

namespace live::service::recordings {

namespace {

constexpr std::uint64_t kMiB = 1U << 20;

bool may_go(const RecordingFile& file) { return !file.is_pinned && !file.is_open; }

class Chooser {
public:
    Chooser(const RecordingIndex& index, std::size_t most) : index_(index), most_(most) {}

    void by_age(WallTime before) {
        for (const auto& [url, stream] : index_.streams())
            for (const RecordingFile& file : stream.files) {
                if (file.start >= before)
                    break;
                if (file.end() < before)
                    take(url, file, DeleteReason::age);
            }
    }
    void by_stream_size(std::uint64_t size) {
        for (const auto& [url, stream] : index_.streams()) {
            std::uint64_t left = stream.bytes;
            for (const RecordingFile& file : stream.files) {
                if (left <= size)
                    break;
                if (is_taken(file) || take(url, file, DeleteReason::stream_size))
                    left -= std::min(left, file.bytes);
            }
        }
    }
    // The oldest of all streams, until so many bytes are free.
    void oldest(std::uint64_t bytes, DeleteReason reason) {
        struct Place {
            const std::string* url;
            const RecordingFile* file;
        };
        std::uint64_t have = 0;
        std::vector<Place> candidates;
        for (const auto& [url, stream] : index_.streams())
            for (const RecordingFile& file : stream.files) {
                if (is_taken(file))
                    have += file.bytes;
                else if (may_go(file))
                    candidates.push_back({&url, &file});
            }
        const std::size_t count = std::min(candidates.size(), most_);
        std::ranges::partial_sort(candidates, candidates.begin() + static_cast<std::ptrdiff_t>(count), {},
                                  [](const Place& place) { return place.file->start; });
        for (std::size_t i = 0; i < count && have < bytes; ++i)
            if (take(*candidates[i].url, *candidates[i].file, reason))
                have += candidates[i].file->bytes;
    }
    std::vector<DueRecording> release() { return std::move(due_); }

private:
    bool is_taken(const RecordingFile& file) const { return taken_.contains(&file); }
    bool take(const std::string& url, const RecordingFile& file, DeleteReason reason) {
        if (!may_go(file) || is_taken(file) || due_.size() == most_)
            return false;
        taken_.insert(&file);
        due_.push_back({url, file.path, file.bytes, file.start, reason});
        return true;
    }

    const RecordingIndex& index_;
    const std::size_t most_;
    std::unordered_set<const RecordingFile*> taken_;
    std::vector<DueRecording> due_;
};

}  // namespace

std::string_view name_of(DeleteReason reason) {
    switch (reason) {
        case DeleteReason::age: return "delete_after";
        case DeleteReason::stream_size: return "stream_size";
        case DeleteReason::total_size: return "total_size";
        case DeleteReason::min_free: break;
    }
    return "min_free";
}

std::vector<DueRecording> due_recordings(const RecordingIndex& index, const RetentionOptions& options, WallTime now,
                                         std::optional<std::uint64_t> free_bytes, std::size_t most) {
    Chooser chooser(index, most);
    if (options.delete_after.count() > 0)
        chooser.by_age(now - options.delete_after);
    if (options.stream_size > 0)
        chooser.by_stream_size(options.stream_size * kMiB);
    if (const std::uint64_t total = options.total_size * kMiB; options.total_size > 0 && index.bytes() > total)
        chooser.oldest(index.bytes() - total, DeleteReason::total_size);
    if (const std::uint64_t wanted = options.min_free * kMiB; free_bytes && *free_bytes < wanted)
        chooser.oldest(wanted - *free_bytes, DeleteReason::min_free);
    return chooser.release();
}

void GrowthMeter::add(TimePoint now, std::uint64_t bytes) {
    if (!since_)
        since_ = now;
    if (steps_.empty() || now - steps_.back().begun >= kStep)
        steps_.push_back({now, 0});
    steps_.back().bytes += bytes;
    while (!steps_.empty() && now - steps_.front().begun >= kWindow + kStep)
        steps_.pop_front();
}

double GrowthMeter::rate(TimePoint now) const {
    if (!since_)
        return 0;
    std::uint64_t bytes = 0;
    for (const Step& step : steps_)
        if (now - step.begun <= kWindow)
            bytes += step.bytes;
    const double seconds = std::chrono::duration<double>(std::min<Duration>(now - *since_, kWindow)).count();
    return static_cast<double>(bytes) / std::max(seconds, 1.0);
}

std::optional<std::chrono::seconds> time_until_full(const RetentionOptions& options, std::uint64_t recorded_bytes,
                                                    std::uint64_t free_bytes, double rate) {
    if (rate < 1)
        return std::nullopt;
    const std::uint64_t kept_free = options.min_free * kMiB;
    std::uint64_t left = free_bytes - std::min(free_bytes, kept_free);
    if (const std::uint64_t total = options.total_size * kMiB; total > 0)
        left = std::min(left, total - std::min(total, recorded_bytes));
    constexpr double kMost = 1e9;
    return std::chrono::seconds(static_cast<std::int64_t>(std::min(static_cast<double>(left) / rate, kMost)));
}

}  // namespace live::service::recordings
