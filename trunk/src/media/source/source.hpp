// Source: one live stream. It wires the parts that own the stream's state: `Tracks` (codecs, configurations, names), `Retention`
// (the ring), `SyncLog` (messages for other nodes), `WireLogs` and `RtpLogs` (the encoded forms), `Publications` (the publisher),
// `Readers`, and `Backlog` (frames that are encoded later). Publishing is one append; the source calls no reader per packet,
// except the few that asked to be notified at once.
#pragma once

#include <array>
#include <cstdint>
#include <string>
#include <utility>
#include <vector>

#include "base/bytes/ref.hpp"
#include "base/log/log.hpp"
#include "base/time.hpp"
#include "media/ring/options.hpp"
#include "media/ring/sync_log.hpp"
#include "media/ring/timeline.hpp"
#include "media/source/backlog.hpp"
#include "media/source/publications.hpp"
#include "media/source/readers.hpp"
#include "media/source/retention.hpp"
#include "media/source/rtp_logs.hpp"
#include "media/source/tracks.hpp"
#include "media/source/watches.hpp"
#include "media/source/wire_logs.hpp"

namespace live::media {

struct SourceCounters {
    std::array<std::uint64_t, kMediaKindCount> packets{};  // of the default tracks
    std::array<std::uint64_t, kMediaKindCount> bytes{};
    std::uint64_t key_frames = 0;
    std::uint64_t dropped_packets = 0;  // readers were too slow, or the publisher faster than its frames are encoded
};

class Source final : public RefCounted {
public:
    Source(std::string url, const PlayOptions& options, std::uint32_t chunk_size, SlabPool& pool);
    ~Source();

    // "/app/stream" in the default vhost, "vhost/app/stream" otherwise.
    const std::string& url() const { return url_; }
    const PlayOptions& options() const { return options_; }
    void set_options(const PlayOptions& options) { options_ = options; }

    const Tracks& tracks() const { return tracks_; }
    Tracks& tracks() { return tracks_; }
    const Retention& retention() const { return retention_; }
    Retention& retention() { return retention_; }
    const Ring& ring() const { return retention_.ring(); }
    const WireLogs& wire_logs() const { return wire_logs_; }
    WireLogs& wire_logs() { return wire_logs_; }
    const RtpLogs& rtp_logs() const { return rtp_logs_; }
    RtpLogs& rtp_logs() { return rtp_logs_; }
    const Publications& publications() const { return publications_; }
    Publications& publications() { return publications_; }
    bool is_published() const { return publications_.is_published(); }
    const Readers& readers() const { return readers_; }
    Readers& readers() { return readers_; }
    const Backlog& backlog() const { return backlog_; }
    Backlog& backlog() { return backlog_; }
    StreamWatches& watches() { return watches_; }
    const Timeline& timeline() const { return timeline_; }
    Timeline& timeline() { return timeline_; }

    // For Publication. A publisher may have to wait until it begins: see Publications::must_wait().
    void start_publication(Publisher& publisher);
    void begin_publication(Publisher& publisher);
    void end_publication(Publisher& publisher);

    // Sets the arrival time of the packets appended from now on. Called once per batch read from a publisher's socket.
    void set_arrival(TimePoint now) { arrival_ = now; }
    TimePoint arrival() const { return arrival_; }
    // Loads what append() needs while the caller reads the publisher's socket: with hundreds of publishers it has left the
    // nearest caches since the last batch.
    void prefetch() const;
    // Appends a packet of the publisher, or of a rendition, whose track is known then.
    enum class Origin : std::uint8_t { publisher, rendition };
    void append(Packet&& packet, Origin origin = Origin::publisher);
    // Messages for other nodes and for outputs that segment the stream. A new one has its place before the next packet.
    const SyncLog& syncs() const { return syncs_; }
    void append_sync(SyncMessage message);
    // To be called after a change of the renditions or their names, of this node: other nodes get the list.
    void announce_renditions();
    // The publisher's batch is complete: has the backlog encoded, and notifies readers that wait for every packet.
    void flush();
    // Reports whether any listener must be notified at once.
    bool is_awaited() const { return readers_.any() && (readers_.has_listeners_at_once() || rtp_logs_.has_listeners()); }

    bool keeps_publisher_time() const {
        return tracks_.wants_publisher_time() || options_.atc || options_.time_jitter == TimeJitter::off;
    }
    const SourceCounters& counters() const { return counters_; }
    void count_dropped(std::uint64_t packets) { counters_.dropped_packets += packets; }
    // Memory taken by its packets, in all the forms in which they are kept.
    std::size_t held_bytes() const;

private:
    std::string url_;
    PlayOptions options_;
    SlabPool& pool_;
    SyncLog syncs_;
    // Each packet needs the members from here to the first ones of `tracks_`. They are side by side: with hundreds of
    // publishers, none of them is in the nearest cache when the next packet arrives.
    Retention retention_;
    Timeline timeline_;
    SourceCounters counters_;
    TimePoint arrival_{};
    bool ends_when_encoded_ = false;  // the publisher has left
    Backlog backlog_;
    Readers readers_;
    Tracks tracks_;
    StreamWatches watches_;
    Publications publications_;
    WireLogs wire_logs_;
    RtpLogs rtp_logs_;
};

}  // namespace live::media
