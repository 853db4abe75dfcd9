// SlateCache: prepares slates by ffmpeg, one at a time, and keeps them for the streams that show them. Each is encoded once per
// file and form.
#pragma once

#include <chrono>
#include <compare>
#include <cstddef>
#include <cstdint>
#include <deque>
#include <map>
#include <memory>
#include <string>
#include <vector>

#include "base/log/log.hpp"
#include "base/result.hpp"
#include "base/signal.hpp"
#include "base/time.hpp"
#include "io/fibers/deadline.hpp"
#include "service/slate/prepared_slate.hpp"
#include "service/slate/slate_form.hpp"

namespace live::service::slate {

struct SlateKey {
    std::string file;
    SlateForm form;

    auto operator<=>(const SlateKey&) const = default;
    std::string text() const { return file + " for " + form.text(); }
};

class SlateCache {
public:
    // Prepared ones. Beyond either limit, the one that was used least recently is dropped, unless a stream shows it.
    static constexpr std::size_t kSlatesMax = 16;
    static constexpr std::size_t kBytesMax = 128U << 20;
    // Forms that wait to be prepared; further ones are refused.
    static constexpr std::size_t kWaitingMax = 32;
    // Limit for ffmpeg.
    static constexpr std::chrono::seconds kPrepareLimit{120};
    // One that cannot be prepared is tried again after this time.
    static constexpr std::chrono::seconds kRetryAfter{60};

    explicit SlateCache(Log log) : log_(std::move(log)) {}

    // Prepares what is requested, until cancelled.
    void run(io::Deadline deadline);

    // Owners: this, and the streams that show it. nullptr unless it is prepared.
    std::shared_ptr<const PreparedSlate> find(const SlateKey& key);
    // Has it prepared, unless it is, or could not be a short time ago. Must not suspend.
    void request(const SlateKey& key);
    // Requests it and waits. The error is ffmpeg's, or the deadline's.
    Result<std::shared_ptr<const PreparedSlate>> fetch(const SlateKey& key, io::Deadline deadline);
    // Forgets failures: the settings have changed.
    void forget_failures();

    struct Counters {
        std::uint64_t prepared = 0;
        std::uint64_t failures = 0;
    };
    const Counters& counters() const { return counters_; }
    std::size_t size() const;
    std::size_t bytes() const;

private:
    struct Entry {
        std::shared_ptr<const PreparedSlate> slate;  // owners as in find()
        std::string failure;                         // empty: none
        TimePoint at{};                              // of the last use, or of the failure
        bool is_waiting = false;
    };

    void prepare(const SlateKey& key, io::Deadline deadline);
    void drop_some();

    Log log_;
    std::map<SlateKey, Entry> entries_;  // at most kSlatesMax prepared, kWaitingMax waiting, and as many failures
    std::deque<SlateKey> queue_;
    Signal queued_;
    std::vector<Signal*> fetching_;
    Counters counters_;
};

}  // namespace live::service::slate
