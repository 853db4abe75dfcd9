#include "session/rtsp/udp_fan_out/udp_fan_out.hpp"

#include <algorithm>
#include <utility>

#include "base/check.hpp"
#include "io/fibers/loop.hpp"
#include "io/fibers/pause.hpp"

namespace live::session::rtsp {

class UdpCohort final : private media::PacketListener {
public:
    UdpCohort(UdpFanOut& fan_out, Ref<media::Source> source, const media::WireFormat& format)
        : fan_out_(fan_out), source_(std::move(source)), cursor_(source_, format) {
        source_->readers().add_listener(*this);
    }
    ~UdpCohort() { source_->readers().remove_listener(*this); }
    UdpCohort(const UdpCohort&) = delete;
    UdpCohort& operator=(const UdpCohort&) = delete;

    // Sends a piece to everybody. Returns whether there may be more.
    bool send_some() {
        const bool has_more = run_.take(cursor_, next_piece_bytes(cursor_));
        if (!run_.empty())
            fan_out_.send_to(members_, run_);
        return has_more;
    }
    bool is_due_at(TimePoint now) const { return now >= next_at_; }

    media::WireCursor& cursor() { return cursor_; }
    const DatagramRun& run() const { return run_; }
    std::vector<UdpMember*>& members() { return members_; }
    bool is_listed = false;  // in UdpFanOut::due_
    void wait_until(TimePoint time) { next_at_ = time; }

private:
    void on_packets() override { fan_out_.note_due(*this); }

    UdpFanOut& fan_out_;
    const Ref<media::Source> source_;
    media::WireCursor cursor_;
    DatagramRun run_;
    std::vector<UdpMember*> members_;
    TimePoint next_at_{};
};

UdpFanOut::UdpFanOut(UdpPorts& ports) : ports_(ports) {}

UdpFanOut::~UdpFanOut() { CHECK(cohorts_.empty()); }

Result<void> UdpFanOut::start(io::Scope& fibers) {
    return fibers.start("rtsp-udp-players", [this](io::Deadline forever) { run(forever); });
}

void UdpFanOut::note_due(UdpCohort& cohort) {
    if (std::exchange(cohort.is_listed, true))
        return;
    due_.push_back(&cohort);
    wake_.raise();
}

// A cohort that has sent a piece and has more waits; others have their turn meanwhile.
void UdpFanOut::run(io::Deadline deadline) {
    for (;;) {
        bool waits = false;
        for (std::size_t count = due_.size(); count > 0 && !due_.empty(); --count) {
            UdpCohort* const cohort = due_.front();
            due_.erase(due_.begin());
            cohort->is_listed = false;
            const TimePoint now = io::now();
            const bool has_more = !cohort->is_due_at(now) || cohort->send_some();
            if (has_more) {
                if (cohort->is_due_at(now))
                    cohort->wait_until(now + kPieceInterval);
                cohort->is_listed = true;
                due_.push_back(cohort);
                waits = true;
            }
            if (io::is_turn_over() && !io::yield(deadline).ok())
                return;
        }
        const auto limit = waits ? deadline.sooner(io::Deadline::after(kPieceInterval)) : deadline;
        if (const auto woken = io::wait(wake_, limit); !woken.ok() && woken.code() != Errc::timed_out)
            return;
    }
}

bool UdpFanOut::join(UdpMember& member, media::WireCursor& cursor, Ref<media::Source> source) {
    if (!cursor.is_in_sync())
        return false;
    auto& cohort = cohorts_[&cursor.wire_log()];
    if (cohort == nullptr) {
        cohort = std::make_unique<UdpCohort>(*this, std::move(source), cursor.format());
        cohort->cursor().resume_at(cursor.position());
    } else if (cohort->cursor().position() != cursor.position()) {
        cohort->send_some();
    }
    if (cohort->cursor().position() != cursor.position() || !cohort->run().is_at_border())
        return false;
    cursor.release_place();
    member.cohort = cohort.get();
    member.index = cohort->members().size();
    cohort->members().push_back(&member);
    return true;
}

std::vector<std::uint8_t> UdpFanOut::leave(UdpMember& member, media::WireCursor& cursor) {
    if (member.cohort == nullptr)
        return {};
    UdpCohort& cohort = *std::exchange(member.cohort, nullptr);
    auto& members = cohort.members();
    members[member.index] = members.back();
    members[member.index]->index = member.index;
    members.pop_back();
    cursor.resume_at(cohort.cursor().position());
    cursor.hold_place();
    const Bytes begun = cohort.run().begun();
    std::vector<std::uint8_t> kept(begun.begin(), begun.end());
    if (members.empty()) {
        std::erase(due_, &cohort);
        cohorts_.erase(&cohort.cursor().wire_log());
    }
    return kept;
}

void UdpFanOut::send(const DatagramRun& run, UdpMember& member) {
    UdpMember* const one = &member;
    send_to(std::span(&one, 1), run);
}

// Reports go first: with them, audio and video are in step from the first packet. The players of a batch have one IP version.
void UdpFanOut::send_to(std::span<UdpMember* const> members, const DatagramRun& run) {
    constexpr std::size_t kBatches = 256;
    for (const bool is_rtcp : {true, false}) {
        batches_.clear();
        bool is_ipv4 = true;
        const auto flush = [&] {
            ports_.send(is_rtcp ? UdpPorts::Port::rtcp : UdpPorts::Port::rtp, batches_);
            batches_.clear();
        };
        for (UdpMember* const member : members) {
            const auto first = std::ranges::find_if(member->addresses, [](const auto& address) { return address.has_value(); });
            if (first == member->addresses.end())
                continue;
            if (!batches_.empty() && ((*first)->is_ipv4() != is_ipv4 || batches_.size() >= kBatches))
                flush();
            is_ipv4 = (*first)->is_ipv4();
            member->sent_bytes += run.append_batches(member->addresses, is_rtcp, batches_);
        }
        flush();
    }
}

}  // namespace live::session::rtsp
