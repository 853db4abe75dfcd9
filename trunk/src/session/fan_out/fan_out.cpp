#include "session/fan_out/fan_out.hpp"

#include <algorithm>
#include <array>
#include <utility>

#include "io/fibers/loop.hpp"

namespace live::session {

// Cohorts with one period. A cohort's slot is its index in `slots_`; empty cohorts are removed when their slot is due.
class FanOut::Wheel {
public:
    Wheel(std::chrono::milliseconds period, CohortTools& tools)
        : period_(period), tools_(tools), slots_(std::max<std::size_t>(1, static_cast<std::size_t>(period / kTick))) {}

    void join(CohortMember& member) {
        auto& slot = slots_[next_member_++ / kNeighbours % slots_.size()];
        const std::size_t size_max = member.transport() == Transport::plain ? kPlayersAtOnce : kTlsPlayersAtOnce;
        auto at =
            std::ranges::find_if(slot, [&](const auto& cohort) { return cohort->matches(member) && cohort->size() < size_max; });
        if (at == slot.end()) {
            const media::WireFormat& format = member.cursor.format();
            const Duration prompt_after = format.is_relayed() ? Duration(period_) : Duration::zero();
            Ref<media::Source> source(&member.cursor.source());
            slot.push_back(std::make_unique<Cohort>(std::move(source), format, member.transport(), tools_, prompt_after));
            at = std::prev(slot.end());
            ++cohorts_;
            occupied_.raise();
        }
        (*at)->join(member);
    }

    void run(io::Deadline forever) {
        const io::Urgent urgent;
        TimePoint due = io::now();
        for (std::size_t slot = 0;; slot = (slot + 1) % slots_.size()) {
            if (cohorts_ == 0) {
                if (!io::wait(occupied_, forever).ok())
                    return;
                due = io::now();
            }
            due += kTick;
            if (slots_[slot].empty())
                continue;
            // Far behind (the machine slept): skip the missed ticks.
            if (io::now() - due > std::chrono::seconds(1))
                due = io::now();
            if (due > io::now() ? !io::sleep(io::Deadline::at(due)).ok() : !give_way().ok())
                return;
            if (!send(slots_[slot]).ok())
                return;
        }
    }

private:
    // Already late, but readers and publishers come first: one turn of the loop.
    static Result<void> give_way() { return io::yield(io::Deadline::never()); }

    // While this yields, others may join the slot; cohorts are removed only here.
    Result<void> send(std::vector<std::unique_ptr<Cohort>>& slot) {
        std::size_t players = 0;
        TimePoint began = io::now();
        for (std::size_t i = slot.size(); i-- > 0;) {
            if (players >= kPlayersAtOnce || io::now() - began > kTurnMax) {
                TRY(give_way());
                players = 0;
                began = io::now();
            }
            if (slot[i]->is_empty()) {
                slot[i] = std::move(slot.back());
                slot.pop_back();
                --cohorts_;
            } else {
                Cohort& cohort = *slot[i];
                players += cohort.size();
                bool more = cohort.send_if_more_than(cohort.format().is_relayed() ? 0 : cohort.source().options().mw_msgs);
                for (std::size_t turns = 1; more; ++turns) {
                    TRY(give_way());
                    began = io::now();
                    if (turns == kTurnsMax)
                        cohort.hand_back_members();
                    more = cohort.send();
                }
            }
        }
        return {};
    }

    const std::chrono::milliseconds period_;
    CohortTools& tools_;
    Signal occupied_;
    std::vector<std::vector<std::unique_ptr<Cohort>>> slots_;
    std::size_t cohorts_ = 0;
    std::size_t next_member_ = 0;
};

// The players of one source and format without a merge window.
class FanOut::Instant final : public media::PacketListener {
public:
    Instant(media::Source& source, const media::WireFormat& format, CohortTools& tools)
        : cohort_(Ref<media::Source>(&source), format, Transport::plain, tools) {
        source.readers().add_listener(*this);
    }
    ~Instant() { cohort_.source().readers().remove_listener(*this); }
    Instant(const Instant&) = delete;
    Instant& operator=(const Instant&) = delete;

    void on_packets() override {
        if (cohort_.send())
            cohort_.hand_back_members();
    }
    Cohort& cohort() { return cohort_; }

private:
    Cohort cohort_;
};

FanOut::FanOut(io::Scope& scope, io::FanSender::Use use) : scope_(scope), tools_(use) {}

FanOut::~FanOut() = default;

FanOut::Instants::iterator FanOut::find_instant(const CohortMember& member) {
    const auto [first, last] = instants_.equal_range(&member.cursor.source());
    const auto at = std::find_if(
        first, last, [&member](const auto& entry) { return entry.second->cohort().format() == member.cursor.format(); });
    return at == last ? instants_.end() : at;
}

Result<void> FanOut::join(CohortMember& member, std::optional<std::chrono::milliseconds> wanted) {
    media::Source& source = member.cursor.source();
    auto window = std::min(wanted.value_or(source.options().mw_latency), kWindowMax);
    if (window < kTick && member.transport() == Transport::plain) {
        auto at = find_instant(member);
        if (at == instants_.end())
            at = instants_.insert({&source, std::make_unique<Instant>(source, member.cursor.format(), tools_)});
        at->second->cohort().join(member);
        return {};
    }
    window = std::max(window, kTick);
    auto& wheel = wheels_[window];
    if (!wheel) {
        wheel = std::make_unique<Wheel>(window, tools_);
        TRY(scope_.start("fan-out", [wheel = wheel.get()](io::Deadline forever) { wheel->run(forever); }));
    }
    wheel->join(member);
    return {};
}

void FanOut::leave(CohortMember& member) {
    if (member.cohort != nullptr)
        member.cohort->leave(member);
    const auto instant = find_instant(member);
    if (instant != instants_.end() && instant->second->cohort().is_empty())
        instants_.erase(instant);
}

}  // namespace live::session
