#include "service/segments/source_feed.hpp"

#include <algorithm>
#include <utility>

#include "base/log/log_format.hpp"
#include "io/fibers/loop.hpp"
#include "io/fibers/off_loop.hpp"
#include "media/ring/sync_message.hpp"
#include "service/files/frame_limit.hpp"

namespace live::service::segments {

SourceFeed::SourceFeed(std::string output, Ref<media::Source> source, media::WakeMode how, Log log)
    : output_(std::move(output)),
      source_(std::move(source)),
      log_(std::move(log)),
      cursor_(source_, how, media::Cursor::Start::now, media::Cursor::Tracks::all, media::Cursor::Audience::none),
      next_sync_(source_->syncs().next()) {}

void SourceFeed::on_published(const session::ClientRequest& publisher) {
    changes_.push_back({source_->ring().next(), source_->syncs().next(), publisher});
    published_ = true;
    is_given_up_ = false;
    wake();
}

void SourceFeed::on_unpublished() {
    changes_.push_back({source_->ring().next(), source_->syncs().next(), std::nullopt});
    published_ = false;
    ended_at_ = io::now();
    wake();
}

void SourceFeed::give_up() {
    if (!std::exchange(is_given_up_, true))
        wake();
}

bool SourceFeed::is_due(const Change& change) { return cursor_.next() >= change.at && next_sync_ >= change.sync; }

// The cursor may have jumped over entries.
const media::SyncLog::Entry* SourceFeed::due_sync() {
    const media::SyncLog& syncs = source_->syncs();
    next_sync_ = std::max(next_sync_, syncs.first());
    if (next_sync_ == syncs.next() || cursor_.next() < syncs.at(next_sync_).before)
        return nullptr;
    return &syncs.at(next_sync_);
}

// Publisher changes and sync messages take effect between packets. The sink may suspend, and the log may change then.
void SourceFeed::hand_out_due(Sink& sink, io::Deadline deadline) {
    for (;;) {
        const media::SyncLog::Entry* sync = due_sync();
        if (!changes_.empty() && is_due(changes_.front())) {
            const Change change = std::move(changes_.front());
            changes_.pop_front();
            change_publisher(change, sink, deadline);
        } else if (sync != nullptr) {
            ++next_sync_;
            const media::SyncMessage message = sync->message;
            note_sync(message);
            sink.on_sync(message, deadline);
        } else {
            return;
        }
    }
}

// Another connection of this node repeats the packets that wait; kRelayStart follows.
void SourceFeed::change_publisher(const Change& change, Sink& sink, io::Deadline deadline) {
    const media::SyncLog::Entry* const sync = due_sync();
    if (sync == nullptr || sync->message.series != media::kRelayStart)
        flush(sink, deadline);
    aligner_.restart();
    listed_ = {};
    if (change.publisher) {
        relays_ = change.publisher->kind == session::ClientKind::relay_pull;
        for (const media::SyncLog::Entry& newest : source_->syncs().newest())
            read_renditions(newest.message);
    }
    sink.on_publisher(change.publisher, deadline);
}

void SourceFeed::note_sync(const media::SyncMessage& message) {
    if (message.series == media::kRelayStart)
        aligner_.restart();
    read_renditions(message);
}

void SourceFeed::read_renditions(const media::SyncMessage& message) {
    if (message.series != media::kRelayRenditions)
        return;
    if (auto list = media::read_rendition_list(message.text); list.ok())
        listed_ = *std::move(list);
}

bool SourceFeed::is_too_large(const media::Packet& packet) {
    if (packet.payload.size() <= files::kFrameBytesMax)
        return false;
    if (!std::exchange(large_logged_, true))
        LOG_WARN(log_, "{} {}: a frame of {} bytes is left out, as are all of over {}", output_, url(), packet.payload.size(),
                 files::kFrameBytesMax);
    return true;
}

// If no worker is available, the output allocates the memory.
void SourceFeed::make_buffer(const media::Packet& next, Sink& sink, io::Deadline deadline) {
    // TS adds 2.2 %, and a key frame gets its parameter sets.
    const std::size_t bytes = next.payload.size() + next.payload.size() / 40 + (16U << 10);
    auto room = io::off_loop(
        [bytes] {
            std::vector<std::uint8_t> made(bytes);  // written, and so resident
            made.clear();
            return made;
        },
        deadline.sooner(io::Deadline::after(kRoomLimit)));
    if (room.ok())
        sink.on_buffer(next, *std::move(room));
}

SourceFeed::Drained SourceFeed::drain(Sink& sink, io::Deadline deadline) {
    std::size_t bytes = 0;
    for (bool any = false;; any = true) {
        hand_out_due(sink, deadline);
        // Checked before the first packet too: the turn's time counts from the first check.
        const bool is_over = io::is_turn_over() || bytes + cursor_.next_bytes() > kTurnBytes;
        if (any && is_over)
            return Drained::in_part;
        auto packet = cursor_.take();
        if (!packet)
            return Drained::all;
        if (cursor_.dropped() != std::exchange(dropped_, cursor_.dropped())) {
            LOG_WARN(log_, "{} {}: the output was too slow, dropped_packets={}", output_, url(), dropped_);
            flush(sink, deadline);
            sink.on_gap();
        }
        if (is_too_large(*packet))
            continue;
        bytes += packet->payload.size();
        if (packet->payload.size() > kTurnBytes)
            make_buffer(*packet, sink, deadline);
        const auto renditions = renditions_at(*packet);
        const bool has_renditions = renditions.expected + renditions.present > 0 || renditions.has_packet;
        if (!has_renditions && aligner_.is_idle()) {
            sink.on_packet(*packet, deadline);
        } else {
            aligner_.push(*packet, renditions);
            pass_aligned(sink, deadline);
        }
    }
}

// Here, the tracks of a relayed stream's renditions are the publisher's. A node that joins has none of their frames yet.
media::TrackAligner::Renditions SourceFeed::renditions_at(const media::Packet& packet) const {
    using Entry = media::RenditionList::Entry;
    const auto has_track = [](const Entry& entry) { return entry.track.has_value(); };
    const auto present = static_cast<std::size_t>(std::ranges::count_if(listed_.entries, has_track));
    if (!relays_)
        return {source_->publications().expected_renditions(), present, media::is_of_rendition(packet, source_->tracks())};
    const auto awaited = static_cast<std::size_t>(std::ranges::count_if(listed_.entries, &Entry::is_awaited));
    const auto is_its = [&packet](const Entry& entry) { return entry.track == packet.track; };
    const bool is_of_one = packet.extra && packet.kind == MediaKind::video && std::ranges::any_of(listed_.entries, is_its);
    return {awaited + present, present, is_of_one};
}

void SourceFeed::pass_aligned(Sink& sink, io::Deadline deadline) {
    while (const auto packet = aligner_.pop())
        sink.on_packet(*packet, deadline);
}

void SourceFeed::flush(Sink& sink, io::Deadline deadline) {
    aligner_.flush();
    pass_aligned(sink, deadline);
}

SourceFeed::Next SourceFeed::wait(Drained drained, Duration kept_for, io::Deadline deadline) {
    if (drained == Drained::in_part && io::yield(deadline).ok())
        return Next::packets;
    const TimePoint over_at = ended_at_ + (is_given_up_ ? Duration::zero() : kept_for);
    if (!published_ && io::now() >= over_at)
        return Next::over;
    const auto woken = io::wait(cursor_.readable(), published_ ? deadline : deadline.sooner(io::Deadline::at(over_at)));
    return !woken.ok() && woken.code() == Errc::cancelled ? Next::cancelled : Next::packets;
}

}  // namespace live::service::segments
