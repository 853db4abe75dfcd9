// MemoryKeeper: enforces the memory budget. It measures what streams hold, and when there is too much it frees memory: first that
// of unpublished streams, then that of the largest client or stream of the address that holds most. Freed memory goes back to the
// system.
#pragma once

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "app/memory/memory_trimmer.hpp"
#include "base/log/log.hpp"
#include "base/time.hpp"
#include "engine/workers/shared_limits.hpp"
#include "io/fibers/deadline.hpp"
#include "media/source/stream_table.hpp"
#include "media/wire_log/slab_log.hpp"
#include "service/service_list.hpp"
#include "session/common/client_table.hpp"
#include "session/limits/memory_budget.hpp"

namespace live::app {

class MemoryKeeper final : public service::Service {
public:
    // Interval between checks; kQuickInterval applies when the budget is filling. Also checked when rings have dropped a portion.
    static constexpr std::chrono::milliseconds kPollInterval{250};
    static constexpr std::chrono::milliseconds kQuickInterval{20};
    // The least that is returned to the system.
    static constexpr std::size_t kPortion = 4U << 20;
    // The most that one turn of the loop releases of a stream; a MiB of small packets takes some 0.5 ms.
    static constexpr std::size_t kReleasedAtOnce = 1U << 20;
    // Turns after each check in which memory is released and returned.
    static constexpr int kTurnsMax = 8;
    // Amounts below this fraction of the counted memory fluctuate all the time, and are returned only when the budget is filling.
    static constexpr std::size_t kPortionPart = 32;
    // Unused slabs are released after this time, which is longer than a usual GOP.
    static constexpr std::chrono::seconds kSlabsKept{15};
    // A kicked publisher should have left after this time.
    static constexpr std::chrono::seconds kLeaving{2};

    struct Parts {
        session::MemoryBudget& budget;
        media::StreamTable& streams;
        media::SlabPool& slabs;
        const service::ServiceList& services;
        session::ClientTable& clients;
        // nullptr: the process has no other workers.
        engine::workers::SharedLimits* shared_limits = nullptr;
    };

    // The parts must outlive this.
    MemoryKeeper(const Parts& parts, const Log& log) : parts_(parts), log_(log) {}

    std::string_view name() const override { return "the memory budget"; }
    Result<void> start(io::Scope& fibers, io::Deadline deadline) override;

private:
    struct Stream {
        std::size_t bytes = 0;
        bool is_published = false;
        bool is_leaving = false;
    };
    using Streams = std::unordered_map<std::string, Stream>;

    void run(io::Deadline deadline);
    // Does everything once, in several turns of the loop; an error when the fiber is cancelled.
    Result<void> look(io::Deadline deadline);
    void reclaim(TimePoint now);
    // Releases and returns a portion; true: there is more.
    bool return_some(TimePoint now);
    void count(TimePoint now);
    Streams held_streams() const;
    bool is_leaving(const std::string& url) const { return !leaving_.empty() && leaving_.contains(url); }
    void measure(TimePoint now);
    void give_up_leaving();
    bool release_idle();
    bool take_from_unpublished(const Streams& streams, TimePoint now);
    void leave(const std::string& url, std::size_t bytes, TimePoint now);
    void take_from_greediest(const Streams& streams, TimePoint now);

    Parts parts_;
    std::vector<service::StreamHolder*> holders_;
    const Log& log_;
    std::unordered_map<std::string, TimePoint> leaving_;  // streams that have lost their memory, and when
    OverheadClock overhead_clock_;
    TimePoint slabs_aged_at_{};
    bool has_more_ = false;      // to return
    bool small_logged_ = false;  // a budget that cannot be kept has been logged
};

// In bytes: half of the machine's memory or of the limit of its cgroup, whichever is smaller.
std::size_t usual_memory_budget();
// The same from the texts of a cgroup's limit ("max" or a number; empty: none) and of /proc/meminfo.
std::size_t memory_budget_of(std::string_view cgroup_limit, std::string_view meminfo);

}  // namespace live::app
