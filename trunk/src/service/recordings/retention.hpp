// Which recordings are deleted, oldest first, and when the disk will be full. Dry.
#pragma once

#include <cstdint>
#include <deque>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/text/wall_time_text.hpp"
#include "base/time.hpp"
#include "service/recordings/options.hpp"
#include "service/recordings/recording_index.hpp"

namespace live::service::recordings {

enum class DeleteReason : std::uint8_t { age, stream_size, total_size, min_free };
inline constexpr std::size_t kDeleteReasons = 4;
// The option's name.
std::string_view name_of(DeleteReason reason);

struct DueRecording {
    std::string url;
    std::string path;
    std::uint64_t bytes = 0;
    WallTime start{};
    DeleteReason reason = DeleteReason::age;

    bool operator==(const DueRecording&) const = default;
};

// At most `most` recordings. Pinned ones and those in progress stay, whatever the options say. `free_bytes`: of the disk, if it
// is known.
std::vector<DueRecording> due_recordings(const RecordingIndex& index, const RetentionOptions& options, WallTime now,
                                         std::optional<std::uint64_t> free_bytes, std::size_t most);

// The rate at which recordings grow, over the last hour.
class GrowthMeter {
public:
    static constexpr std::chrono::minutes kWindow{60};
    static constexpr std::chrono::minutes kStep{1};

    void add(TimePoint now, std::uint64_t bytes);
    // Bytes in a second; zero before anything was recorded.
    double rate(TimePoint now) const;

private:
    struct Step {
        TimePoint begun{};
        std::uint64_t bytes = 0;
    };
    std::optional<TimePoint> since_;
    std::deque<Step> steps_;
};

// The time until the disk is full, or until the first recordings are deleted for space; nullopt if nothing grows.
std::optional<std::chrono::seconds> time_until_full(const RetentionOptions& options, std::uint64_t recorded_bytes,
                                                    std::uint64_t free_bytes, double rate);

}  // namespace live::service::recordings
