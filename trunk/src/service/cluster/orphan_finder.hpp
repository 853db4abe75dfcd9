// OrphanFinder: the streams of this server that have viewers and no publisher. Another node may have them.
#pragma once

#include <chrono>
#include <cstddef>
#include <set>
#include <string>

#include "base/result.hpp"
#include "base/signal.hpp"
#include "base/time.hpp"
#include "io/fibers/deadline.hpp"
#include "media/source/stream_table.hpp"

namespace live::service::cluster {

class OrphanFinder {
public:
    // Streams that wait to be looked up.
    static constexpr std::size_t kOrphansMax = 1'000;
    static constexpr std::chrono::seconds kPeriod{2};

    // `streams` must outlive this.
    explicit OrphanFinder(media::StreamTable& streams) : streams_(streams) {}

    bool is_orphan(const std::string& url) const;
    // The stream has lost its publisher here, or may have one elsewhere.
    void note(const std::string& url);
    // Notes all orphans, once in kPeriod: a notice of another node may be lost.
    void note_all(TimePoint now);
    // Waits for the next noted stream. It may have a publisher again. Errc::cancelled.
    Result<std::string> next(io::Deadline deadline);

private:
    media::StreamTable& streams_;
    std::set<std::string> noted_;
    Signal any_;
    TimePoint noted_all_at_{};
};

}  // namespace live::service::cluster
