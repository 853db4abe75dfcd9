#include "service/segments/synced_segmenter.hpp"

#include <utility>

#include "base/bytes/random.hpp"
#include "base/log/log_format.hpp"
#include "media/ring/sync_message.hpp"

namespace live::service::segments {

SyncedSegmenter::SyncedSegmenter(Setup setup, Segmenter segmenter)
    : setup_(std::move(setup)), instance_(random_number()), segmenter_(std::move(segmenter)) {}

void SyncedSegmenter::end_publisher(bool relays_next) {
    has_sync_ = false;
    if (follower_)
        return relays_next ? follower_->begin_next() : follower_->restart();
    const bool was_open = segmenter_.is_open();
    segmenter_.interrupt();
    if (was_open)
        segmenter_.events().emplace_back(SegmentsEnded{segmenter_.number(), segmenter_.frames_hash()});
    segmenter_.restart();
}

// A node that relays uses the timeline of the node that has the publisher, which may be far ahead of its own.
void SyncedSegmenter::begin_publisher(bool relays) {
    if (relays && !follower_) {
        follower_.emplace(segmenter_);
    } else if (!relays && follower_) {
        follower_.reset();
        segmenter_.leave_timeline();
    }
}

void SyncedSegmenter::interrupt() {
    if (follower_)
        follower_->interrupt();
    else
        segmenter_.interrupt();
}

std::optional<SegmentSync> SyncedSegmenter::read(const media::SyncMessage& message) {
    if (!follower_)
        return std::nullopt;
    // This node, or one between this node and the origin, has reconnected, perhaps to another origin. The newest GOP is repeated.
    if (message.series == media::kRelayStart) {
        has_sync_ = false;
        follower_->reconnect();
    }
    if (message.series != setup_.series)
        return std::nullopt;
    auto sync = read_segment_sync(message.text);
    if (!sync.ok()) {
        LOG_DEBUG(setup_.log, "{} {}: {}", setup_.series, setup_.source.url(), sync.error().text());
        return std::nullopt;
    }
    if (sync->rules != setup_.rules) {
        if (!std::exchange(rules_logged_, true))
            LOG_WARN(setup_.log, "{} {}: the fragments differ from those of the origin, because its settings differ",
                     setup_.series, setup_.source.url());
        return std::nullopt;
    }
    const MediaTime by = message.to_origin - std::exchange(to_origin_, message.to_origin);
    if (!std::exchange(has_sync_, true))
        follower_->shift(by);  // the packets so far were shifted by the previous publisher's offset
    else if (by != MediaTime{})
        follower_->restart();  // another connection of a node that sends no kRelayStart
    return *std::move(sync);
}

void SyncedSegmenter::publish(std::variant<SegmentState, SegmentsEnded> event, std::vector<std::uint64_t> list) {
    const SegmentSync sync{setup_.rules, instance_, std::move(event), std::move(list)};
    setup_.source.append_sync({setup_.series, write_segment_sync(sync), {}});
    setup_.source.flush();
}

}  // namespace live::service::segments
