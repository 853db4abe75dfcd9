// SegmentWriter: the part of an output that HLS and DASH do not share: the files and the manifest.
#pragma once

#include <optional>

#include "base/time.hpp"
#include "io/fibers/deadline.hpp"
#include "media/ring/packet.hpp"
#include "service/segments/segmenter_events.hpp"
#include "session/common/admission.hpp"

namespace live::service::segments {

// Functions with a deadline may suspend.
class SegmentWriter {
public:
    // Another publisher starts; nullopt: the publisher has left. All earlier events have been handled.
    virtual void on_publisher_change(const std::optional<session::ClientRequest>& publisher, io::Deadline deadline) = 0;
    // Takes the next packet. Returns false if the packet must not be segmented.
    virtual bool accept(const media::Packet& packet, io::Deadline deadline) = 0;
    // Handles a sync message before the segmenter applies it.
    virtual void on_segment_sync(const SegmentSync& sync, io::Deadline deadline) = 0;
    // The events of the segmenter, in order. A node that relays the stream gets on_resumed() and no on_opened().
    virtual void on_headers(const HeadersChanged& event) = 0;
    virtual void on_opened(const SegmentState& state) = 0;
    virtual void on_part(PartMade event) = 0;
    virtual void on_segment(SegmentMade event, io::Deadline deadline) = 0;
    virtual void on_dropped(const SegmentDropped& event) = 0;
    virtual void on_resumed(const Resumed& event) = 0;
    // The same event may be found more than once.
    virtual void on_event([[maybe_unused]] const EventFound& event) {}
    // `any`: there were events. `has_ended`: the last publisher has left, and all its packets have been segmented.
    virtual void on_events_handled([[maybe_unused]] bool any, [[maybe_unused]] bool has_ended) {}
    // There has been no publisher for time_after_end(), or the memory is needed. The output continues if a publisher starts
    // afterwards.
    virtual void dispose([[maybe_unused]] io::Deadline deadline) {}
    virtual Duration time_after_end() const = 0;
    // The last segment has been handled. Must not suspend.
    virtual void finish() = 0;

protected:
    ~SegmentWriter() = default;
};

}  // namespace live::service::segments
