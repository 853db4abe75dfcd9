#include "app/memory/memory_keeper.hpp"

#include <algorithm>
#include <charconv>
#include <fstream>
#include <sstream>
#include <utility>
#include <vector>

#include "app/memory/process_usage.hpp"
#include "base/log/log_format.hpp"
#include "io/fibers/loop.hpp"
#include "io/fibers/off_loop.hpp"

namespace live::app {

Result<void> MemoryKeeper::start(io::Scope& fibers, io::Deadline) {
    holders_ = parts_.services.memory();
    return fibers.start("memory-keeper", [this](io::Deadline forever) { run(forever); });
}

void MemoryKeeper::run(io::Deadline deadline) {
    // Publishers are urgent, and must not fill memory faster than it is released.
    const io::Urgent urgent;
    for (;;) {
        const Duration pause = has_more_ || parts_.budget.is_filling() ? kQuickInterval : kPollInterval;
        const auto woken = io::wait(parts_.slabs.totals().much_dropped, deadline.sooner(io::Deadline::after(pause)));
        if ((!woken.ok() && woken.code() != Errc::timed_out) || !look(deadline).ok())
            return;
    }
}

Result<void> MemoryKeeper::look(io::Deadline deadline) {
    count(io::now());  // what streams hold is no overhead
    measure(io::now());
    TRY(io::yield(deadline));
    reclaim(io::now());
    has_more_ = true;
    for (int turn = 0; has_more_ && turn < kTurnsMax; ++turn) {
        TRY(io::yield(deadline));
        has_more_ = return_some(io::now());
    }
    return {};
}

void MemoryKeeper::reclaim(TimePoint now) {
    session::MemoryBudget& budget = parts_.budget;
    const bool took = budget.is_crowded() && take_from_unpublished(held_streams(), now);
    const bool has_filled_up = budget.has_filled_up();
    if ((budget.is_exceeded() || has_filled_up) && !took)
        take_from_greediest(held_streams(), now);
    give_up_leaving();
}

bool MemoryKeeper::return_some(TimePoint now) {
    io::free_off_loop(parts_.slabs.take_spent(), io::Work::compute);
    if (release_idle())
        return true;
    if (now - slabs_aged_at_ >= kSlabsKept) {
        parts_.slabs.age();
        slabs_aged_at_ = now;
    }
    return parts_.slabs.give_back_unused();
}

// Freed memory that is not yet returned to the system counts against everyone. So it is returned before anyone has to lose memory
// for it, and in portions, before there is so much that returning it holds the loop.
void MemoryKeeper::measure(TimePoint now) {
    session::MemoryBudget& budget = parts_.budget;
    const auto amounts = [&budget] {
        const std::size_t resident = resident_bytes();
        budget.set_resident(resident);
        return OverheadClock::Amounts{resident, budget.overhead()};
    };
    const OverheadClock::Amounts before = amounts();
    if (parts_.shared_limits != nullptr) {
        parts_.shared_limits->set(engine::workers::SharedLimits::Sum::memory, budget.overhead() + budget.held());
        budget.set_others(parts_.shared_limits->others(engine::workers::SharedLimits::Sum::memory));
    }
    const std::size_t portion = budget.is_filling() ? kPortion : std::max(kPortion, budget.held() / kPortionPart);
    parts_.slabs.totals().much = portion;
    const auto supply = budget.is_filling() ? OverheadClock::Supply::scarce : OverheadClock::Supply::ample;
    if (overhead_clock_.is_due(now, before, portion, supply)) {
        io::Loop::release_stacks();
        const Duration took = give_memory_back();
        overhead_clock_.note_done(now, before, amounts(), took);
        if (budget.is_too_small() && !std::exchange(small_logged_, true))
            LOG_WARN(log_, "limits.memory_budget, {} MiB, is too small: the server itself uses {} MiB of it",
                     budget.whole() >> 20, budget.overhead() >> 20);
    }
}

// Several times a second, over all streams: it looks at nothing but their sizes.
void MemoryKeeper::count(TimePoint now) {
    std::erase_if(leaving_, [now](const auto& left) { return now - left.second > kLeaving; });
    std::size_t sum = 0, leaving = 0, windows = 0;
    const auto add = [&](const std::string& url, std::size_t bytes) { (is_leaving(url) ? leaving : sum) += bytes; };
    parts_.streams.for_each([&add](const media::Source& source) { add(source.url(), source.held_bytes()); });
    for (const service::StreamHolder* holder : holders_)
        for (const auto& held : holder->held()) {
            add(held.url, held.bytes);
            windows += held.what == service::StreamHolder::Held::What::window ? held.bytes : 0;
        }
    parts_.budget.set_streams(sum, windows);
    parts_.budget.set_leaving(leaving + parts_.slabs.unused_bytes() + io::bytes_being_freed());
}

MemoryKeeper::Streams MemoryKeeper::held_streams() const {
    Streams streams;
    const auto add = [this, &streams](const std::string& url, std::size_t bytes, bool is_published) {
        Stream& stream = streams[url];
        stream.bytes += bytes;
        stream.is_published = stream.is_published || is_published;
        stream.is_leaving = is_leaving(url);
    };
    parts_.streams.for_each([&add](const media::Source& source) {
        if (const std::size_t bytes = source.held_bytes(); bytes > 0)
            add(source.url(), bytes, source.is_published());
    });
    for (const service::StreamHolder* holder : holders_)
        for (const auto& held : holder->held())
            add(held.url, held.bytes, held.is_published);
    return streams;
}

// Frees given-up streams, and large ones that will soon be removed anyway, in portions: all at once would hold the loop.
bool MemoryKeeper::release_idle() {
    bool any = false;
    parts_.streams.for_each([&](media::Source& source) {
        if (any || source.is_published())
            return;
        const bool is_given_up = is_leaving(source.url());
        const bool is_idle = !source.retention().is_needed() && source.held_bytes() >= kPortion;
        if (!is_idle && !(is_given_up && !source.ring().empty()))
            return;
        source.retention().release_oldest(kReleasedAtOnce);
        any = true;
    });
    return any;
}

bool MemoryKeeper::take_from_unpublished(const Streams& streams, TimePoint now) {
    const Streams::value_type* largest = nullptr;
    for (const auto& stream : streams)
        if (!stream.second.is_published && !stream.second.is_leaving &&
            stream.second.bytes > (largest == nullptr ? 0 : largest->second.bytes))
            largest = &stream;
    if (largest == nullptr)
        return false;
    const auto& [url, stream] = *largest;
    leave(url, stream.bytes, now);
    LOG_WARN(log_, "the memory for clients is used up (limits.memory_budget, {} MiB): the remaining {} KiB of {} are released",
             parts_.budget.whole() >> 20, stream.bytes >> 10, url);
    return true;
}

// Including streams whose publisher has just been closed.
void MemoryKeeper::give_up_leaving() {
    for (service::StreamHolder* holder : holders_)
        for (const auto& [url, since] : leaving_)
            holder->give_up(url);
}

// Its memory counts as being released.
void MemoryKeeper::leave(const std::string& url, std::size_t bytes, TimePoint now) {
    leaving_[url] = now;
    parts_.budget.forget_stream(bytes);
}

void MemoryKeeper::take_from_greediest(const Streams& streams, TimePoint now) {
    session::MemoryBudget& budget = parts_.budget;
    std::vector<session::MemoryHolding> holdings;
    std::vector<session::MemoryBudget::Use*> uses;
    std::vector<session::ClientEntry*> publishers;
    for (session::MemoryBudget::Use* use : budget.uses()) {
        holdings.push_back(budget.holding(*use));
        uses.push_back(use);
    }
    parts_.clients.for_each([&](session::ClientEntry& entry) {
        if (entry.plan() == nullptr || !is_publisher(entry.client().request().kind))
            return;
        const auto stream = streams.find(entry.plan()->url);
        if (stream == streams.end() || stream->second.is_leaving)
            return;
        holdings.push_back(budget.holding(stream->second.bytes, entry.client().request().ip));
        publishers.push_back(&entry);
    });
    const auto loser = session::greediest(holdings);
    if (!loser || holdings[*loser].bytes < budget.worth_taking())
        return;
    if (*loser < uses.size())
        return budget.take_away(*uses[*loser]);
    session::ClientEntry& publisher = *publishers[*loser - uses.size()];
    const std::string url = publisher.plan()->url;
    leave(url, holdings[*loser].bytes, now);
    publisher.lose_stream(
        fmt::format("the memory for clients is used up (limits.memory_budget, {} MiB), and this stream takes {} KiB",
                    budget.whole() >> 20, holdings[*loser].bytes >> 10));
}

namespace {

std::string text_of(const char* path) {
    std::ifstream file(path);
    std::ostringstream text;
    text << file.rdbuf();
    return std::move(text).str();
}

std::optional<std::size_t> number_in(std::string_view text) {
    text.remove_prefix(std::min(text.find_first_of("0123456789"), text.size()));
    std::size_t number = 0;
    const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), number);
    return error == std::errc() ? std::optional(number) : std::nullopt;
}

}  // namespace

std::size_t memory_budget_of(std::string_view cgroup_limit, std::string_view meminfo) {
    constexpr std::string_view kTotal = "MemTotal:";
    std::size_t bytes = std::size_t{2} << 30;  // default when the machine's memory is unknown
    if (const auto at = meminfo.find(kTotal); at != std::string_view::npos)
        if (const auto kib = number_in(meminfo.substr(at)))
            bytes = *kib << 10;
    if (const auto limit = number_in(cgroup_limit))
        bytes = std::min(bytes, *limit);
    return bytes / 2;
}

// The limit of a group also applies to the groups below it (cgroups(7)). In a container the path begins at its own group.
std::size_t usual_memory_budget() {
    const std::string meminfo = text_of("/proc/meminfo");
    std::string path = text_of("/proc/self/cgroup");
    path = path.starts_with("0::/") ? path.substr(3, path.find('\n') - 3) : "/";
    std::size_t bytes = memory_budget_of(text_of("/sys/fs/cgroup/memory/memory.limit_in_bytes"), meminfo);
    for (;; path.resize(path.rfind('/'))) {
        bytes = std::min(bytes, memory_budget_of(text_of(("/sys/fs/cgroup" + path + "/memory.max").c_str()), meminfo));
        if (path.empty())
            return bytes;
    }
}

}  // namespace live::app
