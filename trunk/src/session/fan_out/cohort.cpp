#include "session/fan_out/cohort.hpp"

#include <algorithm>
#include <array>

#include "base/check.hpp"
#include "io/fibers/loop.hpp"
#include "io/net/stream.hpp"
#include "session/fan_out/flush.hpp"

namespace live::session {

std::uint64_t CohortMember::sent_bytes() const {
    return cursor.sent_bytes() + (is_member ? cohort->position() - cursor.position() : 0);
}

Cohort::Cohort(Ref<media::Source> source, const media::WireFormat& format, Transport transport, CohortTools& tools,
               Duration prompt_after)
    : source_(std::move(source)), format_(format), transport_(transport), tools_(tools), prompt_after_(prompt_after) {
    if (prompt_after_ > Duration::zero())
        source_->readers().add_listener(*this, media::WakeMode::batched);
}

Cohort::~Cohort() {
    if (prompt_after_ > Duration::zero())
        source_->readers().remove_listener(*this);
}

// A publisher that is read on its own tick has appended a whole batch for the members.
void Cohort::on_packets() {
    if (io::now() - sent_at_ >= prompt_after_)
        send();
}

bool Cohort::matches(const CohortMember& member) const {
    return &member.cursor.source() == source_.get() && member.cursor.format() == format_ && member.transport() == transport_;
}

void Cohort::join(CohortMember& member) {
    CHECK(member.cohort == nullptr);
    member.cohort = this;
    add_waiting(member);
}

void Cohort::leave(CohortMember& member) {
    CHECK(member.cohort == this);
    if (member.is_member)
        remove_member(member);
    else
        remove_waiting(member);
    member.cohort = nullptr;
}

// The first member's place becomes the cohort's.
void Cohort::add_member(CohortMember& member) {
    if (members_.empty())
        member.cursor.wire_log().hold(*this);
    member.cursor.release_place();
    member.is_member = true;
    member.index = members_.size();
    members_.push_back(&member);
    if (transport_ == Transport::plain)
        descriptors_.push_back(member.stream.as_tcp()->native_handle());
}

void Cohort::remove_member(CohortMember& member) {
    member.cursor.resume_at(position_);
    member.cursor.hold_place();
    const std::size_t at = member.index;
    if (transport_ == Transport::plain) {
        descriptors_[at] = descriptors_.back();
        descriptors_.pop_back();
    }
    members_[at] = members_.back();
    members_[at]->index = at;
    members_.pop_back();
    member.is_member = false;
    if (members_.empty())
        member.cursor.wire_log().release(*this);
}

void Cohort::add_waiting(CohortMember& member) {
    member.is_member = false;
    member.index = waiting_.size();
    waiting_.push_back(&member);
}

void Cohort::remove_waiting(CohortMember& member) {
    waiting_[member.index] = waiting_.back();
    waiting_[member.index]->index = member.index;
    waiting_.pop_back();
}

void Cohort::hand_back(CohortMember& member) {
    ++tools_.counters.handed_back;
    leave(member);
    member.handed_back.raise();
}

// Moves all members back to waiting, where each is sent its unshared bytes separately.
void Cohort::dissolve() {
    while (!members_.empty()) {
        CohortMember& member = *members_.back();
        remove_member(member);
        add_waiting(member);
    }
}

// A burst exceeded the source's limits before these members were due: each will jump, and count the packets that it missed.
void Cohort::leave_place() {
    const std::size_t before = waiting_.size();
    dissolve();
    for (std::size_t i = before; i < waiting_.size(); ++i)
        waiting_[i]->cursor.leave_place();
}

bool Cohort::send_if_more_than(std::uint32_t messages_min) {
    const media::WireLog* wire_log = skipped_ || messages_min == 0 ? nullptr : source_->wire_logs().find(format_);
    if (wire_log != nullptr && wire_log->next() - wire_log->find(position_) <= messages_min) {
        skipped_ = true;
        return false;
    }
    skipped_ = false;
    return send();
}

bool Cohort::send() {
    media::WireLog* wire_log = source_->wire_logs().find(format_);
    if (wire_log == nullptr)
        return false;
    if (epoch_ != wire_log->epoch())
        dissolve();
    if (members_.empty()) {
        position_ = wire_log->head();
        epoch_ = wire_log->epoch();
    }
    send_to_members(*wire_log);
    if (!members_.empty() && position_ < wire_log->head())
        return true;
    admit_waiting(*wire_log);
    return false;
}

void Cohort::hand_back_members() {
    while (!members_.empty())
        hand_back(*members_.back());
}

void Cohort::send_to_members(media::WireLog& wire_log) {
    if (members_.empty())
        return;
    if (prompt_after_ > Duration::zero() && position_ < wire_log.head())
        sent_at_ = io::now();
    const bool stamped = wire_log.encoder().times() == media::WireTimes::stamped;
    const media::WireLog::Position end = std::min(wire_log.head(), position_ + share());
    while (position_ < end && !members_.empty()) {
        missed_.clear();
        if (stamped)
            send_stamped(wire_log, end);
        else
            send_shared(wire_log, end);
    }
}

std::size_t Cohort::share() const {
    if (transport_ == Transport::plain)
        return std::clamp(turn_bytes() / members_.size(), kShareMin, kFlushedMax);
    return std::clamp(turn_bytes() / members_.size() / kTlsShareMin * kTlsShareMin, kTlsShareMin, kTlsShareMax);
}

// Sends the parts, `total` bytes, to the members [begin, end). Those that did not take all are in `missed_`.
void Cohort::send_run(std::size_t begin, std::size_t end, std::span<const ::iovec> parts, std::size_t total) {
    if (transport_ == Transport::plain) {
        const std::size_t before = missed_.size();
        tools_.sender.send(std::span(descriptors_).subspan(begin, end - begin), parts, total, missed_);
        for (std::size_t i = before; i < missed_.size(); ++i)
            missed_[i].index += begin;
        return;
    }
    const auto run = [](const ::iovec& part) { return Bytes(static_cast<const std::uint8_t*>(part.iov_base), part.iov_len); };
    if (parts.size() == 1)
        return encrypt_run(begin, end, run(parts[0]));
    tools_.plaintext.clear();
    for (const ::iovec& part : parts)
        tools_.plaintext.insert(tools_.plaintext.end(), run(part).begin(), run(part).end());
    encrypt_run(begin, end, tools_.plaintext);
}

// A member whose socket did not take every record keeps the ciphertext in its stream, and sends it from its own fiber.
void Cohort::encrypt_run(std::size_t begin, std::size_t end, Bytes whole) {
    for (std::size_t i = begin; i < end; ++i) {
        io::Stream& stream = members_[i]->stream;
        std::size_t sent = 0;
        while (sent < whole.size()) {
            const std::array rest{io::as_part(whole.subspan(sent))};
            const auto taken = stream.try_write(rest);
            if (!taken.ok() || *taken == 0)
                break;
            sent += *taken;
        }
        if (sent < whole.size() || stream.holds_output())
            missed_.push_back({i, sent, 0});
    }
}

void Cohort::send_shared(media::WireLog& wire_log, media::WireLog::Position end) {
    std::array<::iovec, 64> parts;
    const std::size_t count = wire_log.spans(position_, end, parts);
    std::size_t total = 0;
    for (std::size_t i = 0; i < count; ++i)
        total += parts[i].iov_len;
    send_run(0, members_.size(), std::span(parts).first(count), total);
    tools_.counters.meter.record(*source_, wire_log, position_, position_ + total, members_.size(), io::now());
    settle_missed(total, nullptr);
    position_ += total;
}

void Cohort::send_stamped(media::WireLog& wire_log, media::WireLog::Position end) {
    tools_.batch.load(wire_log, source_->ring(), position_, end - position_);
    if (tools_.batch.size() == 0)
        return hand_back_members();
    for (std::size_t begin = 0; begin < members_.size();) {
        const std::int64_t base_ms = members_[begin]->cursor.base_ms();
        std::size_t next = begin + 1;
        while (next < members_.size() && members_[next]->cursor.base_ms() == base_ms)
            ++next;
        const std::array whole{io::as_part(tools_.batch.stamped_for(base_ms))};
        send_run(begin, next, whole, tools_.batch.size());
        begin = next;
    }
    tools_.counters.meter.record(*source_, wire_log, position_, tools_.batch.end(), members_.size(), io::now());
    settle_missed(tools_.batch.size(), &tools_.batch);
    position_ = tools_.batch.end();
}

// Hands back members that did not take all `total` bytes, or hold ciphertext of them. With a `batch` stamped anew, the rest of a
// partly sent message comes from that batch.
void Cohort::settle_missed(std::size_t total, media::StampedBatch* batch) {
    tools_.counters.sends += members_.size();
    tools_.counters.bytes += total * members_.size();
    // Backwards: removing a member moves only later ones, which are done.
    std::ranges::sort(missed_, {}, [](const io::ShortSend& miss) { return ~miss.index; });
    for (const io::ShortSend& miss : missed_) {
        tools_.counters.bytes -= total - miss.sent;
        CohortMember& member = *members_[miss.index];
        hand_back(member);
        if (batch != nullptr) {
            const std::size_t end = batch->message_end(miss.sent);
            const Bytes rest = batch->stamped_for(member.cursor.base_ms()).subspan(miss.sent, end - miss.sent);
            member.cursor.resume_at(position_ + end, rest);
        } else {
            member.cursor.resume_at(position_ + miss.sent);
        }
    }
}

void Cohort::admit_waiting(const media::WireLog& wire_log) {
    const std::uint64_t before = tools_.counters.bytes;
    for (std::size_t i = waiting_.size(); i-- > 0;) {
        CohortMember& member = *waiting_[i];
        if (tools_.counters.bytes - before > turn_bytes()) {
            hand_back(member);  // continues in its own fiber
        } else if (flush(member.stream, member.cursor, tools_.counters.bytes) != Flushed::all) {
            hand_back(member);
        } else if (member.cursor.is_in_sync() && member.cursor.position() == position_ && position_ == wire_log.head()) {
            remove_waiting(member);
            add_member(member);
        }
    }
}

}  // namespace live::session
